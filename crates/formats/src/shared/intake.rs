//! Makes records of what a source says.
//!
//! Readers describe sessions, runs and instances as drafts; here they get their ids (from
//! the content, so that the same content is the same again), their order and their metrics,
//! and what is in the store already is left in peace.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::shared::continued::ContinuedHistory;
pub(crate) use crate::shared::drafts::{
    InstanceDraft, RunDraft, SessionDraft, SummaryDraft, iterations_of,
};
use crate::shared::found::Found;
use crate::shared::keys::make_way;
use crate::shared::reading::spot::Spot;
use crate::shared::sink::{INVALID, Sink};
use crate::shared::spans::no_instance;
use crate::{BadLine, ImportError, ImportOptions, Source};
use lapwing_model::{
    DEEPEST, Id, Instance, InstanceEnd, InstanceOutcome, Metric, MetricName, Object, Record,
    RecordKind, Run, Session, Span, StartedFrom, Summary, is_deep,
};
use lapwing_record::{IterationColumns, NEVER_NEGATIVE, StoreError};

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

/// One session on its way into the sink.
pub(crate) struct Intake<'i, 'w, 't> {
    sink: &'i mut Sink<'w, 't>,
    format: &'static str,
    name: String,
    session: Session,
    /// Whether the store had the session before.
    is_known: bool,
    /// Whether the session is in the sink.
    session_put: bool,
    /// The runs, until they are put; `None` as well where the store has them.
    runs: BTreeMap<Id, Option<Box<Run>>>,
    /// The metrics of each run's instances, which agree on units. All of them together,
    /// because every result may have a run of its own.
    metrics: BTreeMap<(Id, MetricName), RunMetric>,
    /// Instances so far, the bad ones too.
    position: u32,
}

/// An instance that was taken.
#[derive(Debug)]
pub(crate) struct TakenInstance {
    id: Id,
    /// Whether the store did not have it before.
    is_new: bool,
    /// How many iterations of it there were so far.
    count: usize,
}

/// A benchmark that was taken and has nothing to say.
const NO_VALUE: &str = "it has no value";

struct RunMetric {
    metric: Metric,
    /// Whether an instance that is new has it.
    is_new: bool,
}

impl<'i, 'w, 't> Intake<'i, 'w, 't> {
    /// Begins a session.
    ///
    /// # Errors
    /// When the store has the same content, read with other options.
    pub(crate) fn begin(
        source: &Source,
        digest: &[u8; 32],
        sink: &'i mut Sink<'w, 't>,
        draft: SessionDraft,
    ) -> Result<Self, ImportError> {
        let dated = draft.started.is_some_and(has_time_of_day);
        let said = draft.started;
        let new = new_session(source, digest, sink, draft);
        let mut known = sink.known_session(&new)?;
        if let (Some(known), Some(started)) = (&mut known, said)
            && started < known.started
        {
            known.started = started;
            sink.let_begin(known.id, started)?;
        }
        match &known {
            Some(known) => refuse_other_options(known, &new, &sink.options)?,
            None if dated => sink.dated(new.clone()),
            None => {}
        }
        Ok(Self {
            format: sink.format(),
            sink,
            name: source.name().to_owned(),
            is_known: known.is_some(),
            session_put: known.is_some(),
            session: known.unwrap_or(new),
            runs: BTreeMap::new(),
            metrics: BTreeMap::new(),
            position: 0,
        })
    }

    /// Returns the account of what is left out and what is kept without being understood.
    pub(crate) fn notes(&mut self) -> &mut crate::shared::notes::Notes {
        self.sink.notes()
    }

    /// Returns the account of the names of benchmarks, with and without results.
    pub(crate) fn found(&mut self) -> &mut Found {
        self.sink.found()
    }

    /// Returns how to read the source.
    pub(crate) fn options(&self) -> &ImportOptions {
        &self.sink.options
    }

    /// Notes an element that cannot be kept.
    pub(crate) fn bad(&mut self, bad: BadLine) {
        self.position += 1;
        self.sink.bad_result(bad);
    }

    /// Returns what was read; nothing where it is bad, which is noted.
    pub(crate) fn good<T>(&mut self, read: Result<T, BadLine>) -> Option<T> {
        read.map_err(|bad| self.bad(bad)).ok()
    }

    /// Returns the id of the session.
    pub(crate) fn session(&self) -> Id {
        self.session.id
    }

    /// Returns whether the store had the session before.
    pub(crate) fn is_known(&self) -> bool {
        self.is_known
    }

    /// Returns whether the store has that instance.
    pub(crate) fn has_instance(&mut self, id: Id) -> Result<bool, ImportError> {
        self.sink.has_instance(id)
    }

