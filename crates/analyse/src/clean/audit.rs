//! Exclusions from an analysis, per step, and the benchmarks that are not analysed.

use std::collections::BTreeSet;

use super::{BurnInSource, CleaningPolicy, InstanceStates, IterationState, LeftOut, states};
use crate::sample::{Sample, Setting};
use lapwing_model::{Id, MetricName};
use lapwing_record::InstanceData;

/// A step from everything recorded to what is analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum AuditStage {
    /// Everything.
    Recorded,
    /// The requested benchmarks.
    Known,
    /// Without burn-in.
    PastBurnIn,
    /// Without failed, timed-out, skipped or lost iterations, and without those that have no value.
    NotFailed,
    /// Without outliers.
    NotOutlier,
    /// Of benchmarks that reach a steady state.
    Steady,
    /// Of instances and benchmarks with enough data.
    Viable,
}

impl AuditStage {
    /// Every stage, in order.
    pub const ALL: [Self; 7] = [
        Self::Recorded,
        Self::Known,
        Self::PastBurnIn,
        Self::NotFailed,
        Self::NotOutlier,
        Self::Steady,
        Self::Viable,
    ];

    /// Returns its title.
    pub fn name(self) -> &'static str {
        self.words()[0]
    }

    /// Returns its name in data: `past_burn_in`.
    pub fn key(self) -> &'static str {
        self.words()[1]
    }

    /// Returns the reason why a benchmark without data after this stage is not analysed.
    pub fn reason(self) -> &'static str {
        self.words()[2]
    }

    /// Returns title, name in data and reason.
    fn words(self) -> [&'static str; 3] {
        match self {
            Self::Recorded => ["recorded", "recorded", "no iteration was recorded"],
            Self::Known => ["known", "known", "has no entry in the burn-in file"],
            Self::PastBurnIn => ["past burn-in", "past_burn_in", "all iterations are burn-in"],
            Self::NotFailed => ["not failed", "not_failed", "no iteration succeeded"],
            Self::NotOutlier => ["not outlying", "not_outlying", "all values are outlying"],
            Self::Steady => ["steady", "steady", "never reaches a steady state"],
            Self::Viable => [
                "viable",
                "viable",
                "too few instances or iterations are left",
            ],
        }
    }

    /// Returns the stage that excludes iterations of that state; `None` for those that remain.
    pub fn that_leaves_out(state: IterationState) -> Option<Self> {
        match state {
            IterationState::Steady => None,
            IterationState::Unknown => Some(Self::Known),
            IterationState::BurnIn => Some(Self::PastBurnIn),
            IterationState::Lost
            | IterationState::Failed
            | IterationState::TimedOut
            | IterationState::Skipped
            | IterationState::NoValue
            | IterationState::OtherUnit => Some(Self::NotFailed),
            IterationState::Outlier => Some(Self::NotOutlier),
            IterationState::Unsteady => Some(Self::Steady),
            IterationState::ShortInstance | IterationState::FewInstances => Some(Self::Viable),
        }
    }
}

/// Reasons why values that remain after cleaning are unusable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnusableReason {
    /// No remaining iteration has a value.
    NoValue,
    /// All values are zero.
    AllZero,
    /// An instance has a mean of zero, so shares of it are undefined.
    MeanOfZero,
    /// The values are so large that their mean is not finite.
    NoMean,
}

impl UnusableReason {
    /// Returns the reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::NoValue => "no iteration has a value for this metric",
            Self::AllZero => "all values are zero, so ratios are undefined",
            Self::MeanOfZero => "an instance has a mean of zero, so ratios are undefined",
            Self::NoMean => "the values are too large for arithmetic",
        }
    }
}

/// The amount of data after a stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Remaining {
    /// Benchmarks with at least one remaining instance.
    pub benchmarks: usize,
    /// Instances with at least one remaining iteration; of the recorded data, all.
    pub instances: usize,
    /// Remaining iterations.
    pub iterations: usize,
}

/// The amount of data after each stage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Funnel([Remaining; AuditStage::ALL.len()]);

