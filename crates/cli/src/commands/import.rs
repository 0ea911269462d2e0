//! `lapwing import`: takes results of other programs into the store.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use lapwing_core::model::RecordKind;
use lapwing_core::record::Store;
use lapwing_core::record::import::{
    self, BadLines, EachRun, FORMATS, ImportError, ImportOptions, Imported, Source,
};

use crate::error::{CliError, Exit};
use crate::hints::with_hint;
use crate::options::Context;
use crate::store::open_for_writing;
use crate::table::{counted, grouped};

/// Bad lines to spell out.
const BAD_LINES_SHOWN: usize = 10;

/// Take results of other programs into the store
///
/// Reads record v1, Hail benchmark results and hyperfine's JSON, compressed with gzip or not.
/// Each file is taken in whole or not at all, and taking it in again changes nothing.
#[derive(Debug, Args)]
pub struct Import {
    /// Files, directories (every *.json, *.jsonl and *.gz below them), or - for standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Read as this format instead of finding out
    #[arg(long, value_name = "FORMAT", value_parser = format_names())]
    from: Option<String>,
    /// Give the benchmarks to this suite [default: the format's name]
    #[arg(long, value_name = "NAME")]
    suite: Option<String>,
    /// What each run of a command in hyperfine's results is
    #[arg(long, value_name = "WHAT", default_value = "iteration")]
    each_run: Each,
    /// Keep the good lines of a file that has bad ones
    #[arg(long)]
    keep_going: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Each {
    /// An iteration of one instance
    Iteration,
    /// An instance of its own: as if the machine had been prepared anew each time
    Instance,
}

fn format_names() -> clap::builder::PossibleValuesParser {
    FORMATS
        .iter()
        .map(|format| clap::builder::PossibleValue::new(format.name).help(format.about))
        .collect::<Vec<_>>()
        .into()
}

impl Import {
    /// Takes in each source by itself; one that is bad does not keep the others out.
    pub fn act(self, context: &Context) -> Result<Exit, CliError> {
        let options = ImportOptions {
            format: self.from.as_deref().and_then(import::format_named),
            suite: self.suite.clone(),
            each_run: match self.each_run {
                Each::Iteration => EachRun::Iteration,
                Each::Instance => EachRun::Instance,
            },
            bad_lines: if self.keep_going {
                BadLines::Skip
            } else {
                BadLines::Refuse
            },
            now: jiff::Timestamp::now(),
        };
        let inputs = inputs(&self.paths)?;
        let alone = inputs.len() == 1;
        if let [only] = &inputs[..] {
            // A mistyped name should not make a store.
            refuse_missing(&only.path)?;
        }
        let mut store = open_for_writing(context)?;
        let mut refused = 0_u64;
        let mut strangers = 0_u64;
        for input in inputs {
            match take(&mut store, &input.path, &options) {
                Ok(imported) => say(&imported, &input.path, &store, context)?,
                // Whatever else lies in a directory is not what was asked for.
                Err(ImportError::Unknown { .. } | ImportError::Empty { .. })
                    if !input.asked_for =>
                {
                    strangers += 1;
                    if context.verbose {
                        context
                            .terminal
                            .note(&format!("left alone: {}", input.path.display()));
                    }
                }
                Err(error) if alone => return Err(error.into()),
                Err(error) => {
                    refused += 1;
                    context.terminal.error(&with_hint(error.into()));
                }
            }
        }
        if strangers > 0 {
            context.terminal.note(&format!(
                "left alone {} of no known format",
                counted(strangers, "file")
            ));
        }
        Ok(if refused > 0 { Exit::Input } else { Exit::Fine })
    }
}

fn refuse_missing(path: &Path) -> Result<(), ImportError> {
    if path == Path::new("-") {
        return Ok(());
    }
    match std::fs::metadata(path) {
        Ok(_) => Ok(()),
        Err(source) => Err(ImportError::Read {
            name: path.display().to_string(),
            source,
        }),
    }
}

struct Input {
    path: PathBuf,
    asked_for: bool,
}

fn inputs(paths: &[PathBuf]) -> Result<Vec<Input>, CliError> {
    let mut inputs = Vec::new();
    for path in paths {
        if !path.is_dir() {
            inputs.push(Input {
                path: path.clone(),
                asked_for: true,
            });
            continue;
        }
        let name = path.display().to_string();
        let files = import::files_in(path).map_err(|source| ImportError::Read {
            name: name.clone(),
            source,
        })?;
        if files.is_empty() {
            return Err(ImportError::EmptyDirectory { name }.into());
        }
        inputs.extend(files.into_iter().map(|path| Input {
            path,
            asked_for: false,
        }));
    }
    Ok(inputs)
}

fn take(store: &mut Store, path: &Path, options: &ImportOptions) -> Result<Imported, ImportError> {
    let folder = store.path().parent().unwrap_or(Path::new("."));
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let source = if path == Path::new("-") {
        Source::spooled("standard input", io::stdin().lock(), folder)?
    } else {
        Source::open(path, folder)?
    };
    import::import(store, &source, options)
}

fn say(imported: &Imported, path: &Path, store: &Store, context: &Context) -> Result<(), CliError> {
    let mut out = context.terminal.out();
    let name = if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    };
    let total = imported.appended.total();
    let new = |kind: RecordKind| imported.appended.of(kind).new;
    if total.new == 0 && imported.bad_lines.is_empty() {
        writeln!(
            out,
            "{name}: nothing new, all of it is in the store already"
        )?;
    } else {
        let mut parts = vec![
            counted(new(RecordKind::Instance), "instance"),
            counted(new(RecordKind::Iteration), "iteration"),
        ];
        for (kind, noun) in [
            (RecordKind::Span, "span"),
            (RecordKind::Summary, "summary"),
            (RecordKind::Annotation, "annotation"),
        ] {
            if new(kind) > 0 {
                parts.push(counted(new(kind), noun));
            }
        }
        writeln!(out, "{name}: {} imported", parts.join(", "))?;
        let known = imported.appended.of(RecordKind::Instance).already_there;
        if known > 0 {
            let instances = counted(known, "instance");
            writeln!(out, "  {instances} of it were in the store already")?;
        }
    }
    if let Some(because) = imported.because {
        writeln!(out, "  read as {}, because {because}", imported.format.name)?;
    }
    if let Some(session) = &imported.session {
        let id = session.id.to_string();
        let label = session.name.as_ref().unwrap_or(&id);
        writeln!(
            out,
            "  stored in {} as session `{label}` of suite `{}`",
            store.path().display(),
            session.suite
        )?;
    }
    if !imported.bad_lines.is_empty() {
        let number = imported.bad_lines.len() as u64;
        writeln!(out, "  {} left out:", counted(number, "bad line"))?;
        for bad in imported.bad_lines.iter().take(BAD_LINES_SHOWN) {
            writeln!(out, "    {name}:{}: {}", bad.line, bad.reason)?;
        }
        if imported.bad_lines.len() > BAD_LINES_SHOWN {
            let more = number - BAD_LINES_SHOWN as u64;
            writeln!(out, "    and {} more", grouped(more))?;
        }
    }
    Ok(())
}
