//! Words of other programs, and what to type instead.
//!
//! Options that mean the same here are aliases of ours. Those in this table do not: they are refused with one line,
//! with the words of the user as they would be typed here. Commands that mean the same are carried out, with a note.

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
use self::found::{find, is_long_with_one_dash, name_of, option_of};
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
    /// These words.
    Words(&'static str),
    /// This command line in place of the whole one, without `lapwing` at its beginning.
    Line(&'static str),
    /// This means the same, and is done.
    Same(&'static str),
    /// Nothing: the rest means what was meant.
    Omitted,
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
        match self.instead {
            Instead::Words(text) if text.starts_with("--") => of(text),
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

/// Returns the arguments with our names for commands of other programs that mean the same.
///
/// # Errors
/// If an option of that command means something else here.
pub fn understood(given: Vec<OsString>) -> Result<Understood, CliError> {
    let texts: Option<Vec<String>> = given
        .iter()
        .map(|it| it.to_str().map(str::to_owned))
        .collect();
    let has_labels = |it: &&Vec<String>| it.iter().skip(1).any(|it| it.contains('='));
    let labelled = texts
        .as_ref()
        .filter(has_labels)
        .and_then(|it| labelled(it));
    if let Some((words, command, labels)) = labelled {
        return Ok(Understood {
            command,
            words: words.into_iter().map(OsString::from).collect(),
            note: None,
            labels,
        });
    }
    let same = texts.as_ref().and_then(|it| same_command(it));
    let Some((found, name, words)) = same else {
        let is_foreign = |it: &Vec<String>| it.get(1).is_some_and(|it| is_foreign_command(it));
        let run = texts
            .filter(|it| !is_foreign(it))
            .and_then(|_| as_run(&given));
        let note = run.as_ref().map(|words| {
            let own = line(&command_words(words));
            Note::marked("command_added", format!("this is `{own}`"))
        });
        let words = run.unwrap_or(given);
        return Ok(Understood {
            command: command_words(&words),
            words,
            note,
            labels: Vec::new(),
        });
    };
    let texts = command_words(&given);
    let mut own = texts.iter().take_while(|it| *it != "--");
    let other = own.find_map(|it| option_of(it, found.names));
    if let Some(other) = other {
        return Err(refusal(other, &texts));
    }
    let words: Vec<OsString> = words.into_iter().map(OsString::from).collect();
    let command = command_words(&words);
    let own = line(&command);
    let text = format!("{}, here `{own}`", introduced((found, name)));
    Ok(Understood {
        words,
        command,
        note: Some(Note::marked("foreign_command", text)),
        labels: Vec::new(),
    })
}

/// Returns the command of another program that means the same as one of ours, and the words in ours.
fn same_command(words: &[String]) -> Option<(&'static ForeignWord, &'static str, Vec<String>)> {
    let os: Vec<OsString> = words.iter().map(OsString::from).collect();
    let at = first_word(&os)?;
    let is_same = |it: &&ForeignWord| matches!(it.instead, Instead::Same(_));
    for found in TABLE.iter().filter(is_same) {
        let name = found.names[0];
        match found.kind {
            WordKind::Command if words[at] == name && !Path::new(name).exists() => {
                let typed = TypedWords::after(words, at);
                let Instead::Same(text) = found.instead else {
                    continue;
                };
                let mut own = words[..at].to_vec();
                own.extend(shlex::split(&typed.fill(text)?)?);
                return Some((found, name, own));
            }
            _ => {}
        }
    }
    None
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

/// Returns the answer to arguments that clap refuses because of a word of another program.
pub fn answer(error: &clap::Error, words: &[String]) -> Option<CliError> {
    // A suite file cannot be beside a command, and this is not one.
    let mut replaced = words.to_vec();
    if error.kind() == ErrorKind::ArgumentConflict
        && let Some((found, word)) = replace_arguments(&mut replaced)
        && crate::program().try_get_matches_from(&replaced).is_ok()
    {
        let error = CliError::input(format!("`{word}` is an argument of {}", found.program));
        let line = line(&with_command(&replaced));
        return Some(error.hint(format!("type `{line}`: {}", found.answer)));
    }
    Some(refusal(find(error, words)?, words))
}

fn is_foreign_command(word: &str) -> bool {
    let mut commands = TABLE.iter().filter(|it| it.kind == WordKind::Command);
    commands.any(|it| it.names.contains(&word))
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
    let mut lines = unstored.filter_map(|it| match it.instead {
        Instead::Line(text) => Some((whole_line(&typed.fill(text)?), it.answer)),
        _ => None,
    });
    let mut replaced = words.to_vec();
    let sentence = error.sentence();
    let argument = replace_arguments(&mut replaced)
        .filter(|(_, word)| is_unstored || sentence.contains(word.as_str()))
        .map(|(found, _)| (line(&with_command(&replaced)), found.answer));
    match argument.or_else(|| lines.next()) {
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

    fn refused(words: &[&str]) -> Option<CliError> {
        let error = Arguments::command().try_get_matches_from(words).err()?;
        let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        answer(&error, &words)
    }

    fn hint(words: &[&str]) -> String {
        let error = refused(words).unwrap_or_else(|| panic!("{words:?} is accepted or unknown"));
        error.hint.unwrap_or_default()
    }

    /// Returns the command to type.
    fn typed(words: &[&str]) -> String {
        let hint = hint(words);
        let line = hint.split('`').nth(1).unwrap_or_default();
        assert!(hint.starts_with("type `"), "{hint}");
        line.to_owned()
    }

    fn own_command(word: &ForeignWord) -> Option<&'static str> {
        match (word.kind, word.instead) {
            (WordKind::Command | WordKind::Unstored, Instead::Line(text) | Instead::Same(text)) => {
                text.split(' ').next()
            }
            (WordKind::Command | WordKind::Unstored, _) => None,
            _ => Some(word.command),
        }
    }

    #[test]
    fn every_option_of_the_table_is_refused_with_its_answer() {
        let program = Arguments::command();
        let of_ours = |it: &&ForeignWord| program.find_subcommand(it.command).is_some();
        let options = TABLE.iter().filter(|it| it.is_option());
        for option in options.filter(of_ours) {
            for name in option.names {
                let error = refused(&["lapwing", option.command, name, "5"]);
                let error = error.unwrap_or_else(|| panic!("{name} is accepted, or not answered"));
                let first = error.sentence();
                assert!(
                    first.starts_with(&format!("{name} is an option of ")),
                    "{first}"
                );
                let all: Vec<&str> = TABLE
                    .iter()
                    .filter(|it| it.names.contains(name) && it.command == option.command)
                    .map(|it| it.answer)
                    .collect();
                let hint = error.hint.unwrap_or_default();
                let answer = hint.rsplit_once("`: ").map_or(hint.as_str(), |it| it.1);
                let is_told = hint.ends_with(option.answer) || answer == option.answer;
                assert!(is_told && all.len() == 1, "{name} has one answer: {hint}");
            }
        }
    }

    #[test]
    fn every_command_of_the_table_is_refused_or_carried_out() {
        let commands = TABLE.iter().filter(|it| it.kind == WordKind::Command);
        for command in commands {
            for name in command.names {
                let words = ["lapwing", name, "v1..v2", "name"];
                assert!(refused(&words).is_some(), "{name} is a command of ours");
            }
        }
    }

    #[test]
    fn every_line_of_the_table_is_one_that_the_program_accepts() {
        let lines = TABLE.iter().filter_map(|it| match it.instead {
            Instead::Line(text) if text != "{}" => Some(text),
            _ => None,
        });
        for text in lines {
            // Any word takes each of the places.
            let mut line = String::new();
            for part in text.split('{') {
                let (name, after) = part.split_once('}').unwrap_or(("", part));
                let place = match name {
                    "" if line.is_empty() => "",
                    "ends" => "old new",
                    "command" => "-- word",
                    "only_ends" => "--every 9",
                    "options" | "chosen" => "-b word",
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
            let instead = match word.instead {
                Instead::Words(text) => text.split(' ').find(|it| it.starts_with("--")),
                _ => None,
            };
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
        let told = |words: &[&str]| {
            let error = refused(words)?;
            Some((error.sentence(), error.hint.unwrap_or_default()))
        };
        let (sentence, hint) =
            told(&["lapwing", "run", "--sort=mean-time", "sleep 1"]).expect("refused");
        assert_eq!(sentence, "--sort is an option of hyperfine");
        assert!(hint.contains("--reference"), "{hint}");
        assert_eq!(
            typed(&["lapwing", "run", "-c", "rm f", "cp a f"]),
            "lapwing run --teardown 'rm f' 'cp a f'"
        );
        assert_eq!(
            typed(&["lapwing", "run", "false", "-i"]),
            "lapwing run false -f"
        );
        assert_eq!(
            typed(&["lapwing", "run", "-n", "a name", "true"]),
            "lapwing run --command-name 'a name' true"
        );
        assert_eq!(
            typed(&["lapwing", "run", "-M20", "true"]),
            "lapwing run --runs 20 true"
        );
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
                "continuous -f 1.1 main HEAD",
                "lapwing run --commits main..HEAD --every 1000000 --again -- COMMAND",
            ),
            (
                "asv continuous --factor 1.1 -E existing HEAD~1 HEAD -b time_w",
                "lapwing run --commits 'HEAD~1..HEAD' --again -- COMMAND",
            ),
            (
                "continuous HEAD~1 HEAD -e -b x -- python3 work.py",
                "lapwing run --commits 'HEAD~1..HEAD' --again --verbose -b x -- python3 work.py",
            ),
            (
                "asv continuous main",
                "lapwing judge --baseline main -- COMMAND",
            ),
            (
                "continuous HEAD~1 HEAD -- python3 work.py",
                "lapwing run --commits 'HEAD~1..HEAD' --again -- python3 work.py",
            ),
            (
                "run 'HEAD^!' -- python3 work.py",
                "lapwing run --commits HEAD..HEAD -- python3 work.py",
            ),
            ("find v1 v2 name", "lapwing bisect v1 v2 -- COMMAND"),
            ("dev -b name", "lapwing run -n 1 -i 1 -w 0 -- COMMAND"),
            ("run -M 20 -m 3 true", "lapwing run -m 3 true"),
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
            assert_eq!(typed(&[&["lapwing"], &words[..]].concat()), expected);
        }
        let column = hint(&["lapwing", "compare", "-col", "/format", "x"]);
        assert!(column.starts_with("files are compared"), "{column}");
        // Those that are left out are answered, too.
        let both = hint(&["lapwing", "continuous", "-f", "1.1", "v1", "v2"]);
        assert!(both.ends_with("; -f: `lapwing compare --smallest-effect 10%` sets the smallest change that matters"), "{both}");
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
        for ours in [
            "lapwing -filter .unit:ns/op old.txt new.txt",
            "lapwing --instances 3 Cargo.toml",
            "lapwing list -n 3",
            "lapwing 'no such file.txt' 'sleep 1'",
            "lapwing continuous -f 1.1 v1 v2",
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
        let (words, _) = same(&["lapwing", "timeit", "-s", "x = 1", "x"]);
        assert_eq!(words, arguments(&["lapwing", "time", "-s", "x = 1", "x"]));
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
        let refused = |words: &[&str]| {
            let error = understood(arguments(words)).err().expect("refused");
            error.hint.unwrap_or_default()
        };
        let hint = refused(&["lapwing", "timeit", "-n5", "x"]);
        assert!(
            hint.starts_with("type `lapwing time --loops 5 x`: "),
            "{hint}"
        );
        let hint = refused(&["lapwing", "timeit", "-n", "3", "-l", "9", "x"]);
        assert!(
            hint.starts_with("type `lapwing time --iterations 3 -l 9 x`: "),
            "{hint}"
        );
    }
}
