//! Benchmarks of Hail: JSON Lines, one instance of one benchmark a line; before 2024 one document.

mod older;
mod wire;

use std::collections::{BTreeMap, HashMap};
use std::io::Read;
use std::iter::empty;
use std::sync::mpsc::{SyncSender, sync_channel};

use crate::hail::older::{is_older, read_older};
use crate::hail::wire::{HailIteration, HailLine};
use crate::shared::detect::{first_line, has_own_key};
use crate::shared::intake::{SessionDraft, new_session, refuse_other_options};
use crate::shared::keys::put;
use crate::shared::reading::lines::{Line, Lines};
use crate::shared::reading::moment::moment;
use crate::shared::reading::spot::Spot;
use crate::shared::reason::reason;
use crate::shared::sink::Sink;
use crate::{BadLine, Format, ImportError, Source};
use jiff::Timestamp;
use lapwing_model::{
    Benchmark, Id, Instance, InstanceEnd, InstanceOutcome, Metric, Object, Outcome, Record,
    RecordKind, Run, Session, Version,
};
use lapwing_record::{IterationColumns, Mark};

pub(super) const FORMAT: Format = Format::new(
    "hail",
    "Hail benchmark results, JSON Lines",
    looks_like,
    read,
)
.with_keys(&["path", "name", "iterations"]);

/// The bytes that tell which of the formats a file is in.
const HEAD: u64 = 1 << 16;

/// The metrics of an iteration, in the order of its values.
const METRICS: [&str; 2] = ["wall_time", "task_memory"];

fn looks_like(head: &[u8]) -> Option<&'static str> {
    if is_older(head) {
        return Some("it has `config` and `benchmarks` with `times`");
    }
    let line = first_line(head);
    let mut keys = ["path", "name", "iterations"].iter();
    (line.starts_with(b"{") && keys.all(|key| has_own_key(line, key)))
        .then_some("its first line has `path`, `name` and `iterations`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let mut head = Vec::new();
    let mut text = source.text()?.take(HEAD);
    text.read_to_end(&mut head)
        .map_err(|error| source.failed(error))?;
    if is_older(&head) {
        return read_older(source, sink);
    }
    let digest = source.sha256()?;
    // The first instance's start takes the place of the file's.
    // Lines are recognised one by one, whatever the name of their file.
    let draft = SessionDraft {
        identity: Some(digest),
        ..SessionDraft::of("hail benchmark")
    };
    let mut reader = Reader {
        session: new_session(source, &digest, sink, draft),
        session_known: false,
        runs: HashMap::new(),
        records: Vec::new(),
    };
    reader.find_known_session(sink)?;
    // One thread reads and parses, this one writes.
    std::thread::scope(|scope| {
        let (sender, receiver) = sync_channel(BATCHES_WAITING);
        scope.spawn(move || parse_all(source, &sender));
        let mut position = 0;
        for batch in receiver {
            for (number, parsed) in batch? {
                match parsed {
                    Ok(measured) => {
                        reader.take(number, measured, position, sink)?;
                        position += 1;
                    }
                    Err(why) => sink.bad(BadLine::new(number, why)),
                }
            }
        }
        Ok(())
    })
}

/// Parsed lines with their numbers, or why there are no more.
type Batch = Result<Vec<(u64, Result<MeasuredLine, String>)>, ImportError>;

/// Batches that may wait to be written. Few, so that memory does not grow with the file.
const BATCHES_WAITING: usize = 2;

/// Bytes of lines in a batch, at least.
const BATCH: usize = 1 << 18;

/// Parses every line and sends the outcome, until the receiver is gone.
fn parse_all(source: &Source, sender: &SyncSender<Batch>) {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    let read = Lines::of(source).and_then(|mut lines| {
        while let Some((number, line)) = lines.next()? {
            batch.push(match line {
                Line::Text(text) => {
                    bytes += text.len();
                    (number, parse(text))
                }
                Line::Bad(why) => (number, Err(why)),
            });
            if bytes >= BATCH {
                bytes = 0;
                if sender.send(Ok(std::mem::take(&mut batch))).is_err() {
                    break;
                }
            }
        }
        Ok(())
    });
    for rest in [Ok(batch), read.map(|()| Vec::new())] {
        let _receiver_is_gone = sender.send(rest);
    }
}

/// A line that was understood, and the records of it that need nothing else.
struct MeasuredLine {
    /// From the line alone: results that were combined into another file are the same
    /// instances there.
    id: Id,
    line: HailLine,
    start: Option<Timestamp>,
    iterations: IterationColumns,
    end: Option<Record>,
}

fn parse(text: &str) -> Result<MeasuredLine, String> {
    let mut line: HailLine = serde_json::from_str(text).map_err(|error| reason(text, &error))?;
    if line.name.is_empty() {
        return Err("`name` is empty".to_owned());
    }
    let id = Id::derived(&[b"hail instance", text.as_bytes()]);
    let start = time("start", line.start.as_deref())?;
    let end = time("end", line.end.as_deref())?;
    let iterations = columns(std::mem::take(&mut line.iterations));
    let end = end.map(|end| Record::InstanceEnd(instance_end(id, end, iterations.count)));
    Ok(MeasuredLine {
        id,
        line,
        start,
        iterations,
        end,
    })
}

/// Returns the time of a key, where it has one.
fn time(key: &str, text: Option<&str>) -> Result<Option<Timestamp>, String> {
    let time = |text| moment(text).ok_or_else(|| format!("`{key}` is not a time: {text:?}"));
    text.map(time).transpose()
}

struct Reader {
    session: Session,
    session_known: bool,
    runs: HashMap<[Option<String>; 3], Id>,
    records: Vec<Record>,
}

