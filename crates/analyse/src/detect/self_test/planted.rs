//! Replays with a change in one history: when it is seen.

use rayon::prelude::*;

use super::super::finding::{Direction, Finding};
use super::super::options::DetectOptions;
use super::super::search::detect;
use super::counts::{DriftShare, SeenStep};
use super::replay::{PlantedChange, Replay, ReplaySource};
use super::{JUDGED_NIGHTS, ReplayNumbers, SelfTestOptions};

/// The nights after a step in which it is looked for first, and, if it is seen, in those between, too.
const FIRST_LOOKS: [usize; 5] = [3, 6, 10, 18, JUDGED_NIGHTS];
/// A change counts as the planted one if it may be so many nights earlier, or later.
const NEAR: usize = 5;

/// The steps and drifts of one series, by slowdown.
type PlantedSeries = (Vec<SeenStep>, Vec<DriftShare>);

/// One replay with a change.
#[derive(Clone, Copy)]
pub(super) struct PlantedTask {
    slowdown: usize,
    shape: Shape,
    number: usize,
    series: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shape {
    Step,
    WholeDrift,
    HalfDrift,
}

/// The result of a replay.
enum PlantedResult {
    Step(Option<usize>),
    Drift(bool),
}

/// Plants changes in the series in turn, one per replay, and returns what was found of each series.
pub(super) fn planted(
    source: &ReplaySource,
    options: &DetectOptions,
    wanted: &SelfTestOptions,
    replays: ReplayNumbers,
) -> Vec<PlantedSeries> {
    planted_in(source, options, wanted, replays, |task, change| {
        source.replay(wanted.seed.split(&task.label()), Some(change))
    })
}

/// The same in replays that are made by a function.
pub(super) fn planted_in(
    source: &ReplaySource,
    options: &DetectOptions,
    wanted: &SelfTestOptions,
    replays: ReplayNumbers,
    replay: impl Fn(PlantedTask, PlantedChange) -> Replay + Sync,
) -> Vec<PlantedSeries> {
    let changing: Vec<usize> = (0..source.series.len())
        .filter(|at| source.series[*at].can_change())
        .collect();
    let mut found: Vec<PlantedSeries> = source.series.iter().map(|_| Default::default()).collect();
    let kinds = wanted.slowdowns.len();
    for at in &changing {
        found[*at] = (
            vec![SeenStep::default(); kinds],
            vec![DriftShare::default(); kinds],
        );
    }
    if changing.is_empty() {
        return found;
    }
    let shapes = [
        (Shape::Step, replays.steps),
        (Shape::WholeDrift, replays.drifts),
        (Shape::HalfDrift, replays.drifts),
    ];
    let mut tasks = Vec::new();
    for slowdown in 0..kinds {
        for (shape, replays) in shapes {
            tasks.extend((0..replays).map(|number| PlantedTask {
                slowdown,
                shape,
                number,
                series: changing[number % changing.len()],
            }));
        }
    }
    let results: Vec<PlantedResult> = tasks
        .par_iter()
        .map(|task| {
            let change = task.change(source, wanted);
            task.judged(&replay(*task, change), options)
        })
        .collect();
    for (task, result) in tasks.into_iter().zip(results) {
        let (steps, drifts) = &mut found[task.series];
        match (result, task.shape) {
            (PlantedResult::Step(night), _) => steps[task.slowdown].nights.push(night),
            (PlantedResult::Drift(is_found), Shape::HalfDrift) => {
                drifts[task.slowdown].last_half.add(is_found);
            }
            (PlantedResult::Drift(is_found), Shape::Step | Shape::WholeDrift) => {
                drifts[task.slowdown].whole.add(is_found);
            }
        }
    }
    found
}

impl PlantedTask {
    /// Names its nights: the same for all slowdowns, so that they differ by these alone.
    pub(super) fn label(self) -> String {
        format!("{:?} {}", self.shape, self.number)
    }

    fn change(self, source: &ReplaySource, wanted: &SelfTestOptions) -> PlantedChange {
        let series = &source.series[self.series];
        let (first, nights) = (series.first(), series.nights());
        let last = nights - 1;
        PlantedChange {
            series: self.series,
            slowdown: wanted.slowdowns[self.slowdown],
            nights: match self.shape {
                Shape::Step => [nights, nights - 1],
                Shape::WholeDrift => [last, first],
                Shape::HalfDrift => [last, usize::midpoint(first, last)],
            },
        }
    }

    /// Looks for the change in a replay.
    fn judged(self, replay: &Replay, options: &DetectOptions) -> PlantedResult {
        let finds = |nights: usize, is_it: &dyn Fn(&Finding) -> bool| {
            let detection = detect(&replay.after(nights), options);
            let mut findings = detection.findings.iter();
            findings.any(|it| it.series == self.series && is_worse(it) && is_it(it))
        };
        match self.shape {
            Shape::Step => PlantedResult::Step(first_seen(replay, finds)),
            Shape::WholeDrift | Shape::HalfDrift => PlantedResult::Drift(finds(0, &|_| true)),
        }
    }
}

/// Returns the first night in which a step is seen: if not before one of [`FIRST_LOOKS`], the first one since the look
/// before.
fn first_seen(
    replay: &Replay,
    finds: impl Fn(usize, &dyn Fn(&Finding) -> bool) -> bool,
) -> Option<usize> {
    let earliest = replay.moment(-i64::try_from(NEAR).unwrap_or(0));
    let is_near = |finding: &Finding| *finding.range.end() >= earliest;
    let mut before = 0;
    for look in FIRST_LOOKS {
        if finds(look, &is_near) {
            let mut between = before + 1..look;
            return Some(
                between
                    .find(|night| finds(*night, &is_near))
                    .unwrap_or(look),
            );
        }
        before = look;
    }
    None
}

/// Returns whether a finding is a change for the worse that still holds; of a metric without direction, one that rises.
fn is_worse(finding: &Finding) -> bool {
    let is_worse = match finding.direction {
        Direction::Regression => true,
        Direction::Improvement => false,
        Direction::Neither => finding.size.rises(),
    };
    is_worse && finding.is_open()
}
