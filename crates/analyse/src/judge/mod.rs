//! Turns cleaned values into results with intervals.
//!
//! The unit of replication is at least the instance: every interval here comes from the spread between instance means
//! or larger units, never from the spread within one instance, because iterations of one instance resemble each other.

mod campaign;
mod caution;
mod compare;
mod compat;
mod decide;
mod descriptive;
mod detection;
mod detection_file;
mod detection_source;
mod duet;
mod earlier;
mod family;
mod gate;
mod looks;
mod methods;
mod metrics;
mod pool;
mod replication;
mod self_test;
mod session_knowledge;
mod session_noise;
mod sides;
mod standing;
mod suite;
mod variability;
mod verdict;

use std::collections::BTreeSet;

use lapwing_stats::{Confidence, Interval};

use crate::clean::{CleanInstance, Cleaned};

pub use campaign::{
    Attempt, AttemptEnd, AttemptNote, AttemptOutcome, Campaign, FALSE_SHARE, MeasuredRatio,
    PlannedConfirmation, TriedChange, looked_difference,
};
pub use caution::{Caution, failing_side};
pub use compare::{
    CompareMethod, CompareOptions, ComparedRatio, Comparison, JudgedRatio, SideSample, compare,
};
pub use compat::coiled::{COILED_RESAMPLES, ComparisonAsCoiled};
pub use compat::hail::{ComparisonAsHail, HAIL_REPLICATES, HailComparison, analyze_as_hail};
pub use decide::decide;
pub use descriptive::{DescribedValues, DescriptiveRatio};
pub use detection::{
    Basis, CellRate, DetectionCell, DetectionGrid, DetectionOptions, USUAL_ASSURANCE, USUAL_POWER,
    USUAL_SLOWDOWN, WantedBasis, detection, detection_by_formula,
};
pub use detection_file::{ExperimentShare, ExperimentWriter, KnownExperiments};
pub use detection_source::{ExperimentSource, ExperimentTask, SharedSource};
pub use duet::DuetPart;
pub use earlier::EarlierComparisons;
pub use gate::{GateOutcome, failing};
pub use looks::Looks;
pub(crate) use metrics::stated_metric;
pub use metrics::{MetricChoice, metric};
pub use replication::environments::UnintendedDifference;
pub(crate) use replication::side_sample::failures;
pub use replication::size::SampleSize;
pub(crate) use replication::unit::hosts_as_units;
use replication::unit::means_by_host;
pub use replication::unit::{InstanceOrigin, Replication, ReplicationUnit};
pub use self_test::{CompareSelfTest, ComparedRates, FoundCount, self_test};
pub use session_noise::SessionNoise;
pub use sides::{SampleSplit, SideSamples, SuiteComparison};
pub use standing::Standing;
pub(crate) use variability::pilot;
pub use variability::{Variability, usable_variability, variability};
pub use verdict::{Verdict, VerdictReason};

/// The fewest instances per side for any verdict.
pub const INSTANCES_FOR_A_VERDICT: usize = 3;

/// The centre of one side, with its sample size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Geometric mean of the instance means, or the arithmetic one if one of them is not positive; in the metric's
    /// unit. Ratios are those of these values.
    pub value: f64,
    /// Its 95 % t interval over instances, or over hosts where these are the units of replication, on logarithms where the mean is geometric; `None` below two instances, and
    /// where it would reach beyond ten times a geometric mean: so few instances do not bound it.
    pub interval: Option<Interval>,
    /// Number of instances and iterations.
    pub size: SampleSize,
    /// Coefficient of variation of the instance means; `None` below two instances.
    pub cv: Option<f64>,
    /// The relative standard deviation between instances, as in [`Variability::components`].
    pub between: Option<f64>,
    /// The same of the iterations within instances.
    pub within: Option<f64>,
}

impl Estimate {
    /// Returns the noise between instances: where each has only one iteration, that of the iterations cannot be told
    /// apart and is included.
    pub fn noise(&self) -> Option<f64> {
        let only_one = self.size.most_iterations == 1;
        self.between.or(self.cv.filter(|_| only_one))
    }
}

