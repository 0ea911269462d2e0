//! Forms of `lapwing trace` that older versions had.

use lapwing_model::text::shell_word;

use crate::error::CliError;

/// The commands that were views of `trace show`.
const VIEWS: [&str; 6] = [
    "findings",
    "tasks",
    "transfers",
    "controller",
    "profile",
    "lint",
];

/// Returns the answer to `trace show VIEW --file FILE --group GROUP`, which is now `trace VIEW FILE --by GROUP`.
pub fn renamed(words: &[String]) -> Option<CliError> {
    let at = words.iter().position(|word| word == "trace")?;
    let (before, own) = words.split_at(at + 1);
    let old = own.iter().find_map(|word| match name_of(word) {
        "show" if own.first() == Some(word) => Some("`lapwing trace show`"),
        "--file" => Some("`--file`"),
        "--group" => Some("`--group`"),
        _ => None,
    })?;
    let mut new: Vec<String> = before.to_vec();
    let mut own = own.iter().peekable();
    if own.next_if(|word| *word == "show").is_some()
        && !own.peek().is_some_and(|it| VIEWS.contains(&it.as_str()))
    {
        new.push("findings".to_owned());
    }
    for word in own {
        match (name_of(word), word.split_once('=')) {
            ("--file", None) => {}
            ("--file", Some((_, file))) => new.push(file.to_owned()),
            ("--group", None) => new.push("--by".to_owned()),
            ("--group", Some((_, group))) => new.push(format!("--by={group}")),
            _ => new.push(word.clone()),
        }
    }
    let files = words.iter().filter(|word| name_of(word) == "--file");
    if files.count() > 1 {
        // Each file was a trace of its own.
        match words[at + 1].starts_with('-') {
            true => new.insert(at + 1, "compare".to_owned()),
            false if new[at + 1] == "findings" => "compare".clone_into(&mut new[at + 1]),
            false => {}
        }
    }
    let new: Vec<String> = new.iter().map(|word| shell_word(word)).collect();
    let error = CliError::input(format!("{old} is a form of an older version"));
    Some(error.hint(format!("`{}`", new.join(" "))))
}

/// Returns an option without its value.
fn name_of(word: &str) -> &str {
    word.split_once('=').map_or(word, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_forms_of_trace_are_answered_with_the_new_one() {
        for (old, new) in [
            (
                "lapwing trace show findings --file a.log",
                Some("`lapwing trace findings a.log`"),
            ),
            (
                "lapwing --store s trace show --file=a.log --full",
                Some("`lapwing --store s trace findings a.log --full`"),
            ),
            (
                "lapwing trace show tasks --group host --file a.log",
                Some("`lapwing trace tasks --by host a.log`"),
            ),
            (
                "lapwing trace what-if --file a.log",
                Some("`lapwing trace what-if a.log`"),
            ),
            (
                "lapwing trace show findings --file a.log --file b.log",
                Some("`lapwing trace compare a.log b.log`"),
            ),
            (
                "lapwing trace --file=a.log --file b.log",
                Some("`lapwing trace compare a.log b.log`"),
            ),
            ("lapwing trace tasks a.log --bye", None),
            ("lapwing show --file a.log", None),
        ] {
            let words: Vec<String> = old.split(' ').map(str::to_owned).collect();
            let hint = renamed(&words).and_then(|error| error.hint);
            assert_eq!(hint.as_deref(), new, "{old}");
        }
    }
}
