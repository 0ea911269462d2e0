//! What Criterion keeps of one measurement, and what becomes of it.

use std::collections::BTreeMap;

use lapwing_stats::as_f64;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::shared::intake::InstanceDraft;
use crate::shared::keys::{number_or_text, put};
use crate::shared::reading::number::column;
use crate::shared::units::Unit;
use lapwing_model::{Metric, MetricName, Object};
use lapwing_record::IterationColumns;

/// `benchmark.json`: what was measured.
#[derive(Deserialize)]
pub(super) struct Identity {
    pub(super) full_id: String,
    pub(super) group_id: Option<String>,
    pub(super) function_id: Option<String>,
    pub(super) value_str: Option<String>,
    pub(super) throughput: Option<Value>,
    pub(super) directory_name: Option<String>,
    pub(super) title: Option<String>,
    #[serde(flatten)]
    pub(super) others: Object,
}

/// `sample.json`: what came out. Old versions wrote a list of the two lists, which serde reads
/// as the first two fields.
#[derive(Deserialize)]
struct WireSample {
    #[serde(deserialize_with = "column")]
    iters: Vec<f64>,
    #[serde(deserialize_with = "column")]
    times: Vec<f64>,
    #[serde(default)]
    sampling_mode: Option<String>,
}

/// Samples: how often the benchmark ran for each, and how long that took together.
#[derive(Debug, Deserialize)]
#[serde(try_from = "WireSample")]
pub(super) struct Samples {
    pub(super) sampling_mode: Option<String>,
    iters: Vec<u64>,
    times: Vec<f64>,
}

impl TryFrom<WireSample> for Samples {
    type Error = String;

    fn try_from(wire: WireSample) -> Result<Self, String> {
        Self::checked(wire.sampling_mode, &wire.iters, wire.times)
    }
}

impl Samples {
    /// Returns the samples, or what is wrong with them.
    pub(super) fn checked(
        sampling_mode: Option<String>,
        iters: &[f64],
        times: Vec<f64>,
    ) -> Result<Self, String> {
        if iters.len() != times.len() {
            let (iters, times) = (iters.len(), times.len());
            return Err(format!("there are {iters} `iters` and {times} `times`"));
        }
        if let Some(time) = times.iter().find(|time| **time < 0.0) {
            return Err(format!("`times` has a negative one: {time}"));
        }
        let iters = iters
            .iter()
            .map(|&number| whole(number).ok_or_else(|| format!("`iters` has a {number}")))
            .collect::<Result<_, _>>()?;
        Ok(Self {
            sampling_mode,
            iters,
            times,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.iters.is_empty()
    }
}

/// Returns a number of executions, of which there is at least one.
fn whole(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is whole and positive, and too large a one saturates"
    )]
    (number >= 1.0 && number.fract() == 0.0).then_some(number as u64)
}

/// Amounts of work that an execution does, by name.
pub(super) type Work = BTreeMap<&'static str, f64>;

/// Returns the amounts of work that `throughput` says; `None` where it is not understood.
pub(super) fn work(throughput: &Value) -> Option<Work> {
    let (kind, amount) = throughput.as_object()?.iter().next()?;
    let number = |value: &Value| value.as_f64().filter(|it| *it > 0.0);
    Some(match kind.as_str() {
        "Bytes" | "BytesDecimal" => Work::from([("bytes", number(amount)?)]),
        "Elements" => Work::from([("elements", number(amount)?)]),
        "Bits" => Work::from([("bits", number(amount)?)]),
        "ElementsAndBytes" => Work::from([
            ("elements", number(amount.get("elements")?)?),
            ("bytes", number(amount.get("bytes")?)?),
        ]),
        _unknown => return None,
    })
}

/// Puts the samples of one process into a draft: each is the mean of its executions.
pub(super) fn measure(samples: Samples, unit: &str, work: &Work, draft: &mut InstanceDraft) {
    let Samples {
        sampling_mode,
        iters,
        times,
    } = samples;
    let unit = Unit::named(unit);
    let values: Vec<f64> = times
        .iter()
        .zip(&iters)
        .map(|(time, &iters)| unit.base(time / as_f64(iters)))
        .collect();
    let is_time = unit.metric.unit == "s";
    let name = if is_time { "wall_time" } else { "measurement" };
    put(&mut draft.attributes, "sampling_mode", sampling_mode);
    let done = (!work.is_empty()).then(|| json!(work));
    put(&mut draft.attributes, "work", done);
    let mut columns: BTreeMap<MetricName, Vec<f64>> = BTreeMap::new();
    if is_time {
        for (what, amount) in work {
            let name = format!("{what}_per_second");
            let of = if *what == "bytes" { "B/s" } else { "1/s" };
            draft.metrics.insert(name.clone(), Metric::higher(of));
            columns.insert(name, values.iter().map(|time| amount / time).collect());
        }
    }
    draft.metrics.insert(name.to_owned(), unit.metric);
    columns.insert(name.to_owned(), values);
    draft.iterations = IterationColumns {
        count: iters.len(),
        loops: iters,
        values: columns,
        ..IterationColumns::default()
    };
}

/// Returns what a `benchmark.json` describes; what it does not know stays as an attribute.
pub(super) fn describe(identity: Identity) -> (InstanceDraft, Work) {
    let mut draft = InstanceDraft::default();
    let params = &mut draft.benchmark.params;
    let is_other = |name: &String| *name != identity.full_id;
    put(params, "group", identity.group_id.filter(is_other));
    put(params, "function", identity.function_id);
    let value = identity.value_str.as_deref().map(number_or_text);
    put(params, "value", value);
    draft.attributes = identity.others;
    let title = identity.title.filter(is_other);
    put(&mut draft.attributes, "title", title);
    let throughput = identity.throughput.filter(|it| !it.is_null());
    let amounts = throughput.as_ref().and_then(work);
    let unknown = throughput.filter(|_| amounts.is_none());
    put(&mut draft.attributes, "throughput", unknown);
    draft.benchmark.id = identity.full_id;
    (draft, amounts.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_throughput_is_work() {
        let of = |value: Value| work(&value).map(|it| it.into_iter().collect::<Vec<_>>());
        assert_eq!(of(json!({"Bytes": 8})), Some(vec![("bytes", 8.0)]));
        assert_eq!(of(json!({"BytesDecimal": 8})), Some(vec![("bytes", 8.0)]));
        assert_eq!(of(json!({"Bits": 8})), Some(vec![("bits", 8.0)]));
        assert_eq!(
            of(json!({"ElementsAndBytes": {"elements": 2, "bytes": 8}})),
            Some(vec![("bytes", 8.0), ("elements", 2.0)])
        );
        assert_eq!(of(json!({"Furlongs": 8})), None);
        assert_eq!(of(json!({"Bytes": 0})), None);
    }

    #[test]
    fn samples_of_which_something_is_missing_are_refused() {
        let wrong = |text: &str| {
            serde_json::from_str::<Samples>(text)
                .expect_err("bad on purpose")
                .to_string()
        };
        assert_eq!(wrong("[[1,2],[3]]"), "there are 2 `iters` and 1 `times`");
        assert_eq!(wrong("[[0],[3]]"), "`iters` has a 0");
        assert_eq!(wrong("[[1],[-3]]"), "`times` has a negative one: -3");
    }
}
