//! Reads the traces that a command is about.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::slice;

use clap::Args;
use lapwing_formats::{ImportError, ImportOptions, Source};
use lapwing_measure::suite::parse_duration;
use lapwing_model::text::{counted, joined, joined_with_and, plural, shell_word};
use lapwing_model::{Id, Record, Span};
use lapwing_record::{Filter, Store, files};
use lapwing_show::trace::time;
use lapwing_show::writing::Note;
use lapwing_trace::{SpanReader, Trace, TraceError, TraceRange, TraceReader};

use super::compare::{run_the_same, short_names, stored};
use crate::commands::skipped_notes;
use crate::comparing::not_imported;
use crate::error::CliError;
use crate::options::{Context, ResultFilters};
use crate::store::open_for_reading;
use crate::temporary::TemporaryFolder;

/// The trace to read.
#[derive(Debug, Args)]
pub struct TraceFile {
    /// File of the trace, of any format that `lapwing import` reads, or `-` for standard input; several
    /// logs of one run, such as one per host, or a folder of them [default: the newest trace in the store]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// JSON object with the tasks that each task waits for, by their names: `{"c": ["a", "b"]}`
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    #[command(flatten)]
    filters: ResultFilters,
}

/// A part of the trace.
#[derive(Debug, Args)]
pub struct RangeOption {
    /// Only what is under way in this range of the trace, from its first task on: `1s..2s`, `100ms..`
    #[arg(long, value_name = "FROM..TO", value_parser = parse_range)]
    pub range: Option<TraceRange>,
}

impl RangeOption {
    /// Returns the range.
    ///
    /// # Errors
    /// If nothing of the trace is in it.
    pub fn of(&self, trace: &Trace) -> Result<Option<TraceRange>, CliError> {
        let Some(range) = self.range else {
            return Ok(None);
        };
        let makespan = trace.range().map(|_| trace.makespan());
        let refused = match makespan {
            None => Some("its tasks have durations and no times".to_owned()),
            Some(makespan) => {
                (range.from > makespan).then(|| format!("it takes {}", time(makespan)))
            }
        };
        match refused {
            Some(why) => Err(CliError::input(format!(
                "the trace has nothing in the range: {why}"
            ))),
            None => Ok(Some(range)),
        }
    }

    /// Leaves out what is not in the range, and says so.
    pub fn apply(&self, read: &mut ReadTrace) -> Result<(), CliError> {
        let Some(range) = self.of(&read.trace)? else {
            return Ok(());
        };
        let makespan = read.trace.makespan();
        read.trace.keep_within(range);
        read.notes.push(range_note(range, makespan));
        Ok(())
    }
}

/// Returns a remark on the part of a trace that an answer is about.
pub fn range_note(range: TraceRange, makespan: i64) -> Note {
    let until = range.until.min(makespan);
    let [first, last, whole] = [range.from, until, makespan].map(time);
    let text = format!("only what is under way from {first} to {last} of {whole}");
    let note = Note::marked("range", text);
    note.with("from", range.from).with("until", until)
}

fn parse_range(text: &str) -> Result<TraceRange, String> {
    let expected = "write FROM..TO, such as `1s..2s`, `100ms..1.5s` or `2s..`";
    let moment = |text: &str, default: i64| match text.trim() {
        "" => Ok(default),
        text => {
            let nanoseconds = parse_duration(text)?.as_nanos();
            Ok(i64::try_from(nanoseconds).unwrap_or(i64::MAX))
        }
    };
    let (from, until) = text.split_once("..").ok_or(expected)?;
    let refused = |error: String| format!("{error}; {expected}");
    let from = moment(from, 0).map_err(refused)?;
    let until = moment(until, i64::MAX).map_err(refused)?;
    if from < until {
        Ok(TraceRange { from, until })
    } else {
        Err(expected.to_owned())
    }
}

/// A trace, with notes on its choice.
pub struct ReadTrace {
    pub trace: Trace,
    pub notes: Vec<Note>,
}

impl From<(Trace, Option<Note>)> for ReadTrace {
    fn from((trace, note): (Trace, Option<Note>)) -> Self {
        let notes = note.into_iter().collect();
        Self { trace, notes }
    }
}

