//! What was measured of one benchmark by one metric, arranged for showing: runs in order of
//! versions or of time, their instances, and what of each counts.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use super::words::meaning::BenchmarkMeaning;
use super::words::summary::{RunSummary, by_frequency};
use lapwing_analyse::clean::{
    CleanInstance, Cleaned, CleaningPolicy, IterationState, LeftOut, states,
};
use lapwing_analyse::judge::{InstanceOrigin, SampleSize, SideSample};
use lapwing_analyse::sample::{
    BenchmarkData, History, HistoryPosition, RunMoment, RunOrder, SourcePlace, VariantNames,
    version_date,
};
use lapwing_model::EachRun;
use lapwing_model::{
    Id, InstanceOutcome, Look, Metric, MetricName, Outcome, Run, Session, Summary,
};
use lapwing_record::{Column, InstanceData, Iterations};

/// One metric of one benchmark. Values stay in the data: histories are long.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricSample<'a> {
    /// The metric's name.
    pub name: MetricName,
    /// Its unit and direction, from the latest run that states them.
    pub metric: Metric,
    /// The runs, oldest first, in order of their places: by the dates of their versions, those of
    /// one date by when they were measured.
    pub runs: Vec<RunSample<'a>>,
    /// The statistics of its summaries, that which most have first.
    pub statistics: Vec<String>,
}

/// One run's part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunSample<'a> {
    /// Identifies the run.
    pub id: Id,
    /// The session that it belongs to.
    pub session: Id,
    /// The name or else the beginning of the id of its session.
    pub session_name: String,
    /// When its session began.
    pub started: Timestamp,
    /// Its position in the history.
    pub place: HistoryPosition,
    /// The date of its version, where known.
    pub version_date: Option<Timestamp>,
    /// Its place in its source.
    pub source_place: SourcePlace,
    /// Its variant; with levels of factors if the name alone does not distinguish it.
    pub variant: String,
    /// Whether it is retired.
    pub retired: bool,
    /// Whether it counts in the history, and is not of another branch or of uncommitted changes.
    pub is_judged: bool,
    /// The version of the software under test, where known.
    pub version: Option<String>,
    /// The name of that version, where it has one: a release.
    pub release: Option<String>,
    /// What the benchmark was.
    pub meaning: BenchmarkMeaning,
    /// The unit of its values, where it is another than that of the metric and cannot be
    /// converted: none of them counts.
    pub other_unit: Option<String>,
    /// Which other program's results it is from, where it was imported.
    pub imported_from: Option<ImportedFrom>,
    /// Its instances, in the order in which they were measured.
    pub instances: Vec<InstanceSample<'a>>,
}

/// Which other program's results a run is from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ImportedFrom {
    /// Their format: `hyperfine`.
    pub format: String,
    /// What each execution is here, where the program starts a fresh process for each, one
    /// right after another, and the import had the choice.
    pub each_run: Option<EachRun>,
}

/// One instance's part of it.
#[derive(Debug, Clone, PartialEq)]
pub struct InstanceSample<'a> {
    /// Identifies the instance.
    pub id: Id,
    /// Its block within its session.
    pub block: u32,
    /// Its place in the order of its session.
    pub position: u32,
    /// The machine, where known.
    pub host: Option<String>,
    /// The look at the results that followed it.
    look: Look,
    /// How the instance ended, where known.
    pub outcome: Option<InstanceOutcome>,
    /// Its iterations, in order, also those that do not count.
    iterations: &'a Iterations,
    /// The values of the metric; `None` if there are none, or none that can be shown.
    values: Option<&'a [f64]>,
    /// Whether each iteration is included, or the reason of its exclusion.
    states: Column<IterationState>,
    /// The summary by the source, if it has no samples.
    pub summaries: Vec<Summary>,
}

/// One iteration's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The number of the iteration within its instance.
    pub index: u32,
    /// Seconds from the start of the instance; NaN where unknown.
    pub offset: f64,
    /// The value; NaN where there is none.
    pub value: f64,
    /// Whether it is included, or the reason of its exclusion.
    pub state: IterationState,
    /// How it ended.
    pub outcome: Outcome,
}

