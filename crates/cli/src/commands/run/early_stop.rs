//! `lapwing run --stop-early`: stops measuring a benchmark when its comparison has a verdict or will hardly get one.

use std::collections::BTreeSet;

use lapwing_analyse::explain::LookResult;
use lapwing_analyse::judge::{CompareOptions, Comparison, MetricChoice};
use lapwing_analyse::sample::{RunKey, SampleFilter, Selector, SideSpec};
use lapwing_measure::session::{LookedMeasurement, OpenMeasurement, measure_between_looks};
use lapwing_measure::suite::{AdHoc, Plan, StopEarly};
use lapwing_measure::{FixedSchedule, RunEnd, RunError};
use lapwing_model::Session;
use lapwing_model::text::{counted, grouped};

use super::familiar::REFERENCE;
use super::session_results;
use crate::cleaning::{CleaningOptions, JudgingOptions};
use crate::comparing::gather;
use crate::error::CliError;
use crate::options::Context;
use crate::store::open_for_reading;

/// The metric that decides where none is named.
const METRIC: &str = "wall_time";
/// Without a comparison, a benchmark is answered when its mean is known this well.
const PRECISION: f64 = 0.05;

/// A session that is judged while it is measured.
pub struct JudgedSession<'a> {
    pub plan: &'a Plan,
    pub session: &'a Session,
    pub rule: &'a StopEarly,
    pub context: &'a Context,
}

impl JudgedSession<'_> {
    /// Measures all benchmarks between looks at the results, and only the open ones after each.
    pub fn measure(
        &self,
        measurement: &mut OpenMeasurement<'_, '_, '_>,
        schedule: &FixedSchedule,
    ) -> Result<RunEnd, RunError> {
        let mut last = LookResult::default();
        let look = || {
            match self.look() {
                Ok(result) => last = result,
                // What was measured is there, and more of it does no harm.
                Err(error) => self.context.terminal.note(&format!(
                    "the results cannot be judged yet ({}); measuring continues",
                    error.cause
                )),
            }
            last.closed.clone()
        };
        let measured = measure_between_looks(measurement, self.plan, schedule, look, &|| false)?;
        if measured.end == RunEnd::Complete {
            self.conclude(&last, &measured);
        }
        Ok(measured.end)
    }

    fn conclude(&self, result: &LookResult, measurement: &LookedMeasurement) {
        if self.context.quiet || measurement.planned == 0 {
            return;
        }
        let question = match candidates(self.plan).len() {
            0 | 1 if !are_compared(self.plan) => "mean",
            _ => "comparison",
        };
        let abandoned = match result.hopeless {
            0 => String::new(),
            number => format!(
                ", {} abandoned: an answer within --instances is unlikely",
                grouped(number)
            ),
        };
        self.context.terminal.say(&format!(
            "{} of {} answered{abandoned}; measured {} of at most {}",
            grouped(result.answered),
            counted(result.questions, question),
            grouped(measurement.measured),
            counted(measurement.planned, "instance")
        ));
    }

    /// Returns the benchmarks that are answered or hopeless by now.
    fn look(&self) -> Result<LookResult, CliError> {
        let plan = self.plan;
        let cases = plan
            .cases
            .iter()
            .map(|case| (case.benchmark.id.as_str(), case.instances as usize));
        let candidates = candidates(plan);
        if candidates.len() < 2 {
            let precision = self.rule.smallest_effect.unwrap_or(PRECISION);
            let store = open_for_reading(self.context)?;
            let asked = (self.rule.metric.as_deref(), self.rule.smallest_effect);
            let results = session_results(&store, self.session, plan, asked)?;
            if are_compared(plan) {
                let reference = self.session.attributes.get(REFERENCE);
                let reference = reference.and_then(|it| it.as_str());
                return Ok(LookResult::of_benchmarks(
                    &results.compare_benchmarks(reference),
                    cases,
                ));
            }
            return Ok(LookResult::of_means(
                &results,
                cases.map(|(id, _)| id),
                precision,
            ));
        }
        let options = |options| options;
        let comparisons = comparisons(
            plan,
            self.session,
            &candidates,
            self.rule,
            options,
            self.context,
        )?;
        Ok(LookResult::of_comparisons(&comparisons, cases))
    }
}

/// Returns whether the commands of a plan are compared with each other.
fn are_compared(plan: &Plan) -> bool {
    plan.suite == AdHoc::SUITE && plan.cases.len() > 1 && plan.variants.len() < 2
}

/// Returns the sides that are compared: the commits of a range, else all variants but the control.
pub fn candidates(plan: &Plan) -> Vec<SideSpec> {
    let compared = plan.variants.iter().filter(|it| it.control_of.is_none());
    let mut names: Vec<String> = Vec::new();
    for variant in compared {
        let commit = variant.commit.as_ref();
        let name = match commit.and_then(|it| it.version.commit.as_ref()) {
            // Patches of one commit are variants.
            Some(hash) if commit.is_some_and(|it| it.patches.is_empty()) => {
                format!("commit:{hash}")
            }
            Some(_) | None => format!("variant:{}", variant.name),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.iter().filter_map(|it| it.parse().ok()).collect()
}

/// Returns the comparisons of the variants of a session with the first one, as `lapwing compare` makes them.
pub fn comparisons(
    plan: &Plan,
    session: &Session,
    sides: &[SideSpec],
    rule: &StopEarly,
    adjust: impl Fn(CompareOptions) -> CompareOptions,
    context: &Context,
) -> Result<Vec<Comparison>, CliError> {
    let judging = JudgingOptions {
        is_effect_asked: rule.smallest_effect.is_some(),
        ..CleaningOptions::of_session(session, plan).judging()?
    };
    let metric = rule.metric.clone().unwrap_or_else(|| METRIC.to_owned());
    let filter = SampleFilter {
        runs: Selector::of(RunKey::Session, &[session.id.to_string()]),
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
