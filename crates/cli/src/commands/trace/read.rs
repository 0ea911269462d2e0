//! Reads the traces that a command is about.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_formats::{ImportOptions, Source};
use lapwing_model::text::counted;
use lapwing_model::{Id, Record, Span};
use lapwing_record::files;
use lapwing_show::trace::time;
use lapwing_show::writing::Note;
use lapwing_trace::{SpanReader, Trace, TraceError, TraceReader};

use crate::comparing::not_imported;
use crate::error::CliError;
use crate::options::{Context, ResultFilters};
use crate::store::open_for_reading;
use crate::temporary::TemporaryFolder;

/// The trace to read.
#[derive(Debug, Args)]
pub struct TraceFile {
    /// File of the trace, of any format that `lapwing import` reads, or a folder of logs; repeat the
    /// option for a trace in several logs [default: the newest trace in the store]
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// JSON object with the tasks that each task waits for, by their names: `{"c": ["a", "b"]}`
    #[arg(long, value_name = "FILE")]
    graph: Option<PathBuf>,
    #[command(flatten)]
    filters: ResultFilters,
}

/// A trace, with notes on its choice.
pub struct ReadTrace {
    pub trace: Trace,
    pub notes: Vec<Note>,
}

impl TraceFile {
    /// Reads the trace.
    pub fn read(&self, context: &Context) -> Result<ReadTrace, CliError> {
        let (mut trace, note) = match &self.files[..] {
            [] => self.newest(context)?,
            files => read_slowest(files)?,
        };
        if let Some(path) = &self.graph {
            set_graph(&mut trace, path)?;
        }
        let notes = note.into_iter().collect();
        Ok(ReadTrace { trace, notes })
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
        let traces = store.catalogue().traces(&filter)?;
        let Some(newest) = traces.last() else {
            return Err(CliError::input("the store has no trace")
                .hint("`--file FILE` reads one; `lapwing import FILE` stores it"));
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
        let mut reader = SpanReader::default();
        store.each_span(newest.instance, |span| reader.add(span))?;
        Ok((reader.finish(), note))
    }
}

/// Reads a trace from files and folders: logs of earthkit-workflows, or one file of another format.
pub fn read(paths: &[PathBuf]) -> Result<Trace, CliError> {
    match read_slowest(paths)? {
        (trace, None) => Ok(trace),
        (_, Some(_)) => {
            let names = paths.iter().map(|path| path.display().to_string());
            let names: Vec<String> = names.collect();
            Err(
                CliError::input(format!("{} has several traces", names.join(", ")))
                    .hint("import it; `lapwing compare` compares all traces of two runs"),
            )
        }
    }
}

/// Reads a trace; the slowest of a file of several, with a note.
fn read_slowest(paths: &[PathBuf]) -> Result<(Trace, Option<Note>), CliError> {
    if let [path] = paths
        && path.is_file()
        && let Some(mut traces) = imported(path)?
        && let Some(slowest) = traces.pop()
    {
        let note = (!traces.is_empty()).then(|| slowest_note(&traces, &slowest));
        return Ok((slowest, note));
    }
    Ok((logged(paths)?, None))
}

fn slowest_note(others: &[Trace], slowest: &Trace) -> Note {
    let count = others.len() + 1;
    let median = others[(count - 1) / 2].makespan();
    let text = format!(
        "the slowest of {} in this file is shown: {}, median {}; import the file to choose another with `--where`",
        counted(count, "trace"),
        time(slowest.makespan()),
        time(median)
    );
    Note::marked("slowest", text)
        .with("traces", count)
        .with("makespan", slowest.makespan())
        .with("median", median)
}

fn logged(paths: &[PathBuf]) -> Result<Trace, CliError> {
    let mut reader = TraceReader::default();
    let named = |path: &Path, error: io::Error| {
        CliError::input(format!("cannot read {}: {error}", path.display()))
    };
    for path in paths {
        for file in files_of(path).map_err(|error| named(path, error))? {
            let opened = files::open_named(&file).map_err(|error| named(&file, error))?;
            reader
                .add(BufReader::with_capacity(1 << 18, opened))
                .map_err(|error| match error {
                    TraceError::Io(error) => named(&file, error),
                    error @ TraceError::Nothing => CliError::input(error),
                })?;
        }
    }
    reader.finish().map_err(|error| {
        let names: Vec<String> = paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        CliError::input(format!("{}: {error}", names.join(", ")))
            .hint("docs/traces.md says which traces can be read and how to record one")
    })
}

/// Returns the traces in a file of a format other than logs, the slowest last; `None` if it is in none.
fn imported(path: &Path) -> Result<Option<Vec<Trace>>, CliError> {
    let options = ImportOptions::at(jiff::Timestamp::now());
    let folder = TemporaryFolder::new()?;
    let source = Source::open(path, folder.path()).map_err(not_imported)?;
    match lapwing_formats::recognise(&source, &options) {
        Ok(format) if format.name != "earthkit" => {}
        // A log says line by line what is wrong with it.
        Ok(_) | Err(_) => return Ok(None),
    }
    let records = lapwing_formats::read(&source, &options)
        .map_err(not_imported)?
        .records;
    let mut instances: BTreeMap<Id, Vec<Span>> = BTreeMap::new();
    for record in records {
        let Record::Span(span) = record else { continue };
        instances.entry(span.instance).or_default().push(span);
    }
    if instances.is_empty() {
        return Err(CliError::input(format!("{} has no spans", path.display()))
            .hint("docs/traces.md says which traces can be read and how to record one"));
    }
    let traces = instances.iter().map(|(_, spans)| Trace::of_spans(spans));
    let mut traces: Vec<Trace> = traces.collect();
    traces.sort_by_key(Trace::makespan);
    Ok(Some(traces))
}

/// The longest file of a graph, in bytes.
const LONGEST_GRAPH: u64 = 1 << 30;

fn set_graph(trace: &mut Trace, path: &Path) -> Result<(), CliError> {
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
