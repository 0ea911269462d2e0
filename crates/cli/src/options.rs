//! Options of several commands, and the context made from them.

use std::io::IsTerminal;
use std::ops::{Deref, RangeBounds};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use lapwing_analyse::sample::{SampleFilter, Selector, SelectorError, assignments, moment};
use lapwing_measure::suite::{CommandLine, command_text};
use lapwing_show::answers::audit::AuditDetail;
use lapwing_show::chart::ChartFile;
use lapwing_show::writing::{Answer, AnswerFormat, TableAnswer, write_answer};

use jiff::Timestamp;

use crate::atomic::{self, folder_of};
use crate::error::{CliError, ExitStatus};
use crate::session::Machine;
use crate::terminal::Terminal;

/// Options that every command has.
#[derive(Debug, Clone, Args)]
pub struct CommonOptions {
    /// Path to the store of measurements [default: .lapwing/lapwing.db]
    #[arg(
        long,
        global = true,
        value_name = "PATH",
        help_heading = "Common options"
    )]
    pub store: Option<PathBuf>,
    /// Print only the result
    #[arg(long, short, global = true, help_heading = "Common options")]
    pub quiet: bool,
    /// Print more details
    #[arg(
        long,
        short,
        global = true,
        conflicts_with = "quiet",
        help_heading = "Common options"
    )]
    pub verbose: bool,
    /// Colours: if the output is a terminal and NO_COLOR is not set, always, or never [default:
    /// auto]
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        help_heading = "Common options"
    )]
    pub color: Option<ColorWhen>,
}

/// When output has colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "lower")]
pub enum ColorWhen {
    Auto,
    Always,
    Never,
}

impl From<ColorWhen> for anstream::ColorChoice {
    fn from(when: ColorWhen) -> Self {
        match when {
            ColorWhen::Auto => Self::Auto,
            ColorWhen::Always => Self::Always,
            ColorWhen::Never => Self::Never,
        }
    }
}

/// Output formats.
pub const FORMATS: [NamedValue<AnswerFormat>; 4] = [
    ("text", "Text for reading in a terminal", AnswerFormat::Text),
    (
        "json",
        "JSON for programs, documented and stable",
        AnswerFormat::Json,
    ),
    (
        "markdown",
        "Markdown for pull requests",
        AnswerFormat::Markdown,
    ),
    ("csv", "CSV for spreadsheets", AnswerFormat::Csv),
];

/// The format of an answer.
#[derive(Debug, Clone, Copy, Default, Args)]
pub struct AnswerOptions {
    /// Output format
    #[arg(long, value_name = "FORMAT", value_parser = one_of(&FORMATS), default_value = "text")]
    pub format: AnswerFormat,
}

/// Files that get the answer beside standard output.
#[derive(Debug, Clone, Default, Args)]
pub struct ExportOptions {
    /// Also write the answer to this .md, .json or .csv file; can be repeated
    #[arg(long, value_name = "FILE", value_parser = parse_export, help_heading = "Output")]
    export: Vec<(AnswerFormat, PathBuf)>,
}

fn parse_export(text: &str) -> Result<(AnswerFormat, PathBuf), String> {
    let path = PathBuf::from(text);
    let format = match extension(&path).as_str() {
        "md" => AnswerFormat::Markdown,
        "json" => AnswerFormat::Json,
        "csv" => AnswerFormat::Csv,
        _ => return Err("write a file that ends in .md, .json or .csv".to_owned()),
    };
    Ok((format, path))
}

impl ExportOptions {
    /// Refuses a file in a missing folder, before anything is measured.
    pub fn check(&self) -> Result<(), CliError> {
        self.export
            .iter()
            .try_for_each(|(_, path)| check_folder(path))
    }

    /// Writes an answer into each of the files.
    pub fn write_answer(&self, answer: &dyn Answer) -> Result<(), CliError> {
        self.write(|format, out| Ok(write_answer(answer, format, None, out)?))
    }