    /// Returns the run of that key, new or not.
    pub(crate) fn run(&mut self, draft: RunDraft) -> Result<Id, ImportError> {
        let label = format!("{} run", self.format);
        let mut parts = vec![label.as_bytes(), self.session.id.as_bytes().as_slice()];
        if !draft.key.is_empty() {
            parts.push(draft.key.as_bytes());
        }
        let id = Id::derived(&parts);
        if self.runs.contains_key(&id) {
            return Ok(id);
        }
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
        let waiting = (!self.sink.has_run(id)?).then(|| Box::new(run));
        self.runs.insert(id, waiting);
        Ok(id)
    }

    /// Takes an instance that stands there, with all of its iterations.
    pub(crate) fn instance(
        &mut self,
        spot: impl Into<Spot>,
        run: Id,
        draft: InstanceDraft,
    ) -> Result<(), ImportError> {
        let spot = spot.into();
        let name = draft.benchmark.id.clone();
        if says_nothing(&draft) && !name.is_empty() {
            // The ids of those behind it come from their places in the file.
            self.position += 1;
            self.sink.found().without_result(&name, spot, NO_VALUE);
            return Ok(());
        }
        let taken = self.place_draft(spot, run, draft)?;
        self.note_found(&name, spot, taken.is_some());
        Ok(())
    }

    /// Takes a trace that stands there, whose spans come one by one.
    pub(crate) fn trace(
        &mut self,
        spot: impl Into<Spot>,
        run: Id,
        draft: InstanceDraft,
        spans: impl ExactSizeIterator<Item = Span>,
    ) -> Result<(), ImportError> {
        let spot = spot.into();
        let name = draft.benchmark.id.clone();
        let taken = self.place_instance(spot, run, draft, spans)?;
        self.note_found(&name, spot, taken.is_some());
        Ok(())
    }

    fn note_found(&mut self, name: &str, spot: Spot, is_good: bool) {
        let found = self.sink.found();
        if is_good {
            found.result(name);
        } else {
            found.without_result(name, spot, INVALID);
        }
    }

    /// Takes an instance that stands there and was read, or notes why it is bad.
    pub(crate) fn read_instance(
        &mut self,
        spot: impl Into<Spot>,
        run: Id,
        read: Result<InstanceDraft, BadLine>,
    ) -> Result<(), ImportError> {
        match self.good(read) {
            Some(draft) => self.instance(spot, run, draft),
            None => Ok(()),
        }
    }

    /// Takes an instance that begins there and of which more iterations may follow;
    /// returns nothing where it is bad.
    pub(crate) fn begin_instance(
        &mut self,
        spot: Spot,
        run: Id,
        draft: InstanceDraft,
    ) -> Result<Option<TakenInstance>, ImportError> {
        let name = draft.benchmark.id.clone();
        let taken = self.place_draft(spot, run, draft)?;
        self.note_found(&name, spot, taken.is_some());
        Ok(taken)
    }

    fn place_draft(
        &mut self,
        spot: Spot,
        run: Id,
        mut draft: InstanceDraft,
    ) -> Result<Option<TakenInstance>, ImportError> {
        let spans = std::mem::take(&mut draft.spans);
        if spans.iter().any(|span| is_deep(&span.attributes)) {
            self.position += 1;
            let reason = format!("nested deeper than {DEEPEST} levels");
            self.sink.bad(spot.bad(reason));
            return Ok(None);
        }
        let spans = spans.into_iter();
        let spans = spans.map(|span| span.into_span(no_instance(), None, 0));
        self.place_instance(spot, run, draft, spans)
    }

