//! Burn-in as rows, for JSON and CSV.

use std::collections::BTreeMap;

use lapwing_analyse::explain::BenchmarkBurnIn;
use lapwing_stats::steady::{Class, Consistency};
use schemars::JsonSchema;
use serde::Serialize;

use crate::class_name;
use crate::writing::View;

/// Returns the class as a key: `warm_up`.
fn key(class: Option<Class>) -> String {
    class.map_or("not_above_zero".to_owned(), |class| {
        class_name(class).replace(['-', ' '], "_")
    })
}

fn class(row: &BenchmarkBurnIn) -> Option<String> {
    let class = match row.steady.burn_in.as_ref()?.consistency {
        Consistency::Same(class) => key(Some(class)),
        Consistency::GoodInconsistent | Consistency::BadInconsistent => "mixed".to_owned(),
    };
    Some(class)
}

/// A planned burn-in: a number of iterations, or `auto`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
enum PlannedBurnIn {
    Iterations(u32),
    Auto(&'static str),
}

impl Default for PlannedBurnIn {
    fn default() -> Self {
        Self::Auto("auto")
    }
}

/// A row.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct BurnInFields<'a> {
    benchmark: &'a str,
    suite: &'a str,
    metric: &'a str,
    unit: &'a str,
    class: Option<String>,
    start: Option<u32>,
    found: Option<u32>,
    wanted: Option<u32>,
    source: &'static str,
    planned: PlannedBurnIn,
    instances: usize,
    never_steady: usize,
    too_short: usize,
    cost: Option<f64>,
    total: Option<f64>,
    bias_without_burn_in: Option<f64>,
    transient_bias: Option<f64>,
    remaining_bias: Option<f64>,
    drifting: bool,
    not_used: usize,
}

impl<'a> BurnInFields<'a> {
    pub fn new(row: &'a BenchmarkBurnIn) -> Self {
        let effect = row.effect.as_ref();
        let bias = effect.filter(|_| row.bias_without.is_some());
        Self {
            benchmark: &row.benchmark,
            suite: &row.suite,
            metric: &row.steady.metric,
            unit: &row.unit,
            class: class(row),
            start: row.start,
            found: row.found,
            wanted: row.wanted,
            source: row.source.key(),
            planned: row
                .planned
                .map(PlannedBurnIn::Iterations)
                .unwrap_or_default(),
            instances: row.instances.len(),
            never_steady: row.count(Class::NoSteadyState),
            too_short: row.count(Class::TooShort),
            cost: effect.filter(|_| row.start.is_some()).map(|it| it.cost),
            total: Some(row.total).filter(|it| it.is_finite()),
            bias_without_burn_in: row.bias_without,
            transient_bias: bias.map(|it| it.transient_bias),
            remaining_bias: bias.map(|it| it.remaining_bias),
            drifting: row.drifts(),
            not_used: row.not_used(),
        }
    }
}

/// A row with its details, which have no place in a table.
#[derive(Debug, Serialize, JsonSchema)]
pub struct BurnInDetails<'a> {
    #[serde(flatten)]
    row: BurnInFields<'a>,
    /// Number of instances by class.
    classes: BTreeMap<String, usize>,
    /// Every instance: only with `--full`.
    #[serde(skip_serializing_if = "Option::is_none")]
    instances_detail: Option<Vec<InstanceFields>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct InstanceFields {
    instance: String,
    class: Option<String>,
    start: Option<u32>,
    iterations: usize,
}

impl<'a> BurnInDetails<'a> {
    pub fn new(row: &'a BenchmarkBurnIn, view: View) -> Self {
        let classes = row.steady.classes().into_iter();
        let instances = row.instances.iter().map(|instance| InstanceFields {
            instance: instance.id.to_string(),
            class: instance.class.map(|class| key(Some(class))),
            start: instance.start,
            iterations: instance.iterations,
        });
        Self {
            row: BurnInFields::new(row),
            classes: classes.map(|(class, count)| (key(class), count)).collect(),
            instances_detail: view.full.then(|| instances.collect()),
        }
    }
}
