//! Makes records of what a source says.
//!
//! Readers describe sessions, runs and instances as drafts; here they get their ids (from
//! the content, so that the same content is the same again), their order and their metrics,
//! and what is in the store already is left in peace.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use super::keys::make_way;
use super::sink::Sink;
use super::spot::Spot;
use super::{BadLine, ImportError, ImportOptions, Source};
use crate::model::{
    Benchmark, Id, Instance, InstanceEnd, InstanceOutcome, Level, Metric, MetricName, Object,
    Record, RecordKind, Run, Session, Summary, Version,
};
use crate::record::{IterationColumns, NEVER_NEGATIVE, StoreError};

/// The keys of a summary's record. Its further figures stand beside them.
const SUMMARY_KEYS: [&str; 8] = [
    "v",
    "kind",
    "instance",
    "metric",
    "n",
    "centre",
    "spread",
    "statistic",
];

/// A session before it has an id.
#[derive(Debug, Default)]
pub(super) struct SessionDraft {
    /// What tells it from the other sessions of its source; empty where it is the only one.
    pub(super) key: String,
    /// The suite that its benchmarks belong to, where the source says so.
    pub(super) suite: Option<String>,
    /// When it began; the file's own time where the source does not say.
    pub(super) started: Option<Timestamp>,
    /// The program that measured, with its version.
    pub(super) tool: String,
    /// A name for people; the file's where there is none.
    pub(super) name: Option<String>,
    /// Whatever else is known of it.
    pub(super) attributes: Object,
    /// The options that change what is made of the same content: name and value.
    pub(super) read_with: Vec<(&'static str, &'static str)>,
}

/// A run before it has an id.
#[derive(Debug, Default)]
pub(super) struct RunDraft {
    /// What tells it from the other runs of its session; empty where it is the only one.
    pub(super) key: String,
    /// The named setting; `None` where nothing was varied.
    pub(super) variant: Option<String>,
    /// What was deliberately varied.
    pub(super) factors: BTreeMap<String, Level>,
    /// The state of the software under test.
    pub(super) version: Version,
    /// What was observed and not chosen.
    pub(super) environment: Object,
    /// Whatever else is known of it.
    pub(super) attributes: Object,
}

/// An instance, with everything measured in it, before it has an id.
#[derive(Debug, Default)]
pub(super) struct InstanceDraft {
    /// Its id where that is not to come from its place in the source.
    pub(super) id: Option<Id>,
    /// What was measured.
    pub(super) benchmark: Benchmark,
    /// The block that it belongs to.
    pub(super) block: u32,
    /// The machine that it ran on.
    pub(super) host: Option<String>,
    /// When it began.
    pub(super) started: Option<Timestamp>,
    /// When it ended.
    pub(super) ended: Option<Timestamp>,
    /// What was observed and not chosen.
    pub(super) environment: Object,
    /// The scheduler's names for it.
    pub(super) job: Object,
    /// Whatever else is known of it.
    pub(super) attributes: Object,
    /// The units and directions of its iterations' and summaries' metrics.
    pub(super) metrics: BTreeMap<MetricName, Metric>,
    /// Its iterations.
    pub(super) iterations: IterationColumns,
    /// What the source says of metrics whose samples it did not keep.
    pub(super) summaries: Vec<SummaryDraft>,
    /// How it ended.
    pub(super) outcome: InstanceOutcome,
    /// Why, where it did not end well.
    pub(super) message: Option<String>,
    /// The machine's state around it.
    pub(super) observed: Object,
}

/// A summary before it has an instance.
#[derive(Debug, Default, Clone)]
pub(super) struct SummaryDraft {
    /// The metric that it speaks of.
    pub(super) metric: MetricName,
    /// How many samples it was made from, where the source says so.
    pub(super) n: Option<u64>,
    /// The centre.
    pub(super) centre: f64,
    /// The spread, where the source says so.
    pub(super) spread: Option<f64>,
    /// Which centre and spread, such as `median/iqr`.
    pub(super) statistic: String,
    /// Further figures of the same metric, in its unit.
    pub(super) extra: Object,
}

