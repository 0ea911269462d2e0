//! The A/A control of a session.

use lapwing_analyse::judge::{CompareOptions, MetricChoice};
use lapwing_analyse::sample::{RunKey, SampleFilter, SideSpec};
use lapwing_measure::suite::Variant;
use lapwing_model::{Id, Run};
use lapwing_record::StoreError;
use lapwing_show::answers::compare::ControlResult;

use crate::cleaning::JudgingOptions;
use crate::comparing::{FoundSides, gather};
use crate::error::CliError;
use crate::options::Context;
use crate::store::open_for_reading;

/// Returns the result of the control that was measured with the baseline, if there was one.
pub fn control_result(
    sides: &[SideSpec],
    filter: &SampleFilter,
    metrics: &MetricChoice,
    (judging, options): (&JudgingOptions, &CompareOptions),
    context: &Context,
) -> Result<Option<ControlResult>, CliError> {
    let Some(baseline) = sides.first().filter(|side| !side.may_be_file()) else {
        return Ok(None);
    };
    let control = format!("variant:{}", Variant::CONTROL).parse::<SideSpec>();
    let control = control.map_err(CliError::input)?;
    if sides.contains(&control) || !context.store.exists() {
        return Ok(None);
    }
    let found = FoundSides::find(std::slice::from_ref(baseline), filter, judging, context)?;
    let name = &found.sides.sides[0].name;
    let store = open_for_reading(context)?;
    let mut sessions: Vec<Id> = Vec::new();
    for (_, session) in found.sides.sessions() {
        if has_control(&store.catalogue().session_state(session)?.runs, name) {
            sessions.push(session);
        }
    }
    if sessions.is_empty() {
        return Ok(None);
    }
    let mut filter = filter.clone();
    let sessions: Vec<String> = sessions.iter().map(Id::to_string).collect();
    filter.runs = filter.runs.with(RunKey::Session, &sessions);
    let sides = [baseline.clone(), control];
    let gathered = match gather(&sides, &filter, metrics, judging, context) {
        // The filters may exclude it.
        Err(error) if error.cause.downcast_ref::<StoreError>().is_some() => return Ok(None),
        gathered => gathered?,
    };
    let comparisons = gathered.samples.compare(&gathered.names, options);
    Ok(ControlResult::new(&comparisons))
}

fn has_control(runs: &[Run], baseline: &str) -> bool {
    runs.iter().any(|run| {
        let original = run.attributes.get(Run::CONTROL_OF);
        original.and_then(|name| name.as_str()) == Some(baseline)
    })
}
