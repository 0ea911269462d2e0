//! `lapwing run --dry-run`: the planned measurements, their order and their expected time.

use std::collections::BTreeMap;
use std::io::Write;

use lapwing_analyse::clean::{CleaningPolicy, clean};
use lapwing_analyse::judge::estimate;
use lapwing_analyse::sample::each_benchmark;
use lapwing_measure::FixedSchedule;
use lapwing_measure::suite::{Case, Plan};
use lapwing_model::text::grouped;
use lapwing_record::{Filter, InstanceData, StoreError};
use lapwing_show::quantity;
use lapwing_show::writing::{Align, Table};
use lapwing_stats::as_f64;

use super::from_file::PlannedRun;
use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Shows the order; with a plan file also the numbers of each benchmark.
///
/// `submission` says how the instances would become jobs of a cluster.
pub fn show(
    planned: &PlannedRun,
    submission: &[String],
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let plan = &planned.session.plan;
    // Times of this machine are better than those of the plan file.
    let of_plan = |(id, mean): (&String, &f64)| {
        let past = PastCost {
            iteration: *mean,
            besides: 0.0,
            whole: None,
        };
        (id.clone(), past)
    };
    let mut times: BTreeMap<String, PastCost> = planned.means.iter().map(of_plan).collect();
    times.extend(past_times(plan, context)?);
    let schedule = FixedSchedule::new(plan);
    let mut table = Table::new(&[
        ("", Align::Right),
        ("benchmark", Align::Left),
        ("variant", Align::Left),
        ("instance", Align::Right),
        ("iterations", Align::Right),
        ("expected", Align::Right),
    ]);
    let mut total = 0.0;
    let mut unknown = 0;
    let mut executions = 0;
    for planned in schedule.left() {
        let case = &plan.cases[planned.case];
        let (burn_in, iterations) = (case.burn_in.planned(), case.iterations);
        executions += u64::from(burn_in) + u64::from(iterations);
        let expected = times
            .get(&case.benchmark.id)
            .map(|past| past.of_instance(case));
        match expected {
            Some(seconds) => total += seconds,
            None => unknown += 1,
        }
        table.row(vec![
            (planned.position + 1).to_string(),
            case.benchmark.id.clone(),
            plan.variants[planned.variant].label(),
            (planned.block + 1).to_string(),
            format!("{burn_in} + {iterations}"),
            in_seconds(expected),
        ]);
    }
    if plan.duet.is_some() {
        // Two at a time.
        total /= 2.0;
    }
    let instances = schedule.left().count();
    let mut out = context.terminal.out();
    writeln!(
        out,
        "{} instances, at least {} iterations, seed {}; {}",
        grouped(instances),
        grouped(usize::try_from(executions).unwrap_or(usize::MAX)),
        plan.seed,
        expectation(total, unknown, instances)
    )?;
    for line in submission {
        writeln!(out, "{line}")?;
    }
    writeln!(out)?;
    if planned.from_file {
        benchmarks(plan, &times).text(&mut out)?;
        writeln!(out)?;
    }
    table.text(&mut out)?;
    Ok(ExitStatus::Fine)
}

/// Returns the numbers and the expected time of each benchmark in all variants.
fn benchmarks(plan: &Plan, times: &BTreeMap<String, PastCost>) -> Table {
    let mut table = Table::new(&[
        ("benchmark", Align::Left),
        ("instances", Align::Right),
        ("iterations", Align::Right),
        ("expected", Align::Right),
    ]);
    let variants = u32::try_from(plan.variants.len()).unwrap_or(u32::MAX);
    for case in &plan.cases {
        let instances = case.instances.saturating_mul(variants);
        let expected = times.get(&case.benchmark.id);
        let expected = expected.map(|past| f64::from(instances) * past.of_instance(case));
        table.row(vec![
            case.benchmark.id.clone(),
            grouped(instances),
            format!("{} + {}", case.burn_in.planned(), case.iterations),
            in_seconds(expected),
        ]);
    }
    table
}

fn in_seconds(expected: Option<f64>) -> String {
    expected.map_or_else(|| "–".to_owned(), |seconds| quantity(seconds, "s"))
}

fn expectation(seconds: f64, unknown: usize, instances: usize) -> String {
    if unknown == instances {
        "expected time unknown: no earlier measurements".to_owned()
    } else if unknown == 0 {
        format!("about {}", quantity(seconds, "s"))
    } else {
        format!(
            "about {} and {} instances not measured before",
            quantity(seconds, "s"),
            grouped(unknown)
        )
    }
}

