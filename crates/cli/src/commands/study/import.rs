//! `lapwing study import`: runs of a study from a CSV file.

use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use lapwing_formats::{BadLines, EachRun, ImportOptions, Source, TraceNames};
use lapwing_model::text::counted;
use lapwing_model::{Better, Id};
use lapwing_record::Store;
use lapwing_study::{RunsColumns, RunsTable};

use crate::error::{CliError, ExitStatus};
use crate::options::Context;
use crate::store::open_for_writing;

/// Import runs of a study from a CSV file: a column per factor, one for the time, one for the cost
///
/// Semicolons, commas and tabs separate fields. Columns of 0 and 1, true and false are treatments;
/// others are factors with levels. Importing the same file again changes nothing.
#[derive(Debug, Args)]
pub struct StudyImport {
    /// File, or - for standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Column of the cost [default: the last one that is not the time]
    #[arg(long, value_name = "COLUMN")]
    cost: Option<String>,
    /// Column of the time, a Unix time stamp [default: unix_time, timestamp and the like]
    #[arg(long, value_name = "COLUMN")]
    time: Option<String>,
    /// Unit of the cost: us, ms, s, or any other [default: by the name of the column]
    #[arg(long, value_name = "UNIT")]
    unit: Option<String>,
    /// More of the metric is better
    #[arg(long)]
    higher_is_better: bool,
    /// Suite of the benchmark
    #[arg(long, value_name = "NAME", default_value = "study", value_parser = NonEmptyStringValueParser::new())]
    suite: String,
    /// Name of the benchmark [default: the name of the file]
    #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    benchmark: Option<String>,
}

impl StudyImport {
    /// Imports the file, all of it or nothing.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let text = read(&self.file)?;
        let columns = RunsColumns {
            cost: self.cost.clone(),
            time: self.time.clone(),
            unit: self.unit.clone(),
            better: self.higher_is_better.then_some(Better::Higher),
        };
        let table = RunsTable::read(&text, &columns).map_err(|error| {
            CliError::input(format!("{}: {error}", self.file.display()))
                .consequence("nothing of this file was imported")
        })?;
        let stem = self
            .file
            .file_stem()
            .and_then(|it| it.to_str())
            .unwrap_or("runs");
        let stem = if stem == "-" { "runs" } else { stem };
        let benchmark = self.benchmark.as_deref().unwrap_or(stem);
        let session = table.session_id(&text, &self.suite, benchmark);
        let mut store = open_for_writing(context)?;
        let known = store
            .catalogue()
            .sessions(&lapwing_record::Filter::default())?;
        let runs = counted(table.len(), "run");
        if known.iter().any(|row| row.id == session.to_string()) {
            self.refuse_other_meaning(&table, session, &store)?;
            context
                .terminal
                .say(&format!("{}: {runs} already present", self.file.display()));
            return Ok(ExitStatus::Fine);
        }
        let now = jiff::Timestamp::now();
        let lines = table.records(session, &self.suite, benchmark, stem, now);
        let source = Source::from_bytes(stem, lines.into_bytes())?;
        let options = ImportOptions {
            format: lapwing_formats::format_named("record"),
            suite: None,
            trace: TraceNames::default(),
            each_run: EachRun::Iteration,
            bad_lines: BadLines::Refuse,
            now,
        };
        lapwing_formats::import(&mut store, &source, &options)?;
        let place = context.store.display();
        context.terminal.say(&format!(
            "{}: {runs} of `{benchmark}`\n  stored in {place} as session `{stem}` of suite `{}`",
            self.file.display(),
            self.suite
        ));
        Ok(ExitStatus::Fine)
    }
}

impl StudyImport {
    /// Refuses runs that are in the store already with another metric, unit or direction: they would count twice.
    fn refuse_other_meaning(
        &self,
        table: &RunsTable,
        session: Id,
        store: &Store,
    ) -> Result<(), CliError> {
        let (name, metric) = table.metric();
        let runs = store.catalogue().session_state(session)?.runs;
        if runs.iter().all(|run| run.metrics.get(name) == Some(metric)) {
            return Ok(());
        }
        Err(CliError::input(format!(
            "{}: these runs are in the store already, with another metric, unit or direction",
            self.file.display()
        ))
        .consequence("nothing of this file was imported")
        .hint("import them as another benchmark (--benchmark), and exclude the first one with `lapwing db retire`"))
    }
}

fn read(path: &Path) -> Result<String, CliError> {
    let mut text = String::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_string(&mut text)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_string(&mut text))
    };
    read.map_err(|error| CliError::input(format!("cannot read `{}`: {error}", path.display())))?;
    Ok(text)
}