impl<'a> MetricSample<'a> {
    /// Returns what the data hold of a metric. Runs and instances without any value stay, so
    /// that it is seen that they failed.
    pub fn of(data: &'a BenchmarkData, name: &str) -> Self {
        Self::under(data, name, CleaningPolicy::default())
    }

    /// Returns what the data hold of a metric, of which counts what a policy says.
    pub fn under(data: &'a BenchmarkData, name: &str, policy: CleaningPolicy) -> Self {
        let mut runs: Vec<RunSample<'a>> = Vec::new();
        let mut position: BTreeMap<Id, usize> = BTreeMap::new();
        let (order, variants) = (History::of(data), VariantNames::of(data));
        let mut stated: BTreeMap<Id, &Metric> = BTreeMap::new();
        for (instance, states) in states(&data.instances, name, policy) {
            if let Some(it) = instance.run.metrics.get(name) {
                stated.insert(instance.run.id, it);
            }
            let at = *position.entry(instance.run.id).or_insert_with(|| {
                let mut run = RunSample::empty(instance, &variants);
                run.place = order.position(&run.id).unwrap_or(run.place);
                runs.push(run);
                runs.len() - 1
            });
            if let Some(run) = runs.get_mut(at) {
                run.instances
                    .push(InstanceSample::of(instance, name, states.states));
            }
        }
        runs.sort_by_key(|run| (run.place, run.id));
        let metrics = data
            .instances
            .iter()
            .rev()
            .filter_map(|it| it.run.metrics.get(name));
        let latest = metrics
            .clone()
            .find(|it| !it.unit.is_empty())
            .or_else(|| metrics.clone().next());
        let metric = latest.cloned().unwrap_or_default();
        for run in &mut runs {
            let unit = stated.get(&run.id).map_or("", |it| &it.unit);
            run.leave_out_another_unit(unit, &metric.unit);
        }
        let instances = runs.iter().flat_map(|run| &run.instances);
        let statistics = by_frequency(instances.flat_map(|it| &it.summaries));
        Self {
            name: name.to_owned(),
            metric,
            runs,
            statistics,
        }
    }

    /// Returns the names of all metrics of the data: `wall_time` first, then by name.
    pub fn names(data: &BenchmarkData) -> Vec<MetricName> {
        let mut names: Vec<MetricName> = data
            .instances
            .iter()
            .flat_map(|instance| {
                instance
                    .iterations
                    .values
                    .keys()
                    .chain(instance.run.metrics.keys())
                    .chain(instance.summaries.iter().map(|summary| &summary.metric))
            })
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .cloned()
            .collect();
        names.sort_by_key(|name| (name != FIRST_METRIC, name.clone()));
        names
    }

    /// Returns whether there is a value at all, or at least a summary.
    pub fn has_values(&self) -> bool {
        let instances = || self.runs.iter().flat_map(|run| &run.instances);
        !self.statistics.is_empty() || instances().any(InstanceSample::has_values)
    }

    /// Returns what a run's source says instead of samples; `None` if it kept samples, or
    /// says nothing.
    pub fn summary(&self, run: &RunSample) -> Option<RunSummary> {
        if self.statistics.is_empty() || run.instances.iter().any(InstanceSample::has_values) {
            return None;
        }
        let summaries = run.instances.iter().flat_map(|it| &it.summaries);
        RunSummary::of(summaries, &self.statistics)
    }

    /// Returns the variants in order of their first run.
    pub fn variants(&self) -> Vec<&str> {
        let mut variants: Vec<&str> = Vec::new();
        for run in &self.runs {
            if !variants.contains(&run.variant.as_str()) {
                variants.push(&run.variant);
            }
        }
        variants
    }

