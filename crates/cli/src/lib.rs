//! The `lapwing` program: arguments become requests and questions, which the library answers.

mod benchmark_side;
mod cleaning;
mod commands;
mod comparing;
mod door;
mod error;
mod foreign;
mod hints;
mod isolation;
mod main_runs;
mod options;

mod profile;
mod progress;
mod remote;
mod review;
mod samples;
mod self_testing;
mod session;
mod store;
mod suite;

mod temporary;
mod terminal;

use std::io::Write;
use std::os::unix::process::parent_id;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory, FromArgMatches, Parser};
use lapwing_measure::local::{LAUNCHER_ARGUMENT, hide_from_children, serve_as_launcher};
use lapwing_show::answers::error::ErrorAnswer;
use lapwing_show::writing::{AnswerFormat, Note, safe};
use rustix::process::{Signal, getpid, kill_process};

use crate::commands::FilesRead;
use crate::door::Door;
use crate::error::CliError;
use crate::foreign::Understood;
use crate::terminal::Terminal;

/// Measure how fast software is, keep every measurement, and compare with honest statistics
#[derive(Debug, Parser)]
#[command(
    name = "lapwing",
    version,
    propagate_version = true,
    disable_help_subcommand = true,
    override_usage = "lapwing [OPTIONS] <COMMAND>\n       lapwing [OPTIONS] FILE…",
    after_help = "`lapwing FILE…` says what there is to say of results in any format: one result, two to compare, a\nhistory and its changes, a trace, or a suite. Nothing is stored.",
    max_term_width = 100
)]
struct Arguments {
    #[command(flatten)]
    common: options::CommonOptions,
    #[command(subcommand)]
    command: commands::Command,
}

/// Runs the program with the arguments of this process.
pub fn run() -> ExitCode {
    // First, so that the launcher process stays small.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|it| it == LAUNCHER_ARGUMENT)
    {
        return serve_as_launcher(std::env::args().nth(2).as_deref());
    }
    // Before there is another thread or process.
    hide_from_children(&std::env::vars_os().collect::<Vec<_>>());
    let mut program = program();
    program.build();
    let understood = match foreign::understood(std::env::args_os().collect()) {
        Ok(understood) => understood,
        Err(error) => return refuse_words(error),
    };
    let Parsed {
        arguments,
        understood,
        opened,
        notes,
    } = match Parsed::of(understood, &mut program) {
        Ok(parsed) => parsed,
        Err(refused) => return refused,
    };
    let context = options::Context {
        opened: Mutex::new(opened),
        labels: understood.labels,
        file_notes: understood.note.into_iter().chain(notes).collect(),
        command: understood.command,
        ..options::Context::new(arguments.common)
    };
    if let Err(error) = check_clock() {
        return report(error, &context);
    }
    if context.for_notebook {
        end_with_parent();
    }
    match arguments.command.act(&context) {
        Ok(error::ExitStatus::Interrupted) if context.lacks_json() => {
            let status = error::ExitStatus::Interrupted;
            let command = context.command.clone();
            write_error(&ErrorAnswer::new(
                command,
                "interrupted".to_owned(),
                status.number(),
            ));
            status.into()
        }
        Ok(code) => code.into(),
        Err(error) => {
            let error = foreign::explained(hints::with_hint(error), &context.command);
            report(error, &context)
        }
    }
}

/// Interrupts this process when the one that started it has ended: its answer would not be read.
fn end_with_parent() {
    let parent = parent_id();
    thread::spawn(move || {
        while parent_id() == parent {
            thread::sleep(BETWEEN_LOOKS);
        }
        let _ended = kill_process(getpid(), Signal::INT);
    });
}

/// The time between two looks for the process that started this one.
const BETWEEN_LOOKS: Duration = Duration::from_millis(500);

/// The arguments of this process, and what they mean.
struct Parsed {
    arguments: Arguments,
    understood: Understood,
    /// The files, if they were read to find the command.
    opened: Option<FilesRead>,
    /// Remarks on what the command leaves aside.
    notes: Vec<Note>,
}

