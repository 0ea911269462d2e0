//! The command that `lapwing FILE…` means, by what the files are.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use clap::{Args, Command, FromArgMatches};
use lapwing_formats::{Format, ImportOptions, Source};
use lapwing_show::writing::AnswerFormat;
use tempfile::TempDir;

use crate::commands::{FilesRead, ReadingOptions, is_missing, moments};
use crate::comparing::is_store;
use crate::options::{CommonOptions, Context, DEFAULT_STORE};
use crate::suite::suite_file::SUITE_FILE;

/// Fewest files that are taken as a history instead of sides.
const FEWEST_OF_HISTORY: usize = 10;

/// Fewest moments of one file that are taken as a history.
const FEWEST_MOMENTS: usize = 3;

/// The arguments of the program, with a command.
pub struct Door {
    pub words: Vec<OsString>,
    /// The files, if they were read to find the command.
    pub opened: Option<FilesRead>,
}

impl Door {
    /// Returns these arguments, with the command that they mean if they begin with files instead of one.
    pub fn of(words: Vec<OsString>, program: &Command) -> Self {
        let unchanged = |words| Self {
            words,
            opened: None,
        };
        let Some(first) = first_word(&words) else {
            return unchanged(words);
        };
        let known = program.find_subcommand(&words[first]);
        if words[first] == "trace"
            && let Some(second) = words.get(first + 1)
            && known.is_some_and(|it| it.find_subcommand(second).is_none())
            && looks_like_path(second)
        {
            let mut changed = words.clone();
            changed.insert(first + 1, "findings".into());
            return unchanged(changed);
        }
        if known.is_some() || words[first] == "help" || !looks_like_path(&words[first]) {
            return unchanged(words);
        }
        let is_path = |word: &&OsString| !word.as_encoded_bytes().starts_with(b"-") || *word == "-";
        let paths: Vec<PathBuf> = words[first..]
            .iter()
            .take_while(is_path)
            .map(PathBuf::from)
            .collect();
        let meaning = Meaning::of(&paths, &words);
        let mut changed = words[..first].to_vec();
        changed.extend(meaning.words);
        changed.extend_from_slice(&words[first + paths.len()..]);
        Self {
            words: changed,
            opened: meaning.opened,
        }
    }
}

/// The command that paths mean.
struct Meaning {
    words: Vec<OsString>,
    opened: Option<FilesRead>,
}

impl Meaning {
    /// Returns a command whose files were not read yet.
    fn unread(words: impl IntoIterator<Item = OsString>) -> Self {
        Self {
            words: words.into_iter().collect(),
            opened: None,
        }
    }

    fn of(paths: &[PathBuf], words: &[OsString]) -> Self {
        let given = || paths.iter().map(|it| it.clone().into_os_string());
        let command =
            |words: &[&str]| Self::unread(words.iter().map(OsString::from).chain(given()));
        if let Some(missing) = paths.iter().find(|path| is_missing(path)) {
            // Which says so.
            return Self::unread([OsString::from("show"), missing.into()]);
        }
        let are_traces = paths.iter().all(|path| is_trace(path));
        if let [path] = paths {
            if is_suite(path) {
                let is_given = words.iter().any(|word| word == "--dry-run");
                return command(if is_given {
                    &["run"]
                } else {
                    &["run", "--dry-run"]
                });
            }
            if let Some(store) = store_at(path) {
                let command = if moments(&store).is_ok_and(|it| it < FEWEST_MOMENTS) {
                    "show"
                } else {
                    "detect"
                };
                let words = [
                    OsStr::new("--store"),
                    store.as_os_str(),
                    OsStr::new(command),
                ];
                return Self::unread(words.iter().map(OsString::from));
            }
            if are_traces {
                return command(&["trace", "findings"]);
            }
            let Asked { context, options } = Asked::of(words);
            // An error is that of the command.
            let opened = FilesRead::read(paths, &options, &context).ok();
            let moments = opened.as_ref().and_then(|it| it.moments().ok());
            let moments = moments.unwrap_or(0);
            let sides = results_in(path, &options);
            if moments < FEWEST_OF_HISTORY && (2..FEWEST_OF_HISTORY).contains(&sides.len()) {
                let sides = sides.into_iter().map(PathBuf::into_os_string);
                return Self::unread(std::iter::once("compare".into()).chain(sides));
            }
            let name = if moments >= FEWEST_MOMENTS {
                "detect"
            } else {
                "show"
            };
            return Self {
                opened,
                ..command(&[name])
            };
        }
        if are_traces {
            return command(&["trace", "compare"]);
        }
        if paths.len() == 2 || files_at(paths) < FEWEST_OF_HISTORY {
            return command(&["compare"]);
        }
        command(&["detect"])
    }
}

/// The options that concern reading, as every command has them.
struct Asked {
    context: Context,
    options: ImportOptions,
}

impl Asked {
    fn of(words: &[OsString]) -> Self {
        let known = ReadingOptions::augment_args(CommonOptions::augment_args(Command::new("")));
        let known = known.arg(clap::Arg::new("words").num_args(0..));
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
fn first_word(words: &[OsString]) -> Option<usize> {
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

/// Returns whether a word is a file, a folder or a pattern of files, or would be a file if it was there.
fn looks_like_path(word: &OsStr) -> bool {
    let path = Path::new(word);
    word == "-"
        || path.exists()
        || path.components().count() > 1
        || path.extension().is_some()
        || word.to_string_lossy().contains(['*', '?', '['])
}

/// Returns whether a path is a suite file, or a folder with one.
fn is_suite(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "toml") || path.join(SUITE_FILE).is_file()
}

/// Returns the store at a path: the file, or that of a folder.
fn store_at(path: &Path) -> Option<PathBuf> {
    let candidates = [
        path.to_owned(),
        path.join("lapwing.db"),
        path.join(DEFAULT_STORE),
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
    let is_result = |place: &PathBuf| format_at(place, options).is_some();
    places
        .filter(|place| place != path && is_result(place))
        .collect()
}

/// Returns the number of files at these paths.
fn files_at(paths: &[PathBuf]) -> usize {
    let places = paths.iter().map(|path| lapwing_formats::places_at(path));
    places.map(|it| it.map_or(1, |it| it.places.len())).sum()
}

/// Returns whether a file is a trace, or a folder has nothing but logs of one.
fn is_trace(path: &Path) -> bool {
    let Ok(found) = lapwing_formats::places_at(path) else {
        return false;
    };
    let options = ImportOptions::at(jiff::Timestamp::now());
    let is_one = |place: &Path| {
        let format = format_at(place, &options);
        format.is_some_and(|it| it.is_trace && (place == path || it.name == "earthkit"))
    };
    // Reading a pipe would take from it.
    let is_there = path.is_file() || path.is_dir();
    is_there && found.places.iter().all(|place| is_one(&place.path))
}

/// Returns the format of a file or folder; `None` if it is in none.
fn format_at(place: &Path, options: &ImportOptions) -> Option<&'static Format> {
    let folder = TempDir::with_prefix("lapwing-").ok()?;
    let source = Source::open(place, folder.path()).ok()?;
    lapwing_formats::recognise(&source, options).ok()
}
