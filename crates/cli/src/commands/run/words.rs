//! The commands that are given on the command line.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use lapwing_measure::suite::CommandLine;

use crate::error::CliError;

/// Whether programs are there before anything is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramOrigin {
    Present,
    /// A build makes them, so that a path need not exist yet.
    Built,
    /// Another shell than `sh` finds them.
    OtherShell,
}

/// Returns the commands of `--command` and of the words after `--`.
///
/// Words are one command, run without a shell. Only if the first one has spaces, and so cannot be a program, is each
/// of them a shell command. Words that could be either are refused.
pub fn commands(
    shell: &[String],
    words: &[String],
    origin: ProgramOrigin,
) -> Result<Vec<CommandLine>, CliError> {
    let of_shell = |texts: &[String]| -> Vec<CommandLine> {
        texts.iter().cloned().map(CommandLine::Shell).collect()
    };
    let is_blank = |text: &String| text.trim().is_empty();
    if shell.iter().any(is_blank) || words.first().is_some_and(is_blank) {
        return Err(CliError::input("a command to measure is empty"));
    }
    let find = |texts: &[String]| match origin {
        ProgramOrigin::OtherShell => Ok(()),
        ProgramOrigin::Present | ProgramOrigin::Built => {
            texts.iter().try_for_each(|text| find_first_word(text))
        }
    };
    let Some(first) = words.first() else {
        find(shell)?;
        return Ok(of_shell(shell));
    };
    if has_spaces(first) && !Path::new(first).exists() {
        find(words)?;
        return Ok(of_shell(words));
    }
    refuse_ambiguous(words)?;
    let is_built = origin == ProgramOrigin::Built && first.contains('/');
    if !is_built && !is_program(first) {
        return Err(no_program(first));
    }
    Ok(vec![CommandLine::Words(words.to_vec())])
}

/// Returns a note on words that are all paths of programs: they are one command, but may be meant as several.
pub(super) fn one_command_note(words: &[String]) -> Option<String> {
    let is_path_of_program = |word: &String| word.contains('/') && is_executable(Path::new(word));
    (words.len() > 1 && words.iter().all(is_path_of_program)).then(|| {
        let all: Vec<String> = words.iter().map(|word| quoted(word)).collect();
        let several: Vec<String> = all.iter().map(|word| format!("-c {word}")).collect();
        format!(
            "`{}` is measured as one command; `{}` compares {}",
            all.join(" "),
            several.join(" "),
            words.len()
        )
    })
}

/// Returns the commands among positional arguments, the first of which is otherwise a suite file: texts with spaces
/// are shell commands, and so is the name of a program.
pub(super) fn in_place_of_suite(
    texts: &[String],
    typed: &[String],
) -> Result<Vec<String>, CliError> {
    let Some(first) = texts.first() else {
        return Ok(Vec::new());
    };
    if texts.iter().any(|text| has_spaces(text)) && !Path::new(first).exists() {
        return Ok(texts.to_vec());
    }
    if texts.len() == 1 {
        let path = Path::new(first);
        let is_command = is_executable(path) || is_program(first) && !path.exists();
        return Ok(texts.iter().filter(|_| is_command).cloned().collect());
    }
    let all: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
    let all = all.join(" ");
    let one = in_place_of(texts, typed, "");
    let one = format!("{} -- {all}", one.trim_end());
    Err(if texts.iter().all(|text| is_program(text)) {
        CliError::input(format!("`{all}` may be one command or {}", texts.len())).hint(format!(
            "write `{}` for {} commands, or `{one}` for one",
            in_place_of(texts, typed, "-c "),
            texts.len()
        ))
    } else if is_program(first) {
        CliError::input(format!("`{all}` is no suite file"))
            .hint(format!("to measure it as one command, write `{one}`"))
    } else {
        CliError::input("one suite file at a time can be measured")
    })
}

