//! `lapwing help`, and the commands in groups.

use std::io::Write as _;

use clap::{Args, Command};

use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// The commands that most people need, by what they are for.
const GROUPS: [(&str, &[&str]); 3] = [
    ("Measure", &["run", "time", "init", "doctor"]),
    ("Decide", &["compare", "judge", "detect", "bisect", "plan"]),
    ("Keep", &["show", "list", "report", "import", "export"]),
];

/// Print the help of a command, or all commands
#[derive(Debug, Args)]
pub struct HelpCommand {
    /// List all commands
    #[arg(long)]
    all: bool,
    /// The command, such as `trace findings`
    #[arg(value_name = "COMMAND")]
    words: Vec<String>,
}

impl HelpCommand {
    /// Prints the help.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let mut program = crate::program();
        if self.all {
            program = program.help_template(template(&crate::program(), true));
        }
        program.build();
        let mut command = &mut program;
        for word in &self.words {
            // What follows is an argument: `lapwing help list sessions`.
            if !command.has_subcommands() {
                break;
            }
            command = command.find_subcommand_mut(word).ok_or_else(|| {
                CliError::input(format!("there is no command `{}`", self.words.join(" ")))
                    .hint("`lapwing help --all` lists the commands")
            })?;
        }
        let text = command.render_long_help();
        write!(context.terminal.out(), "{text}")?;
        Ok(ExitStatus::Fine)
    }
}

/// Returns the program with a help that lists the usual commands in groups.
pub fn in_groups(program: Command) -> Command {
    let template = template(&program, false);
    program.help_template(template)
}

/// Returns the template of the help of the program, with a line for each of the rarer commands if all are listed.
fn template(program: &Command, has_all: bool) -> String {
    let line = |name: &str| {
        let command = program.find_subcommand(name)?;
        let about = command.get_about().map(ToString::to_string);
        Some(format!("  {name:<12} {}\n", about.unwrap_or_default()))
    };
    let mut text = "{about-with-newline}\n{usage-heading} {usage}\n".to_owned();
    for (title, names) in GROUPS {
        let lines = names.iter().filter_map(|name| line(name));
        text.push_str(&format!("\n{title}:\n{}", lines.collect::<String>()));
    }
    let is_usual = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let others = program.get_subcommands().filter(|it| !it.is_hide_set());
    let others: Vec<&str> = others
        .map(Command::get_name)
        .filter(|name| !is_usual(name))
        .collect();
    if has_all {
        let lines = others.iter().filter_map(|name| line(name));
        text.push_str(&format!("\nMore:\n{}", lines.collect::<String>()));
    } else {
        text.push_str(&format!(
            "\nMore: {}\n(`lapwing help --all` says what they do)\n",
            others.join(", ")
        ));
    }
    text.push_str("\n{options}{after-help}");
    text
}
