//! The command that `lapwing FILE…` means, by what the files are.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Arg, Args, Command, FromArgMatches};
use lapwing_formats::{Format, ImportOptions, Source};
use lapwing_model::text::counted;
use lapwing_show::writing::{AnswerFormat, Note};

use crate::commands::{
    FilesRead, ReadingOptions, is_executable, is_history_of_action, is_missing, lapwing_command,
    moments, no_file,
};
use crate::comparing::is_store;
use crate::error::CliError;
use crate::foreign;
use crate::options::{CommonOptions, Context, DEFAULT_STORE, command_words};
use crate::suite::suite_file::{self, SUITE_FILE};
use crate::temporary::TemporaryFolder;

/// Fewest files that are taken as a history instead of sides.
const FEWEST_OF_HISTORY: usize = 10;

/// Fewest moments of one file that are taken as a history.
const FEWEST_MOMENTS: usize = 3;

/// Most files of a folder whose format is looked at for a note.
const MOST_LOOKED_AT: usize = 200;

/// Commands that files may mean.
const COMMANDS: [&str; 3] = ["compare", "detect", "show"];

/// Commands that traces may mean.
const OF_TRACES: [&str; 2] = ["trace findings", "trace compare"];

/// The arguments of the program, with a command.
pub struct Door {
    pub words: Vec<OsString>,
    /// The files, if they were read to find the command.
    pub opened: Option<FilesRead>,
    /// Remarks on what the command leaves aside.
    pub notes: Vec<Note>,
}

impl Door {
    /// Returns these arguments, with the command that they mean if they name files instead of one.
    pub fn of(words: Vec<OsString>, program: &Command) -> Result<Self, CliError> {
        let words = with_findings(words, program);
        match Typed::of(&words, program) {
            Some(typed) => typed.meaning(program).map(Self::without_invalid_suite),
            None => Ok(Self::with(words)),
        }
    }

    /// Ignores a suite file in the working directory that has errors: the files do not need it.
    fn without_invalid_suite(mut self) -> Self {
        let judges = COMMANDS[..2].iter().any(|it| self.words[1] == *it);
        let is_named = |word: &OsString| word.to_string_lossy().starts_with("--suite");
        if !judges || self.words.iter().any(is_named) {
            return self;
        }
        let read = suite_file::here().map(|path| suite_file::judging(&path, ""));
        if let Some(Err(error)) = read {
            let text = format!("{SUITE_FILE} is ignored: {}", error.sentence());
            self.notes.push(Note::marked("suite_ignored", text));
            self.words.splice(2..2, ["--suite".into(), "none".into()]);
        }
        self
    }

    fn with(words: Vec<OsString>) -> Self {
        Self {
            words,
            opened: None,
            notes: Vec::new(),
        }
    }
}

/// Arguments without a command: files and options, in any order.
struct Typed<'w> {
    words: &'w [OsString],
    /// The options, with their values.
    options: Vec<&'w OsStr>,
    /// Their names as they were typed, without values.
    names: Vec<String>,
    paths: Vec<PathBuf>,
}

impl<'w> Typed<'w> {
    /// Returns the arguments; `None` if they begin with a command, or name no file.
    fn of(words: &'w [OsString], program: &Command) -> Option<Self> {
        let typed = Self::without_command(words, program)?;
        let first = typed.paths.first()?;
        looks_like_path(first.as_os_str()).then_some(typed)
    }

    /// Returns the arguments; `None` if they begin with a command.
    fn without_command(words: &'w [OsString], program: &Command) -> Option<Self> {
        let mut typed = Self {
            words,
            options: Vec::new(),
            names: Vec::new(),
            paths: Vec::new(),
        };
        let mut own = words.iter().skip(1).peekable();
        while let Some(word) = own.next() {
            if word == "--" {
                typed.paths.extend(own.by_ref().map(PathBuf::from));
            } else if word == "-" || !word.as_encoded_bytes().starts_with(b"-") {
                let is_command = word == "help" || program.find_subcommand(word).is_some();
                if typed.paths.is_empty() && is_command {
                    return None;
                }
                typed.paths.push(PathBuf::from(word));
            } else {
                typed.options.push(word);
                let text = word.to_string_lossy();
                typed.names.push(option_name(&text).to_owned());
                let next = own.peek().map(|it| it.to_string_lossy());
                if takes_next(&text, next.as_deref().unwrap_or_default(), program) {
                    typed.options.extend(own.next().map(OsString::as_os_str));
                }
            }
        }
        Some(typed)
    }