impl Reader {
    /// The same content under another name is the same session.
    fn find_known_session(&mut self, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
        if let Some(known) = sink.known_session(&self.session)? {
            refuse_other_options(&known, &self.session, &sink.options)?;
            self.session = known;
            self.session_known = true;
        }
        Ok(())
    }

    fn take(
        &mut self,
        number: u64,
        measured: MeasuredLine,
        position: u32,
        sink: &mut Sink<'_, '_>,
    ) -> Result<(), ImportError> {
        if sink.only_counts() {
            sink.nothing_new();
            return Ok(());
        }
        let MeasuredLine {
            id,
            line,
            start,
            iterations,
            end,
        } = measured;
        let benchmark = Benchmark {
            id: format!("{}::{}", line.path, line.name),
            ..Benchmark::default()
        };
        if sink.has_instance(id)? {
            sink.found().result(&benchmark.id);
            sink.already_there(RecordKind::Instance, 1);
            sink.already_there(RecordKind::Iteration, iterations.count);
            sink.already_there(RecordKind::InstanceEnd, usize::from(end.is_some()));
            sink.nothing_new();
            return Ok(());
        }
        self.records.clear();
        let begins = !self.session_known;
        if begins {
            self.session_known = true;
            if let Some(start) = start {
                self.session.started = start;
                sink.dated(self.session.clone());
            }
            self.records.push(Record::Session(self.session.clone()));
        }
        let run = self.run(&line);
        let spot = Spot::from(number);
        if !self.records.is_empty() && !sink.parents(spot, &self.records)? {
            // The next line tries again.
            self.session_known = !begins;
            self.runs.clear();
            return Ok(());
        }
        self.records.clear();
        let name = benchmark.id.clone();
        self.records.push(Record::Instance(Instance {
            id,
            run,
            benchmark,
            block: 0,
            position,
            attempt: 0,
            host: None,
            started: start,
            environment: Object::new(),
            job: line.job,
            attributes: line.unknown,
            artifacts: Object::new(),
            extra: Object::new(),
        }));
        self.records.extend(end);
        if sink.line(spot, &self.records, empty(), Some((id, iterations)))? {
            sink.found().result(&name);
        }
        Ok(())
    }

    fn run(&mut self, line: &HailLine) -> Id {
        let key = [
            line.version.clone(),
            line.platform.clone(),
            line.python.clone(),
        ];
        if let Some(&id) = self.runs.get(&key) {
            return id;
        }
        let parts = key.each_ref().map(|part| part.as_deref().unwrap_or(""));
        let id = Id::derived(&[
            b"hail run",
            self.session.id.as_bytes(),
            parts[0].as_bytes(),
            parts[1].as_bytes(),
            parts[2].as_bytes(),
        ]);
        let mut environment = Object::new();
        put(&mut environment, "platform", line.platform.as_deref());
        put(&mut environment, "python", line.python.as_deref());
        self.records.push(Record::Run(Run {
            id,
            session: self.session.id,
            variant: Run::DEFAULT_VARIANT.to_owned(),
            factors: BTreeMap::new(),
            definitions: BTreeMap::new(),
            version: Version {
                commit: line.version.as_deref().and_then(commit_of),
                name: line.version.clone(),
                ..Version::default()
            },
            metrics: BTreeMap::from([
                (METRICS[0].to_owned(), Metric::lower("s")),
                (METRICS[1].to_owned(), Metric::lower("B")),
            ]),
            environment,
            attributes: Object::new(),
            artifacts: Object::new(),
            extra: Object::new(),
        }));
        self.runs.insert(key, id);
        id
    }
}

/// Hail's version ends with the commit: `0.2.134-952ae203dbbe`.
fn commit_of(version: &str) -> Option<String> {
    let (_, commit) = version.rsplit_once('-')?;
    let is_hash = (7..=40).contains(&commit.len())
        && commit
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_hash.then(|| commit.to_owned())
}

/// Returns the iterations in columns.
fn columns(iterations: Vec<HailIteration>) -> IterationColumns {
    let mut columns = IterationColumns {
        count: iterations.len(),
        ..IterationColumns::default()
    };
    let mut values = METRICS.map(|_| Vec::with_capacity(iterations.len()));
    for (index, iteration) in (0_u32..).zip(iterations) {
        columns.burn_in.push(iteration.is_burn_in);
        for (column, value) in values
            .iter_mut()
            .zip([iteration.time, iteration.task_memory])
        {
            column.push(value.unwrap_or(f64::NAN));
        }
        let outcome = match (iteration.timed_out, &iteration.failure) {
            (true, _) => Outcome::TimedOut,
            (false, Some(_)) => Outcome::Failed,
            (false, None) => Outcome::Ok,
        };
        if outcome != Outcome::Ok || !iteration.unknown.is_empty() {
            let failure = iteration.failure;
            let mark = Mark {
                outcome,
                // A traceback is a JSON string within the JSON string.
                message: failure.map(|text| serde_json::from_str(&text).unwrap_or(text)),
                attributes: iteration.unknown,
            };
            columns.marks.insert(index, mark);
        }
    }
    for (name, column) in METRICS.into_iter().zip(values) {
        if column.iter().any(|value| !value.is_nan()) {
            columns.values.insert(name.to_owned(), column);
        }
    }
    columns
}

fn instance_end(instance: Id, ended: Timestamp, iterations: usize) -> InstanceEnd {
    let (outcome, message) = if iterations == 0 {
        let message = "the source has no iterations: skipped, or a fixture failed";
        (InstanceOutcome::Skipped, Some(message.to_owned()))
    } else {
        (InstanceOutcome::Ok, None)
    };
    InstanceEnd {
        instance,
        ended: Some(ended),
        outcome,
        message,
        observed: Object::new(),
        extra: Object::new(),
    }
}

#[cfg(test)]
mod tests;
