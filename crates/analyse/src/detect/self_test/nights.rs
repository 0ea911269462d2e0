//! The nights of a suite, from which replays are drawn in blocks.

use jiff::Timestamp;
use lapwing_stats::{Seed, as_f64, median};
use rand::Rng;

use super::super::series::{Histories, Moment};
use super::JUDGED_NIGHTS;
use super::replay::ReplaySeries;
use crate::sample::HistoryPosition;

/// The longest block of consecutive nights: four weeks.
const LONGEST_BLOCK: usize = 28;
/// A history is resampled in about this many blocks: of 60 nights, in weeks. Longer blocks repeat what happens to be in
/// this history.
const BLOCKS: usize = 8;
/// The number where nights resemble the night before: shorter blocks lose that.
const BLOCKS_OF_ALIKE: usize = 3;
/// The correlation with the night before from which on they do.
const ALIKE: f64 = 0.2;
/// The shortest block.
const SHORTEST_BLOCK: usize = 5;
/// Seconds of a day and of a year.
const DAY: f64 = 86_400.0;
const YEAR: f64 = 365.25 * DAY;

/// The nights of a suite.
pub(super) struct ReplaySuite {
    pub(super) name: String,
    /// The indices of its moments, in order.
    pub(super) moments: Vec<usize>,
    /// The time from its first run to its last one, in seconds.
    span: f64,
    /// The length of a block.
    block: usize,
}

impl ReplaySuite {
    pub(super) fn of(histories: &Histories, name: &str) -> Self {
        let moments: Vec<usize> = histories.moments_of_suite(name).into_iter().collect();
        let span_of = |time: fn(&HistoryPosition) -> Option<Timestamp>| {
            let times = moments.iter();
            let times = times.filter_map(|at| time(&histories.moments[*at].position));
            let times: Vec<f64> = times.map(|time| time.as_duration().as_secs_f64()).collect();
            let first = times.iter().copied().fold(f64::INFINITY, f64::min);
            let last = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            (last - first).max(0.0)
        };
        // Versions of the past may be measured in a day, and one version in many nights.
        let measured = span_of(|position| Some(position.measured));
        let span = measured.max(span_of(|position| position.version_date));
        Self {
            name: name.to_owned(),
            moments,
            span,
            block: 1,
        }
    }

    /// Chooses the length of its blocks by its series.
    pub(super) fn choose_block(&mut self, series: &[&ReplaySeries]) {
        let alike: Vec<f64> = series
            .iter()
            .filter_map(|it| it.autocorrelation())
            .collect();
        let is_alike = median(&alike).is_some_and(|it| it > ALIKE);
        let blocks = if is_alike { BLOCKS_OF_ALIKE } else { BLOCKS };
        self.block = (self.moments.len() / blocks).clamp(SHORTEST_BLOCK, LONGEST_BLOCK);
    }

    /// Returns the usual number of runs per year; `None` if they are of one day.
    pub(super) fn runs_per_year(&self) -> Option<f64> {
        (self.span >= DAY).then(|| as_f64(self.moments.len() - 1) * YEAR / self.span)
    }

    /// Draws the nights of a replay in blocks, the last of which continues with the first.
    pub(super) fn draw(&self, seed: Seed) -> Vec<usize> {
        let number = self.moments.len();
        let mut random = seed.stream(&self.name);
        let mut drawn = Vec::with_capacity(number + JUDGED_NIGHTS + self.block);
        while drawn.len() < number + JUDGED_NIGHTS {
            let start = below(number, random.next_u64());
            drawn.extend((start..start + self.block).map(|night| night % number));
        }
        drawn.truncate(number + JUDGED_NIGHTS);
        drawn
    }

    /// Returns a moment of a replay with everything that was observed at its source.
    pub(super) fn moment(&self, source: &Moment, age: i64) -> Moment {
        let seconds = self.runs_per_year().map_or(DAY, |runs| YEAR / runs);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            reason = "some years at most"
        )]
        let second = (age as f64 * seconds) as i64;
        let time = Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH);
        let position = HistoryPosition {
            version_date: Some(time),
            measured: time,
            ..source.position
        };
        Moment {
            position,
            ..source.clone()
        }
    }
}

/// Returns a number below another one that is drawn evenly.
fn below(number: usize, random: u64) -> usize {
    let number = u64::try_from(number).unwrap_or(u64::MAX);
    usize::try_from(random % number).unwrap_or(0)
}
