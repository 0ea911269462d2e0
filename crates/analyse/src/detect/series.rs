//! The series of benchmarks: one value per run.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use lapwing_stats::as_f64;
use lapwing_stats::changepoint::evenly_rounded;

use super::environment::Observed;
use super::options::HistoryOrder;
use crate::clean::{CleaningPolicy, CleaningRules, PreferredCentres, instance_values};
use crate::judge::{MetricChoice, failures as instance_failures, metric};
use crate::sample::{
    BenchmarkData, GroupBy, History, HistoryPosition, RunOrder, Sample, Subject, samples,
};
use jiff::Timestamp;
use lapwing_model::{
    GateCondition, Id, Metric, MetricName, Outcome, Run, Session, StartedFrom, Version,
};
use lapwing_record::{InstanceData, PointRun};

/// The name of the series of the share of iterations that failed or timed out.
pub const FAILURES: &str = "failures";

/// A version measured in a session: a place in the history of a suite.
#[derive(Debug, Clone, PartialEq)]
pub struct Moment {
    /// The place by date of the version.
    pub position: HistoryPosition,
    /// The session.
    pub session: Arc<Session>,
    /// The first run that was seen there, for its version.
    pub run: Arc<Run>,
    /// The observations there.
    pub(super) observed: Arc<Observed>,
    /// The digits of a commit that tell it from those of the other moments.
    pub(super) commit_digits: usize,
    /// The characters of its time that tell it from the other moments of its version; 0 without any.
    pub(super) night_digits: usize,
}

impl Moment {
    /// Returns a moment around which nothing was observed.
    pub fn new(position: HistoryPosition, session: Arc<Session>, run: Arc<Run>) -> Self {
        Self {
            position,
            session,
            run,
            observed: Arc::default(),
            commit_digits: Version::COMMIT_DIGITS,
            night_digits: 0,
        }
    }

    /// Returns the version, its commit with as many digits as the histories need, or the session if the version is
    /// unknown.
    pub fn label(&self) -> String {
        let Version {
            name,
            commit,
            dirty,
            ..
        } = &self.run.version;
        let digits = |commit: &String| short_commit(commit, self.commit_digits);
        let name = name.clone().or_else(|| commit.as_ref().map(digits));
        let version = Version::label_of(name.as_deref(), None, *dirty);
        version.unwrap_or_else(|| self.session.label())
    }

    /// Returns when it was measured, by date or if needed by time, if its version was measured in several nights:
    /// `2026-03-05`. `None` if it was not, or if only the time of a file is known.
    pub fn night(&self) -> Option<String> {
        let night: String = (self.position.measured.to_string().chars())
            .take(self.night_digits)
            .collect();
        Some(night).filter(|it| !it.is_empty() && self.has_start())
    }

    /// Returns the version.
    pub fn version(&self) -> &Version {
        &self.run.version
    }

    /// Returns whether its version has this label or name, or a commit that begins with it.
    pub fn is_of_version(&self, text: &str) -> bool {
        let Version { name, commit, .. } = self.version();
        self.version().label().as_deref() == Some(text)
            || name.as_deref() == Some(text)
            || commit
                .as_ref()
                .is_some_and(|commit| commit.starts_with(text))
    }

    /// Returns whether an answer calls it this: by its version, or by the name or id of its session.
    pub fn is_called(&self, text: &str) -> bool {
        self.is_of_version(text) || self.is_of_session(text)
    }

    /// Returns whether its session has this name or id.
    pub fn is_of_session(&self, text: &str) -> bool {
        let Session { id, name, .. } = &*self.session;
        name.as_deref() == Some(text) || text.parse().is_ok_and(|it: Id| it == *id)
    }

    /// Returns whether it is known when it was measured, and not only the time of a file.
    pub fn has_start(&self) -> bool {
        self.session.started_from() != StartedFrom::FileTime
            && self.position.order != RunOrder::FileOrder
    }

