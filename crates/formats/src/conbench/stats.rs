//! What Conbench's results measured: their `stats`.

use serde_json::json;

use crate::conbench::wire::ConbenchStats;
use crate::shared::intake::{InstanceDraft, SummaryDraft, iterations_of};
use crate::shared::keys::{put, put_object};
use crate::shared::notes::{FOLLOWS, Notes};
use crate::shared::units::Unit;
use lapwing_model::{InstanceOutcome, Object, Outcome};
use lapwing_record::{IterationColumns, Mark};

/// Keys that follow from the data.
const DERIVED: [&str; 8] = ["mean", "median", "stdev", "min", "max", "q1", "q3", "iqr"];

/// Keys in which the server compares a result with others.
const JUDGEMENT: [&str; 3] = ["z_score", "z_regression", "z_improvement"];
/// The reason why these are left out.
pub(super) const IS_JUDGEMENT: &str = "they are Conbench's judgement, and no measurements";

/// Returns the metric and the unit: the metric follows from the unit alone.
pub(super) fn metric_of(unit: Option<&str>) -> (String, Unit) {
    let unit = Unit::named(unit.unwrap_or(""));
    let name = match unit.metric.unit.as_str() {
        "s" => "wall_time".to_owned(),
        "B" => "bytes".to_owned(),
        "B/s" => "bytes_per_second".to_owned(),
        "1/s" => "throughput".to_owned(),
        "1" => "value".to_owned(),
        other => format!("value ({other})"),
    };
    (name, unit)
}

/// Puts what was measured into the instance.
pub(super) fn put_stats(
    draft: &mut InstanceDraft,
    mut stats: ConbenchStats,
    notes: &mut Notes,
) -> Result<(), String> {
    let (metric, unit) = metric_of(stats.unit.as_deref());
    draft.metrics.insert(metric.clone(), unit.metric.clone());
    for key in JUDGEMENT {
        if stats.others.remove(key).is_some_and(|it| !it.is_null()) {
            notes.left(key, IS_JUDGEMENT);
        }
    }
    if stats.data.is_empty() {
        draft.summaries = summaries(&metric, &unit, &stats);
        if draft.summaries.is_empty() && draft.outcome != InstanceOutcome::Failed {
            return Err("`stats` has neither `data` nor `mean`".to_owned());
        }
    } else {
        for key in DERIVED {
            if stats.figure(key).is_some() {
                notes.left(key, FOLLOWS);
            }
        }
        let count = stats.data.len() as u64;
        let others = stats.iterations.filter(|iterations| *iterations != count);
        put(&mut draft.attributes, "iterations", others);
        draft.iterations = columns(&metric, &unit, std::mem::take(&mut stats.data));
        put_times(draft, &metric, &stats, notes);
    }
    stats.others.retain(|_, value| !value.is_null());
    notes.kept_all(
        stats.others.keys(),
        "attributes of the instance, under `stats`",
    );
    put_object(&mut draft.attributes, "stats", stats.others);
    Ok(())
}

fn columns(metric: &str, unit: &Unit, mut data: Vec<f64>) -> IterationColumns {
    unit.base_column(&mut data);
    // `null` is how Conbench wants an iteration that did not complete.
    let marks = (0_u32..)
        .zip(&data)
        .filter(|(_, value)| value.is_nan())
        .map(|(index, _)| {
            let mark = Mark {
                outcome: Outcome::Failed,
                message: Some("it has no value: it did not complete".to_owned()),
                ..Mark::default()
            };
            (index, mark)
        })
        .collect();
    IterationColumns {
        marks,
        ..iterations_of(metric, data)
    }
}

/// The durations beside values that are no durations.
fn put_times(draft: &mut InstanceDraft, metric: &str, stats: &ConbenchStats, notes: &mut Notes) {
    if stats.times.is_empty() {
        return;
    }
    let unit = Unit::named(stats.time_unit.as_deref().unwrap_or("s"));
    let mut times = stats.times.clone();
    unit.base_column(&mut times);
    let same = draft.iterations.values.get(metric) == Some(&times);
    if same {
        notes.left("times", "they are the data once more");
    } else if metric != "wall_time" && times.len() == draft.iterations.count {
        draft.metrics.insert("wall_time".to_owned(), unit.metric);
        let values = &mut draft.iterations.values;
        values.insert("wall_time".to_owned(), times);
    } else {
        notes.kept("times", "attributes of the instance, in seconds");
        draft.attributes.insert("times".to_owned(), json!(times));
    }
}

fn summaries(metric: &str, unit: &Unit, stats: &ConbenchStats) -> Vec<SummaryDraft> {
    let figure = |key: &str| stats.figure(key).map(|value| unit.base(value));
    let of = |centre: &str, with: [&str; 2]| {
        let mut extra = Object::new();
        for key in with {
            put(&mut extra, key, figure(key));
        }
        Some(SummaryDraft {
            n: stats.iterations,
            extra,
            ..SummaryDraft::of(metric, figure(centre)?, centre)
        })
    };
    let mean = of("mean", ["min", "max"]);
    let median = of("median", ["q1", "q3"]);
    mean.map(|it| it.with_spread(figure("stdev"), "sd"))
        .into_iter()
        .chain(median.map(|it| it.with_spread(figure("iqr"), "iqr")))
        .collect()
}
