//! Conbench's comparisons of two runs.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use crate::ImportError;
use crate::conbench::stats::{IS_JUDGEMENT, metric_of};
use crate::conbench::wire::{Comparison, Side};
use crate::conbench::{benchmark, job, put_error};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SummaryDraft};
use crate::shared::keys::put;
use crate::shared::reading::document::Document;
use crate::shared::units::Unit;
use lapwing_model::Better;

/// A comparison of two runs has one figure of each, and no samples.
pub(super) fn take_comparison(
    document: &Document,
    raw: &RawValue,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<(), ImportError> {
    let comparison = intake.good(document.element::<Comparison>(raw));
    let Some(comparison) = comparison else {
        return Ok(());
    };
    for key in comparison.others.keys() {
        intake.notes().left(key, IS_JUDGEMENT);
    }
    let (metric, unit) = metric_of(comparison.unit.as_deref());
    let unit = match comparison.less_is_better {
        Some(true) => unit.with_better(Some(Better::Lower)),
        Some(false) => unit.with_better(Some(Better::Higher)),
        None => unit,
    };
    let spot = document.spot_of(raw.get());
    for side in [comparison.baseline, comparison.contender]
        .into_iter()
        .flatten()
    {
        let mut run = RunDraft {
            key: side.run_id.clone().unwrap_or_default(),
            ..RunDraft::default()
        };
        put(&mut run.attributes, "run_id", side.run_id.clone());
        let run = intake.run(run)?;
        let draft = side_draft(side, &metric, &unit);
        let draft = draft.map_err(|reason| document.wrong(raw, reason));
        intake.read_instance(spot, run, draft)?;
    }
    Ok(())
}

fn side_draft(side: Side, metric: &str, unit: &Unit) -> Result<InstanceDraft, String> {
    let mut draft = InstanceDraft {
        benchmark: benchmark(side.tags)?,
        job: job(side.run_id, side.batch_id),
        attributes: side.others,
        metrics: BTreeMap::from([(metric.to_owned(), unit.metric.clone())]),
        ..InstanceDraft::default()
    };
    put_error(&mut draft, side.error);
    let summary = side
        .single_value_summary
        .map(|centre| SummaryDraft::of(metric, unit.base(centre), "unstated"));
    draft.summaries.extend(summary);
    Ok(draft)
}
