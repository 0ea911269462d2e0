//! `lapwing import`: imports results of other programs into the store.

mod alike;
mod files_read;
mod tally;
mod target;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_formats::{
    BadLines, ColumnChoices, EachRun, FORMATS, ImportError, ImportOptions, ImportPaths,
    OtherEndings, Source, TraceNames,
};
use lapwing_model::text::shell_word;
use lapwing_show::answers::imported::ImportAnswer;

use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context, NamedValue, checked, keyed, one_of};

pub use self::files_read::{FilesRead, is_missing, lapwing_command, moments, no_file};
pub use self::tally::skipped_notes;
use tally::ImportTally;
use target::{Target, Way};

/// Import results of other tools into the store
///
/// The format of a file is detected (`--from` lists the formats); plain text, gzip and zstd are
/// read. Each file is imported completely or not at all. Importing the same file again, under any
/// name, changes nothing.
#[derive(Debug, Args)]
pub struct ImportCommand {
    #[command(flatten)]
    reading: ReadingOptions,
    #[command(flatten)]
    files: ImportedFiles,
}

/// Files to import, and their names in the store.
#[derive(Debug, Args)]
pub struct ImportedFiles {
    /// Files, glob patterns, directories (searched for known formats), or - for standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Names of what is imported: `suite=NAME` [default: the format's]; of traces, tables and runs of a study
    /// also `benchmark=NAME` [default: that of what was traced, or of the file] and `variant=NAME`
    #[arg(long = "as", value_name = "NAMES", value_parser = checked(GivenNames::parse))]
    given: Vec<String>,
    /// Import the valid lines of a file that also has invalid ones
    #[arg(long)]
    keep_going: bool,
    /// Show what would be done, without doing it
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    answer: AnswerOptions,
}

/// How files are read.
#[derive(Debug, Clone, Args)]
pub struct ReadingOptions {
    /// Input format [default: detected]
    #[arg(long, value_name = "FORMAT", value_parser = format_names())]
    from: Option<String>,
    /// Meaning of each run of a command in hyperfine's results
    #[arg(long, value_name = "WHAT", value_parser = one_of(&EACH_RUN), default_value = "iteration")]
    each_run: EachRun,
    /// Meaning of columns of a table (CSV, TSV), such as `value=seconds,benchmark=name`, or of runs of a study, such as
    /// `value=usec,factor=workers,attribute=id`
    /// [default: found by their names and contents, and shown]
    #[arg(long, value_name = "COLUMNS", value_parser = checked(ColumnChoices::parse))]
    columns: Option<String>,
}

impl ReadingOptions {
    /// Returns the options of reading runs of a study.
    pub fn of_runs(columns: Option<String>) -> Self {
        Self {
            from: Some("runs".to_owned()),
            each_run: EachRun::Iteration,
            columns,
        }
    }

    /// Returns the options of reading files, whose suite is the format's.
    pub fn options(&self) -> ImportOptions {
        ImportOptions {
            format: self.from.as_deref().and_then(lapwing_formats::format_named),
            each_run: self.each_run,
            // The text was checked when it was read.
            columns: ColumnChoices::parse(self.columns.as_deref().unwrap_or_default())
                .unwrap_or_default(),
            ..ImportOptions::at(jiff::Timestamp::now())
        }
    }
}

const EACH_RUN: [NamedValue<EachRun>; 2] = [
    (
        "iteration",
        "An iteration; all runs form one instance",
        EachRun::Iteration,
    ),
    (
        "instance",
        "An instance with one iteration, as if the machine had been prepared each time",
        EachRun::Instance,
    ),
];

fn format_names() -> clap::builder::PossibleValuesParser {
    FORMATS
        .iter()
        .map(|format| clap::builder::PossibleValue::new(format.name).help(format.about))
        .collect::<Vec<_>>()
        .into()
}

/// Names that people give to what is imported.
#[derive(Debug, Clone, Default)]
struct GivenNames {
    suite: Option<String>,
    trace: TraceNames,
}

impl GivenNames {
    fn parse(text: &str) -> Result<Self, String> {
        let keys = ["suite", "benchmark", "variant"];
        keyed(text, &keys, |given: &mut Self, key, value| {
            match key {
                "suite" => given.suite = Some(value),
                "benchmark" => given.trace.benchmark = Some(value),
                _ => given.trace.variant = Some(value),
            }
            Ok(())
        })
    }
}

impl ImportCommand {
    /// Imports the files.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        self.files.import(&self.reading, context)
    }
}

impl ImportedFiles {
    /// Imports each source separately; a failed one does not stop the others.
    pub fn import(
        self,
        reading: &ReadingOptions,
        context: &Context,
    ) -> Result<ExitStatus, CliError> {
        let options = self.options(reading);
        let way = if self.dry_run { Way::DryRun } else { Way::Keep };
        let mut target = Target::new(context, way)?;
        let taken = take_all(&self.paths, &options, &mut target, context)?;
        let status = match taken.tally.refused.is_empty() {
            true => ExitStatus::Fine,
            false => ExitStatus::Input,
        };
        let mut answer = taken.answer(&options, &target, context);
        answer.notes.extend(target.came_note()?);
        context.show(&answer, &self.answer)?;
        Ok(status)
    }