    /// Returns a command with the options, followed by these words.
    fn command<W: Into<OsString>>(
        &self,
        start: &[&str],
        end: impl IntoIterator<Item = W>,
    ) -> Vec<OsString> {
        let mut words = vec![self.words[0].clone()];
        words.extend(start.iter().map(OsString::from));
        words.extend(self.options.iter().map(OsString::from));
        words.extend(end.into_iter().map(Into::into));
        words
    }

    /// Returns the paths as words that no option is like.
    fn given(&self) -> Vec<OsString> {
        let word = |path: &PathBuf| {
            let is_option = path.as_os_str().as_encoded_bytes().starts_with(b"-");
            match is_option && path != Path::new("-") {
                true => Path::new(".").join(path).into_os_string(),
                false => path.clone().into_os_string(),
            }
        };
        self.paths.iter().map(word).collect()
    }

    /// Returns the command that the files mean.
    fn meaning(&self, program: &Command) -> Result<Door, CliError> {
        if let Some(missing) = self.paths.iter().find(|path| is_missing(path)) {
            return Err(self.no_file(missing));
        }
        let are_traces = self.paths.iter().all(|path| is_trace(path));
        let [path] = &self.paths[..] else {
            let is_comparison = self.paths.len() == 2 || files_at(&self.paths) < FEWEST_OF_HISTORY;
            let continues = is_comparison && self.paths.iter().any(|it| is_history_of_action(it));
            let usual = match is_comparison && !continues {
                true => "compare",
                false => "detect",
            };
            let command = match are_traces {
                true => vec!["trace", "compare"],
                false => vec![self.command_of(program, usual, &["compare", "detect"], None)?],
            };
            return Ok(Door::with(self.command(&command, self.given())));
        };
        let Asked { context, options } = Asked::of(self.words);
        if let Some(store) = store_at(path) {
            let moments = moments(&store).unwrap_or(0);
            let (usual, possible) = usual_of(moments);
            let command = self.command_of(program, usual, possible, Some(moments))?;
            let store_option = [OsStr::new("--store"), store.as_os_str()];
            return Ok(Door {
                notes: others_note(path, Some(&store), &options)
                    .into_iter()
                    .collect(),
                ..Door::with(self.command(&[command], store_option))
            });
        }
        if is_suite(path) {
            let is_given = self.names.iter().any(|name| name == "--dry-run");
            let command: &[&str] = if is_given {
                &["run"]
            } else {
                &["run", "--dry-run"]
            };
            return Ok(Door {
                notes: others_note(path, None, &options).into_iter().collect(),
                ..Door::with(self.command(command, self.given()))
            });
        }
        if are_traces {
            return Ok(Door::with(
                self.command(&["trace", "findings"], self.given()),
            ));
        }
        let opened = FilesRead::read(&self.paths, &options, &context)?;
        let moments = opened.moments()?;
        let sides = results_in(path, &options);
        if moments < FEWEST_OF_HISTORY && (2..FEWEST_OF_HISTORY).contains(&sides.len()) {
            let (_, possible) = usual_of(moments);
            let possible = [&["compare"], possible].concat();
            let command = self.command_of(program, "compare", &possible, Some(moments))?;
            if command == "compare" {
                return Ok(Door::with(self.command(&["compare"], sides)));
            }
        }
        let (usual, possible) = usual_of(moments);
        let command = self.command_of(program, usual, possible, Some(moments))?;
        Ok(Door {
            opened: Some(opened),
            ..Door::with(self.command(&[command], self.given()))
        })
    }

    /// Returns the error on a missing file: if none is there and one has spaces, they are commands.
    fn no_file(&self, missing: &Path) -> CliError {
        let mut texts = self.paths.iter().map(|path| path.to_string_lossy());
        let are_commands = texts.any(|it| it.contains(' '));
        let error = no_file(missing);
        match are_commands && self.paths.iter().all(|path| is_missing(path)) {
            true => {
                let command = foreign::line(&command_words(&with_run(self.words)));
                let them = if self.paths.len() == 1 { "it" } else { "them" };
                error.hint(format!("to measure {them} as commands, type `{command}`"))
            }
            false => error,
        }
    }

