//! `lapwing run --dry-run`: the planned measurements, their order and their expected time.

use std::collections::BTreeMap;
use std::time::Duration;

use lapwing_analyse::explain::{PastCost, past_costs};
use lapwing_measure::FixedSchedule;
use lapwing_measure::suite::{Case, Plan};
use lapwing_show::answers::dry_run::{
    DryRunAnswer, DryRunBenchmark, DryRunInstance, PlannedSubmission,
};

use super::from_file::PlannedRun;
use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};

/// Shows the order; with a plan file also the numbers of each benchmark.
///
/// `submission` says how the instances would become jobs of a cluster.
pub fn show(
    planned: &PlannedRun,
    submission: Option<PlannedSubmission>,
    options: &AnswerOptions,
    context: &Context,
) -> Result<ExitStatus, CliError> {
    let plan = &planned.session.plan;
    // Times of this machine are better than those of the plan file.
    let of_file = planned.means.iter().map(|(id, mean)| {
        let cost = PastCost {
            iteration: *mean,
            besides: 0.0,
            whole: None,
        };
        (id.clone(), cost)
    });
    let mut costs: BTreeMap<String, PastCost> = of_file.collect();
    costs.extend(costs_in_store(plan, context)?);
    let benchmark = |case: &Case, instances: u32| DryRunBenchmark {
        id: case.benchmark.id.clone(),
        instances,
        burn_in: case.burn_in.planned(),
        iterations: case.iterations,
        expected: costs
            .get(&case.benchmark.id)
            .map(|cost| f64::from(instances) * expected_seconds(cost, case)),
    };
    let schedule = FixedSchedule::new(plan);
    let instances = schedule.left().map(|instance| DryRunInstance {
        benchmark: benchmark(&plan.cases[instance.case], 1),
        position: instance.position,
        variant: plan.variants[instance.variant].label(),
        block: instance.block,
    });
    let variants = u32::try_from(plan.variants.len()).unwrap_or(u32::MAX);
    let cases = plan.cases.iter().filter(|_| planned.from_file);
    let answer = DryRunAnswer {
        seed: plan.seed,
        instances: instances.collect(),
        in_pairs: plan.duet.is_some(),
        submission,
        benchmarks: cases
            .map(|case| benchmark(case, case.instances.saturating_mul(variants)))
            .collect(),
    };
    context.show(&answer, options)
}

/// Returns the expected time of an instance of each benchmark that was measured before, in seconds.
pub fn past_seconds(plan: &Plan, context: &Context) -> Result<BTreeMap<String, f64>, CliError> {
    let costs = costs_in_store(plan, context)?;
    let cases = plan.cases.iter();
    let known = cases.filter_map(|case| {
        let cost = costs.get(&case.benchmark.id)?;
        Some((case.benchmark.id.clone(), expected_seconds(cost, case)))
    });
    Ok(known.collect())
}

fn costs_in_store(plan: &Plan, context: &Context) -> Result<BTreeMap<String, PastCost>, CliError> {
    if !context.store.exists() {
        return Ok(BTreeMap::new());
    }
    let store = crate::store::open_for_reading(context)?;
    let ids = plan.cases.iter().map(|case| case.benchmark.id.as_str());
    Ok(past_costs(&store, &plan.suite, ids)?)
}

/// Returns the expected time of an instance.
fn expected_seconds(cost: &PastCost, case: &Case) -> f64 {
    // Only the plugin knows the number of rounds of a test that uses `benchmark`.
    if let (Some(test), Some(whole)) = (&case.pytest, cost.whole)
        && test.is_left_to_the_plugin(case.burn_in.planned(), case.iterations)
    {
        return whole;
    }
    let iterations = f64::from(case.burn_in.planned()) + f64::from(case.iterations);
    let planned = iterations * cost.iteration;
    let share = |budget: Duration| budget.as_secs_f64() / f64::from(case.instances);
    let least = case
        .min_time
        .map_or(planned, |budget| planned.max(share(budget)));
    let measuring = case
        .max_time
        .map_or(least, |budget| least.min(share(budget).max(cost.iteration)));
    measuring + cost.besides
}
