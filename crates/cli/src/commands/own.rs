//! `lapwing self`: manual pages, shell completions and schemas of the program itself.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;
use lapwing_model::text::counted;
use lapwing_show::answers::kinds;
use lapwing_show::answers::written::{self, WrittenAnswer};

use crate::error::{CliError, ExitStatus};
use crate::options::{Context, NamedValue, one_of};

/// Write manual pages, shell completions, or the JSON schema of suite files or answers
///
/// `lapwing self man ~/.local/share/man/man1`;
/// `lapwing self completions bash > ~/.local/share/bash-completion/completions/lapwing`;
/// `lapwing self schema suite > lapwing.schema.json`, then `#:schema ./lapwing.schema.json` as the first
/// line of lapwing.toml, by which editors complete and check it; `lapwing self schema answer compare` for what
/// `lapwing compare --format json` writes.
#[derive(Debug, Args)]
pub struct SelfCommand {
    /// Kind of file
    #[arg(value_name = "WHAT", value_parser = one_of(&PARTS))]
    part: OwnPart,
    /// Folder of the manual pages; shell: bash, elvish, fish, powershell or zsh; schema: suite or answer
    #[arg(value_name = "WHICH")]
    which: String,
    /// The answer of a schema: the word under `answer` in its JSON
    #[arg(value_name = "NAME")]
    name: Option<String>,
}

/// A part of the program's own documentation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnPart {
    Man,
    Completions,
    Schema,
}

const PARTS: [NamedValue<OwnPart>; 3] = [
    (
        "man",
        "Manual pages, to a folder: lapwing.1, lapwing-run.1 and so on",
        OwnPart::Man,
    ),
    (
        "completions",
        "Completions of a shell",
        OwnPart::Completions,
    ),
    ("schema", "The JSON schema of a file", OwnPart::Schema),
];

/// The schema of suite files.
const SUITE: &str = include_str!("../../assets/suite.schema.json");

impl SelfCommand {
    fn answer_schema(&self) -> Result<serde_json::Value, CliError> {
        let name = self.name.as_deref().unwrap_or_default();
        kinds::json_schema(name).ok_or_else(|| {
            let names = kinds::names();
            let error = match &self.name {
                Some(name) => CliError::input(format!("no answer is named `{name}`")),
                None => CliError::input("name an answer"),
            };
            let hint = format!("the answers are {}", names.join(", "));
            let names = names.into_iter().map(str::to_owned);
            error.hint(hint).candidates(names.collect())
        })
    }

    /// Writes it.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        match self.part {
            OwnPart::Man => return pages(Path::new(&self.which), context),
            OwnPart::Completions => {
                let shell = Shell::from_str(&self.which, true).map_err(|_unknown| {
                    CliError::input(format!("`{}` is no known shell", self.which))
                        .hint("the shells are bash, elvish, fish, powershell and zsh")
                })?;
                let mut command = crate::Arguments::command();
                // clap panics when it cannot write, such as into a closed pipe; into memory it always can.
                let mut script = Vec::new();
                clap_complete::generate(shell, &mut command, "lapwing", &mut script);
                context.terminal.file_out().write_all(&script)?;
            }
            OwnPart::Schema if self.which == "suite" => {
                context.terminal.file_out().write_all(SUITE.as_bytes())?;
            }
            OwnPart::Schema if self.which == "answer" => {
                let schema = self.answer_schema()?;
                let mut out = context.terminal.file_out();
                writeln!(out, "{}", serde_json::to_string_pretty(&schema)?)?;
            }
            OwnPart::Schema => {
                return Err(CliError::input(format!("no schema `{}`", self.which))
                    .hint("`suite` is that of suite files, `answer NAME` that of an answer")
                    .candidates(["suite", "answer"].map(str::to_owned).to_vec()));
            }
        }
        Ok(ExitStatus::Fine)
    }
}

/// Writes the manual pages.
fn pages(folder: &Path, context: &Context) -> Result<ExitStatus, CliError> {
    fs::create_dir_all(folder)?;
    let mut program = crate::Arguments::command();
    program.build();
    let pages = write(&program, "lapwing", folder)?;
    let answer = WrittenAnswer {
        kind: &written::MANUAL,
        path: folder,
        counts: [("pages", pages as u64)].into(),
        contents: format!(": {}", counted(pages, "manual page")),
        notes: Vec::new(),
        next: Vec::new(),
    };
    context.tell(&answer.answer()?)
}

/// Writes the page of a command and those of the commands within it; returns how many there are.
fn write(command: &clap::Command, name: &str, folder: &Path) -> Result<usize, CliError> {
    let own = command
        .clone()
        .name(name.to_owned())
        .display_name(name.to_owned());
    let mut page = Vec::new();
    clap_mangen::Man::new(own).render(&mut page)?;
    fs::write(folder.join(format!("{name}.1")), page)?;
    let within = command.get_subcommands();
    within
        .filter(|it| !it.is_hide_set() && it.get_name() != "help")
        .try_fold(1, |pages, it| {
            let name = format!("{name}-{}", it.get_name());
            Ok(pages + write(it, &name, folder)?)
        })
}
