//! Words of other programs, and what to type instead.
//!
//! Options that mean the same here are aliases of ours. Those in this table have another name, or no equal. Where ours
//! mean the same, the command is carried out, with a note that shows it; others are refused with one line, with the words
//! of the user as they would be typed here.

use std::ffi::OsString;
use std::path::Path;

use clap::error::ErrorKind;
use lapwing_analyse::sample::Selector;
use lapwing_record::StoreError;
use lapwing_show::writing::Note;

mod filled;
mod found;
mod replaced;
mod table;

use self::filled::TypedWords;
use self::found::{find, foreign_command, is_long_with_one_dash, name_of};
use self::replaced::{command_at, full_line, is_value, replace_arguments, whole_line};
pub use self::replaced::{line, with_command};
use self::table::TABLE;
use crate::door::{as_run, first_word};
use crate::error::{CliError, ExitStatus};
use crate::options::command_words;

/// A word of another program that has no equal here, or another name.
#[derive(Debug, PartialEq, Eq)]
struct ForeignWord {
    kind: WordKind,
    /// The program.
    program: &'static str,
    /// The command where it would be typed; none of a command.
    command: &'static str,
    /// Its spellings; of an argument with places, such as `{1}..{2}`.
    names: &'static [&'static str],
    instead: Instead,
    /// The answer to it: one line with our option or command.
    answer: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WordKind {
    /// An option, without a value if there is none after `=`.
    Flag,
    /// An option with a value.
    Option,
    /// An argument of one of our commands.
    Argument,
    Command,
    /// A command of ours without a store, where another program keeps its results.
    Unstored,
}

/// The replacement of a foreign word. Words of the user take the places in braces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Instead {
    /// These words mean the same.
    Words(&'static str),
    /// This command line means the same as the whole one, without `lapwing` at its beginning.
    Line(&'static str),
    /// Nothing: the rest means what was meant.
    Omitted,
    /// These words are closest, and mean less or something else.
    NearWords(&'static str),
    /// This command line is closest.
    NearLine(&'static str),
    /// Nothing that words could say; the answer explains it.
    Explained,
}

const fn word(
    kind: WordKind,
    (program, command): (&'static str, &'static str),
    names: &'static [&'static str],
    instead: Instead,
    answer: &'static str,
) -> ForeignWord {
    ForeignWord {
        kind,
        program,
        command,
        names,
        instead,
        answer,
    }
}

const fn flag(
    program: &'static str,
    command: &'static str,
    names: &'static [&'static str],
    instead: Instead,
    answer: &'static str,
) -> ForeignWord {
    word(WordKind::Flag, (program, command), names, instead, answer)
}

const fn option(
    program: &'static str,
    command: &'static str,
    names: &'static [&'static str],
    instead: Instead,
    answer: &'static str,
) -> ForeignWord {
    word(WordKind::Option, (program, command), names, instead, answer)
}

const fn argument(
    program: &'static str,
    command: &'static str,
    names: &'static [&'static str],
    instead: Instead,
    answer: &'static str,
) -> ForeignWord {
    let of = (program, command);
    word(WordKind::Argument, of, names, instead, answer)
}

const fn command(
    program: &'static str,
    names: &'static [&'static str],
    instead: Instead,
    answer: &'static str,
) -> ForeignWord {
    word(WordKind::Command, (program, ""), names, instead, answer)
}

const fn unstored(
    program: &'static str,
    command: &'static str,
    names: &'static [&'static str],
    instead: Instead,
    answer: &'static str,
) -> ForeignWord {
    let of = (program, command);
    word(WordKind::Unstored, of, names, instead, answer)
}

impl Instead {
    /// Returns whether the replacement means the same.
    fn is_same(self) -> bool {
        matches!(self, Self::Words(_) | Self::Line(_) | Self::Omitted)
    }

