//! `lapwing study split`: makes several factors of one.

use std::path::{Path, PathBuf};

use clap::Args;
use lapwing_model::text::first_names;
use lapwing_record::files::{LONGEST_SETTINGS, create_new, read_text};
use lapwing_show::answers::study::SplitAnswer;
use lapwing_show::writing::NextStep;
use std::io::Write;

use crate::error::{CliError, ExitStatus};
use crate::options::{AnswerOptions, Context};
use crate::suite::suite_file::{self, SUITE_FILE};
use crate::suite::suite_update;

/// Make several factors of one: of each hunk of its patch, word of its arguments, or variable
///
/// Where a factor matters, its parts say which of its changes does. Each part gets a table of its own in the suite file, with the
/// same `requires`, `excludes` and tags; hunks become patches beside that of the factor.
#[derive(Debug, Args)]
pub struct StudySplit {
    /// The factor
    #[arg(value_name = "FACTOR")]
    factor: String,
    /// Suite file [default: lapwing.toml]
    #[arg(id = "studied_suite", value_name = "SUITE")]
    suite: Option<PathBuf>,
    /// Show the parts, and write nothing
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    answer: AnswerOptions,
}

impl StudySplit {
    /// Writes the parts and shows them.
    pub fn act(self, context: &Context) -> Result<ExitStatus, CliError> {
        let path = match &self.suite {
            Some(path) => suite_file::named(path),
            None => suite_file::here().ok_or_else(|| {
                CliError::input(format!("there is no {SUITE_FILE} here"))
                    .hint("name the suite file after the factor")
            })?,
        };
        let file = suite_update::load(&path)?;
        if file.edited().factor(&self.factor).is_none() {
            let known = file.edited().factors().iter();
            let known = first_names(known.map(|it| it.name.as_str()), 8);
            return Err(
                CliError::input(format!("the suite has no factor `{}`", self.factor))
                    .hint(format!("available: {known}")),
            );
        }
        let folder = path.parent().unwrap_or(Path::new("")).to_owned();
        let patch = file.edited().patch_of(&self.factor);
        let patch = patch.map(|patch| read_text(&folder.join(patch), LONGEST_SETTINGS));
        let patch = patch.transpose()?;
        let split = file.split(&self.factor, patch.as_deref())?;
        if !self.dry_run {
            for (name, content) in &split.patches {
                let patch = folder.join(name);
                let written =
                    create_new(&patch).and_then(|mut it| it.write_all(content.as_bytes()));
                written.map_err(|error| {
                    CliError::input(format!("{}: {error}", patch.display()))
                        .consequence(format!("{} was not changed", path.display()))
                })?;
            }
            suite_update::write(&path, &split.text)?;
        }
        let program = context.program();
        let answer = SplitAnswer {
            next: if self.dry_run {
                NextStep::new(
                    format!("{program} study split {}", self.factor),
                    "writes them",
                )
            } else {
                NextStep::new(
                    format!("{program} study design"),
                    "chooses combinations of the new factors",
                )
            },
            factor: self.factor,
            suite_file: path.display().to_string(),
            parts: split.parts,
            patches: split.patches.into_iter().map(|(name, _)| name).collect(),
            is_written: !self.dry_run,
        };
        context.show(&answer, &self.answer)
    }
}