    /// Returns whether this is a command line of `run` without its name: options that only `run` has, and no files.
    fn is_run(&self, program: &Command) -> bool {
        let is_of_run = |name: &String| {
            let is_of = |command: &&str| option_of(program, command, name).is_some();
            (is_of(&"run") || foreign::is_of_hyperfine(name)) && !COMMANDS.iter().any(&is_of)
        };
        let is_result = |path: &PathBuf| path.exists() && !is_executable(path);
        let has_option = self.names.iter().any(is_of_run) || self.are_commands(program);
        has_option && !self.paths.iter().any(is_result)
    }

    /// Returns whether these are commands: words with spaces that begin with a program.
    fn are_commands(&self, program: &Command) -> bool {
        let texts: Option<Vec<&str>> = self.paths.iter().map(|it| it.to_str()).collect();
        let texts = texts.unwrap_or_default();
        let has_space = texts.iter().any(|it| it.contains(' '));
        let is_known = |name: &String| option_of(program, "run", name).is_some();
        has_space
            && texts.iter().all(|it| is_command(it))
            && self
                .names
                .iter()
                .all(|it| is_known(it) || foreign::is_of_hyperfine(it))
    }

    /// Returns the usual command, or the first of the possible ones that has all options that were typed.
    fn command_of<'c>(
        &self,
        program: &Command,
        usual: &'c str,
        possible: &[&'c str],
        moments: Option<usize>,
    ) -> Result<&'c str, CliError> {
        let lacks = |command: &str| {
            let has = |name: &&String| option_of(program, command, name).is_some();
            self.names.iter().find(|name| !has(name))
        };
        let Some(lacking) = lacks(usual) else {
            return Ok(usual);
        };
        if let Some(command) = possible.iter().find(|command| lacks(command).is_none()) {
            return Ok(command);
        }
        let path = self.paths[0].display();
        let is_of = |command: &str| option_of(program, command, lacking).is_some();
        match moments {
            Some(moments) if is_of("detect") && moments < FEWEST_MOMENTS => {
                let needed = match is_of("compare") {
                    true => "a history or a comparison",
                    false => "a history",
                };
                let has = counted(moments, "moment");
                Err(CliError::not_enough(format!(
                    "{lacking} needs {needed}: a history needs results of {FEWEST_MOMENTS} moments (versions or sessions), \
                     and {path} has results of {has}"
                ))
                .hint("name two files to compare them, or all files of a history"))
            }
            Some(_) if is_of("compare") => Err(CliError::input(format!(
                "{lacking} needs a comparison, and {path} is one side"
            ))
            .hint("name the two files or folders to compare")),
            // The command says what is wrong with it.
            Some(_) | None => Ok(usual),
        }
    }
}

/// Returns the command for results of so many moments, and all that are possible.
fn usual_of(moments: usize) -> (&'static str, &'static [&'static str]) {
    if moments >= FEWEST_MOMENTS {
        ("detect", &["detect", "show"])
    } else {
        ("show", &["show"])
    }
}

/// Returns the arguments with `run` if they are those of it without its name, as in `lapwing -r 10 'sleep 1'`.
pub fn as_run(words: &[OsString]) -> Option<Vec<OsString>> {
    let mut program = crate::program();
    // Options of all commands are known as such.
    program.build();
    let typed = Typed::without_command(words, &program)?;
    typed.is_run(&program).then(|| with_run(words))
}

fn with_run(words: &[OsString]) -> Vec<OsString> {
    let mut words = words.to_vec();
    words.insert(1, "run".into());
    words
}

/// Returns an option without its value: `--sort` of `--sort=mean`, and `-b` of `-brender`.
fn option_name(word: &str) -> &str {
    let name = word.split_once('=').map_or(word, |(name, _)| name);
    if foreign::is_of_go(word) {
        return name;
    }
    match name.char_indices().nth(2) {
        Some((end, _)) if !name.starts_with("--") => &name[..end],
        Some(_) | None => name,
    }
}

/// Returns the option of a command that has this name.
fn option_of<'c>(program: &'c Command, command: &str, name: &str) -> Option<&'c Arg> {
    let mut words = command.split(' ');
    let command = words.try_fold(program, |above, word| above.find_subcommand(word))?;
    let mut options = command.get_arguments();
    match name.strip_prefix("--") {
        Some(long) => options.find(|it| {
            let aliases = it.get_all_aliases().unwrap_or_default();
            it.get_long() == Some(long) || aliases.contains(&long)
        }),
        None if name.chars().count() != 2 => None,
        None => options.find(|it| {
            let letter = name.chars().nth(1);
            let aliases = it.get_all_short_aliases().unwrap_or_default();
            letter.is_some_and(|letter| it.get_short() == Some(letter) || aliases.contains(&letter))
        }),
    }
}

