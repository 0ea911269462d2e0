//! A command line with our words in place of those of other programs.

use std::path::Path;

use lapwing_model::text::shell_word;

use super::filled::{TypedWords, places};
use super::found::{find, has_name, option_of};
use super::table::TABLE;
use super::{ForeignWord, Found, Instead, WordKind};
use crate::suite::suite_file;

/// A command line in our words.
pub(super) struct FullLine {
    pub(super) line: String,
    /// Its words, if it is one command that means the same and can be executed.
    pub(super) same: Option<Vec<String>>,
    /// The words of other programs, that with the first answer first: it tells most.
    pub(super) answered: Vec<Found>,
}

impl FullLine {
    /// Of replaced words, the line is the answer; those that are left out need another.
    fn new(line: String, replaced: &[Found]) -> Self {
        let is_omitted = |it: &&Found| it.0.instead == Instead::Omitted;
        let first = replaced.iter().find(|it| !is_omitted(it));
        let omitted = replaced.iter().filter(is_omitted);
        let answered = first.into_iter().chain(omitted).copied().collect();
        let is_same = replaced.iter().all(|it| it.0.instead.is_same());
        let words = shlex::split(&line).filter(|_| is_same);
        // Several commands, or a place to be filled.
        let is_open = |it: &String| ["&&", "|", "COMMAND"].contains(&it.as_str());
        let same = words.filter(|it| !it.iter().any(is_open) && is_accepted(it));
        Self {
            line,
            same,
            answered,
        }
    }
}

/// Returns the whole command line in our words, if it is one that the program accepts.
pub(super) fn full_line(first: Found, words: &[String]) -> Option<FullLine> {
    /// More words of other programs than a line has.
    const MOST: usize = 20;
    let mut words = words.to_vec();
    let mut found = first;
    let mut replaced = Vec::new();
    for _ in 0..MOST {
        if let Some(line) = replace(found, &mut words, &mut replaced)? {
            let commands = line.split(" && ").filter_map(shlex::split);
            let mut own = commands.filter(|it| it.first().is_some_and(|it| it == "lapwing"));
            if !own.all(|it| is_accepted(&it)) {
                return None;
            }
            return Some(FullLine::new(line, &replaced));
        }
        replace_arguments(&mut words);
        match crate::program().try_get_matches_from(&words) {
            Ok(_accepted) => {
                let line = line(&with_command(&words));
                return Some(FullLine::new(line, &replaced));
            }
            Err(error) => found = find(&error, &words)?,
        }
    }
    None
}

/// Replaces a word in the arguments; returns the line instead if that is all there is to type.
fn replace(
    (found, name): Found,
    words: &mut Vec<String>,
    replaced: &mut Vec<Found>,
) -> Option<Option<String>> {
    replaced.push((found, name));
    let own = words.iter().take_while(|word| *word != "--").count();
    let is_it = |word: &String| has_name(word, name);
    let at = words[..own].iter().position(is_it)?;
    if found.kind == WordKind::Command {
        let mut rest = words.split_off(at + 1);
        words.pop();
        while let Some((other, name)) = rest.iter().find_map(|it| option_of(it, found.names)) {
            replace((other, name), &mut rest, replaced)?;
        }
        let text = TypedWords::of(&rest).fill(found.instead.line()?)?;
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
        None if found.kind == WordKind::Option => return None,
        None => {
            if words.get(at).is_some_and(|next| is_value(found, next)) {
                words.remove(at);
            }
            None
        }
    };
    if let Some(text) = found.instead.line() {
        let from = command_at(words).map_or(1, |it| it + 1);
        let typed = TypedWords {
            value,
            ..TypedWords::of(&words[from..])
        };
        return Some(Some(whole_line(&typed.fill(text)?)));
    }
    let text = found.instead.words()?;
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

/// Returns whether the word after an option is its value.
pub(super) fn is_value(found: &ForeignWord, next: &str) -> bool {
    // Inputs of an action are `true` or `false`; elsewhere these words are commands.
    let is_input = found.program == "github-action-benchmark" && matches!(next, "true" | "false");
    found.kind == WordKind::Option || is_input
}

/// Replaces arguments of a command of ours that another program would understand; returns the first of them.
pub(super) fn replace_arguments(words: &mut Vec<String>) -> Option<(&'static ForeignWord, String)> {
    let at = command_at(words)?;
    let own = words.iter().take_while(|word| *word != "--").count();
    let mut first = None;
    for place in (at + 1..own).rev() {
        let word = words[place].clone();
        let is_value = words[place - 1] == "--commits";
        if is_value || word.starts_with('-') || word.contains(' ') || Path::new(&word).exists() {
            continue;
        }
        let here = TABLE
            .iter()
            .filter(|it| it.kind == WordKind::Argument && it.command == words[at]);
        let here: Vec<&'static ForeignWord> = here.collect();
        for found in here {
            let places = found.names.iter().find_map(|name| places(name, &word));
            let Some(text) = found.instead.words() else {
                continue;
            };
            let Some(instead) = places.and_then(|it| TypedWords::of(&it).fill(text)) else {
                continue;
            };
            let Some(instead) = shlex::split(&instead) else {
                continue;
            };
            words.splice(place..=place, instead);
            first = Some((found, word));
            break;
        }
    }
    first
}

fn is_accepted(words: &[String]) -> bool {
    crate::program().try_get_matches_from(words).is_ok()
}

/// Returns the arguments, with `-- COMMAND` if they measure a suite and there is none here; commands are not selected.
pub fn with_command(words: &[String]) -> Vec<String> {
    const SELECTIONS: [&str; 4] = ["-b", "--benchmark", "--tag", "--variant"];
    let measures = |at: &usize| ["run", "bisect", "judge"].contains(&words[*at].as_str());
    let Some(at) = command_at(words).filter(measures) else {
        return words.to_vec();
    };
    let typed = TypedWords::after(words, at);
    let (names, options) = typed.parted();
    let is_named = words[at] == "run" && !names.is_empty() || options.contains(&"--command");
    if is_named || words.iter().any(|it| it == "--") || suite_file::here().is_some() {
        return words.to_vec();
    }
    let mut kept = words.to_vec();
    for name in SELECTIONS {
        while let Some(place) = kept.iter().position(|it| has_name(it, name)) {
            let values = usize::from(kept[place] == name);
            kept.drain(place..=(place + values).min(kept.len() - 1));
        }
    }
    kept.extend(["--".to_owned(), "COMMAND".to_owned()]);
    kept
}

/// Returns a line that may have several commands, from its text without `lapwing` at the beginning.
pub(super) fn whole_line(text: &str) -> String {
    match text.contains(" | lapwing ") {
        true => text.to_owned(),
        false => format!("lapwing {text}"),
    }
}

/// Returns words as they are typed.
pub fn line(words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|it| shell_word(it)).collect();
    words.join(" ")
}

/// Returns where our command stands.
pub(super) fn command_at(words: &[String]) -> Option<usize> {
    let program = crate::program();
    let own = words.iter().take_while(|word| *word != "--");
    let mut own = own.enumerate().skip(1);
    own.find(|(_, word)| program.find_subcommand(word).is_some())
        .map(|it| it.0)
}
