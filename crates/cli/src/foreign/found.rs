//! The word of another program that was refused.

use std::path::Path;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::Instead::Omitted;
use super::filled::TypedWords;
use super::table::{CLEANUP, COMMAND_NAME, IGNORE_FAILURE, TABLE};
use super::{Found, WordKind};
use crate::commands::is_history_of_action;

/// Returns the word that was refused.
pub(super) fn find(error: &clap::Error, words: &[String]) -> Option<Found> {
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
pub(super) fn foreign_command(name: &str, words: &[&str]) -> Option<Found> {
    let mut words = words.iter().skip_while(|word| **word != name).skip(1);
    let mut after = Vec::new();
    while let Some(word) = words.next() {
        match option_of(word, &[name]) {
            Some((option, name)) if option.kind == WordKind::Option && *word == name => {
                let _value = words.next();
            }
            Some(_) => {}
            None => after.push((*word).to_owned()),
        }
    }
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
    let fits = |(it, _): &Found| it.instead.line().is_none_or(|it| typed.fill(it).is_some());
    found.find(fits).or(first)
}

/// Returns the option of that name, preferably of a command among the words.
fn named(name: &str, words: &[&str]) -> Option<Found> {
    let mut found = TABLE.iter().filter_map(|option| {
        let mut names = option.names.iter().filter(|_| option.is_option());
        Some((option, *names.find(|it| **it == name)?))
    });
    let first = found.clone().next();
    let program = crate::program();
    let has_command = words.iter().any(|it| program.find_subcommand(it).is_some());
    let files = words.iter().filter(|it| Path::new(it).is_file());
    let has_history = words.iter().any(|it| is_history_of_action(Path::new(it)));
    let is_comparison = !has_command && !has_history && files.count() == 2;
    let is_here = |(option, _): &Found| {
        words.contains(&option.command) || is_comparison && option.command == "compare"
    };
    // What another command would leave out says nothing of this one.
    let is_understood = |(option, _): &Found| !has_command || !matches!(option.instead, Omitted);
    found.find(is_here).or(first.filter(is_understood))
}

/// Returns the option of one of these commands of another program that a word is.
pub(super) fn option_of(word: &str, commands: &[&str]) -> Option<Found> {
    TABLE.iter().find_map(|option| {
        let is_of = option.is_option() && commands.contains(&option.command);
        Some((
            option,
            *option.names.iter().find(|it| is_of && has_name(word, it))?,
        ))
    })
}

/// Returns an option without its value: `--sort` of `--sort=mean-time`.
pub(super) fn name_of(word: &str) -> &str {
    word.split_once('=').map_or(word, |(name, _)| name)
}

/// Returns whether a word is an option of that name, perhaps with its value: `-M20`.
pub(super) fn has_name(word: &str, name: &str) -> bool {
    let is_letter = name.len() == 2 && name.starts_with('-');
    name_of(word) == name || is_letter && word.starts_with(name) && !is_long_with_one_dash(word)
}

pub(super) fn is_long_with_one_dash(word: &str) -> bool {
    let name = name_of(word);
    let is_letters = name
        .chars()
        .skip(1)
        .all(|it| it.is_ascii_alphabetic() || it == '-');
    word.starts_with('-') && !word.starts_with("--") && name.len() > 2 && is_letters
}