    /// Returns its date: that of the version, or else of the measurement. `None` if neither is known.
    pub fn date(&self) -> Option<Timestamp> {
        let measured = Some(self.position.measured).filter(|_| self.has_start());
        self.position.version_date.or(measured)
    }

    /// Returns the time by which it has its place among the runs. `None` if it has that by a name, or by its place in a
    /// file: a time says nothing of it then.
    pub fn time_in_order(&self) -> Option<Timestamp> {
        let measured = Some(self.position.measured);
        let measured = match self.position.order {
            RunOrder::Commits
            | RunOrder::VersionDates
            | RunOrder::StartTimes
            | RunOrder::FileTimes => measured,
            RunOrder::FileNames => {
                measured.filter(|_| self.session.started_from() != StartedFrom::FileTime)
            }
            RunOrder::VersionNames | RunOrder::FileOrder | RunOrder::Unknown => None,
        };
        self.position.version_date.or(measured)
    }
}

/// One run of a series.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SeriesPoint {
    /// The index of its moment in [`Histories::moments`].
    pub moment: usize,
    /// The geometric mean of the values of the instances ([`instance_values`]), or the arithmetic one if one of the
    /// series is not positive; in the metric's unit.
    pub value: f64,
    /// Number of instances.
    pub instances: usize,
}

/// The history of a metric of a benchmark in a setting.
#[derive(Debug, Clone, PartialEq)]
pub struct HistorySeries {
    /// Benchmark, setting and metric.
    pub subject: Subject,
    /// Unit and direction.
    pub metric: Metric,
    /// The smallest change to report, if it has a limit of its own.
    pub smallest_effect: Option<f64>,
    /// The conditions by which it fails a gate, if the suite file gives it its own.
    pub fail_on: Option<Vec<GateCondition>>,
    /// The ids that its benchmark was recorded with.
    pub recorded_ids: BTreeSet<String>,
    /// The runs with a usable value, in order; none if it failed from its first run on.
    pub points: Vec<SeriesPoint>,
    /// The moments at which it was tried, in order: with or without a usable value.
    pub tried: Vec<usize>,
}

/// The series of all benchmarks.
#[derive(Debug, Clone, Default)]
pub struct Histories {
    /// The moments of all series, in order once [`Histories::sort`] was called.
    pub moments: Vec<Moment>,
    /// The series, by suite, benchmark, setting and metric.
    pub series: Vec<HistorySeries>,
    pub(super) known: BTreeMap<(Id, Id), usize>,
    /// The order of the runs of all benchmarks, once it is known; runs without a position are left out.
    pub(super) history: Option<Arc<History>>,
    /// Number of instances of earlier epochs, which are not used.
    pub earlier: usize,
}

impl Histories {
    /// Returns no series yet, of runs in this order; runs without a position in it are left out.
    pub fn in_order(history: History) -> Self {
        Self {
            history: Some(Arc::new(history)),
            ..Self::default()
        }
    }

    /// Returns whether a run is in the order of runs; all are where none was given.
    pub fn has_run(&self, run: &Id) -> bool {
        let history = self.history.as_ref();
        history.is_none_or(|it| it.position(run).is_some())
    }

