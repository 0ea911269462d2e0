//! `lapwing import`: imports results of other programs into the store.

mod alike;
mod target;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_formats::{
    Alike, BadLine, BadLines, EachRun, FORMATS, ImportError, ImportOptions, ImportPaths, Imported,
    OtherEndings, TraceNames,
};
use lapwing_model::text::{counted, grouped, joined, plural};
use lapwing_model::{Id, RecordKind};
use lapwing_record::AppendCounts;

use crate::error::{CliError, ExitStatus};
use crate::hints::with_hint;
use crate::options::{Context, NamedValue, checked, keyed, one_of};

use alike::say_alike;
use target::{Target, Way};

/// Bad lines to spell out.
const BAD_LINES_SHOWN: usize = 10;

/// Files to spell out; of more only the sum is shown.
const FILES_SHOWN: usize = 20;

/// Names to spell out in a note.
const NAMES_SHOWN: usize = 20;

/// Import results of other tools into the store
///
/// The format of a file is detected (`--from` lists the formats); plain text, gzip and zstd are
/// read. Each file is imported completely or not at all. Importing the same file again, under any
/// name, changes nothing.
#[derive(Debug, Args)]
pub struct ImportCommand {
    /// Files, glob patterns, directories (searched for known formats), or - for standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Input format [default: detected]
    #[arg(long, value_name = "FORMAT", value_parser = format_names())]
    from: Option<String>,
    /// Names of what is imported: `suite=NAME` [default: the format's]; of traces and runs of a study
    /// also `benchmark=NAME` [default: that of what was traced, or of the file] and `variant=NAME`
    #[arg(long = "as", value_name = "NAMES", value_parser = checked(GivenNames::parse))]
    given: Vec<String>,
    /// Meaning of each run of a command in hyperfine's results
    #[arg(long, value_name = "WHAT", value_parser = one_of(&EACH_RUN), default_value = "iteration")]
    each_run: EachRun,
    /// Import the valid lines of a file that also has invalid ones
    #[arg(long)]
    keep_going: bool,
    /// Show what would be done, without doing it
    #[arg(long)]
    dry_run: bool,
}

pub const EACH_RUN: [NamedValue<EachRun>; 2] = [
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
    /// Imports each source separately; a failed one does not stop the others.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let options = self.options();
        let mut found = ImportPaths::default();
        let mut tally = ImportTally::default();
        for path in &self.paths {
            match lapwing_formats::places_at(path) {
                Ok(there) => found.append(there),
                Err(error) if self.paths.len() == 1 => return Err(error.into()),
                Err(error) => tally.refuse(error, context),
            }
        }
        let ImportPaths {
            places,
            other_endings,
        } = found;
        if places.is_empty() {
            return Ok(ExitStatus::Input);
        }
        let alone = places.len() == 1 && tally.refused == 0;
        let way = if self.dry_run { Way::DryRun } else { Way::Keep };
        let mut target = Target::new(context, way)?;
        let every_line = context.verbose || places.len() <= FILES_SHOWN;
        let mut has_results = false;
        for place in places {
            let taken_in = target.take(&place.path, &options)?;
            has_results |= taken_in.is_ok();
            match taken_in {
                Ok(imported) if alone => {
                    say(&imported, &place.path, &target, context)?;
                    tally.note_format(&imported);
                }
                Ok(imported) => {
                    let name = name_of(&place.path);
                    if every_line {
                        let mut out = context.terminal.out();
                        let format = imported.format.name;
                        let taken = taken(&imported.appended, &imported.bad_lines, &target);
                        writeln!(out, "{name}: {taken} ({format})")?;
                    }
                    if context.verbose {
                        say_because(&imported, context)?;
                    }
                    say_bad_lines(&imported, &name, context)?;
                    tally.note_format(&imported);
                    tally.add(imported, &name);
                }
                // Other files in a directory were not asked for.
                Err(
                    ImportError::Unknown { .. }
                    | ImportError::Empty { .. }
                    | ImportError::Encoding { .. }
                    | ImportError::Companion { .. },
                ) if !place.asked_for => tally.skip(&place.path, context),
                Err(error) if alone => return Err(error.into()),
                Err(error) => tally.refuse(error, context),
            }
        }
        tally.say(&target, context)?;
        tally.say_skipped(&options, &other_endings, context);
        match tally.refused {
            0 if !has_results => Err(CliError::input("no file has results in a known format")),
            0 => Ok(ExitStatus::Fine),
            _some => Ok(ExitStatus::Input),
        }
    }

    fn options(&self) -> ImportOptions {
        // Each text was checked when it was read.
        let given = GivenNames::parse(&self.given.join(" ")).unwrap_or_default();
        ImportOptions {
            format: self.from.as_deref().and_then(lapwing_formats::format_named),
            suite: given.suite,
            trace: given.trace,
            each_run: self.each_run,
            bad_lines: if self.keep_going {
                BadLines::Skip
            } else {
                BadLines::Refuse
            },
            now: jiff::Timestamp::now(),
        }
    }
}