    /// Returns the command line that takes the place of the whole one.
    fn line(self) -> Option<&'static str> {
        match self {
            Self::Line(text) | Self::NearLine(text) => Some(text),
            Self::Words(_) | Self::NearWords(_) | Self::Omitted | Self::Explained => None,
        }
    }

    /// Returns the words that take the place of the word.
    fn words(self) -> Option<&'static str> {
        match self {
            Self::Words(text) | Self::NearWords(text) => Some(text),
            Self::Omitted => Some(""),
            Self::Line(_) | Self::NearLine(_) | Self::Explained => None,
        }
    }
}

impl ForeignWord {
    fn is_option(&self) -> bool {
        matches!(self.kind, WordKind::Flag | WordKind::Option)
    }

    /// Returns the option of ours that is closest.
    fn candidate(&self) -> Option<String> {
        let of = |text: &str| {
            let mut words = text.split([' ', ',', ';', ':']);
            words.find(|it| it.starts_with("--")).map(str::to_owned)
        };
        match self.instead.words() {
            Some(text) if text.starts_with("--") => of(text),
            _ => self.answer.split('`').step_by(2).find_map(of),
        }
    }
}

/// The arguments of the program in our words.
pub struct Understood {
    pub words: Vec<OsString>,
    /// They, with the names of the sides.
    pub command: Vec<String>,
    /// The word of another program among them, and its meaning here.
    pub note: Option<Note>,
    /// The names of the sides, as benchstat has them before files: `base=old.txt`.
    pub labels: Vec<String>,
}

impl Understood {
    /// Returns arguments that are ours, but for the labels of sides.
    fn of(words: Vec<String>) -> Self {
        let has_labels = words.iter().skip(1).any(|it| it.contains('='));
        let labelled = has_labels.then(|| labelled(&words)).flatten();
        let (words, command, labels) =
            labelled.unwrap_or_else(|| (words.clone(), words, Vec::new()));
        Self {
            words: words.into_iter().map(OsString::from).collect(),
            command,
            note: None,
            labels,
        }
    }
}

/// Returns the arguments in our words, if that can be said before they are parsed.
///
/// # Errors
/// If a command of another program has no equal here.
pub fn understood(given: Vec<OsString>) -> Result<Understood, CliError> {
    let texts: Option<Vec<String>> = given
        .iter()
        .map(|it| it.to_str().map(str::to_owned))
        .collect();
    if let Some(texts) = texts.as_ref() {
        let labelled = Understood::of(texts.clone());
        if !labelled.labels.is_empty() {
            return Ok(labelled);
        }
    }
    let typed = command_words(&given);
    if let Some(found) = texts.as_ref().and_then(|it| first_command(it)) {
        return carried_out(found, &typed)
            .or_else(|| with_own_command(found, &typed))
            .map_or_else(|| Err(refusal(found, &typed)), Ok);
    }
    if let Some(understood) = texts.as_ref().and_then(|_| with_arguments(&typed)) {
        return Ok(understood);
    }
    let run = texts.and_then(|_| as_run(&given));
    let note = run.as_ref().map(|words| {
        let own = line(&command_words(words));
        Note::marked("command_added", format!("this is `{own}`"))
    });
    let words = run.unwrap_or(given);
    Ok(Understood {
        command: command_words(&words),
        words,
        note,
        labels: Vec::new(),
    })
}

/// Returns the command of another program that the arguments begin with.
fn first_command(words: &[String]) -> Option<Found> {
    let os: Vec<OsString> = words.iter().map(OsString::from).collect();
    let name = &words[first_word(&os)?];
    let typed: Vec<&str> = words.iter().map(String::as_str).collect();
    foreign_command(name, &typed).filter(|_| !Path::new(name).exists())
}