/// The past times of a benchmark, in seconds.
#[derive(Debug, Clone, Copy)]
struct PastCost {
    /// The mean of an iteration.
    iteration: f64,
    /// Time of an instance besides its iterations: a start of pytest, preparations.
    besides: f64,
    /// Time of a whole instance; `None` if unknown.
    whole: Option<f64>,
}

impl PastCost {
    /// Returns the expected time of an instance.
    fn of_instance(&self, case: &Case) -> f64 {
        // Only the plugin knows the number of rounds of a test that uses `benchmark`.
        if let (Some(test), Some(whole)) = (&case.pytest, self.whole)
            && test.is_left_to_the_plugin(case.burn_in.planned(), case.iterations)
        {
            return whole;
        }
        let iterations = f64::from(case.burn_in.planned()) + f64::from(case.iterations);
        let planned = iterations * self.iteration;
        let share = |budget: Option<std::time::Duration>| {
            budget.map(|it| it.as_secs_f64() / f64::from(case.instances))
        };
        let least = share(case.min_time).map_or(planned, |least| planned.max(least));
        let measuring =
            share(case.max_time).map_or(least, |most| least.min(most.max(self.iteration)));
        measuring + self.besides
    }
}

/// Returns the time of an instance in seconds; `None` if it was not recorded.
fn span(it: &InstanceData) -> Option<f64> {
    let span = it.end.as_ref()?.ended?.duration_since(it.instance.started?);
    Some(span.as_secs_f64())
}

/// Returns the mean time of instances besides their iterations, in seconds, as far as known.
fn besides(instances: &[InstanceData]) -> f64 {
    let of_one = |instance: &InstanceData| {
        let values = instance.iterations.values.get("wall_time")?;
        let loops = instance.iterations.loops.iter();
        // The times of failures are unknown.
        let known = values
            .iter()
            .zip(loops)
            .filter(|(value, _)| value.is_finite());
        let measured = known.map(|(value, loops)| value * as_f64(*loops));
        Some((span(instance)? - measured.sum::<f64>()).max(0.0))
    };
    let all: Vec<f64> = instances.iter().filter_map(of_one).collect();
    lapwing_stats::mean(&all).unwrap_or(0.0)
}

/// Returns the expected time of an instance of each benchmark that was measured before, in seconds.
pub fn past_seconds(plan: &Plan, context: &Context) -> Result<BTreeMap<String, f64>, CliError> {
    let times = past_times(plan, context)?;
    let cases = plan.cases.iter();
    let known = cases.filter_map(|case| {
        let past = times.get(&case.benchmark.id)?;
        Some((case.benchmark.id.clone(), past.of_instance(case)))
    });
    Ok(known.collect())
}

/// Returns the past times of each benchmark.
fn past_times(plan: &Plan, context: &Context) -> Result<BTreeMap<String, PastCost>, CliError> {
    let mut times = BTreeMap::new();
    if !context.store.exists() {
        return Ok(times);
    }
    let store = crate::store::open_for_reading(context)?;
    let filter = Filter {
        metrics: vec!["wall_time".to_owned()],
        ..Filter::default()
    };
    // Benchmarks of the suite may have been renamed.
    let mut called: BTreeMap<String, Vec<&String>> = BTreeMap::new();
    for case in &plan.cases {
        let id = &case.benchmark.id;
        if let Some(now) = store
            .annotations()
            .names_since(&plan.suite, id, None)?
            .pop()
        {
            called.entry(now).or_default().push(id);
        }
    }
    let read = each_benchmark(&store, &filter, |data| {
        if data.suite == plan.suite
            && let Some(ids) = called.get(&data.benchmark.id)
        {
            let cleaned = clean(&data.instances, "wall_time", CleaningPolicy::default());
            if let Some(estimate) = estimate(&cleaned) {
                let spans: Vec<f64> = data.instances.iter().filter_map(span).collect();
                let past = PastCost {
                    iteration: estimate.value,
                    besides: besides(&data.instances),
                    whole: lapwing_stats::mean(&spans),
                };
                times.extend(ids.iter().map(|&id| (id.clone(), past)));
            }
        }
        Ok::<(), StoreError>(())
    });
    match read {
        // Nothing was measured before, or nothing with a wall time.
        Err(StoreError::NoMatch { .. }) | Ok(()) => Ok(times),
        Err(error) => Err(error.into()),
    }
}