    /// Adds the series of a benchmark: a series for each variant and metric, and one of its failures if there are any.
    pub fn add(&mut self, data: &BenchmarkData, rules: &CleaningRules, metrics: &MetricChoice) {
        let known = self.history.clone();
        let history = known.unwrap_or_else(|| Arc::new(History::of_sessions(data)));
        for sample in samples(data, GroupBy::Variant) {
            self.earlier += sample.earlier_epoch;
            let (policy, _) = rules.policy(&sample);
            let runs = self.by_moment(&sample, &history);
            let recorded_ids: BTreeSet<String> = sample
                .instances
                .iter()
                .map(|it| it.instance.benchmark.id.clone())
                .collect();
            let subject = |metric: &MetricName| Subject {
                suite: data.suite.clone(),
                benchmark: data.benchmark.id.clone(),
                setting: sample.setting.clone(),
                metric: metric.clone(),
            };
            let series =
                |name: &MetricName, metric: Metric, points: Vec<SeriesPoint>| HistorySeries {
                    subject: subject(name),
                    metric,
                    smallest_effect: None,
                    fail_on: None,
                    recorded_ids: recorded_ids.clone(),
                    points,
                    tried: runs.keys().copied().collect(),
                };
            let names = metrics.of(&sample);
            for name in &names {
                let points = points(&sample, &runs, name, policy);
                if !points.is_empty() {
                    self.series
                        .push(series(name, metric(&sample, name), points));
                }
            }
            let failures = failures(&runs);
            let is_failure = |point: &SeriesPoint| point.value > 0.0;
            if !failures.iter().any(is_failure) {
                continue;
            }
            // What failed from its first run on has no value of any metric, and is not passed over in silence.
            let never_worked = failures.iter().all(|point| point.value >= 1.0);
            if let Some(name) = names.first().filter(|it| never_worked && *it != FAILURES) {
                self.series
                    .push(series(name, metric(&sample, name), Vec::new()));
            }
            self.series
                .push(series(&FAILURES.to_owned(), Metric::lower("1"), failures));
        }
    }

    /// Groups the instances of a sample by moment.
    fn by_moment<'d>(
        &mut self,
        sample: &Sample<'d>,
        history: &History,
    ) -> BTreeMap<usize, Vec<&'d InstanceData>> {
        let mut runs: BTreeMap<usize, Vec<&InstanceData>> = BTreeMap::new();
        for instance in &sample.instances {
            if let Some(position) = history.position(&instance.run.id) {
                let at = self.moment_at(position, &instance.session, &instance.run);
                self.observe(at, instance);
                runs.entry(at).or_default().push(instance);
            }
        }
        runs
    }

    /// Returns the moment at a position.
    pub(super) fn moment_at(
        &mut self,
        position: HistoryPosition,
        session: &Arc<Session>,
        run: &Arc<Run>,
    ) -> usize {
        let next = self.moments.len();
        let at = *self.known.entry(position.key()).or_insert(next);
        if at == next {
            let (session, run) = (Arc::clone(session), Arc::clone(run));
            self.moments.push(Moment::new(position, session, run));
        }
        at
    }

    /// Adds what was observed around an instance to a moment.
    pub(super) fn observe(&mut self, moment: usize, instance: &InstanceData) {
        Arc::make_mut(&mut self.moments[moment].observed).add(instance);
    }

    /// Adds what was observed around the instances of a run to a moment.
    pub(super) fn observe_run(&mut self, moment: usize, run: &PointRun) {
        Arc::make_mut(&mut self.moments[moment].observed).add_run(run);
    }

    /// Puts moments and series in order, and makes one of the series of a subject; called after all benchmarks were
    /// added.
    pub fn sort(&mut self, order: HistoryOrder) {
        let is_one_history = self.history.is_some();
        let key = |position: &HistoryPosition| {
            let time = match order {
                HistoryOrder::Version => None,
                HistoryOrder::Time => Some(position.measured),
            };
            let known = is_one_history.then_some(*position);
            (time, known, position.between_histories())
        };
        let mut sorted: Vec<usize> = (0..self.moments.len()).collect();
        sorted.sort_by_key(|at| key(&self.moments[*at].position));
        let mut places = vec![0; sorted.len()];
        for (place, at) in sorted.iter().enumerate() {
            places[*at] = place;
        }
        let mut moments: Vec<Option<Moment>> = self.moments.drain(..).map(Some).collect();
        self.moments = sorted.iter().filter_map(|at| moments[*at].take()).collect();
        let digits = commit_digits(&self.moments);
        for moment in &mut self.moments {
            moment.commit_digits = digits;
        }
        tell_nights(&mut self.moments);
        for place in self.known.values_mut() {
            *place = places[*place];
        }
        self.series
            .sort_by(|one, other| one.subject.cmp(&other.subject));
        self.series.dedup_by(|later, first| {
            let is_same = later.subject == first.subject;
            if is_same {
                first.points.append(&mut later.points);
                first.tried.append(&mut later.tried);
                first.recorded_ids.append(&mut later.recorded_ids);
            }
            is_same
        });
        for series in &mut self.series {
            for point in &mut series.points {
                point.moment = places[point.moment];
            }
            series.points.sort_by_key(|point| point.moment);
            for moment in &mut series.tried {
                *moment = places[*moment];
            }
            series.tried.sort_unstable();
        }
    }

    /// Returns the last moment that an answer calls by this text.
    pub fn last_called(&self, text: &str) -> Option<usize> {
        self.moments.iter().rposition(|it| it.is_called(text))
    }

    /// Returns the moments of a suite at which one of its series was tried.
    pub fn moments_of_suite(&self, suite: &str) -> BTreeSet<usize> {
        let of_suite = self.series.iter().filter(|it| it.subject.suite == suite);
        of_suite.flat_map(|it| it.tried.iter().copied()).collect()
    }
}