impl Parsed {
    /// Parses arguments; those that are refused because of words of another program once more in ours.
    fn of(understood: Understood, program: &mut Command) -> Result<Self, ExitCode> {
        let mut understood = understood;
        let mut is_first = true;
        loop {
            let words = understood.words.clone();
            let door = Door::of(words, program).map_err(|it| refuse_words(hints::with_hint(it)))?;
            let matches = program.try_get_matches_from_mut(door.words);
            let error = match matches.and_then(|it| Arguments::from_arg_matches(&it)) {
                Ok(arguments) => {
                    return Ok(Self {
                        arguments,
                        understood,
                        opened: door.opened,
                        notes: door.notes,
                    });
                }
                Err(error) => error,
            };
            let is_refused = error.exit_code() != 0;
            let command = &understood.command;
            let renamed = is_refused.then(|| commands::renamed(command)).flatten();
            let answer = renamed
                .map(Err)
                .or_else(|| foreign::answer(&error, command));
            match answer {
                Some(Ok(other)) if is_first => understood = other,
                Some(Ok(_)) | None => {
                    return Err(neither(&error, &understood.command)
                        .map_or_else(|| refuse(&error), refuse_words));
                }
                Some(Err(error)) => return Err(refuse_words(error)),
            }
            is_first = false;
        }
    }
}

/// Returns the arguments of the program, with help that is short where it can be.
fn program() -> Command {
    commands::in_groups(with_short_help(Arguments::command()))
}

/// Keeps `-h` short: options below a heading are in `--help` only, unless they have a letter.
fn with_short_help(command: Command) -> Command {
    command
        .mut_args(|option| {
            let is_rare = option.get_help_heading().is_some() && option.get_short().is_none();
            option.hide_short_help(is_rare)
        })
        .mut_subcommands(with_short_help)
}

