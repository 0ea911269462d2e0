//! Batches of rows, filled in blocks: the rows of a block have most of their values in common.

use std::iter::repeat_n;
use std::sync::Arc;

use arrow_array::builder::{
    BooleanBuilder, Float64Builder, Int64Builder, StringBuilder, StringDictionaryBuilder,
    TimestampMicrosecondBuilder,
};
use arrow_array::types::Int32Type;
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Schema};
use jiff::Timestamp;

/// The rows of a full batch; also the most of a block.
pub(crate) const FULL: usize = 1 << 16;

/// The rows of the next batch.
pub(crate) struct BatchBuilder {
    schema: Arc<Schema>,
    columns: Vec<ColumnBuilder>,
    rows: usize,
}

enum ColumnBuilder {
    Name(StringDictionaryBuilder<Int32Type>),
    Text(StringBuilder),
    Flag(BooleanBuilder),
    Whole(Int64Builder),
    Number(Float64Builder),
    Time(TimestampMicrosecondBuilder),
}

/// The rows that are being appended: each call fills the next column. Where a call does not fit the column's kind, the
/// batch has columns of different lengths, which is an error at its end.
pub(crate) struct RowBlock<'b> {
    columns: std::slice::IterMut<'b, ColumnBuilder>,
    rows: usize,
}

impl BatchBuilder {
    pub fn new(schema: Arc<Schema>) -> Self {
        let columns = schema.fields().iter().map(|field| match field.data_type() {
            DataType::Dictionary(..) => ColumnBuilder::Name(StringDictionaryBuilder::new()),
            DataType::Boolean => ColumnBuilder::Flag(BooleanBuilder::new()),
            DataType::Int64 => ColumnBuilder::Whole(Int64Builder::new()),
            DataType::Float64 => ColumnBuilder::Number(Float64Builder::new()),
            DataType::Timestamp(..) => {
                ColumnBuilder::Time(TimestampMicrosecondBuilder::new().with_timezone("UTC"))
            }
            _ => ColumnBuilder::Text(StringBuilder::new()),
        });
        Self {
            columns: columns.collect(),
            schema,
            rows: 0,
        }
    }

    /// Begins a block of so many rows.
    pub fn block(&mut self, rows: usize) -> RowBlock<'_> {
        self.rows += rows;
        RowBlock {
            columns: self.columns.iter_mut(),
            rows,
        }
    }

    pub fn is_full(&self) -> bool {
        self.rows >= FULL
    }

    /// Returns the rows so far, if there are any, and begins anew.
    pub fn take(&mut self) -> Result<Option<RecordBatch>, ArrowError> {
        if std::mem::take(&mut self.rows) == 0 {
            return Ok(None);
        }
        let columns = self.columns.iter_mut().map(|it| -> ArrayRef {
            match it {
                ColumnBuilder::Name(builder) => Arc::new(builder.finish()),
                ColumnBuilder::Text(builder) => Arc::new(builder.finish()),
                ColumnBuilder::Flag(builder) => Arc::new(builder.finish()),
                ColumnBuilder::Whole(builder) => Arc::new(builder.finish()),
                ColumnBuilder::Number(builder) => Arc::new(builder.finish()),
                ColumnBuilder::Time(builder) => Arc::new(builder.finish()),
            }
        });
        RecordBatch::try_new(Arc::clone(&self.schema), columns.collect()).map(Some)
    }
}

impl RowBlock<'_> {
    /// Fills a column with one text, which is none if it is empty.
    pub fn text(&mut self, text: &str) -> &mut Self {
        let (rows, text) = (self.rows, Some(text).filter(|it| !it.is_empty()));
        match self.columns.next() {
            Some(ColumnBuilder::Name(builder)) => match text {
                Some(text) => builder.append_values(text, rows),
                None => builder.append_nulls(rows),
            },
            Some(ColumnBuilder::Text(builder)) => {
                builder.extend(repeat_n(text, rows));
            }
            _ => {}
        }
        self
    }

    /// Fills a column with a text for each row.
    pub fn texts<'t>(&mut self, texts: impl Iterator<Item = Option<&'t str>>) -> &mut Self {
        match self.columns.next() {
            Some(ColumnBuilder::Name(builder)) => builder.extend(texts),
            Some(ColumnBuilder::Text(builder)) => builder.extend(texts),
            _ => {}
        }
        self
    }

    pub fn flags(&mut self, flags: impl Iterator<Item = Option<bool>>) -> &mut Self {
        if let Some(ColumnBuilder::Flag(builder)) = self.columns.next() {
            builder.extend(flags);
        }
        self
    }

    pub fn whole(&mut self, number: Option<i64>) -> &mut Self {
        let rows = self.rows;
        self.wholes(repeat_n(number, rows))
    }

    pub fn wholes(&mut self, numbers: impl Iterator<Item = Option<i64>>) -> &mut Self {
        if let Some(ColumnBuilder::Whole(builder)) = self.columns.next() {
            builder.extend(numbers);
        }
        self
    }

    /// Fills a column with a number for each row, which is none if it is not finite.
    pub fn numbers(&mut self, numbers: impl Iterator<Item = f64>) -> &mut Self {
        if let Some(ColumnBuilder::Number(builder)) = self.columns.next() {
            builder.extend(numbers.map(|it| Some(it).filter(|it| it.is_finite())));
        }
        self
    }

    pub fn time(&mut self, time: Option<Timestamp>) -> &mut Self {
        if let Some(ColumnBuilder::Time(builder)) = self.columns.next() {
            builder.extend(repeat_n(time.map(Timestamp::as_microsecond), self.rows));
        }
        self
    }

    /// Leaves a column empty.
    pub fn none(&mut self) -> &mut Self {
        let rows = self.rows;
        match self.columns.next() {
            Some(ColumnBuilder::Name(builder)) => builder.append_nulls(rows),
            Some(ColumnBuilder::Text(builder)) => builder.extend(repeat_n(None::<&str>, rows)),
            Some(ColumnBuilder::Flag(builder)) => builder.append_nulls(rows),
            Some(ColumnBuilder::Whole(builder)) => builder.append_nulls(rows),
            Some(ColumnBuilder::Number(builder)) => builder.append_nulls(rows),
            Some(ColumnBuilder::Time(builder)) => builder.append_nulls(rows),
            None => {}
        }
        self
    }
}