impl HistorySeries {
    /// Returns whether it is of a metric that was measured, and not a by-product: the share of what failed.
    pub fn is_measured(&self) -> bool {
        self.subject.metric != FAILURES
    }

    /// Returns whether all values are positive, so that changes are ratios.
    pub fn is_ratio(&self) -> bool {
        is_ratio(&self.points)
    }

    /// Returns whether the values from this point on differ.
    pub(super) fn varies_from(&self, first: usize) -> bool {
        varies(&self.points[first..])
    }

    /// Returns the values on the scale on which levels are compared: logarithms where all are positive.
    pub(super) fn scaled(&self) -> Vec<f64> {
        scaled(&self.points)
    }

    /// Returns those in which changes are looked for.
    pub(super) fn searchable(&self) -> SearchableValues {
        SearchableValues::of(&self.points)
    }
}

fn is_ratio(points: &[SeriesPoint]) -> bool {
    points.iter().all(|point| point.value > 0.0)
}

/// Returns whether the values of these points differ.
pub(super) fn varies(points: &[SeriesPoint]) -> bool {
    let mut pairs = points.windows(2);
    pairs.any(|pair| pair[0].value.total_cmp(&pair[1].value).is_ne())
}

/// Returns the values of points as [`HistorySeries::scaled`].
pub(super) fn scaled(points: &[SeriesPoint]) -> Vec<f64> {
    let values = points.iter().map(|point| point.value);
    on_scale(values, is_ratio(points))
}

fn on_scale(values: impl Iterator<Item = f64>, is_ratio: bool) -> Vec<f64> {
    let scaled = |value: f64| if is_ratio { value.ln() } else { value };
    values.map(scaled).collect()
}

/// The values of a series in which changes are looked for, all with the coarsest resolution that any has.
pub(super) struct SearchableValues {
    pub(super) values: Vec<f64>,
    /// The points that have a finer resolution than the others.
    pub(super) fine: Option<Range<usize>>,
}

impl SearchableValues {
    pub(super) fn of(points: &[SeriesPoint]) -> Self {
        let values: Vec<f64> = points.iter().map(|point| point.value).collect();
        let is_ratio = is_ratio(points);
        match evenly_rounded(&values) {
            Some(even) => Self {
                values: on_scale(even.values.into_iter(), is_ratio),
                fine: Some(even.fine),
            },
            None => Self {
                values: on_scale(values.into_iter(), is_ratio),
                fine: None,
            },
        }
    }
}