/// One session on its way into the sink.
pub(super) struct Intake<'i, 'w, 't> {
    sink: &'i mut Sink<'w, 't>,
    format: &'static str,
    name: String,
    session: Session,
    /// Whether the session is in the sink.
    session_put: bool,
    runs: BTreeMap<String, RunState>,
    /// Instances so far, the bad ones too.
    position: u32,
}

struct RunState {
    id: Id,
    /// The run, until it is put; `None` as well where the store has it.
    waiting: Option<Run>,
    /// The metrics of all its instances, which agree on units.
    metrics: BTreeMap<MetricName, Metric>,
    /// Those of instances that are new.
    new_metrics: BTreeMap<MetricName, Metric>,
}

impl<'i, 'w, 't> Intake<'i, 'w, 't> {
    /// Begins a session.
    ///
    /// # Errors
    /// When the store has the same content, read with other options.
    pub(super) fn begin(
        format: &'static str,
        source: &Source,
        digest: &[u8; 32],
        options: &ImportOptions,
        sink: &'i mut Sink<'w, 't>,
        draft: SessionDraft,
    ) -> Result<Self, ImportError> {
        let new = new_session(format, source, digest, options, draft);
        let known = sink.known_session(&new)?;
        if let Some(known) = &known {
            refuse_other_options(known, &new, options)?;
        }
        Ok(Self {
            sink,
            format,
            name: source.name().to_owned(),
            session_put: known.is_some(),
            session: known.unwrap_or(new),
            runs: BTreeMap::new(),
            position: 0,
        })
    }

    /// Returns the account of what is left out and what is kept without being understood.
    pub(super) fn notes(&mut self) -> &mut super::notes::Notes {
        self.sink.notes()
    }

    /// Notes an element that cannot be kept.
    pub(super) fn bad(&mut self, bad: BadLine) {
        self.position += 1;
        self.sink.bad(bad);
    }

    /// Returns the id of the session.
    pub(super) fn session(&self) -> Id {
        self.session.id
    }

    /// Returns the run of that key, new or not.
    pub(super) fn run(&mut self, draft: RunDraft) -> Result<String, ImportError> {
        let key = draft.key.clone();
        if self.runs.contains_key(&key) {
            return Ok(key);
        }
        let label = format!("{} run", self.format);
        let mut parts = vec![label.as_bytes(), self.session.id.as_bytes().as_slice()];
        if !key.is_empty() {
            parts.push(key.as_bytes());
        }
        let id = Id::derived(&parts);
        let run = Run {
            id,
            session: self.session.id,
            variant: draft
                .variant
                .unwrap_or_else(|| Run::DEFAULT_VARIANT.to_owned()),
            factors: draft.factors,
            definitions: BTreeMap::new(),
            version: draft.version,
            metrics: BTreeMap::new(),
            environment: draft.environment,
            attributes: draft.attributes,
            artifacts: Object::new(),
            extra: Object::new(),
        };
        let state = RunState {
            id,
            waiting: (!self.sink.has_run(id)?).then_some(run),
            metrics: BTreeMap::new(),
            new_metrics: BTreeMap::new(),
        };
        self.runs.insert(key.clone(), state);
        Ok(key)
    }