    /// Returns the latest run of a variant: the last one in order of places, among those that are judged if there are any.
    pub fn latest(&self, variant: &str) -> Option<&RunSample<'a>> {
        let of_variant = || self.runs.iter().filter(|run| run.variant == variant);
        let judged = of_variant().rfind(|run| run.is_judged);
        judged.or_else(|| of_variant().next_back())
    }

    /// Returns the run before a run: the last one of its variant at an earlier place; before one that is judged, the last
    /// one that is.
    pub fn before(&self, run: &RunSample) -> Option<&RunSample<'a>> {
        let earlier = self.runs.partition_point(|it| it.place < run.place);
        let earlier = self.runs.get(..earlier)?.iter();
        let is_alike =
            |it: &&RunSample| it.variant == run.variant && (it.is_judged || !run.is_judged);
        earlier.rev().find(is_alike)
    }

    /// Returns the runs at the place of a run: what its session measured of its version.
    pub fn beside(&self, run: &RunSample) -> &[RunSample<'a>] {
        let from = self.runs.partition_point(|it| it.place < run.place);
        let to = self.runs.partition_point(|it| it.place <= run.place);
        self.runs.get(from..to).unwrap_or_default()
    }

    /// Returns the hosts in order of their first instance; unknown ones are no host.
    pub fn hosts(&self) -> Vec<&str> {
        let mut hosts: Vec<&str> = Vec::new();
        for host in self
            .runs
            .iter()
            .flat_map(|run| &run.instances)
            .filter_map(|instance| instance.host.as_deref())
        {
            if !hosts.contains(&host) {
                hosts.push(host);
            }
        }
        hosts
    }
}

/// The metric that is shown first where there is one.
pub const FIRST_METRIC: &str = "wall_time";

