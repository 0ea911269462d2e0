//! Records in memory, under the store's rules: parents first, and one content a key.
//! For tests and fuzzing of what reads them.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::store::{as_stored, differences, with_metrics_of};
use super::{AppendCounts, StoreError, write_line};
use lapwing_model::{Id, Metric, MetricName, Record, RecordKind, refusal, settled};

/// Records in memory.
#[derive(Debug, Default)]
pub struct RecordMemory {
    records: Vec<Record>,
    places: HashMap<MemoryKey, usize>,
    appended: AppendCounts,
}

/// What tells a record from the others of its kind.
type MemoryKey = (RecordKind, Id, String);

impl RecordMemory {
    /// Takes a record as the store would.
    ///
    /// # Errors
    /// When the record is one that no reader takes, the key is already present with other content, or the
    /// parent is missing.
    pub fn put(&mut self, record: &Record) -> Result<(), StoreError> {
        let kind = record.kind();
        if let Some(why) = refusal(record) {
            return Err(StoreError::refused(kind, key_text(record), why));
        }
        let settled = settled(record);
        let record = &*settled;
        if let Some((parent_kind, parent)) = parent_of(record)
            && !self.has(parent_kind, parent)
        {
            return Err(StoreError::NoParent {
                kind,
                key: key_text(record),
                parent_kind,
                parent: parent.to_string(),
            });
        }
        let key = key_of(record);
        if let Some(&place) = self.places.get(&key) {
            if let (Record::Run(known), Record::Run(new)) = (&self.records[place], record) {
                let (whole, seen) = (with_metrics_of(known, new), with_metrics_of(new, known));
                if whole == seen {
                    self.records[place] = Record::Run(whole);
                    self.appended.count_already_there(kind, 1);
                    return Ok(());
                }
            }
            let stored = &self.records[place];
            let seen = match (stored, record) {
                (Record::Session(known), Record::Session(new)) => {
                    Cow::Owned(Record::Session(as_stored(known, new)))
                }
                (_, other) => Cow::Borrowed(other),
            };
            if *stored != *seen {
                return Err(StoreError::Conflict {
                    kind,
                    key: key_text(record),
                    differences: differences(&as_json(stored), &as_json(&seen)),
                });
            }
            self.appended.count_already_there(kind, 1);
            if let (Record::Session(known), Record::Session(new)) =
                (&mut self.records[place], record)
            {
                known.started = known.started.min(new.started);
            }
            return Ok(());
        }
        self.places.insert(key, self.records.len());
        self.appended.count_new(kind, 1);
        self.records.push(record.clone());
        Ok(())
    }

    /// Returns whether there is a session, run or instance of that id.
    pub fn has(&self, kind: RecordKind, id: Id) -> bool {
        self.places.contains_key(&(kind, id, String::new()))
    }

    /// Counts records that were found to be there without putting them.
    pub fn count_already_there(&mut self, kind: RecordKind, number: u64) {
        self.appended.count_already_there(kind, number);
    }

    /// Adds metrics to a run; those that it has stay as they are.
    pub fn add_metrics(&mut self, run: Id, metrics: &BTreeMap<MetricName, Metric>) {
        let place = self.places.get(&(RecordKind::Run, run, String::new()));
        if let Some(Record::Run(known)) = place.map(|&place| &mut self.records[place]) {
            for (name, metric) in metrics {
                let known = known.metrics.entry(name.clone());
                known.or_insert_with(|| metric.clone());
            }
        }
    }

    /// Returns the records, in the order in which they came, and how many were new.
    pub fn into_records(self) -> (AppendCounts, Vec<Record>) {
        (self.appended, self.records)
    }
}

fn as_json(record: &Record) -> Value {
    let mut line = Vec::new();
    // Writing to memory cannot fail; the differences are for people anyway.
    let _written: std::io::Result<()> = write_line(&mut line, record);
    serde_json::from_slice(&line).unwrap_or_default()
}

fn parent_of(record: &Record) -> Option<(RecordKind, Id)> {
    match record {
        Record::Session(_) | Record::Annotation(_) => None,
        Record::Run(it) => Some((RecordKind::Session, it.session)),
        Record::Instance(it) => Some((RecordKind::Run, it.run)),
        Record::Iteration(it) => Some((RecordKind::Instance, it.instance)),
        Record::Span(it) => Some((RecordKind::Instance, it.instance)),
        Record::InstanceEnd(it) => Some((RecordKind::Instance, it.instance)),
        Record::Summary(it) => Some((RecordKind::Instance, it.instance)),
    }
}

fn key_of(record: &Record) -> MemoryKey {
    let (id, rest) = match record {
        Record::Session(it) => (it.id, String::new()),
        Record::Run(it) => (it.id, String::new()),
        Record::Instance(it) => (it.id, String::new()),
        Record::Annotation(it) => (it.id, String::new()),
        Record::Iteration(it) => (it.instance, it.index.to_string()),
        Record::Span(it) => (it.instance, it.index.to_string()),
        Record::InstanceEnd(it) => (it.instance, String::new()),
        Record::Summary(it) => (it.instance, format!("`{}` {}", it.metric, it.statistic)),
    };
    (record.kind(), id, rest)
}

/// Returns how errors name a record.
pub(super) fn key_text(record: &Record) -> String {
    let (_, id, rest) = key_of(record);
    if rest.is_empty() {
        id.to_string()
    } else {
        format!("{rest} of instance {id}")
    }
}
