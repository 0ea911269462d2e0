//! Whole columns of iterations without the detour of a record for each.

use super::bulk::{IterationRow, ValueRow};
use super::rows::attributes_text;
use super::{StoreError, Writer};
use crate::model::{Id, RecordKind};
use crate::record::columns::{IterationColumns, Mark};

impl Writer<'_> {
    /// Puts all iterations of an instance that was made in this transaction.
    pub(crate) fn put_columns(
        &mut self,
        instance: Id,
        columns: IterationColumns,
    ) -> Result<(), StoreError> {
        self.hold_columns(instance, columns)
            .map_err(|error| error.at(self.path))
    }

    fn hold_columns(
        &mut self,
        instance: Id,
        mut columns: IterationColumns,
    ) -> Result<(), StoreError> {
        let parent =
            self.parent_instance(RecordKind::Iteration, instance, || "0 and more".to_owned())?;
        for (name, column) in &columns.values {
            if column.iter().all(|value| value.is_nan()) {
                continue;
            }
            let metric = self.metric_of(parent.benchmark, name)?;
            for (index, &value) in (0_u32..).zip(column) {
                if value.is_infinite() {
                    return Err(StoreError::NotFinite {
                        kind: RecordKind::Iteration,
                        key: format!("{index} of instance {instance}"),
                        metric: name.clone(),
                    });
                }
                if !value.is_nan() {
                    self.bulk.value(ValueRow {
                        metric,
                        instance: parent.key,
                        index,
                        value,
                    });
                }
            }
        }
        for (index, k) in (0_u32..).zip(0..columns.count) {
            if !self.bulk.is_new(parent.key, index) {
                return Err(StoreError::damaged("an instance just made has iterations"));
            }
            let mark = columns.marks.remove(&index);
            let Mark {
                outcome,
                message,
                attributes,
            } = mark.unwrap_or_default();
            self.bulk.iteration(IterationRow {
                instance: parent.key,
                index,
                offset: columns.offset_of(k),
                burn_in: columns.is_burn_in(k),
                loops: columns.loops_of(k).cast_signed(),
                outcome,
                message,
                detail: attributes_text(attributes)?,
            });
        }
        self.appended
            .count_new(RecordKind::Iteration, columns.count as u64);
        if self.bulk.is_full() {
            self.bulk.write()?;
        }
        Ok(())
    }
}
