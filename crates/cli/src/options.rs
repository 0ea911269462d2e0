//! Options of several commands, and the context made from them.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{IsTerminal, Write};
use std::ops::{Deref, RangeBounds};
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Args, Command, ValueEnum};
use lapwing_analyse::sample::{SampleFilter, Selector, SelectorError, assignments, moment};
use lapwing_formats::ImportOptions;
use lapwing_measure::suite::{CommandLine, command_text};
use lapwing_model::{GateCondition, GateRule};
use lapwing_show::GateTests;
use lapwing_show::answers::audit::AuditDetail;
use lapwing_show::chart::ChartFile;
use lapwing_show::writing::{
    Answer, AnswerFormat, AnswerRequest, Extent, NextStep, Note, NotedAnswer, PictureStyle,
    write_answer,
};

use jiff::Timestamp;

use crate::commands::FilesRead;
use crate::error::{CliError, ExitStatus};
use crate::session::Machine;
use crate::terminal::Terminal;
use lapwing_record::atomic::{self, folder_of};

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
    /// Style of the pictures that a terminal shows
    #[arg(
        long,
        global = true,
        value_name = "STYLE",
        value_parser = one_of(&PICTURES),
        default_value = "unicode",
        help_heading = "Common options"
    )]
    pub pictures: PictureStyle,
    /// Output format
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        value_parser = one_of(&FORMATS),
        default_value = "text",
        help_heading = "Common options"
    )]
    pub format: AnswerFormat,
    /// JSON also has the answer as notebooks show it, and progress is lines: for the Python package
    #[arg(long, global = true, hide = true)]
    pub for_notebook: bool,
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

const PICTURES: [NamedValue<PictureStyle>; 3] = [
    ("unicode", "With blocks and lines", PictureStyle::Unicode),
    ("ascii", "With ASCII alone", PictureStyle::Ascii),
    ("never", "No pictures", PictureStyle::Never),
];

/// How much of an answer is written.
#[derive(Debug, Clone, Default, Args)]
pub struct AnswerOptions {
    /// List everything, even if there is much of it: all rows, and in JSON all details
    #[arg(long, alias = "all", help_heading = "Output")]
    full: bool,
    /// List at most N rows
    #[arg(long, value_name = "N", help_heading = "Output")]
    limit: Option<usize>,
    /// Only these fields of each row, separated by commas: in JSON and CSV
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        help_heading = "Output"
    )]
    fields: Vec<String>,
}

impl AnswerOptions {
    /// Returns how much of an answer is written.
    pub fn extent(&self) -> Extent {
        Extent {
            full: self.full,
            limit: self.limit,
            fields: self.fields.iter().map(|it| it.trim().to_owned()).collect(),
        }
    }
}

/// Files that get the answer beside standard output.
#[derive(Debug, Clone, Default, Args)]
pub struct ExportOptions {
    /// Also write the answer to this .md, .json or .csv file; can be repeated
    #[arg(long, value_name = "FILE", value_parser = parse_export, help_heading = "Output")]
    export: Vec<(AnswerFormat, PathBuf)>,
}

/// Files that CI systems read.
#[derive(Debug, Clone, Default, Args)]
pub struct GateFiles {
    /// Also write what was judged as JUnit XML to this file: a test per benchmark and metric, which fails for a regression,
    /// and is skipped where it is not judged
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    junit: Option<PathBuf>,
    /// Also write what fails as SARIF, for code scanning, to this file
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    sarif: Option<PathBuf>,
}

impl GateFiles {
    /// Refuses files that cannot be written, before anything is done.
    pub fn check(&self, context: &Context) -> Result<(), CliError> {
        for path in self.paths() {
            check_output(path, context)?;
            if !is_stdout(path) {
                let refused =
                    |error: std::io::Error| CliError::input(format!("{}: {error}", path.display()));
                atomic::check(path).map_err(refused)?;
                // That of an earlier call says nothing of this one, which may fail.
                if path.is_file() {
                    fs::remove_file(path).map_err(refused)?;
                }
            }
        }
        Ok(())
    }

    /// Returns the files.
    pub fn paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.junit.iter().chain(&self.sarif)
    }

    /// Writes the files that were asked for.
    pub fn write(&self, tests: &GateTests, context: &Context) -> Result<(), CliError> {
        if let Some(path) = &self.junit {
            write_output(path, tests.junit(), context)?;
        }
        if let Some(path) = &self.sarif {
            write_output(path, tests.sarif(), context)?;
        }
        Ok(())
    }
}

