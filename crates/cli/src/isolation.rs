//! The option that isolates measured commands, and what it asks of this machine.

use clap::Args;
use lapwing_measure::local::LocalExecutor;
use lapwing_measure::suite::Isolation;

use crate::error::CliError;
use crate::options::{Context, NamedValue, one_of};

const ISOLATIONS: [NamedValue<Isolation>; 3] = [
    (
        "always",
        "Completely, or nothing is measured",
        Isolation::Complete,
    ),
    ("possible", "As far as the kernel can", Isolation::Possible),
    ("never", "Not at all", Isolation::Off),
];

/// The option of isolation.
#[derive(Debug, Clone, Default, Args)]
pub struct IsolationOptions {
    /// Isolate what is measured: it reads the system, its Python environment and the working directory, writes to a
    /// scratch folder, sees no other process and no network, and has common limits of memory and processes
    /// [default: never; possible for `stack run`]
    #[arg(long, value_name = "WHEN", value_parser = one_of(&ISOLATIONS), num_args = 0..=1, require_equals = true, default_missing_value = "always", help_heading = "Parameters and limits")]
    pub isolate: Option<Isolation>,
    /// The isolation without the option.
    #[arg(skip)]
    pub usual: Isolation,
}

impl IsolationOptions {
    /// Returns the isolation that is wanted.
    pub fn isolation(&self) -> Isolation {
        self.isolate.unwrap_or(self.usual)
    }

    /// Refuses complete isolation where the machine has no such thing, and notes what it does not have.
    pub fn check(&self, executor: &mut LocalExecutor, context: &Context) -> Result<(), CliError> {
        let isolation = self.isolation();
        if isolation == Isolation::Off {
            return Ok(());
        }
        let abilities = executor.abilities()?;
        let missing: Vec<String> = abilities
            .missing_isolation()
            .iter()
            .map(|(part, reason)| format!("{} ({reason})", part.text()))
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let missing = missing.join("; ");
        match isolation {
            Isolation::Complete => Err(CliError::input(format!("not isolated here: {missing}"))
                .hint("`--isolate=possible` does what this machine can, and `lapwing doctor` shows that")),
            Isolation::Possible | Isolation::Off => {
                if !context.quiet {
                    context.terminal.note(&format!("not isolated here: {missing}"));
                }
                Ok(())
            }
        }
    }
}
