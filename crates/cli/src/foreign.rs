//! Options of other programs, and what to use instead.
//!
//! Options that mean the same here are aliases of ours; those in this table do not, and are refused with one line.

use clap::error::{ContextKind, ContextValue, ErrorKind};

mod table;

use self::table::{CLEANUP, IGNORE_FAILURE, TABLE};
use crate::error::CliError;

/// An option of another program that has no equal here.
#[derive(Debug, PartialEq, Eq)]
struct ForeignOption {
    /// The program.
    program: &'static str,
    /// Its spellings.
    names: &'static [&'static str],
    /// The command where it would be typed.
    command: &'static str,
    /// The option of that command which is closest, if there is one.
    instead: Option<&'static str>,
    /// The answer to it: one line with our option or command.
    answer: &'static str,
}

/// Returns the answer to arguments that clap refuses because of an option of another program.
pub fn answer(error: &clap::Error, words: &[String]) -> Option<CliError> {
    let own = words.iter().skip(1).take_while(|word| *word != "--");
    let own: Vec<&str> = own.map(String::as_str).collect();
    let (found, name) = find(error, &own)?;
    let is_there = own.contains(&found.command);
    let hint = if is_there {
        found.answer.to_owned()
    } else {
        format!("`lapwing {}` is closest: {}", found.command, found.answer)
    };
    let candidates = found.instead.filter(|_| is_there).into_iter();
    let refused = CliError::input(format!("{name} is an option of {}", found.program));
    let candidates = candidates.map(str::to_owned).collect();
    Some(refused.hint(hint).candidates(candidates))
}

/// An option of the table, and the spelling of it that was typed.
type Found = (&'static ForeignOption, &'static str);

/// Returns the option that was refused.
fn find(error: &clap::Error, words: &[&str]) -> Option<Found> {
    let argument = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(name)) => name.as_str(),
        _ => "",
    };
    let letter = match error.kind() {
        ErrorKind::ArgumentConflict if has_positional(error) => Some((&CLEANUP, "-c")),
        ErrorKind::InvalidValue if argument.starts_with("--iterations") => {
            Some((&IGNORE_FAILURE, "-i"))
        }
        _ => None,
    };
    if let Some((_, name)) = letter
        && words.contains(&"run")
        && words.contains(&name)
    {
        return letter;
    }
    // Programs in Go have long options with one dash, which are several letters for clap.
    let mut long = words.iter().filter(|word| is_long_with_one_dash(word));
    if let Some(found) = long.find_map(|word| named(name_of(word), words)) {
        return Some(found);
    }
    let is_unknown = error.kind() == ErrorKind::UnknownArgument;
    is_unknown.then(|| named(name_of(argument), words))?
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

/// Returns the option of that name, preferably of a command among the words.
fn named(name: &str, words: &[&str]) -> Option<Found> {
    let mut found = TABLE.iter().filter_map(|option| {
        let mut names = option.names.iter();
        Some((option, *names.find(|it| **it == name)?))
    });
    let first = found.clone().next();
    let is_here = |(option, _): &Found| words.contains(&option.command);
    found.find(is_here).or(first)
}

/// Returns an option without its value: `--sort` of `--sort=mean-time`.
fn name_of(word: &str) -> &str {
    word.split_once('=').map_or(word, |(name, _)| name)
}

fn is_long_with_one_dash(word: &str) -> bool {
    word.starts_with('-') && !word.starts_with("--") && name_of(word).len() > 2
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::Arguments;

    fn refused(words: &[&str]) -> Option<CliError> {
        let error = Arguments::command().try_get_matches_from(words).err()?;
        let words: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        answer(&error, &words)
    }

    #[test]
    fn every_option_of_the_table_is_refused_with_its_answer() {
        for option in TABLE {
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
                assert_eq!(all, [hint], "{name} has one answer");
            }
        }
    }

    #[test]
    fn what_an_answer_names_exists() {
        let program = Arguments::command();
        for option in TABLE.iter().chain([&CLEANUP, &IGNORE_FAILURE]) {
            let command = program
                .find_subcommand(option.command)
                .expect(option.command);
            let longs = command.get_arguments().chain(program.get_arguments());
            let longs = longs.flat_map(|it| it.get_long_and_visible_aliases().unwrap_or_default());
            let longs: Vec<String> = longs.map(|it| format!("--{it}")).collect();
            let quoted = option.answer.split('`').skip(1).step_by(2);
            let here = option.answer.split('`').step_by(2);
            let words = here.flat_map(|text| text.split([' ', ',', ';', ':', '=', '(', ')']));
            let words = words.filter(|word| word.starts_with("--"));
            for word in words.chain(option.instead) {
                assert!(longs.iter().any(|it| it == word), "{word} of {option:?}");
            }
            for other in quoted.filter_map(|text| text.strip_prefix("lapwing ")) {
                let name = other.split(' ').next().unwrap_or_default();
                assert!(program.find_subcommand(name).is_some(), "{other}");
            }
        }
    }

    #[test]
    fn a_value_may_be_attached_and_the_letter_of_a_clean_up_is_told() {
        let told = |words: &[&str]| {
            let error = refused(words)?;
            Some((error.sentence(), error.hint.unwrap_or_default()))
        };
        let (sentence, hint) =
            told(&["lapwing", "run", "--sort=mean-time", "sleep 1"]).expect("refused");
        assert_eq!(sentence, "--sort is an option of hyperfine");
        assert!(hint.contains("--reference"), "{hint}");
        let (sentence, hint) = told(&["lapwing", "run", "-c", "rm f", "cp a f"]).expect("refused");
        assert_eq!(sentence, "-c is an option of hyperfine");
        assert!(hint.contains("--teardown"), "{hint}");
        let (_, hint) = told(&["lapwing", "run", "false", "-i"]).expect("refused");
        assert!(hint.contains("-f (--ignore-failure)"), "{hint}");
        let (_, hint) = told(&["lapwing", "detect", "--delta-test", "none"]).expect("refused");
        assert!(hint.starts_with("`lapwing compare` is closest: "), "{hint}");
        assert!(told(&["lapwing", "run", "--unheard-of"]).is_none());
        assert!(told(&["lapwing", "run", "-c", "true", "--resume", "name"]).is_none());
        assert!(told(&["lapwing", "run", "--", "hyperfine", "--sort"]).is_none());
    }
}
