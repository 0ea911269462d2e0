//! The share of false findings, by simulation (docs/calibration.md).

use lapwing_stats::{Confidence, Seed, as_f64};

use crate::average::tests::study;
use crate::finding::{FindingKind, findings};
use crate::scale::StudyScale;

/// The findings of simulated studies.
#[derive(Debug, Default)]
struct FindingCounts {
    /// Studies with any false effect or interaction.
    studies_with_false: usize,
    /// The sum over studies of the share of false ones among the findings.
    false_shares: f64,
    /// True findings, of those that there are.
    found: usize,
    true_effects: usize,
}

/// Studies of six treatments, all 64 settings. With effects: the first costs −8 %, the second −6 %, and both together
/// 4 % more than the sum; the others nothing.
fn simulate(studies: usize, replicates: usize, noise: f64, has_effects: bool) -> FindingCounts {
    let mut counts = FindingCounts::default();
    for number in 0..studies {
        let seed = Seed(22).split(&number.to_string());
        let data = study(6, replicates, |set, replicate| {
            let error = normal(seed.split(&format!("{set} {replicate}")));
            let [one, two] = [0, 1].map(|at| {
                if has_effects && set >> at & 1 == 1 {
                    1.0
                } else {
                    0.0
                }
            });
            (noise * error - 0.08 * one - 0.06 * two + 0.04 * one * two).exp()
        });
        let own = findings(&data, StudyScale::Log, Confidence::P95);
        let claims = own.iter().filter(|it| match it.kind() {
            FindingKind::Effect | FindingKind::Interaction | FindingKind::Sign => true,
            FindingKind::Undecided | FindingKind::Next => false,
        });
        let (mut right, mut wrong) = (0, 0);
        for claim in claims {
            let is_true = has_effects && claim.treatments().iter().all(|at| *at < 2);
            if is_true {
                right += 1;
            } else {
                wrong += 1;
            }
        }
        counts.studies_with_false += usize::from(wrong > 0);
        counts.false_shares += as_f64(wrong) / as_f64((wrong + right).max(1));
        counts.found += right;
        counts.true_effects += if has_effects { 3 } else { 0 };
    }
    counts
}

/// A standard normal number of a seed (Box & Muller).
fn normal(seed: Seed) -> f64 {
    let uniform = |part: &str| (as_f64(seed.split(part).0 >> 11) + 0.5) / as_f64(1_u64 << 53);
    (-2.0 * uniform("radius").ln()).sqrt() * (std::f64::consts::TAU * uniform("angle")).cos()
}

#[test]
fn findings_of_pure_noise_are_rare() {
    let counts = simulate(60, 2, 0.05, false);
    // Effects and interactions are two families of 5 % each.
    assert!(counts.studies_with_false <= 12, "{counts:?}");
}

#[test]
#[ignore = "a simulation: two minutes in release"]
fn table_of_false_findings() {
    println!(
        "| effects | noise | replicates | any false finding | share of false findings | true ones found |"
    );
    for has_effects in [false, true] {
        for (noise, replicates) in [(0.02, 2), (0.05, 1), (0.05, 2), (0.05, 4)] {
            let studies = 2_000;
            let counts = simulate(studies, replicates, noise, has_effects);
            let share = |count: f64| count / as_f64(studies);
            println!(
                "| {} | {:.0} % | {replicates} | {:.3} | {:.4} | {:.3} |",
                if has_effects { "three" } else { "none" },
                noise * 100.0,
                share(as_f64(counts.studies_with_false)),
                share(counts.false_shares),
                as_f64(counts.found) / as_f64(counts.true_effects.max(1))
            );
        }
    }
}