fn name_of(path: &Path) -> String {
    if path == Path::new("-") {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// Reports the result of a single file.
fn say(
    imported: &Imported,
    path: &Path,
    target: &Target<'_>,
    context: &Context,
) -> Result<(), CliError> {
    let mut out = context.terminal.out();
    let name = name_of(path);
    let taken = taken(&imported.appended, &imported.bad_lines, target);
    writeln!(out, "{name}: {taken}")?;
    say_because(imported, context)?;
    if let (Some(session), Some(store)) = (&imported.session, target.kept_in()) {
        let id = session.id.to_string();
        let label = session.name.as_ref().unwrap_or(&id);
        writeln!(
            out,
            "  stored in {} as session `{label}` of suite `{}`",
            store.display(),
            session.suite
        )?;
    } else {
        say_sessions(imported.sessions.len(), target, context)?;
    }
    for note in &imported.notes {
        say_note(note.kept, note.why, &note.what, note.more, context)?;
    }
    say_bad_lines(imported, &name, context)?;
    say_alike(&imported.alike, target, context);
    Ok(())
}

/// Reports how the format was detected, unless it was given.
fn say_because(imported: &Imported, context: &Context) -> Result<(), CliError> {
    if let Some(because) = imported.because {
        let format = imported.format.name;
        let mut out = context.terminal.out();
        writeln!(out, "  detected {format}: {because}")?;
    }
    Ok(())
}

fn say_sessions(sessions: usize, target: &Target<'_>, context: &Context) -> Result<(), CliError> {
    if let (1.., Some(store)) = (sessions, target.kept_in()) {
        let sessions = counted(sessions, "session");
        let path = store.display();
        writeln!(context.terminal.out(), "  stored in {path} as {sessions}")?;
    }
    Ok(())
}

fn say_note(
    kept: bool,
    why: &str,
    what: &[String],
    more: u64,
    context: &Context,
) -> Result<(), CliError> {
    let mut names = what.join(", ");
    if more > 0 {
        names.push_str(&format!(" and {} more", grouped(more)));
    }
    let mut out = context.terminal.out();
    if kept {
        writeln!(out, "  kept in the {why}: {names}")?;
    } else {
        writeln!(out, "  skipped because {why}: {names}")?;
    }
    Ok(())
}

/// Totals of several files.
#[derive(Default)]
struct ImportTally {
    files: u64,
    /// Files and paths with errors.
    refused: u64,
    /// Files without results that were not asked for.
    strangers: u64,
    /// Formats whose runs have one meaning.
    without_runs: BTreeSet<&'static str>,
    without_names: BTreeSet<&'static str>,
    /// Several files may belong to one session.
    sessions: BTreeSet<Id>,
    alike: Vec<Alike>,
    appended: AppendCounts,
    bad_lines: Vec<BadLine>,
    /// Files of each format.
    formats: BTreeMap<&'static str, u64>,
    /// By kept and reason: names in the order in which they came, and how many more.
    notes: BTreeMap<(bool, &'static str), (Vec<String>, u64)>,
}

impl ImportTally {
    fn refuse(&mut self, error: ImportError, context: &Context) {
        self.refused += 1;
        context.terminal.error(&with_hint(error.into()));
    }

    fn skip(&mut self, path: &Path, context: &Context) {
        self.strangers += 1;
        if context.verbose {
            context
                .terminal
                .note(&format!("skipped: {}", path.display()));
        }
    }

    /// Remembers a format to which `--each-run`, or names of traces, do not apply.
    fn note_format(&mut self, imported: &Imported) {
        if !imported.format.takes_names {
            self.without_names.insert(imported.format.name);
        }
        if !imported.format.leaves_runs_open {
            self.without_runs.insert(imported.format.name);
        }
    }

    /// Reports options without effect and skipped files.
    fn say_skipped(&self, options: &ImportOptions, other: &OtherEndings, context: &Context) {
        let note = |text: String| context.terminal.note(&text);
        if options.each_run == EachRun::Instance && !self.without_runs.is_empty() {
            note(format!(
                "--each-run only applies to hyperfine's results, not to those of {}",
                joined(&self.without_runs)
            ));
        }
        if options.trace != TraceNames::default() && !self.without_names.is_empty() {
            note(format!(
                "--as benchmark=… and variant=… only apply to traces and runs of a study, not to results of {}",
                joined(&self.without_names)
            ));
        }
        if self.strangers > 0 {
            note(format!(
                "skipped {} without results in a known format",
                counted(self.strangers, "file")
            ));
        }
        if other.files() > 0 {
            note(format!(
                "skipped {} with other extensions ({}): name a file or use a pattern to import it",
                counted(other.files(), "file"),
                other.text()
            ));
        }
    }

    fn add(&mut self, imported: Imported, file: &str) {
        self.files += 1;
        self.sessions.extend(imported.sessions);
        self.alike.extend(imported.alike);
        self.appended.add(&imported.appended);
        self.bad_lines.extend(imported.bad_lines);
        *self.formats.entry(imported.format.name).or_default() += 1;
        for note in imported.notes {
            let (names, more) = self.notes.entry((note.kept, note.why)).or_default();
            *more = if note.names_lines() {
                *more + note.more
            } else {
                (*more).max(note.more)
            };
            for what in note.names_in(file) {
                if !names.contains(&what) && names.len() < NAMES_SHOWN {
                    names.push(what);
                } else if !names.contains(&what) {
                    *more += 1;
                }
            }
        }
    }

    /// Reports the totals.
    fn say(&self, target: &Target<'_>, context: &Context) -> Result<(), CliError> {
        if self.files == 0 {
            return Ok(());
        }
        let mut out = context.terminal.out();
        let formats: Vec<String> = self
            .formats
            .iter()
            .map(|(name, files)| format!("{} {name}", grouped(*files)))
            .collect();
        writeln!(
            out,
            "{} ({}): {}",
            counted(self.files, "file"),
            formats.join(", "),
            taken(&self.appended, &self.bad_lines, target)
        )?;
        say_sessions(self.sessions.len(), target, context)?;
        for ((kept, why), (what, more)) in &self.notes {
            say_note(*kept, why, what, *more, context)?;
        }
        say_alike(&self.alike, target, context);
        Ok(())
    }
}

/// Returns the new records, in words.
fn taken(appended: &AppendCounts, bad_lines: &[BadLine], target: &Target<'_>) -> String {
    if appended.total().new == 0 {
        let text = match bad_lines {
            [] => "nothing new, everything is already in the store",
            [_, ..] => "nothing new, all valid lines are already in the store",
        };
        return text.to_owned();
    }
    let new = |kind: RecordKind| appended.of(kind).new;
    let mut parts = vec![counted(new(RecordKind::Instance), "instance")];
    let (iterations, summaries) = (new(RecordKind::Iteration), new(RecordKind::Summary));
    if iterations > 0 || summaries == 0 {
        parts.push(counted(iterations, "iteration"));
    }
    for (kind, noun) in [
        (RecordKind::Summary, "summary"),
        (RecordKind::Span, "span"),
        (RecordKind::Annotation, "annotation"),
    ] {
        if new(kind) > 0 {
            parts.push(counted(new(kind), noun));
        }
    }
    let verb = match target.kept_in() {
        Some(_) => "imported",
        None => "would be imported",
    };
    let mut text = format!("{} {verb}", parts.join(", "));
    if iterations == 0 && summaries > 0 {
        text.push_str("; the source kept no samples");
    }
    let known = appended.of(RecordKind::Instance).already_there;
    if known > 0 {
        let instances = counted(known, "instance");
        let verb = plural(known, "was", "were");
        text.push_str(&format!("; {instances} {verb} already in the store"));
    }
    text
}

fn say_bad_lines(imported: &Imported, name: &str, context: &Context) -> Result<(), CliError> {
    if imported.bad_lines.is_empty() {
        return Ok(());
    }
    let mut out = context.terminal.out();
    let number = imported.bad_lines.len() as u64;
    writeln!(out, "  {} skipped:", counted(number, "invalid line"))?;
    for bad in imported.bad_lines.iter().take(BAD_LINES_SHOWN) {
        writeln!(out, "    {}", bad.in_source(name))?;
    }
    if imported.bad_lines.len() > BAD_LINES_SHOWN {
        let more = number - BAD_LINES_SHOWN as u64;
        writeln!(out, "    and {} more", grouped(more))?;
    }
    Ok(())
}