fn parse_export(text: &str) -> Result<(AnswerFormat, PathBuf), String> {
    let path = PathBuf::from(text);
    let format = match extension(&path).as_str() {
        "md" => AnswerFormat::Markdown,
        "json" => AnswerFormat::Json,
        "csv" => AnswerFormat::Csv,
        _ if text == "-" => {
            return Err(
                "standard output has the answer anyway; choose its format with --format".to_owned(),
            );
        }
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
    pub fn write_answer(
        &self,
        answer: &dyn Answer,
        options: &AnswerOptions,
        context: &Context,
    ) -> Result<(), CliError> {
        for (format, path) in &self.export {
            let text = answer_text(answer, *format, options, context)?;
            write_output(path, text, context)?;
        }
        Ok(())
    }
}

/// Returns an answer as text in a format.
pub fn answer_text(
    answer: &dyn Answer,
    format: AnswerFormat,
    options: &AnswerOptions,
    context: &Context,
) -> Result<String, CliError> {
    let mut bytes = Vec::new();
    let request = AnswerRequest {
        format,
        room: None,
        extent: &options.extent(),
        command: &context.command,
        quiet: false,
        pictures: PictureStyle::Never,
        is_shown: false,
    };
    write_answer(&context.about_files(answer), request, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
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

/// Returns the parser of the rules of a gate: one of these conditions, such as `regression`, or `regression:peak_memory`
/// of one metric.
pub fn gate_rules(
    values: &'static [NamedValue<GateCondition>],
) -> impl TypedValueParser<Value = GateRule> {
    GateRuleParser(values)
}

#[derive(Clone)]
struct GateRuleParser(&'static [NamedValue<GateCondition>]);

impl TypedValueParser for GateRuleParser {
    type Value = GateRule;

    fn parse_ref(
        &self,
        command: &Command,
        argument: Option<&Arg>,
        value: &OsStr,
    ) -> Result<GateRule, clap::Error> {
        let text = value.to_string_lossy();
        let (name, metric) = match text.split_once(':') {
            Some((name, metric)) => (name, Some(metric.to_owned())),
            None => (&*text, None),
        };
        let condition = one_of(self.0).parse_ref(command, argument, OsStr::new(name))?;
        Ok(GateRule { condition, metric })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let named =
            |(name, help, _): &NamedValue<GateCondition>| PossibleValue::new(*name).help(*help);
        Some(Box::new(self.0.iter().map(named)))
    }
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
pub const DEFAULT_STORE: &str = ".lapwing/lapwing.db";

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
    /// Returns whether any of them is given.
    pub fn are_set(&self) -> bool {
        !(self.benchmark.is_empty() && self.tag.is_empty() && self.conditions.is_empty())
    }

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

/// Returns whether a file that a command writes is standard output.
pub fn is_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1"]
        .iter()
        .any(|it| path == Path::new(it))
}

/// Refuses a file in a missing folder, or standard output that has the answer in a format already.
pub fn check_output(path: &Path, context: &Context) -> Result<(), CliError> {
    if !is_stdout(path) {
        return check_folder(path);
    }
    match context.format {
        AnswerFormat::Text => Ok(()),
        AnswerFormat::Json | AnswerFormat::Csv | AnswerFormat::Markdown => {
            Err(CliError::input(format!(
                "`{}` and --format both write to standard output",
                path.display()
            ))
            .hint("omit one of them, or name a file"))
        }
    }
}

/// Writes a file whole or not at all, or standard output.
pub fn write_output(
    path: &Path,
    text: impl AsRef<[u8]>,
    context: &Context,
) -> Result<(), CliError> {
    if is_stdout(path) {
        let mut out = context.terminal.file_out();
        let written = out.write_all(text.as_ref()).and_then(|()| out.flush());
        return CliError::unless_reader_left(written.map_err(CliError::from));
    }
    atomic::replace(path, text)
        .map_err(|error| CliError::input(format!("cannot write {}: {error}", path.display())))
}

/// Returns the extension of a file in lower case; empty if it has none.
pub fn extension(path: &Path) -> String {
    let extension = path.extension().and_then(|it| it.to_str());
    extension.unwrap_or_default().to_ascii_lowercase()
}

/// Refuses fields that the rows of an answer do not have.
fn check_fields(answer: &dyn Answer, extent: &Extent) -> Result<(), CliError> {
    if extent.fields.is_empty() {
        return Ok(());
    }
    let rows = answer.rows()?;
    let unknown = extent.fields.iter().find(|it| !rows.titles().contains(it));
    match unknown {
        None => Ok(()),
        Some(field) => Err(CliError::input(format!("rows have no field `{field}`"))
            .hint(format!("the fields are {}", rows.titles().join(", ")))
            .candidates(rows.titles().to_vec())),
    }
}

/// Returns the arguments of this process as its command: `lapwing compare old new`.
pub fn command_words(arguments: &[OsString]) -> Vec<String> {
    let words = arguments.iter().skip(1);
    let words = words.map(|word| word.to_string_lossy().into_owned());
    std::iter::once("lapwing".to_owned()).chain(words).collect()
}

/// Returns whether a word is `-n` with its number: `-n10`.
fn is_short_number(word: &str) -> bool {
    let number = word.strip_prefix("-n").map(|it| it.trim_start_matches('='));
    number.is_some_and(|it| it.parse::<u32>().is_ok())
}

/// Returns whether the words of a command ask for JSON, although they cannot be understood.
pub fn is_json_asked(words: &[String]) -> bool {
    let mut own = words.iter().take_while(|word| *word != "--").peekable();
    while let Some(word) = own.next() {
        let is_separate = word == "--format" && own.peek().is_some_and(|it| *it == "json");
        if is_separate || word == "--format=json" {
            return true;
        }
    }
    false
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
    /// The format of answers.
    pub format: AnswerFormat,
    /// How pictures are drawn in a terminal.
    pub pictures: PictureStyle,
    /// Whether a notebook shows the answer.
    pub for_notebook: bool,
    /// The command of this process.
    pub command: Vec<String>,
    /// The names of the sides of a comparison, if they were typed.
    pub labels: Vec<String>,
    /// Whether an answer was written.
    pub is_answered: Arc<AtomicBool>,
    /// The machine that this program runs on.
    pub machine: Machine,
    /// Remarks on what was read and what was skipped, if the command reads files instead of a store.
    pub file_notes: Vec<Note>,
    /// The next step of an answer about files.
    pub file_next: Option<NextStep>,
    /// Files that were read to find out what to answer.
    pub opened: Mutex<Option<FilesRead>>,
}

impl Context {
    /// Returns the context of a quiet command without common options.
    pub fn quiet(store: PathBuf, format: AnswerFormat) -> Self {
        Self {
            store,
            store_is_copy: false,
            quiet: true,
            verbose: false,
            terminal: Terminal::new(false),
            format,
            pictures: PictureStyle::default(),
            for_notebook: false,
            command: Vec::new(),
            labels: Vec::new(),
            is_answered: Arc::default(),
            machine: Machine::new(),
            file_notes: Vec::new(),
            file_next: None,
            opened: Mutex::new(None),
        }
    }

    /// Returns a context with the same common options.
    pub fn copied(&self) -> Self {
        Self {
            store: self.store.clone(),
            store_is_copy: self.store_is_copy,
            quiet: self.quiet,
            verbose: self.verbose,
            terminal: self.terminal.copied(),
            format: self.format,
            pictures: self.pictures,
            for_notebook: self.for_notebook,
            command: self.command.clone(),
            labels: self.labels.clone(),
            is_answered: Arc::clone(&self.is_answered),
            machine: Machine::new(),
            file_notes: self.file_notes.clone(),
            file_next: self.file_next.clone(),
            opened: Mutex::new(None),
        }
    }

    /// Returns the results of files, read now unless they were before.
    pub fn files(&self, paths: &[PathBuf], options: &ImportOptions) -> Result<FilesRead, CliError> {
        let opened = self.opened.lock().ok().and_then(|mut it| it.take());
        match opened.filter(|it| it.is_of(paths)) {
            Some(opened) => Ok(opened),
            None => FilesRead::read(paths, options, self),
        }
    }

    /// Returns what an answer says of the files that it is about.
    fn about_files<'a>(&'a self, answer: &'a dyn Answer) -> NotedAnswer<'a> {
        NotedAnswer {
            answer,
            notes: if self.quiet { &[] } else { &self.file_notes },
            next: self.file_next.as_ref().map(slice::from_ref),
        }
    }

    /// Writes an answer on standard output.
    pub fn show(
        &self,
        answer: &dyn Answer,
        options: &AnswerOptions,
    ) -> Result<ExitStatus, CliError> {
        let extent = options.extent();
        check_fields(answer, &extent)?;
        let mut out = self.terminal.out_as(self.format);
        let request = AnswerRequest {
            format: self.format,
            room: self.terminal.width(),
            extent: &extent,
            command: &self.command,
            quiet: self.quiet,
            pictures: self.pictures,
            is_shown: self.for_notebook,
        };
        self.is_answered.store(true, Ordering::Relaxed);
        let written = write_answer(&self.about_files(answer), request, &mut out);
        CliError::unless_reader_left(written.map_err(CliError::from))?;
        let has_hidden_audit = answer
            .audit()
            .is_some_and(|part| part.detail == AuditDetail::All);
        if self.format == AnswerFormat::Csv && has_hidden_audit {
            self.terminal
                .note("the audit is not part of CSV output; --format json has all of it");
        }
        Ok(ExitStatus::Fine)
    }

    /// Writes an answer on standard output, unless one of the files that a command writes is there.
    pub fn show_beside<'p>(
        &self,
        files: impl IntoIterator<Item = &'p PathBuf>,
        answer: &dyn Answer,
        options: &AnswerOptions,
    ) -> Result<ExitStatus, CliError> {
        if files.into_iter().any(|path| is_stdout(path)) {
            return Ok(ExitStatus::Fine);
        }
        self.show(answer, options)
    }

    /// Writes the answer of a command whose result is a file: text says nothing if it is to be quiet.
    pub fn tell(&self, answer: &dyn Answer) -> Result<ExitStatus, CliError> {
        if self.quiet && self.format == AnswerFormat::Text {
            return Ok(ExitStatus::Fine);
        }
        self.show(answer, &AnswerOptions::default())
    }

    /// Returns how a suggested command starts: `lapwing`, with `--store` if it is not the default.
    pub fn program(&self) -> String {
        if self.has_usual_store() {
            return "lapwing".to_owned();
        }
        let path = CommandLine::Words(vec![self.store.display().to_string()]);
        format!("lapwing --store {}", command_text(&path))
    }

    /// Returns whether JSON is asked for, and none was written yet: programs get one document.
    pub fn lacks_json(&self) -> bool {
        self.format == AnswerFormat::Json && !self.is_answered.load(Ordering::Relaxed)
    }

    /// Returns whether the store is that of the working directory.
    pub fn has_usual_store(&self) -> bool {
        self.store == Path::new(DEFAULT_STORE)
    }

    /// Returns the command of this process.
    pub fn own_command(&self) -> String {
        command_text(&CommandLine::Words(self.command.clone()))
    }

    /// Returns the command of this process with another number of instances.
    pub fn with_instances(&self, instances: usize) -> String {
        let mut words = Vec::new();
        let mut own = self.command.iter();
        let mut is_inserted = false;
        while let Some(word) = own.next() {
            match word.as_str() {
                // What follows is the measured command.
                "--" => {
                    words.push(word.clone());
                    words.extend(own.by_ref().cloned());
                }
                // A number of runs would limit the instances.
                "-n" | "--instances" | "-r" | "--runs" => {
                    own.next();
                }
                given if given.starts_with("--instances=") || is_short_number(given) => {}
                "run" | "time" | "judge" if !is_inserted => {
                    is_inserted = true;
                    words.extend([word.clone(), "-n".to_owned(), instances.to_string()]);
                }
                _ => words.push(word.clone()),
            }
        }
        command_text(&CommandLine::Words(words))
    }

    /// Returns the context that the common options describe.
    pub fn new(common: CommonOptions) -> Self {
        if let Some(when) = common.color {
            anstream::ColorChoice::from(when).write_global();
        }
        let store = common.store;
        let store = store.unwrap_or_else(|| PathBuf::from(DEFAULT_STORE));
        Self {
            quiet: common.quiet,
            verbose: common.verbose,
            pictures: common.pictures,
            terminal: if common.for_notebook {
                Terminal::of_lines()
            } else {
                Terminal::new(std::io::stderr().is_terminal())
            },
            for_notebook: common.for_notebook,
            ..Self::quiet(store, common.format)
        }
    }
}