/// Returns the estimate of a side's centre; `None` if there are no values.
pub fn estimate(cleaned: &Cleaned) -> Option<Estimate> {
    let means = instance_means(cleaned);
    let components = variability::components(cleaned);
    let hosts = hosts_as_units(cleaned);
    let (value, interval) = centre(&means, hosts.as_deref())?;
    Some(Estimate {
        value,
        interval,
        size: size(cleaned),
        cv: lapwing_stats::coefficient_of_variation(&means),
        between: components.map(|it| it.between.sqrt()),
        within: components.map(|it| it.within.sqrt()),
    })
}

/// An interval that reaches beyond so many times the mean bounds nothing.
const WIDEST: f64 = 10.0;

/// Returns the centre of instance means and its interval, over hosts where these are the units; `None` if there are no
/// means.
fn centre(means: &[f64], hosts: Option<&[usize]>) -> Option<(f64, Option<Interval>)> {
    let is_geometric = lapwing_stats::geometric_mean(means).is_some();
    let means = &match hosts {
        None => means.to_vec(),
        Some(hosts) if is_geometric => {
            let logs: Vec<f64> = means.iter().map(|it| it.ln()).collect();
            let of_hosts = means_by_host(&logs, hosts).into_iter();
            of_hosts.map(f64::exp).collect()
        }
        Some(hosts) => means_by_host(means, hosts),
    };
    let arithmetic = lapwing_stats::mean(means)?;
    let Some(geometric) = lapwing_stats::geometric_mean(means).filter(|_| is_geometric) else {
        let interval = lapwing_stats::mean_interval(means, Confidence::P95);
        return Some((arithmetic, interval));
    };
    let interval = lapwing_stats::geometric_mean_interval(means, Confidence::P95);
    let interval = interval.filter(|it| it.upper <= WIDEST * geometric);
    // Rounding alone is no difference: 4 MiB in every instance stay 4 MiB.
    if (geometric / arithmetic - 1.0).abs() < 1e-12 {
        let interval = interval.map(|_| Interval::around(arithmetic, 0.0));
        return Some((arithmetic, interval));
    }
    Some((geometric, interval))
}

/// Returns the ratio of two sides by the default method; `None` if a side has fewer than [`INSTANCES_FOR_A_VERDICT`]
/// instances or a mean that is not positive. The sides must be of one benchmark: nothing else about them is checked.
pub fn ratio(sides: [&SideSample; 2]) -> Option<JudgedRatio> {
    let few = |side: &&SideSample| side.cleaned.instances.len() < INSTANCES_FOR_A_VERDICT;
    if sides.iter().any(few) {
        return None;
    }
    compare::default_ratio(sides, CompareOptions::default().confidence)
}

/// Judges ratios of one metric together, by the same rules as [`compare`] with its default options: each gets the
/// interval that the family has for it. Returns which of them differ from 1, after correction for their number.
pub fn judge_together(ratios: &mut [&mut JudgedRatio]) -> Vec<bool> {
    let options = CompareOptions::default();
    let replications: Vec<&Replication> = ratios.iter().map(|it| &it.replication).collect();
    let borders = family::FamilyBorders {
        border: 0.0,
        band: options.band().ln_1p(),
    };
    let borders = vec![borders; replications.len()];
    let answers = family::judge_family(&replications, &[], &borders, &options, "");
    let judged = ratios.iter_mut().zip(answers);
    judged
        .map(|(judged, answer)| {
            let Some(answer) = answer else {
                return false;
            };
            judged.ratio.interval = Some(family::of_ratio(answer.interval));
            judged.ratio.p_value = answer.p_value;
            judged.ratio.method = answer.method;
            answer.differs
        })
        .collect()
}

fn instance_means(cleaned: &Cleaned) -> Vec<f64> {
    cleaned.instances.iter().map(CleanInstance::mean).collect()
}

