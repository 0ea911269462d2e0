//! Words of other programs, and what to type instead.
//!
//! Options that mean the same here are aliases of ours. Those in this table do not: they are refused with one line,
//! with the words of the user as they would be typed here. Commands that mean the same are carried out, with a note.

use std::ffi::OsString;
use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use lapwing_analyse::sample::Selector;
use lapwing_model::text::shell_word;
use lapwing_record::StoreError;
use lapwing_show::writing::Note;

mod filled;
mod table;

use self::filled::TypedWords;
use self::table::{CLEANUP, COMMAND_NAME, IGNORE_FAILURE, TABLE};
use crate::door::first_word;
use crate::error::{CliError, ExitStatus};

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

/// What is typed in place of a foreign word. Words of the user take the places in braces.
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
    /// Whether a word of another program was among them, and what it is here.
    pub note: Option<Note>,
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
    let same = texts.as_ref().and_then(|it| same_command(it));
    let Some((found, name, words)) = same else {
        return Ok(Understood {
            words: given,
            note: None,
        });
    };
    let texts = texts.unwrap_or_default();
    let mut own = texts.iter().take_while(|it| *it != "--");
    let other = own.find_map(|it| option_of(it, found.names));
    if let Some(other) = other {
        return Err(refusal(other, &texts));
    }
    let own = ["lapwing".to_owned()].into_iter();
    let own: Vec<String> = own.chain(words.iter().skip(1).cloned()).collect();
    let text = format!("{}, here `{}`", introduced((found, name)), line(&own));
    Ok(Understood {
        words: words.into_iter().map(OsString::from).collect(),
        note: Some(Note::marked("foreign_command", text)),
    })
}

