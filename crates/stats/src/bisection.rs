//! Bisection with noise: which commit of many brought a change, from measurements of some of them.

use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::describe::squares_around;
use crate::number::as_f64;

/// The most measurements in a row whose gain is weighed against the cost of their visit.
const MOST_AT_ONCE: usize = 16;
/// By how much the logarithm of the odds exceeds a bound at the end, per standard deviation of the change. With known
/// levels it is 0.583 (Siegmund, Sequential Analysis, 1985, chapter 10: −ζ(½)/√(2π)); estimated levels leave less to
/// spare.
pub(crate) const OVERSHOOT: f64 = 0.4;
/// The overshoot is that of a change of at most so many standard deviations.
pub(crate) const LARGEST_STEP: f64 = 3.0;
/// Number of points at which an information gain is integrated.
const POINTS: usize = 65;

/// Measurements of commits in order, of which the first is known to be before the change and the last after it.
///
/// The model: commits before the change have one mean of the logarithm, it and all later ones another, and all
/// measurements the same variance; nothing is known of the three before (the reference prior), and every commit is as
/// likely to be the one. The unit is a fresh instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Bisection {
    commits: Vec<CommitMeasurements>,
}

/// The measurements of one commit.
#[derive(Debug, Clone, Default, PartialEq)]
struct CommitMeasurements {
    logs: Vec<f64>,
    is_broken: bool,
}

/// A range of commits that contains the change: those that cannot be told apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Suspects {
    /// The first of them.
    pub first: usize,
    /// The last of them, which is after the change.
    pub last: usize,
    /// The probability that the change is among them.
    pub probability: f64,
}

/// What to measure next.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextVisit {
    /// The commit.
    pub commit: usize,
    /// The expected information per instance of its cost, in bits.
    pub rate: f64,
}

impl Bisection {
    /// Returns a search over so many commits.
    ///
    /// # Panics
    /// When there are fewer than two.
    #[must_use]
    pub fn new(commits: usize) -> Self {
        assert!(commits >= 2, "two ends");
        Self {
            commits: vec![CommitMeasurements::default(); commits],
        }
    }

    /// Adds the logarithm of a measurement.
    pub fn add(&mut self, commit: usize, log: f64) {
        self.commits[commit].logs.push(log);
    }

    /// Marks a commit as one that cannot be measured.
    pub fn set_broken(&mut self, commit: usize) {
        self.commits[commit].is_broken = true;
    }

    /// Returns the number of measurements.
    #[must_use]
    pub fn measurements(&self) -> usize {
        self.commits.iter().map(|it| it.logs.len()).sum()
    }

    /// Returns the logarithms measured of a commit.
    #[must_use]
    pub fn logs(&self, commit: usize) -> &[f64] {
        &self.commits[commit].logs
    }