fn size(cleaned: &Cleaned) -> SampleSize {
    let size = SampleSize::of(cleaned.instances.iter().map(|it| it.values.len()));
    let hosts = hosts_as_units(cleaned);
    SampleSize {
        hosts: hosts.map(|it| it.iter().collect::<BTreeSet<_>>().len()),
        ..size
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clean::LeftOut;

    fn cleaned(instances: &[&[f64]]) -> Cleaned {
        Cleaned {
            instances: instances
                .iter()
                .enumerate()
                .map(|(position, values)| CleanInstance {
                    position,
                    values: values.to_vec(),
                    without_value: 0,
                    host: None,
                })
                .collect(),
            left_out: LeftOut::default(),
        }
    }

    #[test]
    fn instances_weigh_the_same_whatever_their_length() {
        let estimate = estimate(&cleaned(&[&[1.0], &[3.0, 3.0, 3.0]])).expect("values");
        assert!((estimate.value - 3.0_f64.sqrt()).abs() < 1e-12);
        assert_eq!(estimate.size.text(), "2 instances × 1–3");
    }

    #[test]
    fn more_iterations_do_not_narrow_the_interval_between_instances() {
        let few = estimate(&cleaned(&[&[8.0], &[9.0], &[10.0]])).expect("values");
        let many = estimate(&cleaned(&[&[8.0; 50], &[9.0; 50], &[10.0; 50]])).expect("values");
        assert!(few.interval.is_some());
        assert_eq!(few.interval, many.interval);
    }

    #[test]
    fn no_interval_of_times_reaches_below_zero() {
        let skewed = estimate(&cleaned(&[&[0.1], &[5.0], &[9.0]])).expect("values");
        assert_eq!(skewed.interval, None);
        let skewed = estimate(&cleaned(&[&[2.0], &[5.0], &[9.0]])).expect("values");
        let interval = skewed.interval.expect("three instances");
        // scipy 1.17.1: np.exp(stats.t.interval(0.95, 2, np.log([2, 5, 9]).mean(), stats.sem(np.log([2, 5, 9]))))
        assert!(
            (interval.lower / 0.681_795_671_438_887_3 - 1.0).abs() < 1e-9,
            "{interval:?}"
        );
        assert!(
            (interval.upper / 29.456_022_300_759_393 - 1.0).abs() < 1e-9,
            "{interval:?}"
        );
        assert!((skewed.value / 4.481_404_746_557_165 - 1.0).abs() < 1e-12);
        let differences = estimate(&cleaned(&[&[-0.1], &[5.0], &[9.0]])).expect("values");
        assert!(differences.interval.is_some_and(|it| it.lower < 0.0));
    }

    #[test]
    fn noise_within_is_unknown_with_one_iteration_and_included_in_that_between() {
        let one = estimate(&cleaned(&[&[9.0], &[10.0], &[11.0]])).expect("values");
        assert_eq!((one.between, one.within), (None, None));
        assert_eq!(one.noise(), one.cv);
        let two = cleaned(&[&[9.0, 10.0], &[10.0, 11.0], &[19.0, 21.0]]);
        let estimate = estimate(&two).expect("values");
        let components = variability(&two).and_then(|it| it.components);
        assert_eq!(estimate.noise(), components.map(|it| it.between.sqrt()));
        assert_ne!(estimate.noise(), estimate.cv);
    }

    #[test]
    fn two_instances_a_side_give_no_ratio() {
        let two = cleaned(&[&[1.0], &[1.1]]);
        let three = cleaned(&[&[2.0], &[2.1], &[2.2]]);
        let [two, three] = [two, three].map(|cleaned| SideSample {
            cleaned,
            ..SideSample::default()
        });
        assert_eq!(ratio([&two, &three]), None);
        assert!(ratio([&three, &three]).is_some());
    }

    #[test]
    fn nothing_that_counts_gives_no_estimate() {
        assert_eq!(estimate(&Cleaned::default()), None);
    }
}