/// Returns whether a word is no file, and begins with a program.
pub fn is_command(text: &str) -> bool {
    let words = shlex::split(text).unwrap_or_default();
    let Some(first) = words.first().map(Path::new) else {
        return false;
    };
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&folders).map(|it| it.join(first));
    let is_program = match first.components().count() {
        1 => programs.any(|it| is_executable(&it)),
        _ => is_executable(first),
    };
    !Path::new(text).exists() && is_program
}

/// Returns whether the word after an option is its value.
pub fn takes_next(word: &str, next: &str, program: &Command) -> bool {
    let name = option_name(word);
    let commands = COMMANDS.iter().chain(&["run"]).chain(&OF_TRACES);
    let option = commands
        .filter_map(|it| option_of(program, it, name))
        .next();
    let Some(option) = option else {
        return foreign::takes_next(word, next);
    };
    let takes_values = option.get_action().takes_values();
    let values = option.get_num_args();
    let needs_value = takes_values && values.is_none_or(|it| it.min_values() > 0);
    needs_value && word == name
}

/// The options that concern reading, as every command has them.
struct Asked {
    context: Context,
    options: ImportOptions,
}

impl Asked {
    fn of(words: &[OsString]) -> Self {
        let known = ReadingOptions::augment_args(CommonOptions::augment_args(Command::new("")));
        let known = known.arg(Arg::new("words").num_args(0..));
        let matches = known.ignore_errors(true).get_matches_from(words);
        let options = ReadingOptions::from_arg_matches(&matches).map(|it| it.options());
        let common = CommonOptions::from_arg_matches(&matches);
        let now = jiff::Timestamp::now();
        let mut context = Context::quiet(PathBuf::new(), AnswerFormat::Text);
        context.verbose = common.is_ok_and(|it| it.verbose);
        Self {
            context,
            options: options.unwrap_or_else(|_| ImportOptions::at(now)),
        }
    }
}

/// Returns where the first word that is no option stands.
pub fn first_word(words: &[OsString]) -> Option<usize> {
    const WITH_VALUE: [&str; 4] = ["--store", "--color", "--format", "--pictures"];
    let mut at = 1;
    while at < words.len() {
        let word = words[at].as_encoded_bytes();
        if word == b"--" {
            return None;
        }
        if word == b"-" || !word.starts_with(b"-") {
            return Some(at);
        }
        at += if WITH_VALUE.iter().any(|it| words[at] == *it) {
            2
        } else {
            1
        };
    }
    None
}

/// Returns a note on the results and the suite of a folder that the answer about its store, or else its suite, leaves
/// aside.
fn others_note(folder: &Path, store: Option<&Path>, options: &ImportOptions) -> Option<Note> {
    if !folder.is_dir() {
        return None;
    }
    let mut parts = Vec::new();
    let suite = folder.join(SUITE_FILE);
    if store.is_some() && suite.is_file() {
        let command = lapwing_command(&[], &[suite]);
        parts.push(format!("a suite (`{command}` shows its plan)"));
    }
    let mut results = results_in(folder, options);
    results.retain(|it| Some(it.as_path()) != store);
    if !results.is_empty() {
        let mut command = lapwing_command(&[], &results);
        // The folder is what was typed.
        if command == lapwing_command(&[], &[folder.to_owned()]) {
            command = format!("{} …", lapwing_command(&[], &results[..1]));
        }
        let files = counted(results.len(), "file");
        parts.push(format!("{files} with results (`{command}` shows them)"));
    }
    let what = if store.is_some() { "store" } else { "suite" };
    (!parts.is_empty()).then(|| {
        let others = parts.join(" and ");
        let text = format!("this is about the {what} of the folder, which also has {others}");
        Note::marked("other_files", text).with("files", results.len() as u64)
    })
}

