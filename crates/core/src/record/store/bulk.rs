//! Writes many iterations at once.
//!
//! One statement of many rows lets SQLite stay where it is in its trees; a statement
//! for each row starts from the root each time, which takes about twice as long.

use std::collections::HashMap;

use rusqlite::{CachedStatement, Connection, ToSql};

use super::StoreError;
use crate::model::Outcome;

/// Rows of one statement.
const ROWS: usize = 64;

/// Rows to hold back before they are written.
const HELD: usize = 8_192;

/// Instances of which to remember how far they have come.
const MANY: usize = 100_000;

/// The columns of a row of `iteration`.
#[derive(Debug)]
pub(super) struct IterationRow {
    pub(super) instance: i64,
    pub(super) index: u32,
    pub(super) offset: Option<f64>,
    pub(super) burn_in: bool,
    pub(super) loops: i64,
    pub(super) outcome: Outcome,
    pub(super) message: Option<String>,
    pub(super) detail: Option<String>,
}

/// The columns of a row of `value`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueRow {
    pub(super) metric: i64,
    pub(super) instance: i64,
    pub(super) index: u32,
    pub(super) value: f64,
}

/// Iterations that are known to be new and wait to be written.
pub(super) struct Bulk<'t> {
    iterations: Vec<IterationRow>,
    values: Vec<ValueRow>,
    /// Instances made in this transaction, and the first index that they do not have.
    fresh: HashMap<i64, u32>,
    many_iterations: CachedStatement<'t>,
    one_iteration: CachedStatement<'t>,
    many_values: CachedStatement<'t>,
    one_value: CachedStatement<'t>,
}

impl<'t> Bulk<'t> {
    pub(super) fn new(connection: &'t Connection) -> Result<Self, StoreError> {
        let prepare = |into: &str, columns: usize, rows: usize| {
            let row = format!("({})", vec!["?"; columns].join(", "));
            let sql = format!("INSERT INTO {into} VALUES {}", vec![row; rows].join(", "));
            connection.prepare_cached(&sql)
        };
        const ITERATION: &str = "iteration (instance, idx, \"offset\", burn_in, loops, outcome, \
                                 message, detail)";
        const VALUE: &str = "value (metric, instance, idx, value)";
        Ok(Self {
            iterations: Vec::new(),
            values: Vec::new(),
            fresh: HashMap::new(),
            many_iterations: prepare(ITERATION, 8, ROWS)?,
            one_iteration: prepare(ITERATION, 8, 1)?,
            many_values: prepare(VALUE, 4, ROWS)?,
            one_value: prepare(VALUE, 4, 1)?,
        })
    }

    /// Notes that an instance has just been made, so that it cannot have iterations yet.
    pub(super) fn begin(&mut self, instance: i64) {
        if self.fresh.len() >= MANY {
            self.fresh.clear();
        }
        self.fresh.insert(instance, 0);
    }

    /// Returns whether an iteration is certainly not in the store, and takes note of it.
    pub(super) fn is_new(&mut self, instance: i64, index: u32) -> bool {
        match self.fresh.get_mut(&instance) {
            Some(next) if *next <= index && index < u32::MAX => {
                *next = index + 1;
                true
            }
            Some(_) | None => false,
        }
    }

    pub(super) fn iteration(&mut self, row: IterationRow) {
        self.iterations.push(row);
    }

    pub(super) fn value(&mut self, row: ValueRow) {
        self.values.push(row);
    }

    /// Returns whether it is time to write.
    pub(super) fn is_full(&self) -> bool {
        self.iterations.len() >= HELD || self.values.len() >= HELD
    }

    /// Writes what is held back.
    pub(super) fn write(&mut self) -> Result<(), StoreError> {
        // In the order of the trees.
        self.iterations
            .sort_unstable_by_key(|row| (row.instance, row.index));
        self.values
            .sort_unstable_by_key(|row| (row.metric, row.instance, row.index));
        let (many, rest) = self.iterations.as_chunks::<ROWS>();
        for rows in many {
            insert(&mut self.many_iterations, rows, bind_iteration)?;
        }
        for row in rest {
            let rows = std::slice::from_ref(row);
            insert(&mut self.one_iteration, rows, bind_iteration)?;
        }
        let (many, rest) = self.values.as_chunks::<ROWS>();
        for rows in many {
            insert(&mut self.many_values, rows, bind_value)?;
        }
        for row in rest {
            insert(&mut self.one_value, std::slice::from_ref(row), bind_value)?;
        }
        self.iterations.clear();
        self.values.clear();
        Ok(())
    }
}

fn insert<T>(
    statement: &mut CachedStatement<'_>,
    rows: &[T],
    bind: impl Fn(&mut CachedStatement<'_>, &mut usize, &T) -> Result<(), rusqlite::Error>,
) -> Result<(), StoreError> {
    let mut parameter = 0;
    for row in rows {
        bind(statement, &mut parameter, row)?;
    }
    statement.raw_execute()?;
    Ok(())
}

fn bind_iteration(
    statement: &mut CachedStatement<'_>,
    parameter: &mut usize,
    row: &IterationRow,
) -> Result<(), rusqlite::Error> {
    let mut next = |value: &dyn ToSql| {
        *parameter += 1;
        statement.raw_bind_parameter(*parameter, value)
    };
    next(&row.instance)?;
    next(&row.index)?;
    next(&row.offset)?;
    next(&row.burn_in)?;
    next(&row.loops)?;
    next(&row.outcome.name())?;
    next(&row.message)?;
    next(&row.detail)
}

fn bind_value(
    statement: &mut CachedStatement<'_>,
    parameter: &mut usize,
    row: &ValueRow,
) -> Result<(), rusqlite::Error> {
    let first = *parameter;
    *parameter += 4;
    statement.raw_bind_parameter(first + 1, row.metric)?;
    statement.raw_bind_parameter(first + 2, row.instance)?;
    statement.raw_bind_parameter(first + 3, row.index)?;
    statement.raw_bind_parameter(first + 4, row.value)
}