/// Returns the error on a word that is neither a command nor a file.
fn neither(error: &clap::Error, words: &[String]) -> Option<CliError> {
    let Some(ContextValue::String(name)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let program = program();
    let is_shown = |it: &String| {
        let command = program.find_subcommand(it);
        command.is_some_and(|command| command.get_name() == it && !command.is_hide_set())
    };
    let alike = candidates(error).into_iter().rev().filter(is_shown);
    let alike: Vec<String> = alike.collect();
    let is_first = words.get(1) == Some(name);
    let run = foreign::line(&[&["lapwing".to_owned(), "run".to_owned()], &words[1..]].concat());
    let is_program = is_first && door::is_command(name);
    let hint = match &alike[..] {
        [] if is_program => {
            format!("`{run}` measures it as a command; `lapwing help` lists the commands")
        }
        alike if is_program => {
            let alike = alike.join(", ");
            format!("`{run}` measures it as a command; similar commands of lapwing: {alike}")
        }
        [] => "`lapwing help` lists the commands".to_owned(),
        alike => format!("similar commands: {}", alike.join(", ")),
    };
    let text = format!("there is no command and no file `{name}`");
    Some(CliError::input(text).hint(hint).candidates(alike))
}

/// Shows what is wrong with the arguments, or the help that they ask for.
fn refuse(error: &clap::Error) -> ExitCode {
    let text = error.render().to_string();
    if text == safe(&text) {
        // As `parse` does; nothing can be said if that fails.
        let _unseen = error.print();
    } else {
        let _unseen = std::io::stderr().write_all(safe(&text).as_bytes());
    }
    let status = match error.exit_code() {
        0 => return error::ExitStatus::Fine.into(),
        _ => refusal_status(),
    };
    let words = options::command_words(&std::env::args_os().collect::<Vec<_>>());
    if options::is_json_asked(&words) {
        let text = error.to_string();
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        let first = lines.next().unwrap_or_default();
        let first = first.trim_start_matches("error: ");
        let missing = match error.get(ContextKind::InvalidArg) {
            Some(ContextValue::Strings(names)) if first.ends_with(':') => names.join(", "),
            Some(_) | None => String::new(),
        };
        let first = format!("{first} {missing}").trim_end().to_owned();
        let hint = lines.find_map(|line| line.strip_prefix("tip: "));
        let mut answer = ErrorAnswer::new(words, first, status.number());
        answer.hint = hint.map(str::to_owned);
        answer.candidates = candidates(error);
        write_error(&answer);
    }
    status.into()
}

/// Shows why arguments are refused, such as an option of another program, and what to use instead.
fn refuse_words(error: CliError) -> ExitCode {
    let status = match refusal_status() {
        error::ExitStatus::Input => error.exit,
        other => other,
    };
    Terminal::new(false).error(&error);
    let words = options::command_words(&std::env::args_os().collect::<Vec<_>>());
    if options::is_json_asked(&words) {
        write_error(&ErrorAnswer {
            consequence: error.consequence.clone(),
            hint: error.hint.clone(),
            candidates: error.candidates.clone(),
            ..ErrorAnswer::new(words, error.sentence(), status.number())
        });
    }
    status.into()
}

/// Returns the exit code for arguments that are refused.
fn refusal_status() -> error::ExitStatus {
    if std::env::args_os().any(|it| it == "judge") {
        // `git bisect run` would take any smaller one for "bad".
        error::ExitStatus::Abort
    } else {
        error::ExitStatus::Input
    }
}

/// Returns the names of a text such as "did you mean `a` or `b`?".
fn meant(text: &str) -> Option<Vec<String>> {
    let (_, names) = text.split_once("did you mean ")?;
    let (names, _) = names.split_once('?')?;
    Some(
        names
            .split('`')
            .skip(1)
            .step_by(2)
            .map(str::to_owned)
            .collect(),
    )
}

/// Returns the names that would have been right.
fn candidates(error: &clap::Error) -> Vec<String> {
    let kinds = [
        ContextKind::SuggestedArg,
        ContextKind::SuggestedSubcommand,
        ContextKind::SuggestedValue,
        ContextKind::ValidValue,
    ];
    let known = kinds.iter().filter_map(|kind| error.get(*kind));
    let names = known.flat_map(|value| match value {
        ContextValue::String(name) => vec![name.clone()],
        ContextValue::Strings(names) => names.clone(),
        _ => Vec::new(),
    });
    names.collect()
}

/// Writes an error for programs on standard output; if nothing can be written there, standard error has it.
fn write_error(answer: &ErrorAnswer) {
    let mut text = serde_json::to_string_pretty(answer).unwrap_or_default();
    text.push('\n');
    let mut out = Terminal::new(false).out_as(AnswerFormat::Json);
    let _unseen = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}

/// Refuses a clock whose time no record can have.
fn check_clock() -> Result<(), CliError> {
    const LAST: u64 = 253_402_207_200;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    match now.map(|since| since.as_secs()) {
        Ok(seconds) if seconds < LAST => Ok(()),
        Ok(_) | Err(_) => Err(CliError::input(
            "the clock of this machine shows a time before 1970 or after 9999",
        )
        .hint("set it, then try again")),
    }
}

/// Returns the launcher of measured commands: the small program beside this one, or else this
/// program itself, which does the same with more memory.
fn launcher_program() -> PathBuf {
    std::env::current_exe()
        .ok()
        .map(|program| program.with_file_name("lapwing-launcher"))
        .filter(|program| program.is_file())
        // Not by its path: it may have been replaced since this process started.
        .unwrap_or_else(|| PathBuf::from("/proc/self/exe"))
}

fn report(error: CliError, context: &options::Context) -> ExitCode {
    // The reader closed our output early (`lapwing list | head`): no error, so that scripts with
    // `pipefail` continue.
    if error.is_broken_pipe() {
        return error::ExitStatus::Fine.into();
    }
    context.terminal.error(&error);
    if context.lacks_json() {
        let sentence = error.sentence();
        let candidates = if error.candidates.is_empty() {
            let hint = error.hint.as_deref().unwrap_or_default();
            meant(&sentence).or_else(|| meant(hint)).unwrap_or_default()
        } else {
            error.candidates
        };
        write_error(&ErrorAnswer {
            consequence: error.consequence,
            hint: error.hint,
            candidates,
            ..ErrorAnswer::new(context.command.clone(), sentence, error.exit.number())
        });
    }
    error.exit.into()
}