/// Returns the command of another program that means the same as one of ours, and the words in ours.
fn same_command(words: &[String]) -> Option<(&'static ForeignWord, &'static str, Vec<String>)> {
    let os: Vec<OsString> = words.iter().map(OsString::from).collect();
    let at = first_word(&os)?;
    let labels = labelled_files(words, at);
    let is_same = |it: &&ForeignWord| matches!(it.instead, Instead::Same(_));
    for found in TABLE.iter().filter(is_same) {
        let name = found.names[0];
        match found.kind {
            WordKind::Argument if !labels.is_empty() => {
                let mut own = words.to_vec();
                for (place, file) in labels {
                    own[place] = file;
                }
                if words[at] != found.command {
                    own.insert(at, found.command.to_owned());
                }
                return Some((found, name, own));
            }
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

/// Returns where files with labels stand, as benchstat has them, and the files; none unless all sides are such files.
fn labelled_files(words: &[String], at: usize) -> Vec<(usize, String)> {
    let from = if words[at] == "compare" { at + 1 } else { at };
    let sides = words.iter().enumerate().skip(from);
    let sides = sides.take_while(|(_, word)| !word.starts_with('-'));
    let mut labels = Vec::new();
    let mut files = Vec::new();
    for (place, word) in sides {
        match word.split_once('=') {
            // The same key on both sides is a setting.
            Some((label, file))
                if Path::new(file).exists()
                    && !Path::new(word).exists()
                    && !labels.contains(&label)
                    && !Selector::is_meant_by(word) =>
            {
                labels.push(label);
                files.push((place, file.to_owned()));
            }
            Some(_) | None => return Vec::new(),
        }
    }
    if files.len() < 2 { Vec::new() } else { files }
}

/// Returns the answer to arguments that clap refuses because of a word of another program.
pub fn answer(error: &clap::Error, words: &[String]) -> Option<CliError> {
    Some(refusal(find(error, words)?, words))
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
    let lines = unstored.filter_map(|it| match it.instead {
        Instead::Line(text) => Some((whole_line(&typed.fill(text)?), it.answer)),
        _ => None,
    });
    let mut replaced = words.to_vec();
    let argument = replace_arguments(&mut replaced).map(|it| (line(&replaced), it.answer));
    match lines.into_iter().next().or(argument) {
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
        Some(line) => format!("type `{line}`: {}", found.answer),
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
        WordKind::Argument => format!("labels of files are those of {program}"),
        WordKind::Command | WordKind::Unstored if name == program => {
            format!("`{name}` is another program")
        }
        WordKind::Command | WordKind::Unstored => format!("`{name}` is a command of {program}"),
    }
}

/// Returns the whole command line in our words, if it is one that the program accepts.
fn full_line(first: Found, words: &[String]) -> Option<String> {
    /// More words of other programs than a line has.
    const MOST: usize = 20;
    let mut words = words.to_vec();
    let mut found = first;
    for _ in 0..MOST {
        if let Some(line) = replace(found, &mut words)? {
            return Some(line);
        }
        replace_arguments(&mut words);
        match crate::program().try_get_matches_from(&words) {
            Ok(_accepted) => return Some(line(&words)),
            Err(error) => found = find(&error, &words)?,
        }
    }
    None
}

/// Replaces a word in the arguments; returns the line instead if that is all there is to type.
fn replace((found, name): Found, words: &mut Vec<String>) -> Option<Option<String>> {
    let own = words.iter().take_while(|word| *word != "--").count();
    let is_it = |word: &String| has_name(word, name);
    let at = words[..own].iter().position(is_it)?;
    if found.kind == WordKind::Command {
        let mut rest = words.split_off(at + 1);
        words.pop();
        while let Some((other, name)) = rest.iter().find_map(|it| option_of(it, found.names)) {
            replace((other, name), &mut rest)?;
        }
        let text = match found.instead {
            Instead::Line(text) | Instead::Same(text) => text,
            Instead::Words(_) | Instead::Omitted | Instead::Explained => return None,
        };
        let text = TypedWords::of(&rest).fill(text)?;
        if text.contains("lapwing ") {
            return Some(Some(whole_line(&text)));
        }
        words.extend(shlex::split(&text)?);
        return Some(None);
    }
    let typed = words.remove(at);
    let attached = match typed.strip_prefix(name) {
        Some("") | None => None,
        Some(value) => Some(value.strip_prefix('=').unwrap_or(value).to_owned()),
    };
    let value = match attached {
        Some(value) => Some(value),
        None if found.kind == WordKind::Option && at < words.len() => Some(words.remove(at)),
        None => None,
    };
    let text = match found.instead {
        Instead::Words(text) => text,
        Instead::Omitted => "",
        Instead::Line(text) => {
            let from = command_at(words).map_or(1, |it| it + 1);
            let typed = TypedWords {
                value,
                ..TypedWords::of(&words[from..])
            };
            return Some(Some(whole_line(&typed.fill(text)?)));
        }
        Instead::Same(_) | Instead::Explained => return None,
    };
    let typed = TypedWords {
        value,
        ..TypedWords::of(words)
    };
    let instead = shlex::split(&typed.fill(text)?)?;
    words.splice(at..at, instead);
    // Of a foreign command there is one already.
    let is_foreign = |word: &String| {
        let mut commands = TABLE.iter().filter(|it| it.kind == WordKind::Command);
        commands.any(|it| it.names.contains(&word.as_str()))
    };
    let is_whole = words.first().is_some_and(|it| it == "lapwing");
    if is_whole && command_at(words).is_none() && !words.iter().any(is_foreign) {
        words.insert(1, found.command.to_owned());
    }
    Some(None)
}

/// Replaces arguments of a command of ours that another program would understand; returns what the last of them is.
fn replace_arguments(words: &mut Vec<String>) -> Option<&'static ForeignWord> {
    let at = command_at(words)?;
    let own = words.iter().take_while(|word| *word != "--").count();
    let mut last = None;
    for place in (at + 1..own).rev() {
        let word = words[place].clone();
        let is_value = words[place - 1] == "--commits";
        if is_value || word.starts_with('-') || word.contains(' ') || Path::new(&word).exists() {
            continue;
        }
        let here = TABLE
            .iter()
            .filter(|it| it.kind == WordKind::Argument && it.command == words[at]);
        let here: Vec<&ForeignWord> = here.collect();
        for found in here {
            let places = found
                .names
                .iter()
                .find_map(|name| filled::places(name, &word));
            let Instead::Words(text) = found.instead else {
                continue;
            };
            let Some(instead) = places.and_then(|it| TypedWords::of(&it).fill(text)) else {
                continue;
            };
            let Some(instead) = shlex::split(&instead) else {
                continue;
            };
            words.splice(place..=place, instead);
            last = Some(found);
            break;
        }
    }
    last
}

/// Returns a line that may have several commands, from its text without `lapwing` at the beginning.
fn whole_line(text: &str) -> String {
    match text.contains(" | lapwing ") {
        true => text.to_owned(),
        false => format!("lapwing {text}"),
    }
}

fn line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|it| shell_word(it)).collect();
    words.join(" ")
}

/// Returns where our command stands.
fn command_at(words: &[String]) -> Option<usize> {
    let program = crate::program();
    let own = words.iter().take_while(|word| *word != "--");
    let mut own = own.enumerate().skip(1);
    own.find(|(_, word)| program.find_subcommand(word).is_some())
        .map(|it| it.0)
}