    /// Places an instance with spans that do not know it yet.
    fn place_instance(
        &mut self,
        spot: Spot,
        run: Id,
        mut draft: InstanceDraft,
        spans: impl ExactSizeIterator<Item = Span>,
    ) -> Result<Option<TakenInstance>, ImportError> {
        let position = self.position;
        self.position += 1;
        let continued = self.sink.options.continued.as_ref();
        if let Some(known) = continued.and_then(|it| it.benchmark(&draft.benchmark.id)) {
            known.clone_into(&mut draft.benchmark.id);
        }
        if let Some(reason) = clean(&mut draft) {
            self.sink.bad(spot.bad(reason));
            return Ok(None);
        }
        let Some(waiting) = self.runs.get_mut(&run) else {
            return Err(StoreError::NoParent {
                kind: RecordKind::Instance,
                key: position.to_string(),
                parent_kind: RecordKind::Run,
                parent: run.to_string(),
            }
            .into());
        };
        let metrics = agree_on_metrics(&mut self.metrics, run, &mut draft);
        let label = format!("{} instance", self.format);
        let id = draft.id.unwrap_or_else(|| {
            let place = u64::from(position).to_le_bytes();
            Id::derived(&[label.as_bytes(), self.session.id.as_bytes(), &place])
        });
        let is_new = !self.sink.has_instance(id)?;
        let taken = TakenInstance {
            id,
            is_new,
            count: draft.iterations.count,
        };
        if !is_new {
            let (sink, count) = (&mut *self.sink, draft.iterations.count);
            sink.already_there(RecordKind::Instance, 1);
            sink.already_there(RecordKind::Iteration, count);
            sink.already_there(RecordKind::Summary, draft.summaries.len());
            sink.already_there(RecordKind::Span, spans.len());
            sink.already_there(RecordKind::InstanceEnd, 1);
            sink.nothing_new();
            return Ok(Some(taken));
        }
        for name in metrics {
            if let Some(metric) = self.metrics.get_mut(&(run, name)) {
                metric.is_new = true;
            }
        }
        let mut parents = Vec::new();
        if !self.session_put {
            parents.push(Record::Session(self.session.clone()));
        }
        parents.extend(waiting.clone().map(|run| Record::Run(*run)));
        if !parents.is_empty() {
            if !self.sink.parents(spot, &parents)? {
                return Ok(None);
            }
            self.session_put = true;
            *waiting = None;
        }
        let mut records = Vec::with_capacity(2 + draft.summaries.len());
        let iterations = std::mem::take(&mut draft.iterations);
        instance_records(id, run, position, draft, &mut records);
        let iteration = (iterations.count == 1).then_some(0);
        let spans = (0..).zip(spans).map(|(index, span)| Span {
            instance: id,
            iteration,
            index,
            ..span
        });
        let iterations = (iterations.count > 0).then_some((id, iterations));
        let good = self.sink.line(spot, &records, spans, iterations)?;
        Ok(good.then_some(taken))
    }

    /// Takes the next iterations of an instance, with the metrics that they have. The values
    /// are checked, and their metrics have the same units in all of the run.
    pub(crate) fn more_iterations(
        &mut self,
        run: Id,
        instance: &mut TakenInstance,
        metrics: BTreeMap<MetricName, Metric>,
        mut iterations: IterationColumns,
    ) -> Result<(), ImportError> {
        if !instance.is_new {
            self.sink
                .already_there(RecordKind::Iteration, iterations.count);
            return Ok(());
        }
        for (name, metric) in metrics {
            let known = self.metrics.entry((run, name));
            let known = known.or_insert(RunMetric {
                metric,
                is_new: true,
            });
            known.is_new = true;
        }
        iterations.first = u32::try_from(instance.count).unwrap_or(u32::MAX);
        instance.count += iterations.count;
        self.sink.more_iterations(instance.id, iterations)
    }

    /// Ends the session.
    ///
    /// # Errors
    /// When there was nothing in it.
    pub(crate) fn finish(self) -> Result<(), ImportError> {
        if self.position == 0 {
            return Err(ImportError::NoResults(self.name));
        }
        for (run, waiting) in self.runs {
            if waiting.is_none() {
                let all = self.metrics.range((run, String::new())..);
                let new = all
                    .take_while(|((of, _), _)| *of == run)
                    .filter(|(_, metric)| metric.is_new)
                    .map(|((_, name), it)| (name.clone(), it.metric.clone()))
                    .collect();
                self.sink.add_metrics(run, &new)?;
            }
        }
        Ok(())
    }
}

/// Returns the session that a draft is of.
pub(crate) fn new_session(
    source: &Source,
    digest: &[u8; 32],
    sink: &Sink<'_, '_>,
    draft: SessionDraft,
) -> Session {
    let (format, options) = (sink.format(), &sink.options);
    let (started, from) = start(source, &draft);
    let mut about = Object::new();
    about.insert("format".to_owned(), json!(format));
    about.insert("file".to_owned(), json!(source.name()));
    about.insert("sha256".to_owned(), json!(hex(digest)));
    for (name, value) in draft.read_with {
        about.insert(name.to_owned(), json!(value));
    }
    let names = &options.trace;
    for (name, value) in [("benchmark", &names.benchmark), ("variant", &names.variant)] {
        if let Some(value) = value.as_ref().filter(|_| sink.takes_names()) {
            about.insert(name.to_owned(), json!(value));
        }
    }
    let mut attributes = draft.attributes;
    if from != StartedFrom::Source {
        about.insert(StartedFrom::KEY.to_owned(), json!(from.name()));
    }
    attributes.insert("source".to_owned(), Value::Object(about));
    let identity = draft.identity.as_ref().unwrap_or(digest);
    let mut parts = vec![format.as_bytes(), identity.as_slice()];
    // Two nights may have the same results: their files' names tell them apart, if nothing in them does.
    let night = match from {
        StartedFrom::Source => None,
        StartedFrom::FileName => started.map(|it| it.to_string()),
        StartedFrom::FileTime => draft.identity.is_none().then(|| source.telling_name()),
    };
    parts.extend(night.as_ref().map(|it| it.as_bytes()));
    if !draft.key.is_empty() {
        parts.push(draft.key.as_bytes());
    }
    Session {
        id: Id::derived(&parts),
        suite: options
            .suite
            .clone()
            .or_else(|| options.continued.as_ref().map(|it| it.suite.clone()))
            .or(draft.suite)
            .unwrap_or_else(|| format.to_owned()),
        // The id does not depend on it, and the session that is in the store already wins.
        started: started.unwrap_or(options.now),
        seed: None,
        // Otherwise the change of the tool would explain any other.
        tool: match options.continued {
            Some(_) => ContinuedHistory::TOOL.to_owned(),
            None => draft.tool,
        },
        name: draft.name.or_else(|| Some(source.telling_name())),
        attributes,
        artifacts: Object::new(),
        extra: Object::new(),
    }
}