impl RunSample<'_> {
    pub(super) fn empty(instance: &InstanceData, variants: &VariantNames) -> Self {
        let session = &instance.session;
        let version_date = version_date(&instance.run.version);
        Self {
            id: instance.run.id,
            session: session.id,
            session_name: Self::session_name(instance),
            started: session.started,
            place: HistoryPosition {
                commit_number: 0,
                version_date,
                rank: 0,
                measured: session.started,
                session: session.id,
                first_run: instance.run.id,
                order: RunOrder::default(),
            },
            version_date,
            source_place: SourcePlace::of(instance),
            variant: variants.name(&instance.run).to_owned(),
            retired: false,
            is_judged: true,
            version: instance.run.version.label(),
            release: instance.run.version.name.clone(),
            meaning: BenchmarkMeaning::of(instance),
            other_unit: None,
            imported_from: ImportedFrom::of(session),
            instances: Vec::new(),
        }
    }

    /// Has none of its values count where it states another unit than that of the metric.
    fn leave_out_another_unit(&mut self, stated: &str, unit: &str) {
        if stated.is_empty() || unit.is_empty() || stated == unit {
            return;
        }
        self.other_unit = Some(stated.to_owned());
        for instance in &mut self.instances {
            instance.summaries.clear();
            instance.values = None;
            let states = instance.states.iter().map(|&state| match state {
                IterationState::Steady => IterationState::OtherUnit,
                excluded => excluded,
            });
            instance.states = states.collect();
        }
    }

    /// Returns the name of an instance's session, or else the end of its id.
    pub(super) fn session_name(instance: &InstanceData) -> String {
        let session = &instance.session;
        session
            .name
            .clone()
            .unwrap_or_else(|| short_id(&session.id))
    }

    /// Returns when it began, to the minute: `2026-11-20 10:00`.
    pub fn time_text(&self) -> String {
        minute_text(self.started)
    }

    /// Returns when and in which session it was: `2026-11-20 10:00 brisk-heron`.
    pub fn session_text(&self) -> String {
        // Names that other tools make up are long, and nobody reads them whole.
        let is_hash =
            |name: &str| name.len() >= 24 && name.bytes().all(|it| it.is_ascii_hexdigit());
        match &self.session_name {
            name if is_hash(name) => format!("{} {}…", self.time_text(), &name[..8]),
            name => format!("{} {name}", self.time_text()),
        }
    }

    /// Returns what tells this run from others of its variant:
    /// `2026-11-20 10:00 brisk-heron, 2026.9`.
    pub fn label_within_variant(&self) -> String {
        let version = match &self.version {
            Some(version) => format!("{}, {version}", self.session_text()),
            None => self.session_text(),
        };
        version + self.retired_text()
    }

    fn retired_text(&self) -> &'static str {
        if self.retired { ", retired" } else { "" }
    }

    /// Returns what tells this run from others: `2026-11-20 10:00 brisk-heron, fast, 2026.9`.
    pub fn label(&self) -> String {
        let mut label = self.session_text();
        if self.variant != Run::DEFAULT_VARIANT {
            label.push_str(", ");
            label.push_str(&self.variant);
        }
        if let Some(version) = &self.version {
            label.push_str(", ");
            label.push_str(version);
        }
        label + self.retired_text()
    }

    /// Returns what puts it in order among runs of several benchmarks.
    pub(crate) fn moment(&self) -> RunMoment {
        RunMoment {
            run: self.id,
            session: self.session,
            measured: self.place.measured,
            version: self.version.clone(),
            version_date: self.version_date,
            place: self.source_place.clone(),
        }
    }

    /// Returns whether the benchmark meant the same in the other run, as far as is known: whether
    /// both are of one epoch.
    pub fn means_the_same_as(&self, other: &RunSample) -> bool {
        self.retired == other.retired && self.meaning.is_that_of(&other.meaning)
    }

    /// Returns the means of its instances, without those that have none.
    pub fn instance_means(&self) -> Vec<f64> {
        self.instances
            .iter()
            .filter_map(InstanceSample::mean)
            .collect()
    }

    /// Returns the values after cleaning.
    pub fn cleaned(&self) -> Cleaned {
        let instances = self.instances.iter().enumerate();
        let hosts: BTreeSet<&String> = instances
            .clone()
            .filter_map(|(_, it)| it.host.as_ref())
            .collect();
        let number = |host: &Option<String>| hosts.iter().position(|it| Some(*it) == host.as_ref());
        Cleaned {
            instances: instances
                .map(|(position, instance)| CleanInstance {
                    position,
                    values: instance.steady_values(),
                    without_value: 0,
                    host: number(&instance.host),
                })
                .filter(|instance| !instance.values.is_empty())
                .collect(),
            left_out: self.left_out(),
        }
    }

    /// Returns the run as a side of a comparison.
    pub fn side(&self) -> SideSample {
        let cleaned = self.cleaned();
        let origin = |instance: &CleanInstance| {
            let measured = &self.instances[instance.position];
            InstanceOrigin {
                session: self.session,
                block: measured.block,
                position: measured.position,
                host: measured.host.clone(),
            }
        };
        let mut looks: BTreeMap<Look, usize> = BTreeMap::new();
        for instance in &self.instances {
            *looks.entry(instance.look).or_insert(0) += 1;
        }
        SideSample {
            looks,
            origins: cleaned.instances.iter().map(origin).collect(),
            cleaned,
            ..SideSample::default()
        }
    }

    /// Returns the sample size of the run's number.
    pub fn size(&self) -> SampleSize {
        SampleSize::of(self.instances.iter().map(InstanceSample::steady_count))
    }

    /// Returns the exclusions from the run's number.
    pub fn left_out(&self) -> LeftOut {
        LeftOut::of(
            self.instances
                .iter()
                .flat_map(|instance| instance.states.iter().copied()),
        )
    }

    /// Returns how many of its iterations failed or timed out, and of its instances that came
    /// to no iteration at all.
    pub fn failures(&self) -> usize {
        self.instances.iter().map(InstanceSample::failures).sum()
    }

    /// Returns whether all of it was skipped.
    pub fn is_skipped(&self) -> bool {
        !self.instances.is_empty() && self.instances.iter().all(InstanceSample::is_skipped)
    }

    /// Returns how many of its instances were lost.
    pub fn lost(&self) -> usize {
        self.instances
            .iter()
            .filter(|instance| instance.outcome == Some(InstanceOutcome::Lost))
            .count()
    }
}

impl ImportedFrom {
    /// Returns the description of its source from the attributes of an imported session.
    fn of(session: &Session) -> Option<Self> {
        let source = session.attributes.get("source")?;
        let text = |key: &str| source.get(key).and_then(serde_json::Value::as_str);
        Some(Self {
            format: text("format")?.to_owned(),
            each_run: text("each_run").and_then(EachRun::from_name),
        })
    }
}

