//! `lapwing report`: a static site of everything that was measured.

use std::path::PathBuf;

use clap::Args;
use jiff::Timestamp;
use lapwing_core::show::report::{DirectoryError, Options, ReportWriter};
use lapwing_core::record::StoreError;

use crate::error::{CliError, Exit};
use crate::options::{Context, Filters};
use crate::store;
use crate::table::counted;

/// Write a report of what was measured: pages that any browser opens, without a server
#[derive(Debug, Args)]
pub struct Report {
    /// Folder of the report; one that holds something else is left alone
    #[arg(long, short, value_name = "DIR", default_value = "lapwing-report")]
    output: PathBuf,
    /// Title of the report [default: names of the suites]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    filters: Filters,
}

/// What can go wrong between the store and the pages.
#[derive(Debug, thiserror::Error)]
enum ReportError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Directory(#[from] DirectoryError),
}

impl Report {
    /// Writes it.
    pub fn act(self, context: &Context) -> Result<Exit, CliError> {
        let filter = self.filters.resolve()?;
        let store = store::open_for_reading(context)?;
        let options = Options {
            title: self.title(&store)?,
            made: format!(
                "Written by lapwing {} from {} at {}.",
                env!("CARGO_PKG_VERSION"),
                context.store.display(),
                Timestamp::now().strftime("%Y-%m-%d %H:%M UTC")
            ),
        };
        let mut writer = ReportWriter::create(&self.output, options)?;
        store.each_benchmark(&filter, |data| {
            writer.add(data)?;
            Ok::<(), ReportError>(())
        })?;
        let written = writer.finish()?;
        if !context.quiet {
            let benchmarks = counted(written.benchmarks as u64, "benchmark");
            context.terminal.say(&format!("a report of {benchmarks}:"));
        }
        let index = std::path::absolute(&written.index)?;
        use std::io::Write;
        writeln!(context.terminal.out(), "{}", index.display())?;
        Ok(Exit::Fine)
    }

    fn title(&self, store: &lapwing_core::record::Store) -> Result<String, CliError> {
        if let Some(title) = &self.title {
            return Ok(title.clone());
        }
        let mut suites: Vec<String> = store
            .sessions(&self.filters.resolve()?)?
            .into_iter()
            .map(|row| row.suite)
            .collect();
        suites.sort_unstable();
        suites.dedup();
        Ok(match suites.as_slice() {
            [] => "Lapwing report".to_owned(),
            [one] => one.clone(),
            [first, others @ ..] => format!("{first} and {} more", counted(others.len() as u64, "suite")),
        })
    }
}