impl Funnel {
    /// Returns the funnel of one benchmark from the states of its instances.
    pub fn of<'a>(instances: impl IntoIterator<Item = &'a [IterationState]>) -> Self {
        let mut funnel = Self::default();
        for states in instances {
            funnel.0[0].instances += 1;
            funnel.0[0].iterations += states.len();
            for (at, stage) in AuditStage::ALL.into_iter().enumerate().skip(1) {
                let is_left = |state: &&IterationState| {
                    AuditStage::that_leaves_out(**state).is_none_or(|leaves| leaves > stage)
                };
                let left = states.iter().filter(is_left).count();
                funnel.0[at].iterations += left;
                funnel.0[at].instances += usize::from(left > 0);
            }
        }
        for remaining in &mut funnel.0 {
            remaining.benchmarks = usize::from(remaining.instances > 0);
        }
        funnel
    }

    /// Adds another benchmark's funnel to this one.
    pub fn add(&mut self, other: &Self) {
        for (ours, theirs) in self.0.iter_mut().zip(other.0) {
            ours.benchmarks += theirs.benchmarks;
            ours.instances += theirs.instances;
            ours.iterations += theirs.iterations;
        }
    }

    /// Returns each stage with the amount of data after it.
    pub fn stages(&self) -> impl Iterator<Item = (AuditStage, Remaining)> + '_ {
        AuditStage::ALL.into_iter().zip(self.0)
    }

    /// Returns the stage after which no data remain; `None` if some do.
    pub fn dried_up_at(&self) -> Option<AuditStage> {
        self.stages()
            .find(|(_, remaining)| remaining.iterations == 0)
            .map(|(stage, _)| stage)
    }
}

/// Iterations of one instance that were excluded by one rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exclusion {
    /// The instance.
    pub instance: Id,
    /// The rule.
    pub state: IterationState,
    /// The indices of the iterations: first and last of each range.
    pub stretches: Vec<(u32, u32)>,
}

impl Exclusion {
    /// Returns the indices as text: `0–4, 17`.
    pub fn text(&self) -> String {
        let stretch = |(first, last): &(u32, u32)| {
            if first == last {
                first.to_string()
            } else {
                format!("{first}–{last}")
            }
        };
        let stretches: Vec<String> = self.stretches.iter().map(stretch).collect();
        stretches.join(", ")
    }
}

/// The exclusions from one benchmark and metric.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchmarkAudit {
    /// The benchmark's suite.
    pub suite: String,
    /// The benchmark's id.
    pub benchmark: String,
    /// The setting, if there are several.
    pub setting: Setting,
    /// The side, in a comparison.
    pub side: Option<String>,
    /// The metric.
    pub metric: MetricName,
    /// The rules that were applied.
    pub policy: CleaningPolicy,
    /// The source of the start of the steady state.
    pub burn_in: BurnInSource,
    /// The amount of data after each stage.
    pub funnel: Funnel,
    /// Number of iterations excluded by each rule.
    pub left_out: LeftOut,
    /// The excluded iterations, by instance and rule.
    pub exclusions: Vec<Exclusion>,
    /// The reason why the remaining values are unusable; `None` if they are usable, or none remain.
    pub unusable: Option<UnusableReason>,
}

impl BenchmarkAudit {
    /// Returns the audit of a sample under a policy.
    pub fn of(
        sample: &Sample<'_>,
        metric: &str,
        policy: CleaningPolicy,
        burn_in: BurnInSource,
    ) -> Self {
        let states: Vec<(&InstanceData, InstanceStates)> =
            states(sample.instances.iter().copied(), metric, policy);
        let all = states.iter().flat_map(|(_, it)| it.states.iter().copied());
        Self {
            suite: sample.suite.to_owned(),
            benchmark: sample.benchmark.id.clone(),
            setting: sample.setting.clone(),
            side: None,
            metric: metric.to_owned(),
            policy,
            burn_in,
            funnel: Funnel::of(states.iter().map(|(_, it)| it.states.as_slice())),
            left_out: LeftOut::of(all),
            exclusions: states
                .iter()
                .flat_map(|(data, it)| {
                    exclusions(data.instance.id, data.iterations.indices(), &it.states)
                })
                .collect(),
            unusable: None,
        }
    }

    /// Returns the audit with the reason why the values are unusable, if there is one.
    #[must_use]
    pub fn as_unusable(mut self, why: Option<UnusableReason>) -> Self {
        self.unusable = why;
        self
    }

    /// Returns the audit for a side of a comparison.
    #[must_use]
    pub fn on_side(mut self, side: Option<String>) -> Self {
        self.side = side;
        self
    }

    /// Returns the reason why it is not analysed, in words; `None` if it is.
    pub fn reason(&self) -> Option<String> {
        let Some(stage) = self.funnel.dried_up_at() else {
            return self.unusable.map(|it| it.reason().to_owned());
        };
        if self.funnel.0[0].iterations == 0 {
            return Some("no iteration was recorded".to_owned());
        }
        if stage == AuditStage::NotFailed && self.has_only_gaps() {
            return Some(UnusableReason::NoValue.reason().to_owned());
        }
        if stage != AuditStage::Viable {
            return Some(stage.reason().to_owned());
        }
        let enough = self
            .exclusions
            .iter()
            .filter(|it| it.state == IterationState::FewInstances)
            .count();
        let iterations = self.policy.min_iterations;
        if enough == 0 {
            return Some(format!(
                "no instance has the required {iterations} iterations"
            ));
        }
        let (noun, verb) = if enough == 1 {
            ("instance", "is")
        } else {
            ("instances", "are")
        };
        let of = match iterations {
            0 | 1 => String::new(),
            iterations => format!(" of {iterations} iterations or more"),
        };
        let needed = self.policy.min_instances;
        Some(format!("{enough} {noun}{of} {verb} left; needs {needed}"))
    }