impl TraceFile {
    /// Reads the trace.
    pub fn read(&self, context: &Context) -> Result<ReadTrace, CliError> {
        let mut read = match &self.files[..] {
            [] => self.newest(context)?.into(),
            _ if self.filters.are_set() => {
                return Err(CliError::input(
                    "filters choose among stored traces, and not within files",
                )
                .hint("`lapwing import FILE` stores it, or leave the filters out"));
            }
            files => read_slowest(files)?,
        };
        if let Some(path) = &self.graph {
            set_graph(&mut read.trace, path)?;
        }
        Ok(read)
    }

    /// Reads two runs of the same tasks with their names: files or folders of a run each, or sides of the store. `None` if
    /// these are not two, so that all files are of one run.
    pub fn read_two(
        &self,
        context: &Context,
    ) -> Result<Option<[(String, ReadTrace); 2]>, CliError> {
        let [one, other] = &self.files[..] else {
            return Ok(None);
        };
        let is_file = |path: &PathBuf| path == Path::new("-") || path.exists();
        let read = |path: &PathBuf| match is_file(path) {
            true => read_slowest(slice::from_ref(path)),
            false => stored(&path.to_string_lossy(), &self.filters, context).map(ReadTrace::from),
        };
        let are_files = is_file(one) && is_file(other);
        if are_files
            && [one, other]
                .iter()
                .any(|path| path.as_path() == Path::new("-"))
        {
            return Ok(None);
        }
        let mut runs = match (read(one), read(other)) {
            (Ok(one), Ok(other)) if !are_files || run_the_same(&one.trace, &other.trace) => {
                [one, other]
            }
            // A log of a worker or of the controller may tell nothing by itself.
            _ if are_files => return Ok(None),
            (one, other) => [one?, other?],
        };
        if let Some(path) = &self.graph {
            for run in &mut runs {
                set_graph(&mut run.trace, path)?;
            }
        }
        let mut names = short_names(&self.files).into_iter();
        Ok(Some(
            runs.map(|run| (names.next().unwrap_or_default(), run)),
        ))
    }

    /// Returns a title for it.
    pub fn title(&self) -> String {
        match self.files.first() {
            Some(path) => {
                let name = path.file_name().unwrap_or(path.as_os_str());
                format!("Trace {}", name.display())
            }
            None => "Trace".to_owned(),
        }
    }

    /// Returns the newest trace, and a note if there are others.
    fn newest(&self, context: &Context) -> Result<(Trace, Option<Note>), CliError> {
        let store = open_for_reading(context)?;
        let filter = self.filters.filter()?.resolve(&store)?;
        newest(&store, &filter)?.ok_or_else(|| {
            CliError::input("the store has no trace")
                .hint("`lapwing trace findings FILE` reads one; `lapwing import FILE` stores it")
        })
    }
}

/// Returns the newest trace of a store that passes a filter, and a note if there are others; `None` if there is none.
pub fn newest(store: &Store, filter: &Filter) -> Result<Option<(Trace, Option<Note>)>, CliError> {
    let traces = store.catalogue().traces(filter)?;
    let Some(newest) = traces.last() else {
        return Ok(None);
    };
    let text = format!(
        "{} of {} is shown, of {:.0}; filters choose another",
        newest.benchmark,
        counted(traces.len(), "trace"),
        newest.started
    );
    let note = (traces.len() > 1).then(|| {
        Note::marked("newest", text)
            .with("benchmark", newest.benchmark.clone())
            .with("traces", traces.len())
            .with("started", format!("{:.0}", newest.started))
    });
    Ok(Some((trace_of(store, newest.instance)?, note)))
}

/// Traces, and a note on their choice.
type NotedTraces = (Vec<Trace>, Option<Note>);

/// Returns the newest traces of the benchmark that was measured last, and a note if there are others; `None` if there is
/// none.
pub fn newest_of_benchmark(
    store: &Store,
    filter: &Filter,
) -> Result<Option<NotedTraces>, CliError> {
    const MOST: usize = 30;
    let all = store.catalogue().traces(filter)?;
    let Some(newest) = all.last() else {
        return Ok(None);
    };
    let of_benchmark = all.iter().rev();
    let of_benchmark = of_benchmark
        .filter(|it| it.benchmark == newest.benchmark)
        .take(MOST);
    let traces: Vec<Trace> = of_benchmark
        .map(|it| trace_of(store, it.instance))
        .collect::<Result<_, _>>()?;
    let text = format!(
        "the newest {} of {} of {}; filters choose others",
        counted(traces.len(), "trace"),
        all.len(),
        newest.benchmark,
    );
    let note = (traces.len() < all.len()).then(|| {
        Note::marked("newest", text)
            .with("benchmark", newest.benchmark.clone())
            .with("traces", all.len())
    });
    Ok(Some((traces, note)))
}

