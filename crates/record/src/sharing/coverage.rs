//! The part of a session that is in one segment.

use std::collections::{HashMap, HashSet};

use crate::store::SessionExtent;
use lapwing_model::{Id, MetricName, Record};

/// Counts the records of a segment, each once, session by session.
///
/// When a segment has as much of a session as the store has after pulling it, all that the store
/// has of it is in the segment. A segment whose records are not in the order in which this
/// program writes them could have some of them twice, and proves nothing.
#[derive(Debug, Default)]
pub(super) struct InstanceCoverage {
    extents: HashMap<Id, SessionExtent>,
    runs: HashMap<Id, Id>,
    instances: HashSet<Id>,
    instance: Option<CoveredInstance>,
    irregular: bool,
}

/// The instance whose records are being read.
#[derive(Debug)]
struct CoveredInstance {
    id: Id,
    session: Id,
    iteration: Option<u32>,
    span: Option<u32>,
    summaries: HashSet<(MetricName, String)>,
    ended: bool,
}

impl InstanceCoverage {
    /// Counts one more record.
    pub(super) fn add(&mut self, record: &Record) {
        if !self.irregular && self.count(record).is_none() {
            self.irregular = true;
        }
    }

    /// Returns whether the segment has as much of a session as `extent`.
    pub(super) fn is_whole(&self, session: Id, extent: &SessionExtent) -> bool {
        !self.irregular && self.extents.get(&session) == Some(extent)
    }

    /// Returns nothing for a record that is out of order.
    fn count(&mut self, record: &Record) -> Option<()> {
        match record {
            Record::Session(session) => {
                let first = self.extents.insert(session.id, SessionExtent::default());
                first.is_none().then_some(())
            }
            Record::Run(run) => {
                let extent = self.extents.get_mut(&run.session)?;
                extent.runs += 1;
                extent.metrics += run.metrics.len() as u64;
                let first = self.runs.insert(run.id, run.session);
                first.is_none().then_some(())
            }
            Record::Instance(instance) => {
                let session = *self.runs.get(&instance.run)?;
                self.extents.get_mut(&session)?.instances += 1;
                self.instance = Some(CoveredInstance {
                    id: instance.id,
                    session,
                    iteration: None,
                    span: None,
                    summaries: HashSet::new(),
                    ended: false,
                });
                self.instances.insert(instance.id).then_some(())
            }
            Record::Annotation(_) => Some(()),
            Record::Iteration(iteration) => {
                let (extent, current) = self.parts_of(iteration.instance)?;
                extent.iterations += 1;
                let before = current.iteration.replace(iteration.index);
                (before < Some(iteration.index)).then_some(())
            }
            Record::Span(span) => {
                let (extent, current) = self.parts_of(span.instance)?;
                extent.spans += 1;
                (current.span.replace(span.index) < Some(span.index)).then_some(())
            }
            Record::Summary(summary) => {
                let (extent, current) = self.parts_of(summary.instance)?;
                extent.summaries += 1;
                let key = (summary.metric.clone(), summary.statistic.clone());
                current.summaries.insert(key).then_some(())
            }
            Record::InstanceEnd(end) => {
                let (extent, current) = self.parts_of(end.instance)?;
                extent.ends += 1;
                (!std::mem::replace(&mut current.ended, true)).then_some(())
            }
        }
    }

    /// Returns the instance whose records are being read, and what there is of its session; nothing if another one
    /// is meant.
    fn parts_of(&mut self, instance: Id) -> Option<(&mut SessionExtent, &mut CoveredInstance)> {
        let current = self.instance.as_mut().filter(|it| it.id == instance)?;
        Some((self.extents.get_mut(&current.session)?, current))
    }
}