    /// Returns for each commit the probability that it brought the change; 0 for the first.
    ///
    /// All 0 before both ends have two measurements.
    #[must_use]
    pub fn posterior(&self) -> Vec<f64> {
        let ends = [self.commits.first(), self.commits.last()];
        let is_known = ends.iter().flatten().all(|it| it.logs.len() >= 2);
        let count = self.commits.len();
        if !is_known {
            return vec![0.0; count];
        }
        // Relative to the grand mean, so that squares do not lose digits.
        let all = self.commits.iter().flat_map(|it| &it.logs);
        let total = as_f64(self.measurements());
        let centre = all.clone().sum::<f64>() / total;
        let squares: f64 = all.map(|log| (log - centre).powi(2)).sum();
        let is_up = plain_mean(self.logs(count - 1)) >= plain_mean(self.logs(0));
        let mut logs = vec![f64::NEG_INFINITY; count];
        let (mut n, mut sum) = (0.0, 0.0);
        for (before, likelihood) in self.commits.iter().zip(&mut logs[1..]) {
            n += as_f64(before.logs.len());
            sum += before.logs.iter().map(|log| log - centre).sum::<f64>();
            let rest = total - n;
            let (low, high) = (sum / n, -sum / rest);
            // Noise without any spread would make every other place impossible.
            let within = (squares - n * low * low - rest * high * high).max(f64::MIN_POSITIVE);
            let freedom = (total - 2.0).max(1.0);
            let error = (within / freedom * (1.0 / n + 1.0 / rest)).sqrt();
            let shift = if is_up { high - low } else { low - high };
            // How much of what is possible has the direction that the ends have.
            let direction =
                StudentsT::new(0.0, 1.0, freedom).map_or(1.0, |it| it.cdf(shift / error));
            *likelihood = -0.5 * (n.ln() + rest.ln()) - 0.5 * freedom * within.ln()
                + direction.max(f64::MIN_POSITIVE).ln();
        }
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - most).exp()).collect();
        let all: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / all).collect()
    }

    /// Returns the likeliest commits that cannot be told apart: one, or several of which all but the last are broken.
    #[must_use]
    pub fn suspects(&self) -> Suspects {
        let posterior = self.posterior();
        let mut best = Suspects {
            first: 1,
            last: self.commits.len() - 1,
            probability: 0.0,
        };
        let (mut first, mut probability) = (1, 0.0);
        for (commit, share) in posterior.iter().enumerate().skip(1) {
            probability += share;
            if self.commits[commit].is_broken {
                continue;
            }
            if probability > best.probability {
                best = Suspects {
                    first,
                    last: commit,
                    probability,
                };
            }
            (first, probability) = (commit + 1, 0.0);
        }
        best
    }

    /// Returns whether the likeliest commit is likely enough: over many searches that end here, a share of
    /// `confidence` is right.
    ///
    /// The last measurement carries the probability beyond any bound, by more the larger the change is. The odds that
    /// suffice are therefore smaller than those of `confidence`, by the factor exp(−0.4 d), for a change of d
    /// standard deviations.
    #[must_use]
    pub fn is_found(&self, confidence: f64) -> bool {
        let probability = self.suspects().probability;
        let overshoot = OVERSHOOT * self.distance().min(LARGEST_STEP);
        let odds = confidence / (1.0 - confidence) * (-overshoot).exp();
        // As a product, because a probability of 1 has no odds.
        probability >= odds * (1.0 - probability) && probability > 0.5
    }

    /// Returns what to measure next: the most information for its cost. `cost` is what it takes to go to a commit, in
    /// instances: 0 where it is ready.
    #[must_use]
    pub fn next_visit(&self, cost: impl Fn(usize) -> f64) -> NextVisit {
        let after = self.after();
        let distance = self.distance();
        let measurable = (0..self.commits.len()).filter(|at| !self.commits[*at].is_broken);
        let is_new = |at: &usize| self.commits[*at].logs.is_empty();
        let doubt = |at: &usize| (after[*at] - 0.5).abs();
        // Of commits that cost the same and were never measured, the most doubtful one tells most.
        let doubtful = |below: f64| {
            let new = measurable.clone().filter(is_new);
            let cheap = new.filter(|at| cost(*at) < below);
            cheap.min_by(|one, other| doubt(one).total_cmp(&doubt(other)))
        };
        let newest = doubtful(f64::INFINITY);
        let cheapest = newest.and_then(|at| doubtful(cost(at)));
        let known = measurable.clone().filter(|at| !is_new(at));
        let mut best = NextVisit {
            commit: 0,
            rate: f64::NEG_INFINITY,
        };
        for commit in known.chain(newest).chain(cheapest) {
            let visit = cost(commit);
            // No measurement tells more than the answer would.
            if entropy(after[commit]) / (1.0 + visit) <= best.rate {
                continue;
            }
            let mut instances = 1;
            while instances <= MOST_AT_ONCE {
                let gain = information(after[commit], distance * as_f64(instances).sqrt());
                let rate = gain / (as_f64(instances) + visit);
                if rate > best.rate {
                    best = NextVisit { commit, rate };
                }
                instances *= 2;
            }
        }
        best
    }

    /// Returns a commit with others to measure at the same time, up to `width` in all and each once: those that
    /// divide the posterior into `width` + 1 parts of the same probability, without the one nearest to `commit`.
    ///
    /// Whatever is measured, the posterior is right; these leave the fewest suspects of all that are chosen without
    /// knowing each other's results.
    #[must_use]
    pub fn with_others(&self, commit: usize, width: usize) -> Vec<usize> {
        let after = self.after();
        let suspect = self.suspects().last;
        let parts = as_f64(width + 1);
        let of_part = |part: usize| {
            let distance = |at: &usize| (after[*at] - as_f64(part) / parts).abs();
            let measurable = (0..self.commits.len()).filter(|at| !self.commits[*at].is_broken);
            measurable.min_by(|one, other| {
                let by_distance = distance(one).total_cmp(&distance(other));
                by_distance.then(one.abs_diff(suspect).cmp(&other.abs_diff(suspect)))
            })
        };
        let mut others: Vec<usize> = (1..=width).filter_map(of_part).collect();
        let nearest = (0..others.len()).min_by_key(|it| others[*it].abs_diff(commit));
        if let Some(nearest) = nearest {
            others.remove(nearest);
        }
        let mut all = vec![commit];
        for other in others {
            if !all.contains(&other) {
                all.push(other);
            }
        }
        all
    }

    /// Returns for each commit the probability that it is after the change.
    fn after(&self) -> Vec<f64> {
        let mut after = self.posterior();
        for at in 1..after.len() {
            after[at] += after[at - 1];
        }
        after
    }

    /// Returns the change in standard deviations of a measurement, at the likeliest place.
    fn distance(&self) -> f64 {
        let split = self.suspects().last;
        let (before, after) = self.commits.split_at(split);
        let logs = |side: &[CommitMeasurements]| -> Vec<f64> {
            side.iter().flat_map(|it| it.logs.iter().copied()).collect()
        };
        let (before, after) = (logs(before), logs(after));
        let (low, high) = (plain_mean(&before), plain_mean(&after));
        let freedom = as_f64(before.len() + after.len()) - 2.0;
        let squares = squares_around(&before, low) + squares_around(&after, high);
        let deviation = (squares / freedom.max(1.0)).sqrt();
        // Beyond this, one measurement tells everything.
        ((high - low).abs() / deviation.max(f64::MIN_POSITIVE)).min(20.0)
    }
}