    /// Takes an instance that stands there.
    pub(super) fn instance(
        &mut self,
        spot: impl Into<Spot>,
        run: &str,
        mut draft: InstanceDraft,
    ) -> Result<(), ImportError> {
        let spot = spot.into();
        let position = self.position;
        self.position += 1;
        if let Some(reason) = clean(&mut draft) {
            self.sink.bad(spot.bad(reason));
            return Ok(());
        }
        let Some(state) = self.runs.get_mut(run) else {
            return Err(StoreError::damaged("an instance came before its run").into());
        };
        let run = state.id;
        let metrics = agree_on_metrics(&mut state.metrics, &mut draft);
        let label = format!("{} instance", self.format);
        let id = draft.id.unwrap_or_else(|| {
            let place = u64::from(position).to_le_bytes();
            Id::derived(&[label.as_bytes(), self.session.id.as_bytes(), &place])
        });
        if self.sink.has_instance(id)? {
            let (sink, count) = (&mut *self.sink, draft.iterations.count);
            sink.already_there(RecordKind::Instance, 1);
            sink.already_there(RecordKind::Iteration, count);
            sink.already_there(RecordKind::Summary, draft.summaries.len());
            sink.already_there(RecordKind::InstanceEnd, 1);
            sink.nothing_new();
            return Ok(());
        }
        state.new_metrics.extend(metrics);
        let mut parents = Vec::new();
        if !self.session_put {
            parents.push(Record::Session(self.session.clone()));
        }
        parents.extend(state.waiting.clone().map(Record::Run));
        if !parents.is_empty() {
            if !self.sink.parents(spot, &parents)? {
                return Ok(());
            }
            self.session_put = true;
            state.waiting = None;
        }
        let mut records = Vec::with_capacity(2 + draft.summaries.len());
        let iterations = std::mem::take(&mut draft.iterations);
        instance_records(id, run, position, draft, &mut records);
        let iterations = (iterations.count > 0).then_some((id, iterations));
        self.sink.line_with(spot, &records, iterations)
    }

    /// Ends the session.
    ///
    /// # Errors
    /// When there was nothing in it.
    pub(super) fn finish(self) -> Result<(), ImportError> {
        if self.position == 0 {
            return Err(ImportError::NoResults { name: self.name });
        }
        for state in self.runs.into_values() {
            if state.waiting.is_none() {
                self.sink.add_metrics(state.id, &state.new_metrics)?;
            }
        }
        Ok(())
    }
}

fn new_session(
    format: &'static str,
    source: &Source,
    digest: &[u8; 32],
    options: &ImportOptions,
    draft: SessionDraft,
) -> Session {
    let mut about = Object::new();
    about.insert("format".to_owned(), json!(format));
    about.insert("file".to_owned(), json!(source.name()));
    about.insert("sha256".to_owned(), json!(hex(digest)));
    for (name, value) in draft.read_with {
        about.insert(name.to_owned(), json!(value));
    }
    let mut attributes = draft.attributes;
    attributes.insert("source".to_owned(), Value::Object(about));
    let mut parts = vec![format.as_bytes(), digest.as_slice()];
    if !draft.key.is_empty() {
        parts.push(draft.key.as_bytes());
    }
    Session {
        id: Id::derived(&parts),
        suite: options
            .suite
            .clone()
            .or(draft.suite)
            .unwrap_or_else(|| format.to_owned()),
        // The id does not depend on it, and the session that is in the store already wins.
        started: draft
            .started
            .or_else(|| source.modified())
            .unwrap_or(options.now),
        seed: None,
        tool: draft.tool,
        name: draft.name.or_else(|| Some(source.stem().to_owned())),
        attributes,
        artifacts: Object::new(),
        extra: Object::new(),
    }
}

