//! A duet: two instances measured at the same time, each on its own cores, whose iterations start together
//! (Bulej et al., "Duet Benchmarking", ICPE 2020). What disturbs the machine disturbs both, and cancels in their ratio.

use serde_json::json;

use super::super::repository::source::VariantPlace;
use super::event::Event;
use super::execute::{ExecutionResult, Executor};
use super::instance::{
    ExecutionStep, GivenUp, InstanceRunner, InstanceSurroundings, InstanceVisit,
};
use super::runner::{EventOutlet, RunError, RunnerSurroundings, instance_record, skip};
use super::schedule::InstancePlan;
use crate::suite::{CoreSet, Plan};
use lapwing_model::{DUET, Id, InstanceOutcome, Record, Run};

/// One of two instances that are measured together.
#[derive(Clone, Copy)]
pub(crate) struct DuetHalf<'p> {
    pub(crate) plan: &'p Plan,
    pub(crate) planned: InstancePlan,
}

impl<'p> DuetHalf<'p> {
    fn cores(&self) -> CoreSet {
        let place = (self.planned.case, self.planned.variant);
        self.plan.core_set(place, self.planned.block)
    }

    fn runner<'r>(
        self,
        id: Id,
        place: &VariantPlace,
        around: InstanceSurroundings<'r>,
    ) -> InstanceRunner<'r, 'p> {
        let visit = InstanceVisit {
            id,
            case: &self.plan.cases[self.planned.case],
            variant: &self.plan.variants[self.planned.variant],
        };
        InstanceRunner::new(visit, place, around)
    }
}

/// Measures two instances together; returns how each ended, `None` if it was interrupted.
pub(crate) fn measure_pair(
    halves: [DuetHalf<'_>; 2],
    runs: &[Run],
    around: &mut RunnerSurroundings<'_>,
    outlet: &mut EventOutlet<'_, '_>,
) -> Result<Vec<Option<InstanceOutcome>>, RunError> {
    let mut instances = halves.map(|half| instance_record(half.plan, runs, half.planned, around));
    let ids = [instances[0].id, instances[1].id];
    let mut places: Vec<VariantPlace> = Vec::new();
    let mut broken = None;
    for (at, half) in halves.iter().enumerate() {
        let set = half.cores();
        let cpus = half.plan.duet.as_ref().map(|cores| cores.of(set));
        let facts = json!({"partner": ids[1 - at], "cores": set.name(), "cpus": cpus});
        instances[at].attributes.insert(DUET.to_owned(), facts);
        match around.sources.of(&half.plan.variants[half.planned.variant]) {
            Ok(place) => places.push(place),
            Err(reason) => broken = broken.or(Some(reason.to_owned())),
        }
    }
    for (instance, half) in instances.into_iter().zip(&halves) {
        outlet.keep(&Record::Instance(instance))?;
        outlet.send(&Event::InstanceStarted {
            planned: half.planned,
            case: &half.plan.cases[half.planned.case],
            variant: &half.plan.variants[half.planned.variant],
        })?;
    }
    let second = around.second_executor.as_deref_mut();
    let ([one, other], Some(second)) = (&places[..], second) else {
        let reason = broken.unwrap_or_else(|| "a duet needs a second executor".to_owned());
        let skipped = ids.map(|id| skip(id, reason.clone(), around, outlet).map(Some));
        return skipped.into_iter().collect();
    };
    around.watch.begin();
    let [executor, partners_executor]: [&mut dyn Executor; 2] = match halves[0].cores() {
        CoreSet::First => [&mut *around.executor, second],
        CoreSet::Second => [second, &mut *around.executor],
    };
    let (clock, scratch) = (around.clock, around.scratch.as_path());
    let surroundings = |executor| InstanceSurroundings {
        executor,
        clock,
        scratch,
    };
    let mut pair = [
        halves[0].runner(ids[0], one, surroundings(executor)),
        halves[1].runner(ids[1], other, surroundings(partners_executor)),
    ];
    let [given_up, partner_given_up] = run_together(&mut pair, outlet)?;
    let ended = [
        pair[0].tear_down(given_up, outlet)?,
        pair[1].tear_down(partner_given_up, outlet)?,
    ];
    // Both were observed at the same time.
    let observed = around.watch.end(pair[0].own() + pair[1].own());
    let mut outcomes = Vec::new();
    for (runner, end) in pair.iter().zip(ended) {
        outcomes.push(runner.keep_end(end, observed.clone(), outlet)?);
    }
    Ok(outcomes)
}

/// Runs the iterations of both; returns why each ended early, if it did. When one ends, so does the other.
fn run_together(
    pair: &mut [InstanceRunner<'_, '_>; 2],
    outlet: &mut EventOutlet<'_, '_>,
) -> Result<[Option<GivenUp>; 2], RunError> {
    let mut given_up = [pair[0].set_up()?, pair[1].set_up()?];
    while given_up.iter().all(Option::is_none) && pair.iter().any(InstanceRunner::goes_on) {
        let offsets = [pair[0].since_start(), pair[1].since_start()];
        let steps = execute_together(pair)?;
        for (at, (step, executed)) in steps.into_iter().enumerate() {
            if let Some(step) = step {
                given_up[at] = pair[at].keep_step(offsets[at], step, executed.as_ref(), outlet)?;
            }
        }
        // Iterations of the same number were executed at the same time.
        let next = pair[0].index().max(pair[1].index());
        pair.iter_mut().for_each(|runner| runner.skip_to(next));
    }
    if given_up.iter().flatten().any(GivenUp::is_interruption) {
        return Ok([0, 1].map(|_half| Some(GivenUp::interrupted())));
    }
    for at in 0..2 {
        if given_up[at].is_none() && given_up[1 - at].is_some() && pair[at].index() == 0 {
            given_up[at] = Some(GivenUp {
                outcome: InstanceOutcome::Skipped,
                message: "the other side of the duet could not be measured".to_owned(),
            });
        }
    }
    Ok(given_up)
}

/// What came of an iteration of one side: nothing where the other side was not ready.
type DuetStep = (Option<ExecutionStep>, Option<ExecutionResult>);

/// Executes the timed commands of both at the same time; neither if one of them cannot be prepared.
fn execute_together(pair: &mut [InstanceRunner<'_, '_>; 2]) -> Result<[DuetStep; 2], RunError> {
    let unprepared = [pair[0].prepare()?, pair[1].prepare()?];
    if unprepared.iter().any(Option::is_some) {
        return Ok(unprepared.map(|step| (step, None)));
    }
    for runner in &mut *pair {
        runner.begin()?;
    }
    let executed = [pair[0].finish()?, pair[1].finish()?];
    let steps = [pair[0].assess(&executed[0])?, pair[1].assess(&executed[1])?];
    let (mut steps, mut executed) = (steps.map(Some), executed.map(Some));
    Ok([0, 1].map(|at| (steps[at].take(), executed[at].take())))
}