/// Returns the mean; 0 of nothing.
fn plain_mean(logs: &[f64]) -> f64 {
    logs.iter().sum::<f64>() / as_f64(logs.len().max(1))
}

/// Returns the doubt about a question that is answered yes with a probability, in bits.
fn entropy(share: f64) -> f64 {
    if share <= 0.0 || share >= 1.0 {
        return 0.0;
    }
    -share * share.log2() - (1.0 - share) * (1.0 - share).log2()
}

/// Returns what a measurement tells of a question that is answered yes with a probability, in bits, where both
/// answers are so many standard deviations apart: the mutual information of a binary input and its Gaussian output.
pub(crate) fn information(probability: f64, distance: f64) -> f64 {
    if !(0.0..=1.0).contains(&probability) || distance <= 0.0 {
        return 0.0;
    }
    let density = |value: f64| (-0.5 * value * value).exp();
    let (from, to) = (-8.0, distance + 8.0);
    let width = (to - from) / as_f64(POINTS - 1);
    // What is left of the doubt, over all outcomes.
    let left: f64 = (0..POINTS)
        .map(|at| {
            let value = from + width * as_f64(at);
            let no = (1.0 - probability) * density(value);
            let yes = probability * density(value - distance);
            let both = no + yes;
            if both > 0.0 {
                both * entropy(yes / both)
            } else {
                0.0
            }
        })
        .sum();
    let left = left * width / (2.0 * std::f64::consts::PI).sqrt();
    (entropy(probability) - left).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_capacity_of_the_channel_is_the_known_one() {
        // By `scipy.integrate.quad` of scipy 1.17.1.
        for (distance, expected) in [(1.0, 0.1607), (2.0, 0.4859), (3.0, 0.7600)] {
            let found = information(0.5, distance);
            assert!((found - expected).abs() < 1e-3, "{distance}: {found}");
        }
        assert_eq!(information(0.0, 2.0), 0.0);
    }

    #[test]
    fn without_noise_each_step_halves() {
        let mut search = Bisection::new(64);
        for log in [0.0, 1e-9] {
            search.add(0, log);
            search.add(63, 1.0 + log);
        }
        let mut steps = 0;
        while search.suspects().probability < 0.95 {
            let next = search.next_visit(|_ready| 0.0);
            search.add(next.commit, if next.commit < 41 { 0.0 } else { 1.0 });
            steps += 1;
        }
        let found = search.suspects();
        assert_eq!((found.first, found.last), (41, 41));
        assert!(steps <= 7, "{steps}");
    }

    #[test]
    fn without_noise_several_at_once_leave_one_part_of_many() {
        let mut search = Bisection::new(65);
        for log in [0.0, 1e-9] {
            search.add(0, log);
            search.add(64, 1.0 + log);
        }
        let best = search.next_visit(|_ready| 0.0).commit;
        assert_eq!(search.with_others(best, 1), [32]);
        assert_eq!(search.with_others(best, 3), [32, 16, 48]);
        search.set_broken(16);
        assert_eq!(search.with_others(best, 3), [32, 17, 48]);
        let mut rounds = 0;
        while search.suspects().probability < 0.95 {
            let best = search.next_visit(|_ready| 0.0).commit;
            for commit in search.with_others(best, 3) {
                search.add(commit, if commit < 41 { 0.0 } else { 1.0 });
            }
            rounds += 1;
        }
        // A quarter is left each time.
        assert!(rounds <= 4, "{rounds}");
        assert_eq!(search.suspects().last, 41);
    }

    #[test]
    fn a_commit_that_is_ready_is_preferred_to_one_that_must_be_built() {
        let mut search = Bisection::new(65);
        for log in [0.0, 0.5, 1.0, 1.5] {
            search.add(0, log);
            search.add(64, 1.5 + log);
        }
        assert_eq!(search.next_visit(|_ready| 0.0).commit, 32);
        let of_other_benchmark = |commit| if commit == 35 { 0.0 } else { 3.0 };
        assert_eq!(search.next_visit(of_other_benchmark).commit, 35);
    }

    #[test]
    fn the_larger_the_change_the_smaller_the_odds_that_suffice() {
        let found = |shift: f64| {
            let mut search = Bisection::new(3);
            for log in [-1.2, -0.4, 0.4, 1.2] {
                search.add(0, log);
                search.add(2, shift + log);
            }
            // Of the commit between the ends nothing is known but one value, nearer to the later end.
            search.add(1, shift * 0.7);
            let probability = search.suspects().probability;
            let most = (1..1000_usize)
                .map(|it| as_f64(it) / 1000.0)
                .rfind(|it| search.is_found(*it))
                .unwrap_or(0.0);
            (probability, most)
        };
        for shift in [2.0, 3.0] {
            let (probability, most) = found(shift);
            assert!(most > probability, "{shift}: {probability} {most}");
        }
    }

    #[test]
    fn broken_commits_leave_several_suspects() {
        let mut search = Bisection::new(8);
        for log in [0.0, 0.01, 0.02] {
            for (commit, level) in [(0, 0.0), (2, 0.0), (5, 1.0), (7, 1.0)] {
                search.add(commit, level + log);
            }
        }
        search.set_broken(3);
        search.set_broken(4);
        let found = search.suspects();
        assert_eq!((found.first, found.last), (3, 5));
        assert!(found.probability > 0.99);
    }
}
