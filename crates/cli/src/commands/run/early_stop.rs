//! `lapwing run --stop-early`: stops measuring a benchmark when its comparison has a verdict or will hardly get one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lapwing_analyse::judge::{CompareOptions, Comparison, MetricChoice, Standing};
use lapwing_analyse::sample::{RunKey, SampleFilter, Selector, SideSpec};
use lapwing_measure::suite::{Plan, StopEarly};
use lapwing_measure::{FixedSchedule, InstancePlan, RunEnd, RunError};
use lapwing_model::Id;
use lapwing_model::text::{counted, grouped};
use lapwing_stats::look_sizes;

use super::summary::Summary;
use crate::cleaning::CleaningOptions;
use crate::comparing::gather;
use crate::error::CliError;
use crate::options::Context;
use crate::store::open_for_reading;
use lapwing_measure::session::OpenMeasurement;

/// The metric that decides where none is named.
const METRIC: &str = "wall_time";
/// Without a comparison, a benchmark is answered when its mean is known this well.
const PRECISION: f64 = 0.05;

/// Judges a session while it is measured.
pub struct SessionJudge<'a> {
    plan: &'a Plan,
    session: Id,
    rule: &'a StopEarly,
    context: &'a Context,
}

/// The result of a look.
#[derive(Debug, Default)]
struct LookResult {
    /// The benchmarks that are complete, as positions in the plan.
    closed: BTreeSet<usize>,
    /// Number of questions: comparisons, or means where nothing is compared.
    questions: usize,
    answered: usize,
    hopeless: usize,
}

impl<'a> SessionJudge<'a> {
    pub fn new(plan: &'a Plan, session: Id, rule: &'a StopEarly, context: &'a Context) -> Self {
        Self {
            plan,
            session,
            rule,
            context,
        }
    }

    /// Measures all benchmarks between looks at the results, and only the open ones after each.
    pub fn visits(
        &self,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
        schedule: &FixedSchedule,
    ) -> Result<RunEnd, RunError> {
        for commit in &measurement.checkouts().wanted(schedule) {
            if !measurement.prepare(commit)? {
                return Ok(RunEnd::Interrupted);
            }
        }
        let ordinals = ordinals(self.plan);
        let sizes: Vec<Vec<usize>> = self
            .plan
            .cases
            .iter()
            .map(|case| look_sizes(case.instances as usize))
            .collect();
        let looks = sizes.iter().map(Vec::len).max().unwrap_or(0);
        let mut left: Vec<InstancePlan> = schedule.left().copied().collect();
        let planned = left.len();
        let mut result = LookResult::default();
        let mut measured = 0;
        for look in 0..looks {
            let is_due = |it: &InstancePlan| {
                let sizes = &sizes[it.case];
                let size = sizes[look.min(sizes.len() - 1)];
                ordinals
                    .get(&(it.case, it.block))
                    .is_some_and(|at| *at < size)
            };
            let due: Vec<InstancePlan> = left.extract_if(.., |it| is_due(it)).collect();
            let due = due
                .into_iter()
                .filter(|it| !result.closed.contains(&it.case));
            let mut due = FixedSchedule::of(due);
            let is_empty = due.left().next().is_none();
            if !is_empty {
                measured += due.left().count();
                let number = u32::try_from(look + 1).unwrap_or(u32::MAX);
                measurement.set_look(Some(number));
                if measurement.visit(&mut due)? == RunEnd::Interrupted {
                    return Ok(RunEnd::Interrupted);
                }
            }
            match self.look() {
                Ok(found) => result = found,
                // What was measured is there, and more of it does no harm.
                Err(error) => self.context.terminal.note(&format!(
                    "the results cannot be judged yet ({}); measuring continues",
                    error.cause
                )),
            }
            if result.closed.len() == self.plan.cases.len() {
                break;
            }
        }
        self.conclude(&result, measured, planned);
        Ok(RunEnd::Complete)
    }

    fn conclude(&self, result: &LookResult, measured: usize, planned: usize) {
        if self.context.quiet || planned == 0 {
            return;
        }
        let what = match candidates(self.plan).len() {
            0 | 1 => "mean",
            _ => "comparison",
        };
        let mut parts = vec![format!(
            "{} of {} answered",
            grouped(result.answered),
            counted(result.questions, what)
        )];
        if result.hopeless > 0 {
            parts.push(format!(
                "{} abandoned: an answer within --instances is unlikely",
                grouped(result.hopeless)
            ));
        }
        self.context.terminal.say(&format!(
            "{}; measured {} of at most {}",
            parts.join(", "),
            grouped(measured),
            counted(planned, "instance")
        ));
    }

