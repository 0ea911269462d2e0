//! `lapwing man`: manual pages.

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory};
use lapwing_model::text::counted;

use crate::error::{CliError, ExitStatus};
use crate::options::Context;

/// Write manual pages, as in `lapwing man ~/.local/share/man/man1`
#[derive(Debug, Args)]
pub struct ManCommand {
    /// Folder for them: lapwing.1, lapwing-run.1 and so on
    folder: PathBuf,
}

impl ManCommand {
    /// Writes them.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        fs::create_dir_all(&self.folder)?;
        let mut program = crate::Arguments::command();
        program.build();
        let pages = write(&program, "lapwing", &self.folder)?;
        if !context.quiet {
            let pages = counted(pages, "manual page");
            let folder = self.folder.display();
            context
                .terminal
                .say(&format!("{pages} written to {folder}"));
        }
        Ok(ExitStatus::Fine)
    }
}

/// Writes the page of a command and those of the commands within it; returns how many there are.
fn write(command: &clap::Command, name: &str, folder: &std::path::Path) -> Result<usize, CliError> {
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