    fn options(&self, reading: &ReadingOptions) -> ImportOptions {
        // Each text was checked when it was read.
        let given = GivenNames::parse(&self.given.join(" ")).unwrap_or_default();
        ImportOptions {
            suite: given.suite,
            trace: given.trace,
            bad_lines: if self.keep_going {
                BadLines::Skip
            } else {
                BadLines::Refuse
            },
            ..reading.options()
        }
    }
}

/// Everything that was read from paths.
struct Taken {
    tally: ImportTally,
    other_endings: OtherEndings,
}

impl Taken {
    fn answer<'t>(
        self,
        options: &ImportOptions,
        target: &'t Target<'_>,
        context: &Context,
    ) -> ImportAnswer<'t> {
        let other = &self.other_endings;
        self.tally.answer(options, other, target, context)
    }
}

/// Imports each source separately; a failed one does not stop the others.
fn take_all(
    paths: &[PathBuf],
    options: &ImportOptions,
    target: &mut Target<'_>,
    context: &Context,
) -> Result<Taken, CliError> {
    let mut found = ImportPaths::default();
    let mut tally = ImportTally::default();
    for path in paths {
        match lapwing_formats::places_at(path) {
            Ok(there) => found.append(there),
            Err(error) if paths.len() == 1 => return Err(error.into()),
            Err(error) => tally.refuse(error.into(), context),
        }
    }
    let ImportPaths {
        places,
        other_endings,
    } = found;
    let alone = places.len() == 1 && tally.refused.is_empty();
    let (histories, others) = places
        .into_iter()
        .partition::<Vec<_>, _>(|it| it.asked_for && is_history_of_action(&it.path));
    let mut options = options.clone();
    let (mut known, mut history) = (BTreeSet::new(), BTreeSet::new());
    for (at, place) in histories.iter().chain(&others).enumerate() {
        if at == histories.len() && !target.is_passing() {
            target.continued = target.history_of_action()?;
        } else if at > 0 && at == histories.len() {
            options.continued = target.only_history()?;
            tally.continued = options.continued.as_ref().map(|it| it.suite.clone());
            history = target.figures(&known)?;
        }
        match target.take(&place.path, &options)? {
            Ok(imported) => {
                let name = name_of(&place.path);
                if let Some(continued) = &options.continued
                    && target.figures(&imported.sessions)?.is_disjoint(&history)
                {
                    return Err(continues_nothing(&name, &continued.suite));
                }
                if imported.is_continuation
                    && let Some(history) = &target.continued
                {
                    tally.continued = Some(history.continued.suite.clone());
                }
                known.extend(imported.sessions.iter().copied());
                tally.add(imported, &name);
            }
            // It is read with the results that it goes with.
            Err(ImportError::Companion { .. }) if !place.asked_for => {}
            // Other files in a directory were not asked for.
            Err(
                error @ (ImportError::Unknown { .. }
                | ImportError::Empty { .. }
                | ImportError::Encoding { .. }),
            ) if !place.asked_for => tally.skip(&place.path, &error),
            Err(error) if alone => return Err(with_command(error, &place.path, &options, context)),
            Err(error) => {
                tally.refuse(with_command(error, &place.path, &options, context), context);
            }
        }
    }
    if tally.files.is_empty() && tally.refused.is_empty() {
        context
            .terminal
            .notes(tally.skipped(&options, &other_endings, context));
        return Err(CliError::input("no file has results in a known format"));
    }
    Ok(Taken {
        tally,
        other_endings,
    })
}

/// Adds the command that says what unclear columns of a file mean.
fn with_command(
    error: ImportError,
    path: &Path,
    options: &ImportOptions,
    context: &Context,
) -> CliError {
    let ImportError::UnclearColumns { choices, .. } = &error else {
        return error.into();
    };
    let mut words = vec![
        format!("{} study import", context.program()),
        shell_word(&path.display().to_string()),
        format!("--columns {}", shell_word(&choices.to_string())),
    ];
    let names = [
        ("suite", &options.suite),
        ("benchmark", &options.trace.benchmark),
        ("variant", &options.trace.variant),
    ];
    for (key, name) in names {
        if let Some(name) = name {
            words.push(format!("--as {}", shell_word(&format!("{key}={name}"))));
        }
    }
    if options.bad_lines == BadLines::Skip {
        words.push("--keep-going".to_owned());
    }
    let hint = format!("if that is so, say it: `{}`", words.join(" "));
    CliError::from(error).hint(hint)
}

/// Returns the error of results that were given beside a history and have nothing in common with it.
fn continues_nothing(file: &str, suite: &str) -> CliError {
    let text = format!(
        "{file} does not continue the history `{suite}`: they have no benchmark with a metric in common"
    );
    CliError::input(text).hint("look at each alone: `lapwing FILE`")
}

/// Returns whether a file that was named is the history of github-action-benchmark.
pub fn is_history_of_action(path: &Path) -> bool {
    const ENDINGS: [&str; 2] = ["js", "json"];
    let ending = path.extension().and_then(|it| it.to_str());
    // Reading a pipe would take from it.
    if !ending.is_some_and(|it| ENDINGS.contains(&it)) || !path.is_file() {
        return false;
    }
    let source = Source::open(path, &std::env::temp_dir());
    source.is_ok_and(|it| lapwing_formats::is_history_of_action(&it))
}

fn name_of(path: &Path) -> String {
    if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}
