//! Conbench's comparisons of two runs.

use std::collections::BTreeMap;

use serde_json::json;
use serde_json::value::RawValue;

use crate::ImportError;
use crate::conbench::stats::{IS_JUDGEMENT, metric_of};
use crate::conbench::wire::{Comparison, Side};
use crate::conbench::{benchmark, job, put_error};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SummaryDraft};
use crate::shared::reading::document::Document;
use crate::shared::units::Unit;
use lapwing_model::{Better, Object};

/// A comparison of two runs has one figure of each, and no samples.
pub(super) fn take_comparison(
    document: &Document,
    raw: &RawValue,
    intake: &mut Intake<'_, '_, '_>,
) -> Result<(), ImportError> {
    let comparison: Comparison = match document.element(raw) {
        Ok(comparison) => comparison,
        Err(bad) => {
            intake.bad(bad);
            return Ok(());
        }
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
        let mut attributes = Object::new();
        if let Some(run_id) = &side.run_id {
            attributes.insert("run_id".to_owned(), json!(run_id));
        }
        let run = intake.run(RunDraft {
            key: side.run_id.clone().unwrap_or_default(),
            attributes,
            ..RunDraft::default()
        })?;
        match side_draft(side, &metric, &unit) {
            Ok(draft) => intake.instance(spot, run, draft)?,
            Err(reason) => intake.bad(document.wrong(raw, reason)),
        }
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
    draft.summaries = side
        .single_value_summary
        .map(|centre| SummaryDraft {
            metric: metric.to_owned(),
            centre: unit.base(centre),
            statistic: "unstated".to_owned(),
            ..SummaryDraft::default()
        })
        .into_iter()
        .collect();
    Ok(draft)
}