/// Returns the word that was refused.
fn find(error: &clap::Error, words: &[String]) -> Option<Found> {
    let own = words.iter().skip(1).take_while(|word| *word != "--");
    let words: Vec<&str> = own.map(String::as_str).collect();
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(name)) => name.as_str(),
        _ => "",
    };
    if error.kind() == ErrorKind::InvalidSubcommand {
        let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
            return None;
        };
        return foreign_command(name, &words);
    }
    let letter = match error.kind() {
        ErrorKind::ArgumentConflict if has_positional(error) => Some((&CLEANUP, "-c")),
        ErrorKind::InvalidValue | ErrorKind::ValueValidation
            if argument.starts_with("--iterations") =>
        {
            Some((&IGNORE_FAILURE, "-i"))
        }
        ErrorKind::ValueValidation if argument.starts_with("--instances") => {
            Some((&COMMAND_NAME, "-n"))
        }
        _ => None,
    };
    if let Some((_, name)) = letter
        && words.contains(&"run")
        && words.contains(&name)
        && !is_number_after(name, &words)
    {
        return letter;
    }
    // Programs in Go have long options with one dash, which are several letters for clap.
    let mut long = words.iter().filter(|word| is_long_with_one_dash(word));
    if let Some(found) = long.find_map(|word| named(name_of(word), &words)) {
        return Some(found);
    }
    let name = name_of(argument).split(' ').next().unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => named(name, &words),
        // An option of ours has that name, too.
        ErrorKind::InvalidValue | ErrorKind::ValueValidation => {
            named(name, &words).filter(|(found, _)| words.contains(&found.command))
        }
        _ => None,
    }
}

/// Returns whether a number is meant by an option, however wrong: `-i 0`.
fn is_number_after(name: &str, words: &[&str]) -> bool {
    let mut values = words.iter().skip_while(|word| **word != name).skip(1);
    name != "-c" && values.next().is_some_and(|it| it.parse::<f64>().is_ok())
}

/// Returns whether an argument without a name, such as a command, contradicts another one.
fn has_positional(error: &clap::Error) -> bool {
    let sides = [ContextKind::InvalidArg, ContextKind::PriorArg];
    sides.into_iter().any(|side| match error.get(side) {
        Some(ContextValue::String(name)) => name.starts_with('['),
        Some(ContextValue::Strings(names)) => names.iter().any(|name| name.starts_with('[')),
        _ => false,
    })
}

/// Returns the command of that name, preferably one that can be typed with the words after it.
fn foreign_command(name: &str, words: &[&str]) -> Option<Found> {
    let after = words.iter().skip_while(|word| **word != name).skip(1);
    let after: Vec<String> = after.map(|it| (*it).to_owned()).collect();
    let typed = TypedWords::of(&after);
    let mut found = TABLE.iter().filter_map(|it| {
        let is_command = it.kind == WordKind::Command;
        Some((
            it,
            *it.names
                .iter()
                .find(|other| is_command && **other == name)?,
        ))
    });
    let first = found.clone().next();
    let fits = |(it, _): &Found| match it.instead {
        Instead::Line(text) | Instead::Same(text) => typed.fill(text).is_some(),
        Instead::Words(_) | Instead::Omitted | Instead::Explained => true,
    };
    found.find(fits).or(first)
}

/// Returns the option of that name, preferably of a command among the words.
fn named(name: &str, words: &[&str]) -> Option<Found> {
    let mut found = TABLE.iter().filter_map(|option| {
        let mut names = option.names.iter().filter(|_| option.is_option());
        Some((option, *names.find(|it| **it == name)?))
    });
    let first = found.clone().next();
    let is_here = |(option, _): &Found| words.contains(&option.command);
    found.find(is_here).or(first)
}

/// Returns the option of one of these commands of another program that a word is.
fn option_of(word: &str, commands: &[&str]) -> Option<Found> {
    TABLE.iter().find_map(|option| {
        let is_of = option.is_option() && commands.contains(&option.command);
        Some((
            option,
            *option.names.iter().find(|it| is_of && has_name(word, it))?,
        ))
    })
}

/// Returns an option without its value: `--sort` of `--sort=mean-time`.
fn name_of(word: &str) -> &str {
    word.split_once('=').map_or(word, |(name, _)| name)
}

/// Returns whether a word is an option of that name, perhaps with its value: `-M20`.
fn has_name(word: &str, name: &str) -> bool {
    let is_letter = name.len() == 2 && name.starts_with('-');
    name_of(word) == name || is_letter && word.starts_with(name) && !is_long_with_one_dash(word)
}

fn is_long_with_one_dash(word: &str) -> bool {
    let name = name_of(word);
    let is_letters = name
        .chars()
        .skip(1)
        .all(|it| it.is_ascii_alphabetic() || it == '-');
    word.starts_with('-') && !word.starts_with("--") && name.len() > 2 && is_letters
}
