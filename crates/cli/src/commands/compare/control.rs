//! The A/A control of a session: how often the copy of the baseline seemed to differ from it.

use lapwing_analyse::judge::{CompareOptions, MetricChoice, Verdict};
use lapwing_analyse::sample::{RunKey, SampleFilter, SideSpec};
use lapwing_measure::suite::Variant;
use lapwing_model::{Id, Run};
use lapwing_record::StoreError;
use lapwing_show::answers::session::control_text;
use serde::Serialize;

use crate::cleaning::JudgingOptions;
use crate::comparing::{FoundSides, gather};
use crate::error::CliError;
use crate::options::Context;
use crate::store::open_for_reading;

/// The result of a control.
#[derive(Debug, Serialize)]
pub struct ControlResult {
    comparisons: usize,
    alarms: Vec<ControlAlarm>,
}

/// A comparison of the baseline with its copy that found a difference.
#[derive(Debug, Serialize)]
struct ControlAlarm {
    benchmark: String,
    metric: String,
    ratio: f64,
}

impl ControlResult {
    /// Returns the result of the control that was measured with the baseline, if there was one.
    pub fn find(
        sides: &[SideSpec],
        filter: &SampleFilter,
        metrics: &MetricChoice,
        (judging, options): (&JudgingOptions, &CompareOptions),
        context: &Context,
    ) -> Result<Option<Self>, CliError> {
        let Some(baseline) = sides.first().filter(|side| !side.may_be_file()) else {
            return Ok(None);
        };
        let control = format!("variant:{}", Variant::CONTROL).parse::<SideSpec>();
        let control = control.map_err(CliError::input)?;
        if sides.contains(&control) || !context.store.exists() {
            return Ok(None);
        }
        let found = FoundSides::find(std::slice::from_ref(baseline), filter, judging, context)?;
        let store = open_for_reading(context)?;
        let mut sessions = Vec::new();
        for (_, session) in found.sides.sessions() {
            if has_control(
                &store.catalogue().session_state(session)?.runs,
                &found.sides.sides[0].name,
            ) {
                sessions.push(session);
            }
        }
        if sessions.is_empty() {
            return Ok(None);
        }
        let mut filter = filter.clone();
        let sessions: Vec<String> = sessions.iter().map(Id::to_string).collect();
        filter.runs = filter.runs.with(RunKey::Session, &sessions);
        let gathered = gather(
            &[baseline.clone(), control],
            &filter,
            metrics,
            judging,
            context,
        );
        let gathered = match gathered {
            // The filters may exclude it.
            Err(error) if error.cause.downcast_ref::<StoreError>().is_some() => return Ok(None),
            gathered => gathered?,
        };
        let comparisons = gathered.samples.compare(&gathered.names, options);
        if comparisons.iter().all(|it| it.ratio.is_none()) {
            return Ok(None);
        }
        let alarms = comparisons
            .iter()
            .filter(|it| matches!(it.verdict, Verdict::Regression | Verdict::Improvement));
        let alarms = alarms.map(|it| ControlAlarm {
            benchmark: it.subject.benchmark.clone(),
            metric: it.subject.metric.clone(),
            ratio: it.ratio.map_or(1.0, |ratio| ratio.value),
        });
        Ok(Some(Self {
            alarms: alarms.collect(),
            comparisons: comparisons.iter().filter(|it| it.ratio.is_some()).count(),
        }))
    }

    /// Returns it as a note.
    pub fn text(&self) -> String {
        let names: Vec<(String, f64)> = self
            .alarms
            .iter()
            .map(|it| (format!("{} {}", it.benchmark, it.metric), it.ratio))
            .collect();
        let named: Vec<(&str, f64)> = names
            .iter()
            .map(|(name, it)| (name.as_str(), *it))
            .collect();
        control_text(self.comparisons, &named)
    }
}

fn has_control(runs: &[Run], baseline: &str) -> bool {
    runs.iter().any(|run| {
        let original = run.attributes.get(Run::CONTROL_OF);
        original.and_then(|it| it.as_str()) == Some(baseline)
    })
}