/// Returns `lapwing trace FILE` as `lapwing trace findings FILE`; options may stand before the file.
fn with_findings(mut words: Vec<OsString>, program: &Command) -> Vec<OsString> {
    let Some(first) = first_word(&words).filter(|first| words[*first] == "trace") else {
        return words;
    };
    let text = |at: usize| words.get(at).map(|it| it.to_string_lossy());
    let mut at = first + 1;
    while let Some(word) = text(at).filter(|it| it.starts_with('-') && it != "-") {
        let next = text(at + 1).unwrap_or_default();
        at += if takes_next(&word, &next, program) {
            2
        } else {
            1
        };
    }
    let trace = program.find_subcommand("trace");
    if let (Some(file), Some(trace)) = (words.get(at), trace)
        && trace.find_subcommand(file).is_none()
        && looks_like_path(file)
    {
        words.insert(first + 1, "findings".into());
    }
    words
}

/// Returns whether a word is a file, a folder or a pattern of files, or would be a file if it was there.
fn looks_like_path(word: &OsStr) -> bool {
    let path = Path::new(word);
    word == "-"
        || path.exists()
        || path.components().count() > 1
        || path.extension().is_some()
        || word.to_string_lossy().contains(['*', '?', '[', ' '])
}

/// Returns whether a path is a suite file, or a folder with one.
fn is_suite(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "toml") || path.join(SUITE_FILE).is_file()
}

/// Returns the store at a path: the file, or that of a folder.
fn store_at(path: &Path) -> Option<PathBuf> {
    // The usual store has its usual name.
    let folder = if path == Path::new(".") {
        Path::new("")
    } else {
        path
    };
    let candidates = [
        path.to_owned(),
        folder.join("lapwing.db"),
        folder.join(DEFAULT_STORE),
    ];
    candidates
        .into_iter()
        // Reading a pipe would take from it.
        .find(|it| it.is_file() && is_store(it) && moments(it).is_ok())
}

/// Returns the results in a folder, each of which is one by itself; none of a file.
fn results_in(path: &Path, options: &ImportOptions) -> Vec<PathBuf> {
    let Ok(found) = lapwing_formats::places_at(path) else {
        return Vec::new();
    };
    let places = found.places.into_iter().map(|it| it.path);
    let places = places.take(MOST_LOOKED_AT);
    let is_result = |place: &PathBuf| format_at(place, options).is_some();
    let mut results: Vec<PathBuf> = places
        .filter(|place| place != path && is_result(place))
        .collect();
    results.sort_by_key(|place| !is_baseline(place));
    results
}

/// Returns whether a file has a name that is usual for a baseline.
fn is_baseline(path: &Path) -> bool {
    const NAMES: [&str; 7] = [
        "old",
        "before",
        "base",
        "baseline",
        "main",
        "master",
        "reference",
    ];
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut words = stem.split(|it: char| !it.is_alphanumeric());
    words.any(|word| NAMES.contains(&word.to_ascii_lowercase().as_str()))
}

/// Returns the number of files at these paths.
fn files_at(paths: &[PathBuf]) -> usize {
    let places = paths.iter().map(|path| lapwing_formats::places_at(path));
    places.map(|it| it.map_or(1, |it| it.places.len())).sum()
}

/// Returns whether a file is a trace, or a folder has logs of one and besides nothing that is in a known format.
fn is_trace(path: &Path) -> bool {
    let Ok(found) = lapwing_formats::places_at(path) else {
        return false;
    };
    let options = ImportOptions::at(jiff::Timestamp::now());
    // Reading a pipe would take from it.
    if !path.is_file() && !path.is_dir() {
        return false;
    }
    let places = found.places.iter().map(|it| &it.path);
    let results = places.filter_map(|place| Some((place, recognised(place, &options)?)));
    let mut are_traces = results.map(|(place, (source, format))| {
        let is_trace = format.is_trace || lapwing_formats::is_recorded_trace(format, &source);
        is_trace && (place == path || format.name == "earthkit")
    });
    are_traces.next() == Some(true) && are_traces.all(|is_trace| is_trace)
}

/// Returns the format of a file or folder; `None` if it is in none.
fn format_at(place: &Path, options: &ImportOptions) -> Option<&'static Format> {
    recognised(place, options).map(|(_, format)| format)
}

fn recognised(place: &Path, options: &ImportOptions) -> Option<(Source, &'static Format)> {
    let folder = TemporaryFolder::new().ok()?;
    let source = Source::open(place, folder.path()).ok()?;
    let format = lapwing_formats::recognise(&source, options).ok()?;
    Some((source, format))
}