    /// Returns whether iterations succeeded, but all of them without a value.
    fn has_only_gaps(&self) -> bool {
        let failures = [
            IterationState::Lost,
            IterationState::Failed,
            IterationState::TimedOut,
            IterationState::Skipped,
        ];
        self.left_out.count(IterationState::NoValue) > 0
            && failures.into_iter().all(|it| self.left_out.count(it) == 0)
    }
}

fn exclusions(
    instance: Id,
    indices: impl Iterator<Item = u32>,
    states: &[IterationState],
) -> Vec<Exclusion> {
    let mut exclusions: Vec<Exclusion> = Vec::new();
    for (index, &state) in indices.zip(states) {
        if state == IterationState::Steady {
            continue;
        }
        let at = exclusions
            .iter()
            .position(|exclusion| exclusion.state == state)
            .unwrap_or_else(|| {
                exclusions.push(Exclusion {
                    instance,
                    state,
                    stretches: Vec::new(),
                });
                exclusions.len() - 1
            });
        match exclusions[at].stretches.last_mut() {
            Some((_, last)) if index.checked_sub(1) == Some(*last) => *last = index,
            _ => exclusions[at].stretches.push((index, index)),
        }
    }
    exclusions
}

/// The exclusions from an analysis of many benchmarks.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Audit {
    /// Each benchmark and metric, in the order of analysis.
    pub benchmarks: Vec<BenchmarkAudit>,
}

impl Audit {
    /// Returns the amount of data of all of them after each stage. A benchmark is counted once, however many metrics
    /// and settings of it are analysed; instances and iterations are counted per metric.
    pub fn funnel(&self) -> Funnel {
        let mut sum = Funnel::default();
        for benchmark in &self.benchmarks {
            sum.add(&benchmark.funnel);
        }
        for (at, total) in sum.0.iter_mut().enumerate() {
            let left = self
                .benchmarks
                .iter()
                .filter(|it| it.funnel.0[at].instances > 0)
                .map(|it| (it.suite.as_str(), it.benchmark.as_str()));
            total.benchmarks = left.collect::<BTreeSet<_>>().len();
        }
        sum
    }

    /// Returns whether a benchmark is analysed by several metrics, so that its instances are counted more than once.
    pub fn has_several_metrics(&self) -> bool {
        let benchmark = |it: &BenchmarkAudit| (it.suite.clone(), it.benchmark.clone());
        let all = self.benchmarks.iter();
        let metrics: BTreeSet<_> = all.map(|it| (benchmark(it), &it.metric)).collect();
        let benchmarks: BTreeSet<_> = metrics.iter().map(|it| &it.0).collect();
        metrics.len() > benchmarks.len()
    }

    /// Returns whether more than one setting is analysed.
    pub fn has_several_settings(&self) -> bool {
        let settings = self.benchmarks.iter().map(|it| it.setting.text());
        settings.collect::<BTreeSet<_>>().len() > 1
    }

    /// Returns whether benchmarks of more than one suite are analysed.
    pub fn has_several_suites(&self) -> bool {
        let suites = self.benchmarks.iter().map(|it| it.suite.as_str());
        suites.collect::<BTreeSet<_>>().len() > 1
    }

    /// Returns the total number of excluded iterations, by rule.
    pub fn left_out(&self) -> LeftOut {
        let mut sum = LeftOut::default();
        for benchmark in &self.benchmarks {
            sum.add(&benchmark.left_out);
        }
        sum
    }

