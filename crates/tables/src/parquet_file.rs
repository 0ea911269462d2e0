//! A file of Parquet whose columns are encoded at the same time.

use std::io::Write;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::Schema;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::{ArrowColumnWriter, ArrowRowGroupWriterFactory, compute_leaves};
use parquet::basic::Compression;
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use rayon::prelude::*;

/// The rows of a group; columns are compressed within one.
const ROW_GROUP: usize = 1 << 20;

/// A file of columns that hold no other columns.
pub(crate) struct ParquetFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
    writers: ArrowRowGroupWriterFactory,
    schema: Arc<Schema>,
    columns: Vec<ArrowColumnWriter>,
    rows: usize,
    groups: usize,
}

impl<W: Write + Send> ParquetFile<W> {
    pub fn new(out: W, schema: Arc<Schema>) -> Result<Self, ParquetError> {
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .build();
        let writer = ArrowWriter::try_new(out, Arc::clone(&schema), Some(properties))?;
        let (file, writers) = writer.into_serialized_writer()?;
        Ok(Self {
            file,
            writers,
            schema,
            columns: Vec::new(),
            rows: 0,
            groups: 0,
        })
    }

    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), ParquetError> {
        if self.columns.is_empty() {
            self.columns = self.writers.create_column_writers(self.groups)?;
        }
        let fields = self.schema.fields().par_iter();
        let arrays = fields.zip(batch.columns());
        let columns = self.columns.par_iter_mut().zip(arrays);
        columns.try_for_each(|(column, (field, array))| {
            let leaves = compute_leaves(field, array)?;
            leaves.iter().try_for_each(|leaf| column.write(leaf))
        })?;
        self.rows += batch.num_rows();
        if self.rows >= ROW_GROUP {
            self.end_group()?;
        }
        Ok(())
    }

    fn end_group(&mut self) -> Result<(), ParquetError> {
        let columns = std::mem::take(&mut self.columns).into_par_iter();
        let chunks: Vec<_> = columns.map(|it| it.close()).collect::<Result<_, _>>()?;
        let mut group = self.file.next_row_group()?;
        for chunk in chunks {
            chunk.append_to_row_group(&mut group)?;
        }
        group.close()?;
        self.rows = 0;
        self.groups += 1;
        Ok(())
    }

    pub fn finish(mut self) -> Result<W, ParquetError> {
        if self.rows > 0 {
            self.end_group()?;
        }
        self.file.into_inner()
    }
}