/// Returns when a session started, as far as is known, and where that comes from: the source, a date in the name of its
/// file, or else the time of the file, which copying changes.
fn start(source: &Source, draft: &SessionDraft) -> (Option<Timestamp>, StartedFrom) {
    let known = [
        (draft.started, StartedFrom::Source),
        (source.date_in_name(), StartedFrom::FileName),
        (draft.file_time, StartedFrom::FileTime),
        (source.modified(), StartedFrom::FileTime),
    ];
    let first = known.into_iter().find(|(time, _)| time.is_some());
    first.unwrap_or_default()
}

/// A source may know no more than the day, on which much can have been measured.
fn has_time_of_day(time: Timestamp) -> bool {
    time.as_nanosecond().rem_euclid(86_400_000_000_000) != 0
}

/// Returns an error where the store has the same content, read with other options.
pub(crate) fn refuse_other_options(
    known: &Session,
    new: &Session,
    options: &ImportOptions,
) -> Result<(), ImportError> {
    let session = || known.name.clone().unwrap_or_else(|| known.id.to_string());
    for name in ["each_run", "benchmark", "variant", "columns"] {
        let option = |session: &Session| {
            let word = session.attributes.get("source")?.get(name)?.as_str();
            word.map(|word| match name {
                "each_run" => format!("--each-run {word}"),
                _ => format!("{name} `{word}`"),
            })
        };
        let (before, now) = (option(known), option(new));
        // Older stores do not know how runs were read.
        if let Some(now) = now
            && before.as_ref() != Some(&now)
            && (before.is_some() || name != "each_run")
        {
            return Err(ImportError::ImportedOtherwise {
                session: session(),
                before: before.unwrap_or_else(|| format!("no {name}")),
                now,
            });
        }
    }
    if options.suite.is_some() && known.suite != new.suite {
        return Err(ImportError::ImportedOtherwise {
            session: session(),
            before: format!("suite `{}`", known.suite),
            now: format!("suite `{}`", new.suite),
        });
    }
    Ok(())
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns whether an instance ended well and has neither values nor spans.
fn says_nothing(draft: &InstanceDraft) -> bool {
    let mut columns = draft.iterations.values.values().flatten();
    let mut centres = draft.summaries.iter().map(|it| it.centre);
    draft.outcome == InstanceOutcome::Ok
        && draft.spans.is_empty()
        && draft.iterations.marks.is_empty()
        && !columns.any(|value| value.is_finite())
        && !centres.any(f64::is_finite)
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
/// name. Returns the names of the metrics that the instance has.
fn agree_on_metrics(
    known: &mut BTreeMap<(Id, MetricName), RunMetric>,
    run: Id,
    draft: &mut InstanceDraft,
) -> Vec<MetricName> {
    let mut agreed = Vec::new();
    let summarised: BTreeSet<MetricName> =
        draft.summaries.iter().map(|it| it.metric.clone()).collect();
    for (name, metric) in std::mem::take(&mut draft.metrics) {
        let has_values = draft.iterations.values.contains_key(&name) || summarised.contains(&name);
        if !has_values {
            continue;
        }
        let name = match known.get(&(run, name.clone())) {
            Some(other) if other.metric != metric => rename(draft, &name, &metric),
            Some(_) | None => name,
        };
        known.entry((run, name.clone())).or_insert(RunMetric {
            metric,
            is_new: false,
        });
        agreed.push(name);
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
        position: draft.position.unwrap_or(position),
        attempt: 0,
        host: draft.host,
        started: draft.started,
        environment: draft.environment,
        job: draft.job,
        attributes: draft.attributes,
        artifacts: draft.artifacts,
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
