//! `lapwing export --to arrow` and `--to parquet`: the tables of the contract (`docs/tables.md`).

use clap::ValueEnum;

#[cfg(feature = "tables")]
pub use written::write;

/// A table of the contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
#[value(rename_all = "snake_case")]
pub enum ExportTable {
    /// A row per value of an iteration, with whether it is analysed
    Iterations,
    /// A row per instance and metric: the mean of the values that are analysed
    Instances,
    /// A row per run: version, variant, factors, environment
    Runs,
    /// A row per run, benchmark and metric, as histories use them
    HistoryPoints,
    /// A row per span of a trace
    Spans,
    /// A row per instance of one study, with a column per factor
    StudyRuns,
    /// A row per value that is not analysed, and the rule that excludes it
    Exclusions,
}

#[cfg(not(feature = "tables"))]
mod absent {
    use super::super::{ExportCommand, ExportWritten};
    use crate::error::CliError;
    use crate::options::Context;

    /// Refuses tables, which this program cannot write.
    pub fn write(
        _command: &ExportCommand,
        _is_parquet: bool,
        _context: &Context,
    ) -> Result<ExportWritten, CliError> {
        Err(
            CliError::input("this `lapwing` was built without Arrow and Parquet").hint(
                "the wheel and the releases have them; from source: `cargo build --release --features tables`",
            ),
        )
    }
}

#[cfg(not(feature = "tables"))]
pub use absent::write;

#[cfg(feature = "tables")]
mod written {
    use std::fs::{self, File};
    use std::io::{self, BufWriter, Write};
    use std::path::Path;

    use lapwing_model::text::counted;
    use lapwing_record::{Filter, Store};
    use lapwing_tables::{
        Partition, TableError, TableForm, TableName, TableSink, write_measured, write_points,
        write_spans, write_study,
    };

    use super::super::{ExportCommand, ExportWritten};
    use super::ExportTable;
    use crate::commands::study::StudyDataOptions;
    use crate::error::CliError;
    use crate::options::Context;
    use crate::store::open_for_reading;
    use lapwing_record::atomic;
    use lapwing_study::StudyData;

    impl From<ExportTable> for TableName {
        fn from(table: ExportTable) -> Self {
            match table {
                ExportTable::Iterations => Self::Iterations,
                ExportTable::Instances => Self::Instances,
                ExportTable::Runs => Self::Runs,
                ExportTable::HistoryPoints => Self::HistoryPoints,
                ExportTable::Spans => Self::Spans,
                ExportTable::StudyRuns => Self::StudyRuns,
                ExportTable::Exclusions => Self::Exclusions,
            }
        }
    }

    /// The source of a table.
    struct TableSource<'c> {
        command: &'c ExportCommand,
        store: Store,
        filter: Filter,
        study: Option<StudyData>,
    }

    /// Writes a table to the file of the command, a folder of files, or standard output.
    pub fn write(
        command: &ExportCommand,
        is_parquet: bool,
        context: &Context,
    ) -> Result<ExportWritten, CliError> {
        let store = open_for_reading(context)?;
        super::super::refuse_files_of(&store, command.output.as_deref().unwrap_or(Path::new("")))?;
        let filter = command.filters.filter()?.resolve(&store)?;
        let study = match command.table {
            ExportTable::StudyRuns => {
                let options = StudyDataOptions {
                    filters: command.filters.clone(),
                    cleaning: command.cleaning.clone(),
                };
                Some(options.read(command.filters.filter()?, context)?)
            }
            _ => None,
        };
        let mut source = TableSource {
            command,
            store,
            filter,
            study,
        };
        let form = match is_parquet {
            true => TableForm::Parquet,
            false => TableForm::Arrow,
        };
        let rows = match (&command.output, command.partitioned) {
            (Some(folder), true) => source.write_folder(folder, form)?,
            (Some(path), false) => {
                let mut written = Ok(0);
                let replaced = atomic::replace_by(path, |out| {
                    written = source.write_one(out, form);
                    match &written {
                        Ok(_) => Ok(()),
                        Err(_) => Err(io::Error::other("not written")),
                    }
                });
                let rows = written?;
                replaced.map_err(|error| cannot_write(path, &error))?;
                rows
            }
            (None, _) => {
                let Some(out) = context.terminal.bytes_out() else {
                    return Err(CliError::input(
                        "a table of Arrow or Parquet is no text for a terminal",
                    )
                    .hint("write it to a file (`-o FILE`) or to another program"));
                };
                source.write_one(BufWriter::new(out), form)?
            }
        };
        Ok(ExportWritten {
            count: ("rows", rows),
            what: counted(rows, "row"),
            notes: Vec::new(),
        })
    }

    fn cannot_write(path: &Path, error: &io::Error) -> CliError {
        CliError::input(format!("cannot write {}: {error}", path.display()))
    }

    fn failed(error: TableError) -> CliError {
        match error {
            TableError::Store(error) => error.into(),
            other => CliError::input(other),
        }
    }

    impl TableSource<'_> {
        fn write_one<W: Write + Send>(&mut self, out: W, form: TableForm) -> Result<u64, CliError> {
            let mut out = Some(out);
            let open = |_: &Partition| out.take().ok_or_else(|| io::Error::other("a second file"));
            self.fill(form, false, open)
        }

        /// Writes `suite=…/month=…/part-0.parquet` below a folder that is new or empty.
        fn write_folder(&mut self, folder: &Path, form: TableForm) -> Result<u64, CliError> {
            fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
            let is_taken = fs::read_dir(folder).is_ok_and(|mut it| it.next().is_some());
            if is_taken {
                return Err(
                    CliError::input(format!("{} is not empty", folder.display()))
                        .hint("partitions are written to a new folder"),
                );
            }
            let open = |partition: &Partition| {
                let place = folder
                    .join(format!("suite={}", encoded(&partition.suite)))
                    .join(format!("month={}", partition.month));
                fs::create_dir_all(&place)?;
                Ok(BufWriter::new(File::create_new(
                    place.join("part-0.parquet"),
                )?))
            };
            self.fill(form, true, open)
        }

        fn fill<W: Write + Send>(
            &mut self,
            form: TableForm,
            is_partitioned: bool,
            open: impl FnMut(&Partition) -> io::Result<W> + Send,
        ) -> Result<u64, CliError> {
            let table = TableName::from(self.command.table);
            let factors: Vec<String> = self
                .study
                .iter()
                .flat_map(|it| &it.factors)
                .map(|it| it.name.clone())
                .collect();
            let mut sink = TableSink::new(table, &factors, form, is_partitioned, open);
            match (table, &self.study) {
                (TableName::StudyRuns, Some(study)) => write_study(study, &mut sink),
                (TableName::HistoryPoints, _) => {
                    write_points(&mut self.store, &self.filter, &mut sink)
                }
                (TableName::Spans, _) => write_spans(&self.store, &self.filter, &mut sink),
                _ => {
                    let rules = self.command.cleaning.judging()?.rules;
                    write_measured(table, &self.store, &self.filter, &rules, &mut sink)
                }
            }
            .map_err(failed)?;
            sink.finish().map_err(failed)
        }
    }

    /// Returns a text as part of a path, as Hive writes it: `%2F` for a slash.
    fn encoded(text: &str) -> String {
        text.chars()
            .map(|it| match it {
                '/' | '%' | '=' | '\\' | ':' | '\0' => format!("%{:02X}", u32::from(it)),
                other => other.to_string(),
            })
            .collect()
    }
}