    /// Writes each of the files.
    pub fn write(
        &self,
        mut answer: impl FnMut(AnswerFormat, &mut Vec<u8>) -> Result<(), CliError>,
    ) -> Result<(), CliError> {
        for (format, path) in &self.export {
            let mut bytes = Vec::new();
            answer(*format, &mut bytes)?;
            let text = String::from_utf8_lossy(&bytes);
            atomic::replace(path, &text).map_err(|error| {
                CliError::input(format!("cannot write {}: {error}", path.display()))
            })?;
        }
        Ok(())
    }
}

/// A value of an option: its name, its help, and its meaning.
pub type NamedValue<T> = (&'static str, &'static str, T);

/// Returns the parser of an option that has one of these values.
pub fn one_of<T: Copy + Send + Sync>(
    values: &'static [NamedValue<T>],
) -> impl TypedValueParser<Value = T> {
    let names = values.iter();
    let names = names.map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(names).try_map(|name| {
        let value = values.iter().find(|(known, ..)| *known == name);
        value.map(|it| it.2).ok_or("unknown value")
    })
}

/// Returns the settings in a text such as `burn_in=auto min_instances=3`; `set` takes the value of a key.
pub fn keyed<T: Default>(
    text: &str,
    keys: &[&str],
    set: impl Fn(&mut T, &str, String) -> Result<(), String>,
) -> Result<T, String> {
    let mut settings = T::default();
    for (key, value) in assignments(text).map_err(|error| error.to_string())? {
        if !keys.contains(&key.as_str()) {
            return Err(format!("`{key}` is not one of {}", keys.join(", ")));
        }
        set(&mut settings, &key, value)?;
    }
    Ok(settings)
}

/// Returns the parser of an option that can be repeated: it checks each text, and what uses the option parses them
/// together, so that later ones take precedence.
pub fn checked<T>(
    parse: fn(&str) -> Result<T, String>,
) -> impl Fn(&str) -> Result<String, String> + Clone + Send + Sync {
    move |text| parse(text).map(|_settings| text.to_owned())
}

/// Returns the parser of an option that is a whole number within a range.
pub fn within(
    range: impl RangeBounds<usize> + Clone + Send + Sync,
    expected: &'static str,
) -> impl Fn(&str) -> Result<usize, String> + Clone + Send + Sync {
    move |text| match text.trim().parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        Ok(_) | Err(_) => Err(expected.to_owned()),
    }
}

/// The default path to the store.
const DEFAULT_STORE: &str = ".lapwing/lapwing.db";

/// Filters on measurements, whatever the metric.
#[derive(Debug, Clone, Default, Args)]
pub struct ResultFilters {
    /// Only benchmarks whose id equals NAME, matches it as a pattern (`*`, `?`) or contains it
    #[arg(long, short, value_name = "NAME", help_heading = "Filters")]
    pub benchmark: Vec<String>,
    /// Only benchmarks with this tag
    #[arg(long, value_name = "TAG", help_heading = "Filters")]
    pub tag: Vec<String>,
    /// Only results that meet these conditions, such as `variant=fast since=2w host=a*`: suite,
    /// version, commit, branch, variant, session, run, host, outcome, since, until, a factor, or
    /// `last 10 of main`; alternatives are separated by commas; `retired=yes` includes retired results
    #[arg(long = "where", value_name = "CONDITIONS", value_parser = parse_selector, help_heading = "Filters")]
    pub conditions: Vec<Selector>,
}

/// Filters on measurements.
#[derive(Debug, Clone, Default, Args)]
pub struct FilterOptions {
    #[command(flatten)]
    results: ResultFilters,
    /// Only this metric
    #[arg(long, value_name = "NAME", help_heading = "Filters")]
    pub metric: Vec<String>,
}

impl Deref for FilterOptions {
    type Target = ResultFilters;

    fn deref(&self) -> &ResultFilters {
        &self.results
    }
}

impl FilterOptions {
    /// Returns the filter that the options describe.
    pub fn filter(&self) -> Result<SampleFilter, CliError> {
        Ok(SampleFilter {
            metrics: self.metric.clone(),
            ..self.results.filter()?
        })
    }
}

impl ResultFilters {
    /// Returns the filter that the options describe.
    pub fn filter(&self) -> Result<SampleFilter, CliError> {
        let mut runs = merged(&self.conditions)?;
        Ok(SampleFilter {
            retired: runs.take_retired(),
            runs,
            benchmarks: self.benchmark.clone(),
            tags: self.tag.clone(),
            metrics: Vec::new(),
        })
    }
}

