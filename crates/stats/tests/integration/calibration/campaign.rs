//! Campaigns of attempts: the share of accepted changes that do nothing, and the share of real ones that are accepted.

use lapwing_stats::{
    ChangeAnswer, ExpectedChange, LookedDifference, Seed, TestStream, as_f64, comparison_looks,
    confirming_look,
};
use rand::{Rng, RngExt};

use super::noise::normal;
use super::rounds::show;

const EFFECT: f64 = 0.05;
const ALPHA: f64 = 0.05;
const MOST: usize = 30;
/// The most instances of a confirmation, as `lapwing judge` has it.
const MOST_CONFIRMING: usize = 3 * MOST;
const ATTEMPTS: usize = 40;

/// Noise of instances: its standard deviation, and the share of those that are 1.3 to 3 times as slow.
#[derive(Debug, Clone, Copy)]
struct Machine {
    noise: f64,
    slow: f64,
}

impl Machine {
    fn instance(self, random: &mut impl Rng) -> f64 {
        let usual = self.noise * normal(random);
        if random.random::<f64>() < self.slow {
            return usual + (1.3 + 1.7 * random.random::<f64>()).ln();
        }
        usual
    }

    fn side(self, count: usize, change: f64, random: &mut impl Rng) -> Vec<f64> {
        (0..count).map(|_| self.instance(random) + change).collect()
    }
}

/// What became of the attempts of many campaigns.
#[derive(Debug, Default)]
struct CampaignCounts {
    campaigns: f64,
    /// The sum of each campaign's share of accepted changes that do nothing.
    false_shares: f64,
    /// Changes that do something.
    real: f64,
    /// Those that a single judgement calls faster, and those of them that were accepted.
    found: f64,
    accepted: f64,
    /// Changes that do nothing and that a single judgement calls faster, and those of them that were accepted.
    lucky: f64,
    wrong: f64,
    /// The sums of the accepted changes as the first and as the second judgement saw them, over the real ones.
    sizes: [f64; 2],
    instances: f64,
}

/// Tries changes of these sizes, as shares of the time that is saved, 0 for nothing.
fn campaign(changes: &[f64], machine: Machine, random: &mut impl Rng, counts: &mut CampaignCounts) {
    let expected = ExpectedChange::Faster;
    let looks = comparison_looks(MOST, None, expected.two_sided_level(ALPHA));
    let mut stream = TestStream::new(ALPHA);
    let (mut right, mut wrong) = (0.0, 0.0);
    for saved in changes {
        let change = (-saved).ln_1p();
        let mut sides = [Vec::new(), Vec::new()];
        let mut first = None;
        for look in &looks {
            let more = look.replicates - sides[0].len();
            sides[0].extend(machine.side(more, 0.0, random));
            sides[1].extend(machine.side(more, change, random));
            let looked = LookedDifference::by_ranks(*look, &sides[0], &sides[1]).unwrap();
            match expected.answer(&looked, EFFECT.ln_1p()) {
                ChangeAnswer::Undecided => {}
                ChangeAnswer::Faster => {
                    first = Some(looked);
                    break;
                }
                _ => break,
            }
        }
        counts.instances += as_f64(sides[0].len());
        let is_real = *saved > 0.0;
        counts.real += f64::from(is_real);
        let Some(first) = first else { continue };
        let look = confirming_look(&first, EFFECT.ln_1p(), stream.level(), MOST_CONFIRMING);
        let [baseline, candidate] =
            [0.0, change].map(|it| machine.side(look.replicates, it, random));
        let second = LookedDifference::by_ranks(look, &baseline, &candidate).unwrap();
        let is_accepted = second.value < 0.0 && second.p_value <= second.level;
        stream.add(is_accepted);
        counts.instances += as_f64(look.replicates);
        let accepted = f64::from(is_accepted);
        if is_real {
            counts.found += 1.0;
            counts.accepted += accepted;
            right += accepted;
            for (sum, looked) in counts.sizes.iter_mut().zip([first, second]) {
                *sum += accepted * looked.value / change;
            }
        } else {
            counts.lucky += 1.0;
            counts.wrong += accepted;
            wrong += accepted;
        }
    }
    counts.campaigns += 1.0;
    counts.false_shares += wrong / (wrong + right).max(1.0);
}

/// Runs campaigns in which so many of the changes save 3 to 10 % of the time, at random places.
fn campaigns(number: u64, real: usize, machine: Machine) -> CampaignCounts {
    let mut counts = CampaignCounts::default();
    for trial in 0..number {
        let random = &mut Seed(46).block(trial);
        let mut changes = [0.0; ATTEMPTS];
        for place in 0..real {
            // One in each part of the campaign.
            let within: f64 = random.random();
            let part = as_f64(ATTEMPTS) / as_f64(real);
            let at = ((as_f64(place) + within) * part).floor();
            let position = (0..ATTEMPTS).find(|it| as_f64(*it) >= at).unwrap();
            changes[position] = 0.03 + 0.07 * random.random::<f64>();
        }
        campaign(&changes, machine, random, &mut counts);
    }
    let [first, second] = counts.sizes.map(|sum| sum / counts.accepted.max(1.0));
    show(&format!(
        "{machine:?}, {real} real of {ATTEMPTS}: a single judgement finds {:.1} % of the real ones, the campaign accepts {:.1} % of these; per campaign {:.2} lucky ones, {:.4} accepted; false share {:.2} %; sizes {first:.3} and {second:.3} of the true ones; {:.1} instances per attempt",
        100.0 * counts.found / counts.real.max(1.0),
        100.0 * counts.accepted / counts.found.max(1.0),
        counts.lucky / counts.campaigns,
        counts.wrong / counts.campaigns,
        100.0 * counts.false_shares / counts.campaigns,
        counts.instances / counts.campaigns / as_f64(ATTEMPTS),
    ));
    counts
}

fn is_as_stated(number: u64, machine: Machine) {
    for real in [0, 1, 4, ATTEMPTS] {
        // What is accepted costs most.
        let number = if real == ATTEMPTS {
            number / 10
        } else {
            number
        };
        let counts = campaigns(number, real, machine);
        // Four standard errors of a rate of 5 %.
        let most = ALPHA + 4.0 * (ALPHA / counts.campaigns).sqrt();
        assert!(counts.false_shares / counts.campaigns <= most, "{counts:?}");
        if real > 0 {
            assert!(counts.accepted >= 0.8 * counts.found, "{counts:?}");
        }
    }
}

#[test]
fn few_accepted_changes_do_nothing_and_most_real_ones_are_accepted() {
    is_as_stated(
        100,
        Machine {
            noise: 0.02,
            slow: 0.0,
        },
    );
}

#[test]
fn slow_instances_hide_few_real_changes() {
    is_as_stated(
        50,
        Machine {
            noise: 0.02,
            slow: 0.1,
        },
    );
}

#[test]
#[ignore = "minutes"]
fn campaigns_by_noise() {
    for noise in [0.01, 0.02, 0.03, 0.05] {
        for slow in [0.0, 0.1] {
            is_as_stated(1000, Machine { noise, slow });
        }
    }
}