fn points(
    sample: &Sample<'_>,
    runs: &BTreeMap<usize, Vec<&InstanceData>>,
    metric: &str,
    policy: CleaningPolicy,
) -> Vec<SeriesPoint> {
    let centres = PreferredCentres::of(sample.instances.iter().copied(), metric);
    let mut means = Vec::new();
    for (moment, instances) in runs {
        let values = instance_values(instances, metric, policy, &centres);
        let of_run: Vec<f64> = values.iter().map(|it| it.value).collect();
        if !of_run.is_empty() && of_run.iter().all(|mean| mean.is_finite()) {
            means.push((*moment, of_run));
        }
    }
    let positive = means
        .iter()
        .flat_map(|(_, means)| means)
        .all(|mean| *mean > 0.0);
    let centre = |means: &[f64]| {
        if positive {
            lapwing_stats::geometric_mean(means)
        } else {
            lapwing_stats::mean(means)
        }
    };
    let points = means.into_iter().filter_map(|(moment, means)| {
        Some(SeriesPoint {
            moment,
            value: centre(&means)?,
            instances: means.len(),
        })
    });
    points.collect()
}

/// Returns the share of failed iterations of each run, of those that were tried.
fn failures(runs: &BTreeMap<usize, Vec<&InstanceData>>) -> Vec<SeriesPoint> {
    let tried = |instance: &&InstanceData| {
        let outcomes = &instance.iterations.outcome;
        let is_tried = |outcome: &&Outcome| **outcome != Outcome::Skipped;
        if outcomes.is_empty() {
            // An instance may fail before its first iteration.
            instance_failures(instance)
        } else {
            outcomes.iter().filter(is_tried).count()
        }
    };
    let points = runs.iter().map(|(moment, instances)| {
        let failed: usize = instances.iter().map(|it| instance_failures(it)).sum();
        let tried: usize = instances.iter().map(tried).sum();
        (tried > 0).then(|| SeriesPoint {
            moment: *moment,
            value: as_f64(failed) / as_f64(tried),
            instances: instances.len(),
        })
    });
    points.flatten().collect()
}

/// Returns the first digits of a commit; of made-up ones, which begin with a long row of zeros, the last digits besides.
fn short_commit(commit: &str, digits: usize) -> String {
    const LONG: usize = 20;
    const LAST: usize = 4;
    if digits <= LONG || commit.len() <= LONG || !commit.is_ascii() {
        return commit.chars().take(digits).collect();
    }
    let last = &commit[commit.len() - LAST..];
    format!("{}…{last}", &commit[..Version::COMMIT_DIGITS])
}

/// Finds how many characters of the time tell the moments of a version apart.
fn tell_nights(moments: &mut [Moment]) {
    /// The characters of a date, and of a time in minutes.
    const DIGITS: [usize; 2] = ["2026-03-05".len(), "2026-03-05T10:00".len()];
    let mut of_version: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (at, moment) in moments.iter().enumerate() {
        if moment.version().label().is_some() {
            let version = (moment.session.suite.clone(), moment.label());
            of_version.entry(version).or_default().push(at);
        }
    }
    for places in of_version.into_values().filter(|it| it.len() > 1) {
        let dates = places.iter().map(|at| {
            let time = moments[*at].position.measured.to_string();
            time.chars().take(DIGITS[0]).collect::<String>()
        });
        let is_date_enough = dates.collect::<BTreeSet<String>>().len() == places.len();
        for at in places {
            moments[at].night_digits = DIGITS[usize::from(!is_date_enough)];
        }
    }
}

/// Returns how many digits tell the commits of moments apart.
fn commit_digits(moments: &[Moment]) -> usize {
    let commits = moments
        .iter()
        .filter_map(|it| it.version().commit.as_deref());
    let commits: Vec<&str> = commits.collect::<BTreeSet<&str>>().into_iter().collect();
    let shared = commits.windows(2).map(|pair| {
        let digits = pair[0].chars().zip(pair[1].chars());
        digits.take_while(|(one, other)| one == other).count()
    });
    let needed = shared.max().map_or(0, |shared| shared + 1);
    needed.max(Version::COMMIT_DIGITS)
}