/// Returns arguments that begin with or have a word of another program in our words, if they mean the same.
fn carried_out(first: Found, words: &[String]) -> Option<Understood> {
    let full = full_line(first, words)?;
    let command = full.same?;
    let omitted = full
        .answered
        .iter()
        .filter(|it| it.0.instead == Instead::Omitted);
    let omitted = omitted.map(|(it, name)| format!("; {name}: {}", it.answer));
    let text = format!(
        "{}, here `{}`{}",
        introduced(first),
        full.line,
        omitted.collect::<String>()
    );
    Some(Understood {
        note: Some(Note::marked("foreign_words", text)),
        ..Understood::of(command)
    })
}

/// Returns arguments with our command for the one that they begin with, if what is wrong with them stands after it.
fn with_own_command(found: Found, words: &[String]) -> Option<Understood> {
    if full_line(found, words).is_some() || !found.0.instead.is_same() {
        return None;
    }
    let at = words.iter().position(|it| it == found.1)?;
    let text = TypedWords::after(words, at).fill(found.0.instead.line()?)?;
    let mut command = words[..at].to_vec();
    command.extend(shlex::split(&text)?);
    let is_ours = command_at(&command) == Some(at);
    is_ours.then(|| Understood::of(command))
}

/// Returns a command of ours with our words for its arguments, if nothing is missing then.
fn with_arguments(words: &[String]) -> Option<Understood> {
    let mut command = words.to_vec();
    let (found, word) = replace_arguments(&mut command)?;
    let is_whole = found.instead.is_same() && with_command(&command) == command;
    let is_accepted = is_whole && crate::program().try_get_matches_from(&command).is_ok();
    let line = line(&command);
    let text = format!(
        "`{word}` is an argument of {}, here `{line}`",
        found.program
    );
    is_accepted.then(|| Understood {
        note: Some(Note::marked("foreign_words", text)),
        ..Understood::of(command)
    })
}

/// Returns the words of a comparison of files with labels, as benchstat has them: without the labels, with them, and
/// these; `None` unless all sides are such files.
fn labelled(words: &[String]) -> Option<(Vec<String>, Vec<String>, Vec<String>)> {
    let (mut own, mut command) = (words.to_vec(), words.to_vec());
    "lapwing".clone_into(command.first_mut()?);
    let typed = TypedWords::of(words.get(1..)?);
    let (names, _) = typed.parted();
    let is_compare = names.first() == Some(&"compare");
    let mut labels = Vec::new();
    for word in names.into_iter().skip(usize::from(is_compare)) {
        let place = own.iter().position(|it| it == word)?;
        match word.split_once('=') {
            // The same key on both sides is a setting.
            Some((label, file))
                if Path::new(file).exists()
                    && !Path::new(word).exists()
                    && !labels.contains(&label)
                    && !Selector::is_meant_by(word) =>
            {
                labels.push(label);
                own[place] = file.to_owned();
            }
            Some(_) | None => return None,
        }
    }
    if !is_compare {
        own.insert(1, "compare".to_owned());
        command.insert(1, "compare".to_owned());
    }
    let labels: Vec<String> = labels.into_iter().map(str::to_owned).collect();
    (labels.len() > 1).then_some((own, command, labels))
}

/// Returns arguments that clap refuses because of a word of another program, in our words; or the error that refuses
/// them, with the words to type.
pub fn answer(error: &clap::Error, words: &[String]) -> Option<Result<Understood, CliError>> {
    // A suite file cannot be beside a command, and this is not one.
    let mut replaced = words.to_vec();
    if error.kind() == ErrorKind::ArgumentConflict
        && let Some((found, word)) = replace_arguments(&mut replaced)
        && crate::program().try_get_matches_from(&replaced).is_ok()
    {
        let line = line(&with_command(&replaced));
        let hint = format!("type `{line}`: {}", found.answer);
        return Some(Err(foreign_argument(found, &word).hint(hint)));
    }
    let found = find(error, words)?;
    Some(carried_out(found, words).map_or_else(|| Err(refusal(found, words)), Ok))
}

/// Returns whether a word is an option of hyperfine that has no equal here.
pub fn is_of_hyperfine(word: &str) -> bool {
    let mut options = TABLE
        .iter()
        .filter(|it| it.program == "hyperfine" && it.command == "run");
    options.any(|it| it.names.contains(&name_of(word)))
}

