//! `lapwing export`: writes measurements for other tools.

mod tables;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use lapwing_model::text::{counted, plural};
use lapwing_record::export::{ExportCounts, ExportFormat, TableSeparator, export, export_amun};
use lapwing_record::{Filter, Store};
use lapwing_show::answers::written::{self, WrittenAnswer};
use lapwing_show::exchange::{ExchangeFormat, ExchangeSummary, exchange};
use lapwing_show::writing::Note;
use lapwing_study::{StudyData, write_deltas, write_runs};

use crate::cleaning::CleaningOptions;
use crate::commands::study::StudyDataOptions;
use crate::error::{CliError, ExitStatus};
use crate::options::{Context, FilterOptions};
use crate::store::{open_for_reading, retired_notes};
use lapwing_record::atomic::{self, folder_of};
use tables::ExportTable;

/// Export measurements for other tools
///
/// Record v1, CSV, TSV and JSON contain everything that passes the filters, and so do the tables of Arrow and Parquet, which
/// say of each value whether it is analysed. The formats of other tools contain one run, runs and deltas one study,
/// without burn-in and failures.
#[derive(Debug, Args)]
pub struct ExportCommand {
    /// Output format
    #[arg(long, value_name = "FORMAT")]
    to: ExportTarget,
    /// Write to this file instead of standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// One row per iteration and one column per metric, instead of one row per value
    #[arg(long)]
    wide: bool,
    /// Column separator of CSV, runs and deltas
    #[arg(long, value_name = "WHAT")]
    separator: Option<ColumnSeparator>,
    /// Table to write as Arrow or Parquet
    #[arg(long, value_name = "TABLE", value_enum, default_value_t = ExportTable::Iterations)]
    table: ExportTable,
    /// Write a Parquet file for each suite and month below the folder `--output`
    #[arg(long, requires = "output")]
    partitioned: bool,
    #[command(flatten)]
    filters: FilterOptions,
    #[command(flatten)]
    cleaning: CleaningOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ExportTarget {
    /// Everything, as record v1, for import into another store
    Record,
    /// A table with one row per value of an iteration
    Csv,
    /// The same table, separated by tabs
    Tsv,
    /// An array with one object per iteration
    Json,
    /// A table as a stream of Arrow, for Python, R and DuckDB
    Arrow,
    /// A table as a file of Parquet
    Parquet,
    /// Results file of pytest-benchmark
    PytestBenchmark,
    /// Results file of hyperfine
    Hyperfine,
    /// Results file of pyperf
    Pyperf,
    /// Bencher Metric Format
    Bmf,
    /// Custom-tool input of github-action-benchmark
    GithubAction,
    /// Runs of a factor study: a column per factor, the time and the metric, for import and spreadsheets
    Runs,
    /// Deltas of a factor study: every run without a treatment beside every run with it
    Deltas,
    /// Inspections of indicators as Amun keeps them, in the folder `--output`
    Amun,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ColumnSeparator {
    /// `,`
    #[value(alias = ",")]
    Comma,
    /// `;`, expected by spreadsheets where the comma is the decimal mark
    #[value(alias = ";")]
    Semicolon,
    /// Tab
    #[value(alias = "\t")]
    Tab,
}

/// Module that writes the file.
enum ExportWay {
    Table(ExportFormat),
    Exchange(ExchangeFormat),
    Study(WriteStudy),
    Amun,
}

/// Writes a study with a separator; returns the number of rows.
type WriteStudy = fn(&StudyData, u8, &mut dyn Write) -> io::Result<u64>;

/// Description of the output, and notes about it.
struct ExportWritten {
    /// Kind of the written things, in the plural, and their number.
    count: (&'static str, u64),
    /// The same in words.
    what: String,
    notes: Vec<Note>,
}

impl ExportCommand {
    /// Writes to standard output, or to a file that appears only when it is complete.
    pub fn act(mut self, context: &Context) -> Result<ExitStatus, CliError> {
        self.output = self.output.filter(|path| path != Path::new("-"));
        if let ExportTarget::Arrow | ExportTarget::Parquet = self.to {
            return self.write_table(context);
        }
        let way = self.way()?;
        let filter = self.filters.filter()?;
        let store = open_for_reading(context)?;
        let filter = filter.resolve(&store)?;
        let mut notes = match way {
            ExportWay::Table(ExportFormat::Record) | ExportWay::Study(_) => Vec::new(),
            ExportWay::Table(_) | ExportWay::Exchange(_) | ExportWay::Amun if context.quiet => {
                Vec::new()
            }
            ExportWay::Table(_) | ExportWay::Exchange(_) | ExportWay::Amun => {
                retired_notes(&store.catalogue().left_out(&filter)?)
            }
        };
        if let ExportWay::Amun = way {
            return self.write_inspections(&store, &filter, notes, context);
        }
        let Some(path) = &self.output else {
            let mut out = BufWriter::new(context.terminal.file_out());
            let written = self.write(&way, &store, &filter, &mut out, context)?;
            context.terminal.notes(notes.iter().chain(&written.notes));
            return Ok(ExitStatus::Fine);
        };
        refuse_files_of(&store, path)?;
        let written = to_file(path, |out| self.write(&way, &store, &filter, out, context))?;
        notes.extend(written.notes);
        let answer = WrittenAnswer {
            kind: &written::EXPORT,
            path,
            counts: [written.count].into(),
            contents: format!(" ({})", written.what),
            notes,
            next: Vec::new(),
        };
        context.tell(&answer.answer()?)
    }

    fn write_table(&self, context: &Context) -> Result<ExitStatus, CliError> {
        self.refuse_options_of_text()?;
        let is_parquet = self.to == ExportTarget::Parquet;
        if self.partitioned && !is_parquet {
            return Err(CliError::input("--partitioned requires --to parquet"));
        }
        if self.partitioned && matches!(self.table, ExportTable::Spans | ExportTable::StudyRuns) {
            return Err(CliError::input(
                "spans and runs of a study have no suites and months to be divided by",
            )
            .hint("remove --partitioned"));
        }
        let written = tables::write(self, is_parquet, context)?;
        let Some(path) = &self.output else {
            return Ok(ExitStatus::Fine);
        };
        let answer = WrittenAnswer {
            kind: &written::EXPORT,
            path,
            counts: [written.count].into(),
            contents: format!(" ({})", written.what),
            notes: written.notes,
            next: Vec::new(),
        };
        context.tell(&answer.answer()?)
    }

    /// Refuses options of CSV and the like.
    fn refuse_options_of_text(&self) -> Result<(), CliError> {
        if self.wide || self.separator.is_some() {
            return Err(CliError::input(
                "--wide and --separator are options of text",
            ));
        }
        Ok(())
    }

    fn way(&self) -> Result<ExportWay, CliError> {
        if self.table != ExportTable::Iterations || self.partitioned {
            return Err(CliError::input(
                "--table and --partitioned require --to arrow or --to parquet",
            ));
        }
        let table = matches!(self.to, ExportTarget::Csv | ExportTarget::Tsv);
        if self.wide && !table {
            return Err(CliError::input("--wide requires --to csv or --to tsv"));
        }
        use ExportTarget::{Csv, Deltas, Runs};
        if self.separator.is_some() && !matches!(self.to, Csv | Runs | Deltas) {
            return Err(CliError::input(
                "--separator requires --to csv, --to runs or --to deltas",
            ));
        }
        let separator = self.separator();
        Ok(match self.to {
            ExportTarget::Record => ExportWay::Table(ExportFormat::Record),
            ExportTarget::Csv | ExportTarget::Tsv if self.wide => {
                ExportWay::Table(ExportFormat::Wide(separator))
            }
            ExportTarget::Csv | ExportTarget::Tsv => {
                ExportWay::Table(ExportFormat::Long(separator))
            }
            ExportTarget::Json => ExportWay::Table(ExportFormat::Json),
            ExportTarget::PytestBenchmark => ExportWay::Exchange(ExchangeFormat::PytestBenchmark),
            ExportTarget::Hyperfine => ExportWay::Exchange(ExchangeFormat::Hyperfine),
            ExportTarget::Pyperf => ExportWay::Exchange(ExchangeFormat::Pyperf),
            ExportTarget::Bmf => ExportWay::Exchange(ExchangeFormat::Bmf),
            ExportTarget::GithubAction => ExportWay::Exchange(ExchangeFormat::GithubAction),
            ExportTarget::Runs => {
                ExportWay::Study(|data, separator, mut out| write_runs(data, separator, &mut out))
            }
            ExportTarget::Deltas => {
                ExportWay::Study(|data, separator, mut out| write_deltas(data, separator, &mut out))
            }
            ExportTarget::Amun => ExportWay::Amun,
            // They are written by `write_table`.
            ExportTarget::Arrow | ExportTarget::Parquet => ExportWay::Table(ExportFormat::Record),
        })
    }

    fn separator(&self) -> TableSeparator {
        match (self.to, self.separator) {
            (ExportTarget::Tsv, _) | (_, Some(ColumnSeparator::Tab)) => TableSeparator::Tab,
            (_, Some(ColumnSeparator::Semicolon)) => TableSeparator::Semicolon,
            (_, Some(ColumnSeparator::Comma) | None) => TableSeparator::Comma,
        }
    }

    fn write(
        &self,
        way: &ExportWay,
        store: &Store,
        filter: &Filter,
        out: &mut impl Write,
        context: &Context,
    ) -> Result<ExportWritten, CliError> {
        match *way {
            ExportWay::Table(format) => {
                let exported = export(store, filter, format, out)?;
                Ok(self.table_written(exported))
            }
            ExportWay::Exchange(format) => {
                Ok(exchange_written(exchange(store, filter, format, out)?))
            }
            ExportWay::Study(write) => {
                let options = StudyDataOptions {
                    filters: self.filters.clone(),
                    cleaning: CleaningOptions::default(),
                };
                let rows = write(
                    &options.read(self.filters.filter()?, context)?,
                    self.separator().byte(),
                    out,
                )?;
                Ok(ExportWritten {
                    count: ("rows", rows),
                    what: counted(rows, "row"),
                    notes: Vec::new(),
                })
            }
            // They are several files.
            ExportWay::Amun => Ok(ExportWritten {
                count: ("entries", 0),
                what: String::new(),
                notes: Vec::new(),
            }),
        }
    }

    /// Writes the folders of inspections; existing files are not replaced.
    fn write_inspections(
        &self,
        store: &Store,
        filter: &Filter,
        notes: Vec<Note>,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let Some(folder) = &self.output else {
            return Err(CliError::input("inspections are folders")
                .hint("name the folder to write them to: `--to amun -o FOLDER`"));
        };
        let counts = export_amun(store, filter, |path, content| {
            let path = folder.join(path);
            std::fs::create_dir_all(folder_of(&path))?;
            let mut file = File::create_new(path)?;
            file.write_all(content.as_bytes())
        })?;
        if counts.inspections == 0 {
            return Err(CliError::not_enough("no indicator passes these filters")
                .hint("`lapwing indicator list` shows the indicators of the store"));
        }
        let results = counted(counts.results, "result");
        let inspections = counted(counts.inspections, "inspection");
        let answer = WrittenAnswer {
            kind: &written::EXPORT,
            path: folder,
            counts: [
                ("results", counts.results as u64),
                ("inspections", counts.inspections as u64),
            ]
            .into(),
            contents: format!(" ({results} of {inspections})"),
            notes,
            next: Vec::new(),
        };
        context.tell(&answer.answer()?)
    }

    fn table_written(&self, exported: ExportCounts) -> ExportWritten {
        let (noun, nouns) = match self.to {
            ExportTarget::Record => ("record", "records"),
            ExportTarget::Csv | ExportTarget::Tsv => ("row", "rows"),
            ExportTarget::Json => ("object", "objects"),
            ExportTarget::PytestBenchmark
            | ExportTarget::Hyperfine
            | ExportTarget::Pyperf
            | ExportTarget::Bmf
            | ExportTarget::GithubAction
            | ExportTarget::Runs
            | ExportTarget::Deltas
            | ExportTarget::Arrow
            | ExportTarget::Parquet
            | ExportTarget::Amun => ("entry", "entries"),
        };
        let mut notes = Vec::new();
        if exported.summaries_left > 0 {
            let text = format!(
                "a wide table cannot contain {}; use a long one",
                counted(exported.summaries_left, "summary")
            );
            let note = Note::marked("summaries_left", text);
            notes.push(note.with("summaries", exported.summaries_left));
        }
        ExportWritten {
            count: (nouns, exported.rows),
            what: counted(exported.rows, noun),
            notes,
        }
    }
}

fn exchange_written(exchanged: ExchangeSummary) -> ExportWritten {
    let mut notes = Vec::new();
    if exchanged.joined > 0 {
        let text = format!(
            "{} joined from several instances, which this format cannot distinguish",
            were(exchanged.joined, "entry")
        );
        notes.push(Note::marked("joined", text).with("entries", exchanged.joined));
    }
    if exchanged.not_counted > 0 {
        let text = format!(
            "{} excluded: burn-in or failed",
            were(exchanged.not_counted, "iteration")
        );
        notes.push(Note::marked("excluded", text).with("iterations", exchanged.not_counted));
    }
    if !exchanged.other_direction.is_empty() {
        let text = format!(
            "this format has one direction; excluded because higher is better: {} (export separately with --metric)",
            exchanged.other_direction.join(", ")
        );
        let note = Note::marked("other_direction", text);
        notes.push(note.with("metrics", exchanged.other_direction));
    }
    if !exchanged.empty.is_empty() {
        let text = format!("no usable iterations: {}", exchanged.empty.join(", "));
        notes.push(Note::marked("empty", text).with("benchmarks", exchanged.empty));
    }
    ExportWritten {
        count: ("entries", exchanged.entries),
        what: counted(exchanged.entries, "entry"),
        notes,
    }
}

/// Returns `1 entry was`, `3 entries were`.
fn were(number: u64, noun: &str) -> String {
    let verb = plural(number, "was", "were");
    format!("{} {verb}", counted(number, noun))
}

/// Suffixes of the files that SQLite keeps beside a store.
const BESIDE_STORE: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// Refuses to overwrite the store being read, by any name.
fn refuse_files_of(store: &Store, path: &Path) -> Result<(), CliError> {
    for ending in BESIDE_STORE {
        let own = with_ending(store.path(), ending);
        if is_same_file(path, &own) {
            return Err(CliError::input(format!(
                "{} belongs to the store {} and would overwrite it",
                path.display(),
                store.path().display()
            ))
            .hint("write to another file"));
        }
    }
    Ok(())
}

/// Returns whether two paths name the same file, whether it exists or not.
fn is_same_file(one: &Path, other: &Path) -> bool {
    if let (Ok(one), Ok(other)) = (std::fs::metadata(one), std::fs::metadata(other)) {
        return (one.dev(), one.ino()) == (other.dev(), other.ino());
    }
    let place = |path: &Path| {
        let folder = atomic::folder_of(path).canonicalize().ok()?;
        Some(folder.join(path.file_name()?))
    };
    place(one).is_some_and(|one| place(other) == Some(one))
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut path = path.to_owned().into_os_string();
    path.push(ending);
    PathBuf::from(path)
}

/// Writes a file as a whole, or not at all.
fn to_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> Result<ExportWritten, CliError>,
) -> Result<ExportWritten, CliError> {
    let mut failure = None;
    let written = atomic::replace_by(path, |out| {
        write(out).map_err(|error| {
            failure = Some(error);
            io::Error::other("not written")
        })
    });
    written.map_err(|source| {
        failure.unwrap_or_else(|| {
            CliError::input(io::Error::new(
                source.kind(),
                format!("cannot write {}: {source}", path.display()),
            ))
        })
    })
}