fn refuse_other_options(
    known: &Session,
    new: &Session,
    options: &ImportOptions,
) -> Result<(), ImportError> {
    let session = || known.name.clone().unwrap_or_else(|| known.id.to_string());
    let each_run = |session: &Session| {
        let word = session.attributes.get("source")?.get("each_run")?.as_str();
        word.map(str::to_owned)
    };
    if let (Some(before), Some(now)) = (each_run(known), each_run(new))
        && before != now
    {
        return Err(ImportError::Store(StoreError::ImportedOtherwise {
            session: session(),
            before: format!("--each-run {before}"),
            now: format!("--each-run {now}"),
        }));
    }
    if options.suite.is_some() && known.suite != new.suite {
        return Err(ImportError::Store(StoreError::ImportedOtherwise {
            session: session(),
            before: format!("suite `{}`", known.suite),
            now: format!("suite `{}`", new.suite),
        }));
    }
    Ok(())
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Makes what is not finite missing; returns why the instance is bad, if it is.
fn clean(draft: &mut InstanceDraft) -> Option<String> {
    let id = &draft.benchmark.id;
    if id.is_empty() {
        return Some("the benchmark has no name".to_owned());
    }
    let never_negative = |metric: &str| {
        NEVER_NEGATIVE.contains(&metric)
            || draft.metrics.get(metric).is_some_and(|it| it.unit == "s")
    };
    for (metric, column) in &mut draft.iterations.values {
        for value in column.iter_mut() {
            if *value < 0.0 && never_negative(metric) {
                return Some(format!("`{metric}` of `{id}` is negative: {value}"));
            }
            if value.is_infinite() {
                *value = f64::NAN;
            }
        }
    }
    draft
        .iterations
        .values
        .retain(|_, column| column.iter().any(|value| !value.is_nan()));
    draft.summaries.retain(|it| it.centre.is_finite());
    for summary in &mut draft.summaries {
        if summary.centre < 0.0 && never_negative(&summary.metric) {
            return Some(format!(
                "`{}` of `{id}` is negative: {}",
                summary.metric, summary.centre
            ));
        }
        summary.spread = summary.spread.filter(|it| it.is_finite());
        make_way(&mut summary.extra, &SUMMARY_KEYS);
    }
    None
}

/// A metric has one unit in a run. The same name with another one gets the unit into its
/// name. Returns the metrics that the instance has.
fn agree_on_metrics(
    known: &mut BTreeMap<MetricName, Metric>,
    draft: &mut InstanceDraft,
) -> BTreeMap<MetricName, Metric> {
    let mut agreed = BTreeMap::new();
    let summarised: BTreeSet<MetricName> =
        draft.summaries.iter().map(|it| it.metric.clone()).collect();
    for (name, metric) in std::mem::take(&mut draft.metrics) {
        let has_values = draft.iterations.values.contains_key(&name) || summarised.contains(&name);
        if !has_values {
            continue;
        }
        let name = match known.get(&name) {
            Some(other) if *other != metric => rename(draft, &name, &metric),
            Some(_) | None => name,
        };
        known.entry(name.clone()).or_insert_with(|| metric.clone());
        agreed.insert(name, metric);
    }
    agreed
}

/// Puts the unit into the name of a metric; returns that name.
fn rename(draft: &mut InstanceDraft, name: &str, metric: &Metric) -> MetricName {
    let other_name = format!("{name} ({})", metric.unit);
    if let Some(column) = draft.iterations.values.remove(name) {
        draft.iterations.values.insert(other_name.clone(), column);
    }
    for summary in &mut draft.summaries {
        if summary.metric == name {
            summary.metric.clone_from(&other_name);
        }
    }
    other_name
}

fn instance_records(
    id: Id,
    run: Id,
    position: u32,
    draft: InstanceDraft,
    records: &mut Vec<Record>,
) {
    records.push(Record::Instance(Instance {
        id,
        run,
        benchmark: draft.benchmark,
        block: draft.block,
        position,
        attempt: 0,
        host: draft.host,
        started: draft.started,
        environment: draft.environment,
        job: draft.job,
        attributes: draft.attributes,
        artifacts: Object::new(),
        extra: Object::new(),
    }));
    for summary in draft.summaries {
        records.push(Record::Summary(Summary {
            instance: id,
            metric: summary.metric,
            n: summary.n,
            centre: summary.centre,
            spread: summary.spread,
            statistic: summary.statistic,
            extra: summary.extra,
        }));
    }
    records.push(Record::InstanceEnd(InstanceEnd {
        instance: id,
        ended: draft.ended,
        outcome: draft.outcome,
        message: draft.message,
        observed: draft.observed,
        extra: Object::new(),
    }));
}