    /// Returns the benchmarks that are not analysed: those without remaining data, with the stage that excluded the
    /// last, and without a stage those with unusable values.
    pub fn not_viable(&self) -> impl Iterator<Item = (&BenchmarkAudit, Option<AuditStage>)> {
        self.benchmarks.iter().filter_map(|it| {
            let stage = it.funnel.dried_up_at();
            (stage.is_some() || it.unusable.is_some()).then_some((it, stage))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use IterationState::{BurnIn, Failed, FewInstances, Outlier, ShortInstance, Steady};

    #[test]
    fn each_stage_counts_what_is_left() {
        let instances: [&[IterationState]; 3] = [
            &[BurnIn, Steady, Failed, Steady, Outlier],
            &[BurnIn, Failed],
            &[],
        ];
        let left: Vec<(usize, usize)> = Funnel::of(instances)
            .stages()
            .map(|(_, it)| (it.instances, it.iterations))
            .collect();
        let expected = [(3, 7), (2, 7), (2, 5), (1, 3), (1, 2), (1, 2), (1, 2)];
        assert_eq!(left, expected);
    }

    #[test]
    fn the_stage_that_takes_the_last_is_the_reason() {
        let of = |states: &[IterationState]| Funnel::of([states]).dried_up_at();
        assert_eq!(of(&[BurnIn, Failed]), Some(AuditStage::NotFailed));
        assert_eq!(of(&[BurnIn, FewInstances]), Some(AuditStage::Viable));
        assert_eq!(of(&[BurnIn, Steady]), None);
        assert_eq!(of(&[]), Some(AuditStage::Recorded));
    }

    fn audit(metric: &str, states: &[IterationState], policy: CleaningPolicy) -> BenchmarkAudit {
        let id = Id::derived(&[b"it"]);
        let index: Vec<u32> = (0..).take(states.len()).collect();
        BenchmarkAudit {
            suite: "s".to_owned(),
            benchmark: "b".to_owned(),
            setting: Setting::default(),
            side: None,
            metric: metric.to_owned(),
            policy,
            burn_in: BurnInSource::Recorded,
            funnel: Funnel::of([states]),
            left_out: LeftOut::of(states.iter().copied()),
            exclusions: exclusions(id, index.into_iter(), states),
            unusable: None,
        }
    }

    #[test]
    fn a_benchmark_is_one_by_any_number_of_metrics() {
        let policy = CleaningPolicy::default();
        let one = audit("wall_time", &[BurnIn, Steady], policy);
        let other = audit("user_time", &[BurnIn, Failed], policy);
        let audit = Audit {
            benchmarks: vec![one.clone(), other],
        };
        assert!(audit.has_several_metrics());
        let left: Vec<(usize, usize)> = audit
            .funnel()
            .stages()
            .map(|(_, it)| (it.benchmarks, it.iterations))
            .collect();
        let expected = [(1, 4), (1, 4), (1, 2), (1, 1), (1, 1), (1, 1), (1, 1)];
        assert_eq!(left, expected);
        let benchmarks = vec![one];
        assert!(!Audit { benchmarks }.has_several_metrics());
    }

    #[test]
    fn values_that_are_of_no_use_are_not_viable_without_any_stage() {
        let of = |states: &[IterationState], why| {
            audit("wall_time", states, CleaningPolicy::default()).as_unusable(why)
        };
        let benchmarks = vec![
            of(&[BurnIn, Steady], Some(UnusableReason::AllZero)),
            of(&[BurnIn, Steady], None),
            of(
                &[BurnIn, IterationState::NoValue],
                Some(UnusableReason::NoValue),
            ),
            of(
                &[IterationState::NoValue, Failed],
                Some(UnusableReason::NoValue),
            ),
        ];
        let audit = Audit { benchmarks };
        let found: Vec<(Option<AuditStage>, String)> = audit
            .not_viable()
            .map(|(it, stage)| (stage, it.reason().unwrap_or_default()))
            .collect();
        let expected = [
            (None, "all values are zero, so ratios are undefined"),
            (
                Some(AuditStage::NotFailed),
                "no iteration has a value for this metric",
            ),
            (Some(AuditStage::NotFailed), "no iteration succeeded"),
        ];
        assert_eq!(found, expected.map(|(stage, why)| (stage, why.to_owned())));
    }

    #[test]
    fn what_is_not_viable_says_what_it_lacks() {
        let policy = CleaningPolicy {
            min_iterations: 2,
            min_instances: 3,
            ..CleaningPolicy::default()
        };
        let reason = |states: &[IterationState]| audit("wall_time", states, policy).reason();
        let few = reason(&[BurnIn, FewInstances, FewInstances]).expect("nothing is left");
        assert_eq!(few, "1 instance of 2 iterations or more is left; needs 3");
        let short = reason(&[BurnIn, ShortInstance]).expect("nothing is left");
        assert_eq!(short, "no instance has the required 2 iterations");
        let failed = reason(&[BurnIn, Failed]).expect("nothing is left");
        assert_eq!(failed, "no iteration succeeded");
        assert_eq!(reason(&[Steady, Steady]), None);
        let nothing = reason(&[]).expect("nothing is left");
        assert_eq!(nothing, "no iteration was recorded");
    }

    #[test]
    fn indices_are_told_in_stretches() {
        let id = Id::derived(&[b"it"]);
        let states = [BurnIn, BurnIn, Steady, Outlier, Steady, Outlier];
        let texts: Vec<(IterationState, String)> =
            exclusions(id, [0, 1, 2, 3, 4, 6].into_iter(), &states)
                .iter()
                .map(|it| (it.state, it.text()))
                .collect();
        let expected = [(BurnIn, "0–1".to_owned()), (Outlier, "3, 6".to_owned())];
        assert_eq!(texts, expected);
    }
}
