//! Where tables are written to: one stream, one file, or a file for each suite and month.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use arrow_ipc::writer::StreamWriter;
use arrow_schema::Schema;

use crate::TableError;
use crate::batch::{BatchBuilder, RowBlock};
use crate::columns::TableName;
use crate::parquet_file::ParquetFile;

/// The format of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableForm {
    /// A stream of Arrow's interprocess communication.
    Arrow,
    /// A file of Parquet.
    Parquet,
}

/// The rows that are written together.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Partition {
    /// The suite; empty if all rows are written together.
    pub suite: String,
    /// The month in which the session began, such as `2026-11`; empty if all rows are written together.
    pub month: String,
}

/// The output of a table. `open` is called once for each partition.
pub struct TableSink<W: Write + Send, O: FnMut(&Partition) -> std::io::Result<W>> {
    form: TableForm,
    schema: Arc<Schema>,
    is_partitioned: bool,
    open: O,
    parts: BTreeMap<Partition, TablePart<W>>,
    rows: u64,
}

struct TablePart<W: Write + Send> {
    batch: BatchBuilder,
    out: PartWriter<W>,
}

enum PartWriter<W: Write + Send> {
    Arrow(StreamWriter<W>),
    Parquet(ParquetFile<W>),
}

impl<W: Write + Send, O: FnMut(&Partition) -> std::io::Result<W>> TableSink<W, O> {
    /// Returns the sink of a table; `factors` are those of a study.
    pub fn new(
        table: TableName,
        factors: &[String],
        form: TableForm,
        is_partitioned: bool,
        open: O,
    ) -> Self {
        Self {
            form,
            schema: table.schema(factors),
            is_partitioned,
            open,
            parts: BTreeMap::new(),
            rows: 0,
        }
    }

    /// Appends rows of a suite and month; `fill` fills every column of them.
    pub(crate) fn rows(
        &mut self,
        suite: &str,
        month: impl FnOnce() -> String,
        rows: usize,
        fill: impl FnOnce(&mut RowBlock<'_>),
    ) -> Result<(), TableError> {
        if rows == 0 {
            return Ok(());
        }
        let partition = match self.is_partitioned {
            true => Partition {
                suite: suite.to_owned(),
                month: month(),
            },
            false => Partition::default(),
        };
        self.rows += rows as u64;
        let part = self.part(partition)?;
        fill(&mut part.batch.block(rows));
        if part.batch.is_full() {
            part.write()?;
        }
        Ok(())
    }

    fn part(&mut self, partition: Partition) -> Result<&mut TablePart<W>, TableError> {
        use std::collections::btree_map::Entry;
        match self.parts.entry(partition) {
            Entry::Occupied(known) => Ok(known.into_mut()),
            Entry::Vacant(place) => {
                let out = (self.open)(place.key())?;
                let out = match self.form {
                    TableForm::Arrow => {
                        PartWriter::Arrow(StreamWriter::try_new(out, &self.schema)?)
                    }
                    TableForm::Parquet => {
                        PartWriter::Parquet(ParquetFile::new(out, Arc::clone(&self.schema))?)
                    }
                };
                Ok(place.insert(TablePart {
                    batch: BatchBuilder::new(Arc::clone(&self.schema)),
                    out,
                }))
            }
        }
    }

    /// Writes what is left, and returns the number of rows. A table without rows has its columns, unless it is partitioned.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<u64, TableError> {
        if !self.is_partitioned {
            self.part(Partition::default())?;
        }
        for mut part in std::mem::take(&mut self.parts).into_values() {
            part.write()?;
            let mut out = match part.out {
                PartWriter::Arrow(writer) => writer.into_inner()?,
                PartWriter::Parquet(file) => file.finish()?,
            };
            out.flush()?;
        }
        Ok(self.rows)
    }
}

impl<W: Write + Send> TablePart<W> {
    fn write(&mut self) -> Result<(), TableError> {
        if let Some(batch) = self.batch.take()? {
            match &mut self.out {
                PartWriter::Arrow(writer) => writer.write(&batch)?,
                PartWriter::Parquet(file) => file.write(&batch)?,
            }
        }
        Ok(())
    }
}