fn trace_of(store: &Store, instance: Id) -> Result<Trace, CliError> {
    let mut reader = SpanReader::default();
    store.each_span(instance, |span| reader.add(span))?;
    Ok(reader.finish())
}

/// Reads a trace from files and folders: logs of earthkit-workflows, or one file of another format.
pub fn read(paths: &[PathBuf]) -> Result<Trace, CliError> {
    let read = read_slowest(paths)?;
    if read.notes.iter().any(|note| note.code == SLOWEST) {
        let text = format!("{} has several traces", joined(names_of(paths)));
        let hint = "import it; `lapwing compare` compares all traces of two runs";
        return Err(CliError::input(text).hint(hint));
    }
    Ok(read.trace)
}

/// Reads a trace; the slowest of a file of several, with a note.
fn read_slowest(paths: &[PathBuf]) -> Result<ReadTrace, CliError> {
    let folder = TemporaryFolder::new()?;
    let mut files: Vec<(&PathBuf, PathBuf)> = Vec::new();
    for path in paths {
        let found = files_of(path)
            .map_err(|error| CliError::input(format!("cannot read {}: {error}", path.display())))?;
        files.extend(found.into_iter().map(|file| (path, file)));
    }
    let options = ImportOptions::at(jiff::Timestamp::now());
    let is_alone = files.len() == 1;
    let mut reader = TraceReader::default();
    let (mut has_logs, mut whole, mut recorded) = (false, Vec::new(), Vec::new());
    for (path, file) in &files {
        let source = match open(file, folder.path()) {
            // A folder may have such.
            Err(ImportError::Empty(_)) if *path != file => {
                continue;
            }
            opened => opened.map_err(not_imported)?,
        };
        // A log says line by line what is wrong with it.
        if let Ok(format) = lapwing_formats::recognise(&source, &options)
            && format.name != "earthkit"
        {
            if is_alone {
                return imported(&source, &options);
            }
            if format.is_trace || format.name == "record" {
                let read = imported(&source, &options)?;
                if read.trace.is_of_processes() {
                    recorded.push(read.trace);
                } else {
                    whole.push((source.name().to_owned(), read));
                }
                continue;
            }
        }
        has_logs = true;
        let text = source.text().map_err(not_imported)?;
        reader.add(text).map_err(|error| match error {
            TraceError::Io(error) => not_imported(source.failed(error)),
            error @ TraceError::Nothing => CliError::input(error),
        })?;
    }
    let runs = reader.runs();
    if !runs.is_empty() {
        return Err(of_several_runs(&files, &runs));
    }
    let mut whole = whole.into_iter();
    let mut read = match whole.next() {
        Some((_, read)) if !has_logs && whole.len() == 0 => read,
        Some((name, _)) => {
            let text = format!(
                "{name} is a trace by itself: only logs of earthkit-workflows are read together"
            );
            return Err(CliError::input(text).hint(compared_hint(paths)));
        }
        None if !has_logs && !recorded.is_empty() => {
            let text = "these are records of processes alone, each of which is a trace by itself";
            return Err(CliError::input(text).hint(compared_hint(paths)));
        }
        None => {
            let trace = reader.finish().map_err(|error| {
                CliError::input(format!("{}: {error}", joined(names_of(paths))))
                    .hint("docs/traces.md says which traces can be read and how to record one")
            })?;
            (trace, None).into()
        }
    };
    if !recorded.is_empty() {
        let joined = read.trace.join_processes(&recorded);
        let note = processes_note(joined, read.trace.tasks.len());
        read.notes.push(note);
    }
    Ok(read)
}

