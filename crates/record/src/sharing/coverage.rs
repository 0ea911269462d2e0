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
            Record::Session(it) => {
                let first = self.extents.insert(it.id, SessionExtent::default());
                return first.is_none().then_some(());
            }
            Record::Run(it) => {
                let extent = self.extents.get_mut(&it.session)?;
                extent.runs += 1;
                extent.metrics += it.metrics.len() as u64;
                return self.runs.insert(it.id, it.session).is_none().then_some(());
            }
            Record::Instance(it) => {
                let session = *self.runs.get(&it.run)?;
                self.extents.get_mut(&session)?.instances += 1;
                self.instance = Some(CoveredInstance {
                    id: it.id,
                    session,
                    iteration: None,
                    span: None,
                    summaries: HashSet::new(),
                    ended: false,
                });
                return self.instances.insert(it.id).then_some(());
            }
            Record::Annotation(_) => return Some(()),
            Record::Iteration(_)
            | Record::Span(_)
            | Record::Summary(_)
            | Record::InstanceEnd(_) => {}
        }
        let current = self.instance.as_mut()?;
        let extent = self.extents.get_mut(&current.session)?;
        match record {
            Record::Iteration(it) if it.instance == current.id => {
                extent.iterations += 1;
                (current.iteration.replace(it.index) < Some(it.index)).then_some(())
            }
            Record::Span(it) if it.instance == current.id => {
                extent.spans += 1;
                (current.span.replace(it.index) < Some(it.index)).then_some(())
            }
            Record::Summary(it) if it.instance == current.id => {
                extent.summaries += 1;
                let key = (it.metric.clone(), it.statistic.clone());
                current.summaries.insert(key).then_some(())
            }
            Record::InstanceEnd(it) if it.instance == current.id => {
                extent.ends += 1;
                (!std::mem::replace(&mut current.ended, true)).then_some(())
            }
            Record::Iteration(_)
            | Record::Span(_)
            | Record::Summary(_)
            | Record::InstanceEnd(_)
            | Record::Session(_)
            | Record::Run(_)
            | Record::Instance(_)
            | Record::Annotation(_) => None,
        }
    }
}