/// Returns whether a word is an option of a program in Go, which has long ones with one dash.
pub fn is_of_go(word: &str) -> bool {
    let mut options = TABLE.iter().filter(|it| it.is_option());
    is_long_with_one_dash(word) && options.any(|it| it.names.contains(&name_of(word)))
}

/// Returns whether the word after an option of another program is its value.
pub fn takes_next(option: &str, next: &str) -> bool {
    let mut options = TABLE.iter().filter(|it| it.is_option());
    options.any(|it| it.names.contains(&option) && is_value(it, next))
}

/// Adds the command to type to an error of a command that was meant as that of another program.
pub fn explained(error: CliError, words: &[String]) -> CliError {
    if error.exit != ExitStatus::Input {
        return error;
    }
    let Some(at) = command_at(words) else {
        return error;
    };
    let is_unstored = matches!(error.cause.downcast_ref(), Some(StoreError::Missing(_)));
    let typed = TypedWords::after(words, at);
    let unstored = TABLE.iter().filter(|it| {
        is_unstored && it.kind == WordKind::Unstored && it.names.contains(&words[at].as_str())
    });
    let mut lines =
        unstored.filter_map(|it| Some((whole_line(&typed.fill(it.instead.line()?)?), it.answer)));
    let mut replaced = words.to_vec();
    let sentence = error.sentence();
    let argument = replace_arguments(&mut replaced)
        .filter(|(_, word)| is_unstored || sentence.contains(word.as_str()))
        .map(|(found, word)| {
            let line = line(&with_command(&replaced));
            (foreign_argument(found, &word), line, found.answer)
        });
    if let Some((error, line, answer)) = argument {
        return error.hint(format!("type `{line}`: {answer}"));
    }
    match lines.next() {
        Some((line, answer)) => error.hint(format!("type `{line}`: {answer}")),
        None => error,
    }
}

/// A word of the table, and the spelling of it that was typed.
type Found = (&'static ForeignWord, &'static str);

/// Returns the error that refuses a word.
fn refusal((found, name): Found, words: &[String]) -> CliError {
    let is_there = !found.is_option() || words.iter().any(|it| it == found.command);
    let hint = match full_line((found, name), words) {
        Some(full) => {
            let mut answers = full.answered.into_iter();
            let first = answers.next().map_or(found.answer, |it| it.0.answer);
            let others = answers.map(|(it, name)| format!("; {name}: {}", it.answer));
            format!(
                "type `{}`: {first}{}",
                full.line,
                others.collect::<String>()
            )
        }
        None if is_there => found.answer.to_owned(),
        None => format!("`lapwing {}` is closest: {}", found.command, found.answer),
    };
    let candidate = found.candidate().filter(|_| is_there);
    CliError::input(introduced((found, name)))
        .hint(hint)
        .candidates(candidate.into_iter().collect())
}

fn foreign_argument(found: &ForeignWord, word: &str) -> CliError {
    CliError::input(format!("`{word}` is an argument of {}", found.program))
}