/// Returns the typed words with an option before each of these texts, or without them.
fn in_place_of(texts: &[String], typed: &[String], option: &str) -> String {
    let mut left = texts.iter().rev().peekable();
    let mut words = Vec::new();
    for word in typed.iter().rev() {
        match left.next_if(|text| *text == word) {
            Some(_) if option.is_empty() => {}
            Some(text) => words.push(format!("{option}{}", quoted(text))),
            None => words.push(quoted(word)),
        }
    }
    words.reverse();
    words.join(" ")
}

/// Returns the error for a positional argument that is a command, not a suite file.
pub(super) fn not_a_suite(text: &str) -> Option<CliError> {
    let first = text.split_whitespace().next()?;
    let is_command = (has_spaces(text) || is_program(first)) && !Path::new(text).exists();
    is_command.then(|| {
        CliError::input(format!("`{text}` is a command, not a suite file")).hint(format!(
            "to measure it, write `lapwing run --command {}`",
            quoted(text)
        ))
    })
}

fn has_spaces(text: &str) -> bool {
    text.contains(char::is_whitespace)
}

/// Refuses words of which each could be a command: `true 'sleep 0.1'` may be one command with an argument, or two.
fn refuse_ambiguous(words: &[String]) -> Result<(), CliError> {
    let could_be_command = |word: &String| word.split_whitespace().next().is_some_and(is_program);
    let has_command_line = words.iter().any(|word| has_spaces(word));
    if words.len() < 2 || !has_command_line || !words.iter().all(could_be_command) {
        return Ok(());
    }
    let all: Vec<String> = words.iter().map(|word| quoted(word)).collect();
    let several: Vec<String> = all.iter().map(|word| format!("-c {word}")).collect();
    Err(CliError::input(format!(
        "`{}` may be one command or {}",
        all.join(" "),
        words.len()
    ))
    .hint(format!(
        "write `{}` for {} commands, or `-c {}` for one",
        several.join(" "),
        words.len(),
        quoted(&all.join(" "))
    )))
}

/// Quotes a text for a shell, if that is necessary.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./=:,+@%".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    if text.contains('\'') {
        return format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    }
    format!("'{text}'")
}

/// Refuses a shell command whose first word is no program, before it fails in every execution. Only plain words are
/// checked: the shell knows variables, functions and its own commands.
fn find_first_word(text: &str) -> Result<(), CliError> {
    /// Commands that shells have themselves, and words of their language.
    const OF_SHELLS: [&str; 30] = [
        ".", ":", "alias", "break", "case", "cd", "command", "continue", "eval", "exec", "exit",
        "export", "for", "function", "if", "local", "read", "return", "set", "shift", "source",
        "time", "times", "trap", "ulimit", "umask", "unset", "until", "wait", "while",
    ];
    if text.contains("||") {
        return Ok(());
    }
    let first = text.split_whitespace().next().unwrap_or_default();
    let is_plain = first
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || "_-./+".contains(c));
    if !is_plain || OF_SHELLS.contains(&first) || first.contains('/') || is_program(first) {
        return Ok(());
    }
    Err(no_program(first))
}

fn is_program(name: &str) -> bool {
    if name.contains('/') {
        return Path::new(name).is_file();
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
}

/// Returns whether a path is a program: suite files cannot be executed.
pub fn is_executable(path: &Path) -> bool {
    let is_suite = path.extension().is_some_and(|it| it == "toml");
    let mode = path
        .metadata()
        .map(|it| (it.is_file(), it.permissions().mode()));
    !is_suite && mode.is_ok_and(|(is_file, mode)| is_file && mode & 0o111 != 0)
}

/// Refuses options of commands beside a name that is neither a suite file nor a program.
pub(super) fn refuse_unknown(name: Option<&Path>) -> Result<(), CliError> {
    match name {
        Some(name) if !name.exists() => Err(CliError::input(format!(
            "there is no program and no suite file `{}`",
            name.display()
        ))
        .hint("check its name, or give its path")),
        Some(_) | None => Ok(()),
    }
}

fn no_program(name: &str) -> CliError {
    CliError::input(format!("there is no program `{name}`"))
        .hint("check its name, or give its path; a shell command goes with --command")
}