/// Returns the conditions of all selectors.
pub fn merged(conditions: &[Selector]) -> Result<Selector, CliError> {
    let texts: Vec<String> = conditions.iter().map(Selector::to_string).collect();
    if texts.is_empty() {
        Ok(Selector::default())
    } else {
        parse_selector(&texts.join(" ")).map_err(CliError::input)
    }
}

/// Returns the conditions that a text means.
pub fn parse_selector(text: &str) -> Result<Selector, SelectorError> {
    Selector::parse(text, Timestamp::now())
}

/// Returns the moment that a text names, as [`moment`] does.
pub(crate) fn parse_date(text: &str) -> Result<Timestamp, CliError> {
    moment(text, Timestamp::now()).ok_or_else(|| {
        CliError::input(format!("`{text}` is not a date or time"))
            .hint("write it like 2026-11-20, 2026-11-20T10:00:00Z, yesterday or `3 days ago`")
    })
}

/// Refuses a chart of an unknown format, or in a missing folder, before anything is computed.
pub fn check_plot(path: Option<&Path>) -> Result<(), CliError> {
    if let Some(path) = path {
        ChartFile::at(path)?;
        check_folder(path)?;
    }
    Ok(())
}

/// Refuses a file in a folder that does not exist.
pub fn check_folder(path: &Path) -> Result<(), CliError> {
    let folder = folder_of(path);
    if folder.is_dir() {
        return Ok(());
    }
    let folder = folder.display();
    Err(CliError::input(format!("folder `{folder}` does not exist"))
        .hint("create it, or name another file"))
}

/// Returns the extension of a file in lower case; empty if it has none.
pub fn extension(path: &Path) -> String {
    let extension = path.extension().and_then(|it| it.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
}

/// Context of a command: the common options, resolved.
#[derive(Debug)]
pub struct Context {
    /// Path to the store.
    pub store: PathBuf,
    /// Whether the store is a copy that is only read.
    pub store_is_copy: bool,
    pub quiet: bool,
    pub verbose: bool,
    pub terminal: Terminal,
    /// The machine that this program runs on.
    pub machine: Machine,
}

impl Context {
    /// Writes an answer on standard output.
    pub fn show(&self, answer: &dyn Answer, format: AnswerFormat) -> Result<ExitStatus, CliError> {
        let mut out = self.terminal.out_as(format);
        let written = write_answer(answer, format, self.terminal.width(), &mut out);
        CliError::unless_reader_left(written.map_err(CliError::from))?;
        let has_hidden_audit = answer
            .audit()
            .is_some_and(|part| part.detail == AuditDetail::All);
        if format == AnswerFormat::Csv && has_hidden_audit {
            self.terminal
                .note("the audit is not part of CSV output; --format json has all of it");
        }
        Ok(ExitStatus::Fine)
    }

    /// Writes an answer that is a table on standard output.
    pub fn show_table(
        &self,
        answer: &TableAnswer,
        format: AnswerFormat,
    ) -> Result<ExitStatus, CliError> {
        let mut out = self.terminal.out_as(format);
        let written = answer.write(format, self.terminal.width(), &mut out);
        CliError::unless_reader_left(written.map_err(CliError::from))?;
        Ok(ExitStatus::Fine)
    }

    /// Returns how a suggested command starts: `lapwing`, with `--store` if it is not the default.
    pub fn program(&self) -> String {
        if self.store == Path::new(DEFAULT_STORE) {
            return "lapwing".to_owned();
        }
        let path = CommandLine::Words(vec![self.store.display().to_string()]);
        format!("lapwing --store {}", command_text(&path))
    }

    /// Returns the context that the common options describe.
    pub fn new(common: CommonOptions) -> Self {
        if let Some(when) = common.color {
            anstream::ColorChoice::from(when).write_global();
        }
        Self {
            store: common.store.unwrap_or_else(|| PathBuf::from(DEFAULT_STORE)),
            store_is_copy: false,
            quiet: common.quiet,
            verbose: common.verbose,
            terminal: Terminal::new(std::io::stderr().is_terminal()),
            machine: Machine::new(),
        }
    }
}