/// Returns what a word is: `--sort is an option of hyperfine`.
fn introduced((found, name): Found) -> String {
    let program = found.program;
    match found.kind {
        WordKind::Flag | WordKind::Option => format!("{name} is an option of {program}"),
        WordKind::Argument => format!("`{name}` is an argument of {program}"),
        WordKind::Command | WordKind::Unstored if name == program => {
            format!("`{name}` is another program")
        }
        WordKind::Command | WordKind::Unstored => format!("`{name}` is a command of {program}"),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::table::{CLEANUP, COMMAND_NAME, IGNORE_FAILURE};
    use super::*;
    use crate::Arguments;

    fn answered(words: &[&str]) -> Option<Result<Understood, CliError>> {
        let error = Arguments::command().try_get_matches_from(words).err()?;
        let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        answer(&error, &words)
    }

    /// Returns the sentence that answers words, carried out or not, and its hint.
    fn told(words: &[&str]) -> Option<(String, String)> {
        Some(match answered(words)? {
            Ok(understood) => (understood.note?.text, String::new()),
            Err(error) => (error.sentence(), error.hint.unwrap_or_default()),
        })
    }

    fn hint(words: &[&str]) -> String {
        let told = told(words);
        told.unwrap_or_else(|| panic!("{words:?} is accepted or unknown"))
            .1
    }

    /// Returns the command to type, and whether it is carried out.
    fn typed(words: &[&str]) -> (String, bool) {
        match answered(words) {
            Some(Ok(understood)) => (line(&understood.command), true),
            Some(Err(error)) => {
                let hint = error.hint.unwrap_or_default();
                assert!(hint.starts_with("type `"), "{hint}");
                (hint.split('`').nth(1).unwrap_or_default().to_owned(), false)
            }
            None => panic!("{words:?} is accepted or unknown"),
        }
    }

    fn own_command(word: &ForeignWord) -> Option<&'static str> {
        match word.kind {
            WordKind::Command | WordKind::Unstored => word.instead.line()?.split(' ').next(),
            _ => Some(word.command),
        }
    }

    #[test]
    fn every_option_of_the_table_is_carried_out_or_refused_with_its_answer() {
        let program = Arguments::command();
        let of_ours = |it: &&ForeignWord| program.find_subcommand(it.command).is_some();
        let options = TABLE.iter().filter(|it| it.is_option());
        for option in options.filter(of_ours) {
            for name in option.names {
                let words = ["lapwing", option.command, name, "5"];
                let Some((first, hint)) = told(&words) else {
                    panic!("{name} is accepted, or not answered");
                };
                let start = format!("{name} is an option of ");
                assert!(first.starts_with(&start), "{first}");
                let all = TABLE.iter();
                let all = all.filter(|it| it.names.contains(name) && it.command == option.command);
                assert_eq!(all.count(), 1, "{name} has one answer");
                if option.instead == Instead::Omitted && hint.is_empty() {
                    let end = format!("{name}: {}", option.answer);
                    assert!(first.ends_with(&end), "{first}");
                }
                if !option.instead.is_same() {
                    let answer = hint.rsplit_once("`: ").map_or(hint.as_str(), |it| it.1);
                    let is_told = hint.ends_with(option.answer) || answer == option.answer;
                    assert!(is_told, "{name}: {hint}");
                }
            }
        }
    }

    #[test]
    fn every_command_of_the_table_is_carried_out_or_refused() {
        let commands = TABLE.iter().filter(|it| it.kind == WordKind::Command);
        for command in commands {
            for name in command.names {
                let words = ["lapwing", name, "v1..v2", "name"];
                assert!(told(&words).is_some(), "{name} is a command of ours");
            }
        }
    }

    #[test]
    fn every_line_of_the_table_is_one_that_the_program_accepts() {
        let lines = TABLE.iter().filter_map(|it| it.instead.line());
        for text in lines.filter(|it| *it != "{}") {
            // Any word takes each of the places.
            let mut line = String::new();
            for part in text.split('{') {
                let (name, after) = part.split_once('}').unwrap_or(("", part));
                let place = match name {
                    "" if line.is_empty() => "",
                    "ends" => "old new",
                    "command" => "-- word",
                    "only_ends" => "--every 9",
                    "options" | "chosen" | "measured" => "-b word",
                    "gate" => "--smallest-effect 9%",
                    "history" => "detect word",
                    _ => "word",
                };
                line.push_str(place);
                line.push_str(after);
            }
            let of_ours = line.rsplit(" | lapwing ").next().unwrap_or_default();
            for command in of_ours.split(" && lapwing ") {
                let words = shlex::split(command).unwrap_or_default();
                let words = std::iter::once("lapwing".to_owned()).chain(words);
                let accepted = Arguments::command().try_get_matches_from(words);
                assert!(accepted.is_ok(), "{text}: {accepted:?}");
            }
        }
    }

    #[test]
    fn what_an_answer_names_exists() {
        let program = Arguments::command();
        let letters = [CLEANUP, IGNORE_FAILURE, COMMAND_NAME];
        for word in TABLE.iter().chain(&letters) {
            let mut commands = own_command(word).into_iter();
            let command = commands.find_map(|it| program.find_subcommand(it));
            let longs = command.into_iter().flat_map(|it| it.get_arguments());
            let longs = longs.chain(program.get_arguments());
            let longs = longs.flat_map(|it| it.get_long_and_visible_aliases().unwrap_or_default());
            let longs: Vec<String> = longs.map(|it| format!("--{it}")).collect();
            let quoted = word.answer.split('`').skip(1).step_by(2);
            let here = word.answer.split('`').step_by(2);
            let here = here.flat_map(|text| text.split([' ', ',', ';', ':', '=', '(', ')']));
            let here = here.filter(|word| word.starts_with("--"));
            let instead = word.instead.words().unwrap_or_default();
            let instead = instead.split(' ').find(|it| it.starts_with("--"));
            for option in here.chain(instead).filter(|_| command.is_some()) {
                assert!(longs.iter().any(|it| it == option), "{option} of {word:?}");
            }
            for other in quoted.filter_map(|text| text.strip_prefix("lapwing ")) {
                let name = other.split(' ').next().unwrap_or_default();
                assert!(program.find_subcommand(name).is_some(), "{other}");
            }
        }
    }

    #[test]
    fn a_value_may_be_attached_and_letters_with_another_meaning_are_told() {
        let (sentence, _) =
            told(&["lapwing", "run", "--sort=mean-time", "sleep 1"]).expect("carried out");
        let start = "--sort is an option of hyperfine, here `lapwing run 'sleep 1'`; --sort: ";
        assert!(sentence.starts_with(start), "{sentence}");
        for (given, ours) in [
            (
                &["lapwing", "run", "-c", "rm f", "cp a f"][..],
                "lapwing run --teardown 'rm f' 'cp a f'",
            ),
            (&["lapwing", "run", "false", "-i"], "lapwing run false -f"),
            (
                &["lapwing", "run", "-n", "a name", "true"],
                "lapwing run --command-name 'a name' true",
            ),
            (
                &["lapwing", "run", "-M20", "true"],
                "lapwing run --runs 20 true",
            ),
        ] {
            assert_eq!(typed(given), (ours.to_owned(), true));
        }
        let (_, hint) = told(&["lapwing", "run", "-E", "venv", "true"]).expect("refused");
        assert!(hint.starts_with("type `lapwing run true`: "), "{hint}");
        let (_, hint) = told(&["lapwing", "detect", "--ignore", "none"]).expect("refused");
        assert!(hint.starts_with("`lapwing compare` is closest: "), "{hint}");
        for ours in [
            &["lapwing", "run", "--unheard-of"][..],
            &["lapwing", "run", "-i", "0", "true"],
            &["lapwing", "run", "-n", "0", "true"],
            &["lapwing", "run", "-c", "true", "--resume", "name"],
            &["lapwing", "run", "--", "hyperfine", "--sort"],
            &["lapwing", "unheard-of"],
        ] {
            assert!(told(ours).is_none(), "{ours:?}");
        }
    }

    #[test]
    fn a_line_with_several_foreign_words_becomes_one_of_ours() {
        let lines = [
            (
                "run -M 20 --sort=command -u ms -N true",
                "lapwing run --runs 20 -N true",
            ),
            (
                "-alpha 0.01 -sort delta old.txt new.txt",
                "lapwing compare --false-discovery-rate 0.01 old.txt new.txt",
            ),
            (
                "compare --table -G --min-speed 5 a.json b.json",
                "lapwing compare --smallest-effect 5% a.json b.json",
            ),
            (
                "compare -filter .unit:ns/op old new",
                "lapwing compare --metric wall_time old new",
            ),
            (
                "--tool go --output-file-path out.txt --external-data-json-path data.js --fail-on-alert --alert-threshold 150% --fail-threshold 200%",
                "lapwing detect data.js out.txt --fail-on suspected --smallest-effect 99%",
            ),
            (
                "continuous -f 1.1 main HEAD",
                "lapwing judge --baseline main --smallest-effect 10% -- COMMAND",
            ),
            (
                "continuous HEAD -- python3 work.py",
                "lapwing judge --baseline 'HEAD~1' -- python3 work.py",
            ),
            (
                "continuous HEAD~1 HEAD --split -e -b x -- python3 work.py",
                "lapwing judge --baseline 'HEAD~1' --verbose -b x -- python3 work.py",
            ),
            (
                "asv continuous --factor 1.1 -E existing v1 v2 -b time_w",
                "lapwing run --commits v1..v2 --every 1000000 --again -b time_w -- COMMAND && lapwing compare commit:v1 commit:v2 --fail-on regression",
            ),
            (
                "continuous main -- python3 work.py",
                "lapwing run --commits 'main~1..main' --again -- python3 work.py && lapwing compare commit:'main~1' commit:main --fail-on regression",
            ),
            ("find v1 v2 name", "lapwing bisect v1 v2 -- COMMAND"),
            ("dev -b name", "lapwing run -n 1 -i 1 -w 0 -- COMMAND"),
            (
                "compare -col .file -delta-test utest old new",
                "lapwing compare old new",
            ),
            (
                "--tool go --fail-on-alert --alert-threshold 200% Cargo.toml src/lib.rs",
                "lapwing compare --fail-on worse-in-runs --smallest-effect 99% Cargo.toml src/lib.rs",
            ),
            (
                "run v1..v2 --quick -e",
                "lapwing run --commits v1..v2 -n 1 -i 1 -w 0 --verbose -- COMMAND",
            ),
            (
                "detect --alert-threshold 150% --fail-on-alert",
                "lapwing detect --smallest-effect 50% --fail-on suspected",
            ),
            (
                "detect data.js --fail-on-alert true --alert-threshold 150%",
                "lapwing detect data.js --fail-on suspected --smallest-effect 50%",
            ),
            (
                "bencher run --adapter rust_bench 'cargo bench'",
                "cargo bench | lapwing import - && lapwing detect --fail-on regression",
            ),
            (
                "--tool go --output-file-path out.txt",
                "lapwing import out.txt && lapwing detect",
            ),
            (
                "--fail-on-alert --output-file-path out.txt --alert-threshold 150% --external-data-json-path=data.js",
                "lapwing detect data.js out.txt --fail-on suspected --smallest-effect 50%",
            ),
            (
                "--external-data-json-path data.js --output-file-path out.txt --fail-on-alert true",
                "lapwing detect data.js out.txt --fail-on suspected",
            ),
        ];
        for (given, expected) in lines {
            let words = shlex::split(given).expect("words");
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            let (line, is_same) = typed(&[&["lapwing"], &words[..]].concat());
            assert_eq!(line, expected);
            let is_told = ["&&", "COMMAND"].iter().any(|it| line.contains(it));
            assert_eq!(is_same, !is_told, "{line}");
        }
        let column = hint(&["lapwing", "compare", "-col", "/format", "x"]);
        assert!(column.starts_with("files are compared"), "{column}");
        // Those that are left out are answered, too.
        let both = hint(&["lapwing", "continuous", "--split", "v1", "v2"]);
        assert!(
            both.ends_with("; --split: what changed is listed first"),
            "{both}"
        );
        let limits = hint(&["lapwing", "run", "-M", "20", "-m", "3", "true"]);
        assert!(limits.starts_with("--runs N executes"), "{limits}");
        let hint = hint(&["lapwing", "run", "HEAD^!", "--steps", "3"]);
        assert!(hint.starts_with("--commits A..B --every N"), "{hint}");
    }

    #[test]
    fn options_of_run_mean_it_without_its_name() {
        let understood = |given: &str| {
            let words = shlex::split(given).expect("words");
            let words = words.into_iter().map(OsString::from).collect();
            let understood = understood(words).expect("accepted");
            (line(&command_words(&understood.words)), understood.note)
        };
        for options in [
            "-w 3 -r 10 'sleep 0.01' 'sleep 0.02'",
            "-P n 1 3 'sleep 0.0{n}' --export-markdown -",
            "--prepare X --cleanup Y -r 3 cmd",
            "-N -i cmd",
            "'true 1' 'sleep 0.02'",
            "-q 'sleep 1'",
            "-M 8 'sleep 1'",
            "--min-runs 3 'sleep 1'",
        ] {
            let (line, note) = understood(&format!("lapwing {options}"));
            assert_eq!(line, format!("lapwing run {options}"));
            let text = note.map(|it| it.text);
            assert_eq!(text, Some(format!("this is `{line}`")));
        }
        let (line, _) = understood("lapwing run 'HEAD^!' -- python3 work.py");
        assert_eq!(line, "lapwing run --commits HEAD..HEAD -- python3 work.py");
        for ours in [
            "lapwing -filter .unit:ns/op old.txt new.txt",
            "lapwing --instances 3 Cargo.toml",
            "lapwing list -n 3",
            "lapwing 'no such file.txt' 'sleep 1'",
            "lapwing run ALL -- true",
        ] {
            assert_eq!(understood(ours), (ours.to_owned(), None));
        }
    }

    #[test]
    fn a_command_that_means_the_same_is_carried_out_unless_an_option_does_not() {
        let arguments = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let same = |words: &[&str]| {
            let understood = understood(arguments(words)).expect("accepted");
            let note = understood.note.map(|it| it.text);
            (understood.words, note)
        };
        let (words, note) = same(&["lapwing", "-q", "compare_to", "a b.json", "c.json"]);
        assert_eq!(
            words,
            arguments(&["lapwing", "-q", "compare", "a b.json", "c.json"])
        );
        let said =
            "`compare_to` is a command of pyperf, here `lapwing -q compare 'a b.json' c.json`";
        assert_eq!(note.as_deref(), Some(said));
        for (timed, ours) in [
            (&["-s", "x = 1", "x"][..], &["-s", "x = 1", "x"][..]),
            (&["-n5", "x"], &["--loops", "5", "x"]),
            (
                &["-n", "3", "-l", "9", "x"],
                &["--iterations", "3", "-l", "9", "x"],
            ),
        ] {
            let (words, _) = same(&[&["lapwing", "timeit"], timed].concat());
            assert_eq!(words, arguments(&[&["lapwing", "time"], ours].concat()));
        }
        let (words, _) = same(&["lapwing", "compare_to", "a", "b", "--unheard-of"]);
        assert_eq!(words[1], "compare");
        for ours in [
            &["lapwing"][..],
            &["lapwing", "run", "compare_to"],
            &["lapwing", "compare", "note=Cargo.toml", "note=src"],
            &["lapwing", "compare", "version=Cargo.toml", "b=src"],
            &["lapwing", "compare", "a=Cargo.toml", "src"],
        ] {
            assert_eq!(same(ours), (arguments(ours), None));
        }
        let (words, _) = same(&["lapwing", "-col", ".file", "a=Cargo.toml", "b=src"]);
        assert_eq!(
            words,
            arguments(&["lapwing", "compare", "-col", ".file", "Cargo.toml", "src"])
        );
        let (words, note) = same(&["lapwing", "a=Cargo.toml", "b=src", "-q"]);
        assert_eq!(
            words,
            arguments(&["lapwing", "compare", "Cargo.toml", "src", "-q"])
        );
        assert_eq!(note, None);
    }
}
