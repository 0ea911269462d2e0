//! Iterations without the detour of a record for each, for importers in a hurry.

use super::bulk::{IterationRow, ValueRow};
use super::rows::attributes_text;
use super::{StoreError, Writer};
use crate::model::{Id, Object, Outcome, RecordKind};

/// An iteration as plain as can be, with the values of `N` metrics.
#[derive(Debug)]
pub(crate) struct PlainIteration<const N: usize> {
    pub(crate) burn_in: bool,
    pub(crate) outcome: Outcome,
    pub(crate) message: Option<String>,
    pub(crate) attributes: Object,
    pub(crate) values: [Option<f64>; N],
}

impl Writer<'_> {
    /// Puts iterations of an instance that was made in this transaction, without the
    /// detour of a record for each: number `k` of them has index `k`.
    pub(crate) fn put_plain_iterations<const N: usize>(
        &mut self,
        instance: Id,
        metrics: [&str; N],
        iterations: Vec<PlainIteration<N>>,
    ) -> Result<(), StoreError> {
        self.hold_plain_iterations(instance, metrics, iterations)
            .map_err(|error| error.at(self.path))
    }

    fn hold_plain_iterations<const N: usize>(
        &mut self,
        instance: Id,
        metrics: [&str; N],
        iterations: Vec<PlainIteration<N>>,
    ) -> Result<(), StoreError> {
        let parent =
            self.parent_instance(RecordKind::Iteration, instance, || "0 and more".to_owned())?;
        let mut keys = [0; N];
        for (at, key) in keys.iter_mut().enumerate() {
            if iterations.iter().any(|it| it.values[at].is_some()) {
                *key = self.metric_of(parent.benchmark, metrics[at])?;
            }
        }
        let count = iterations.len() as u64;
        for (index, iteration) in (0_u32..).zip(iterations) {
            if !self.bulk.is_new(parent.key, index) {
                return Err(StoreError::damaged("an instance just made has iterations"));
            }
            for (key, value) in keys.into_iter().zip(iteration.values) {
                if let Some(value) = value {
                    self.bulk.value(ValueRow {
                        metric: key,
                        instance: parent.key,
                        index,
                        value,
                    });
                }
            }
            self.bulk.iteration(IterationRow {
                instance: parent.key,
                index,
                offset: None,
                burn_in: iteration.burn_in,
                loops: 1,
                outcome: iteration.outcome,
                message: iteration.message,
                detail: attributes_text(iteration.attributes)?,
            });
        }
        self.appended.count_new(RecordKind::Iteration, count);
        if self.bulk.is_full() {
            self.bulk.write()?;
        }
        Ok(())
    }
}