/// Returns a note on how many tasks got their time on the CPU from records of processes.
fn processes_note(joined: usize, tasks: usize) -> Note {
    let text = match joined {
        0 => "no task has times from the recorded processes: none of at least 100 ms ran alone in one of them".to_owned(),
        _ => format!(
            "{joined} of {} {} the time on the CPU, and waiting for a core, of the recorded process",
            counted(tasks, "task"),
            plural(joined, "has", "have"),
        ),
    };
    Note::marked("processes", text).with("tasks", joined)
}

/// The note that says that a file has several traces.
const SLOWEST: &str = "slowest";

/// Returns a note on the other traces of a file, which are in the order of their durations.
fn slowest_note(others: &[Trace], slowest: &Trace) -> Note {
    let count = others.len() + 1;
    let median = others[(count - 1) / 2].makespan();
    let text = format!(
        "the slowest of {} in this file is shown: {}, median {}; import the file to choose another with `--where`",
        counted(count, "trace"),
        time(slowest.makespan()),
        time(median)
    );
    Note::marked(SLOWEST, text)
        .with("traces", count)
        .with("makespan", slowest.makespan())
        .with("median", median)
}

fn open(file: &Path, folder: &Path) -> Result<Source, ImportError> {
    if file == Path::new("-") {
        Source::spooled("standard input", io::stdin().lock(), folder)
    } else {
        Source::open(file, folder)
    }
}

/// Returns the error of files that are of different runs, with the names that the user gave where these tell them apart.
fn of_several_runs(files: &[(&PathBuf, PathBuf)], runs: &[usize]) -> CliError {
    let mut named: Vec<PathBuf> = runs.iter().map(|run| files[*run].0.clone()).collect();
    named.dedup();
    if named.len() < 2 {
        named = runs.iter().map(|run| files[*run].1.clone()).collect();
    }
    let names = joined_with_and(&names_of(&named));
    CliError::input(format!("{names} are of different runs: tasks of the same names have other times, or they are far apart in time"))
        .hint(compared_hint(&named))
}

fn compared_hint(paths: &[PathBuf]) -> String {
    let words = names_of(paths).into_iter().map(|name| shell_word(&name));
    let words: Vec<String> = words.collect();
    format!("`lapwing trace compare {}` compares them", words.join(" "))
}

fn names_of(paths: &[PathBuf]) -> Vec<String> {
    let names = paths.iter().map(|path| path.display().to_string());
    names.collect()
}

/// Returns the trace in a file of a format other than logs: the slowest of several, with a note, and notes on what of
/// the file is left out.
fn imported(source: &Source, options: &ImportOptions) -> Result<ReadTrace, CliError> {
    let imported = lapwing_formats::read(source, options).map_err(not_imported)?;
    let mut notes = skipped_notes(&imported, source.name());
    let mut instances: BTreeMap<Id, Vec<Span>> = BTreeMap::new();
    for record in imported.records {
        let Record::Span(span) = record else { continue };
        instances.entry(span.instance).or_default().push(span);
    }
    let traces = instances.values().map(Trace::of_spans);
    let mut traces: Vec<Trace> = traces.collect();
    traces.sort_by_key(Trace::makespan);
    let Some(slowest) = traces.pop() else {
        return Err(CliError::input(format!("{} has no spans", source.name()))
            .hint("docs/traces.md says which traces can be read and how to record one"));
    };
    if !traces.is_empty() {
        notes.insert(0, slowest_note(&traces, &slowest));
    }
    let trace = slowest;
    Ok(ReadTrace { trace, notes })
}

/// The longest file of a graph, in bytes.
const LONGEST_GRAPH: u64 = 1 << 30;

/// Sets what tasks wait for, from a file.
pub fn set_graph(trace: &mut Trace, path: &Path) -> Result<(), CliError> {
    let wrong =
        |error: &dyn std::fmt::Display| CliError::input(format!("{}: {error}", path.display()));
    let text = files::read_named(path, LONGEST_GRAPH).map_err(|error| wrong(&error))?;
    let inputs = serde_json::from_str(&text).map_err(|error| {
        wrong(&error).hint(r#"write `{"c": ["a", "b"]}`: task `c` waits for `a` and `b`"#)
    })?;
    match trace.set_inputs(&inputs) {
        0 => Err(wrong(&"no task of the trace is in the graph")),
        _known => Ok(()),
    }
}

/// Returns the files of a folder in order, or the file itself.
fn files_of(path: &Path) -> io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path)? {
        let path = entry?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