impl<'a> InstanceSample<'a> {
    fn of(data: &'a InstanceData, name: &str, states: Vec<IterationState>) -> Self {
        let outcome = data.end.as_ref().map(|end| end.outcome);
        Self {
            id: data.instance.id,
            block: data.instance.block,
            look: Look::of(&data.instance.attributes),
            position: data.instance.position,
            host: data.instance.host.clone(),
            outcome,
            iterations: &data.iterations,
            values: data.iterations.values.get(name).map(Vec::as_slice),
            states: states.into_iter().collect(),
            summaries: data
                .summaries
                .iter()
                .filter(|summary| summary.metric == name && summary.centre.is_finite())
                .cloned()
                .collect(),
        }
    }

    /// Returns its iterations, in order, also those that do not count.
    pub fn points(&self) -> impl DoubleEndedIterator<Item = Point> + ExactSizeIterator {
        let iterations = self.iterations;
        self.states
            .iter()
            .enumerate()
            .map(move |(at, &state)| Point {
                index: iterations.index(at),
                offset: iterations.offset[at],
                value: self.value(at),
                outcome: iterations.outcome[at],
                state,
            })
    }

    fn value(&self, at: usize) -> f64 {
        let value = self.values.and_then(|values| values.get(at));
        value.copied().unwrap_or(f64::NAN)
    }

    fn failures(&self) -> usize {
        let given_up = matches!(
            self.outcome,
            Some(InstanceOutcome::Failed | InstanceOutcome::TimedOut)
        );
        if self.iterations.is_empty() {
            return usize::from(given_up);
        }
        let outcomes = self.iterations.outcome.iter();
        outcomes
            .filter(|outcome| matches!(outcome, Outcome::Failed | Outcome::TimedOut))
            .count()
    }

    fn is_skipped(&self) -> bool {
        let mut outcomes = self.iterations.outcome.iter();
        let all_skipped = outcomes.all(|it| *it == Outcome::Skipped);
        match self.outcome {
            Some(InstanceOutcome::Skipped) => all_skipped,
            Some(InstanceOutcome::Ok) | None => !self.iterations.is_empty() && all_skipped,
            Some(InstanceOutcome::Failed | InstanceOutcome::TimedOut | InstanceOutcome::Lost) => {
                false
            }
        }
    }

    fn has_values(&self) -> bool {
        self.values
            .is_some_and(|values| values.iter().any(|value| value.is_finite()))
    }

    /// Returns the mean of the analysed iterations; `None` without any.
    pub fn mean(&self) -> Option<f64> {
        lapwing_stats::mean(&self.steady_values())
    }

    /// Returns the number of its iterations that have a value of the metric.
    pub fn iterations(&self) -> usize {
        self.values.map_or(0, <[f64]>::len)
    }

    /// Returns the values of the analysed iterations.
    pub fn steady_values(&self) -> Vec<f64> {
        self.states
            .iter()
            .enumerate()
            .filter(|(_, state)| **state == IterationState::Steady)
            .map(|(at, _)| self.value(at))
            .collect()
    }

    /// Returns the number of analysed iterations.
    pub fn steady_count(&self) -> usize {
        let is_steady = |state: &&IterationState| **state == IterationState::Steady;
        self.states.iter().filter(is_steady).count()
    }

    /// Returns the exclusions from the instance's mean.
    pub fn left_out(&self) -> LeftOut {
        LeftOut::of(self.states.iter().copied())
    }

    /// Returns the beginning of its id, enough to distinguish it for a reader.
    pub fn short_id(&self) -> String {
        short_id(&self.id)
    }
}

/// Returns a time to the minute: `2026-11-20 10:00`.
pub(super) fn minute_text(time: Timestamp) -> String {
    let text = time.to_string();
    text.get(..16)
        .map_or_else(|| text.clone(), |minute| minute.replace('T', " "))
}

/// Returns the last eight digits of an id: its first ones are a time that many share.
pub(super) fn short_id(id: &Id) -> String {
    let text = id.to_string();
    text.get(text.len().saturating_sub(8)..)
        .unwrap_or(&text)
        .to_owned()
}

/// Returns the last twelve digits of a run's id, by which pages find it.
pub(super) fn short_run(id: &Id) -> String {
    let text = id.to_string();
    text.get(text.len().saturating_sub(12)..)
        .unwrap_or(&text)
        .to_owned()
}

/// Returns the metric's name as people read it: `wall time`.
pub(super) fn metric_title(name: &str) -> String {
    name.replace('_', " ")
}