    /// Returns which benchmarks are answered or hopeless by now.
    fn look(&self) -> Result<LookResult, CliError> {
        let candidates = candidates(self.plan);
        if candidates.len() < 2 {
            return self.precision();
        }
        let comparisons = comparisons(
            self.plan,
            self.session,
            &candidates,
            self.rule,
            |options| options,
            self.context,
        )?;
        let mut result = LookResult::default();
        for (at, case) in self.plan.cases.iter().enumerate() {
            let of_case = comparisons
                .iter()
                .filter(|it| it.subject.benchmark == case.benchmark.id);
            let standings: Vec<Standing> = of_case
                .map(|it| it.standing(case.instances as usize))
                .collect();
            result.questions += standings.len();
            let mut is_open = false;
            for standing in standings {
                match standing {
                    Standing::Answered => result.answered += 1,
                    Standing::Open => is_open = true,
                    Standing::Hopeless(_) => result.hopeless += 1,
                    Standing::Impossible => {}
                }
            }
            if !is_open {
                result.closed.insert(at);
            }
        }
        Ok(result)
    }

    /// Returns which means are known well enough, where nothing is compared.
    fn precision(&self) -> Result<LookResult, CliError> {
        let wanted = self.rule.smallest_effect.unwrap_or(PRECISION);
        let store = open_for_reading(self.context)?;
        let summary = Summary::of_session(&store, self.session, self.plan, None)?;
        let mut result = LookResult::default();
        for (at, case) in self.plan.cases.iter().enumerate() {
            result.questions += 1;
            let row = summary
                .rows
                .iter()
                .find(|it| it.benchmark == case.benchmark.id);
            let Some(row) = row else { continue };
            let named = self.rule.metric.as_deref().unwrap_or(METRIC);
            let estimate = match named {
                METRIC => row.wall,
                named => row.own.iter().find(|it| it.0 == named).map(|it| it.2),
            };
            let Some(estimate) = estimate else {
                continue;
            };
            let half = estimate.interval.map(|it| (it.upper - it.lower) / 2.0);
            if half.is_some_and(|half| half <= wanted * estimate.value.abs()) {
                result.answered += 1;
                result.closed.insert(at);
            }
        }
        Ok(result)
    }
}

/// Returns the variants that are compared: all but the control.
pub fn candidates(plan: &Plan) -> Vec<SideSpec> {
    let compared = plan.variants.iter().filter(|it| it.control_of.is_none());
    compared
        .filter_map(|it| format!("variant:{}", it.name).parse().ok())
        .collect()
}

/// Returns the comparisons of the variants of a session with the first one, as `lapwing compare` makes them.
pub fn comparisons(
    plan: &Plan,
    session: Id,
    sides: &[SideSpec],
    rule: &StopEarly,
    adjust: impl Fn(CompareOptions) -> CompareOptions,
    context: &Context,
) -> Result<Vec<Comparison>, CliError> {
    let folder = plan.directory.as_ref().map(Path::new);
    let judging = CleaningOptions::of_folder(folder).judging()?;
    let metric = rule.metric.clone().unwrap_or_else(|| METRIC.to_owned());
    let filter = SampleFilter {
        runs: Selector::of(RunKey::Session, &[session.to_string()]),
        metrics: vec![metric.clone()],
        ..SampleFilter::default()
    };
    let metrics = MetricChoice::Named(vec![metric]);
    let gathered = gather(sides, &filter, &metrics, &judging, context)?;
    let usual = CompareOptions::default();
    let options = adjust(CompareOptions {
        confidence: judging.confidence.unwrap_or(usual.confidence),
        smallest_effect: rule.smallest_effect.or(judging.smallest_effect),
        false_discovery_rate: judging
            .false_discovery_rate
            .unwrap_or(usual.false_discovery_rate),
        ..usual
    });
    let comparisons = gathered.samples.compare(&gathered.names, &options);
    let known: BTreeSet<&str> = plan
        .cases
        .iter()
        .map(|it| it.benchmark.id.as_str())
        .collect();
    let of_plan = comparisons
        .into_iter()
        .filter(|it| known.contains(it.subject.benchmark.as_str()));
    Ok(of_plan.collect())
}

/// Returns the number of each block among those of its benchmark.
fn ordinals(plan: &Plan) -> BTreeMap<(usize, u32), usize> {
    let all = FixedSchedule::new(plan);
    let blocks: BTreeSet<(usize, u32)> = all.left().map(|it| (it.case, it.block)).collect();
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let numbered = blocks.into_iter().map(|key| {
        let count = counts.entry(key.0).or_insert(0);
        *count += 1;
        (key, *count - 1)
    });
    numbered.collect()
}
