//! Whole columns of iterations without the detour of a record for each.

use std::collections::BTreeMap;
use std::ops::Range;

use super::chunk::{NewChunk, NewSeries, divide};
use super::rows::IterationDetail;
use super::write::child_key;
use super::{StoreError, Writer};
use crate::model::{Id, Outcome, RecordKind};
use crate::record::{IterationColumns, Mark};

impl Writer<'_> {
    /// Puts iterations of an instance that was made in this transaction: all of them, or
    /// the next part.
    ///
    /// # Errors
    /// When a value is infinite, the instance is missing or has one of the iterations
    /// already, or the store cannot be written to.
    pub fn put_columns(
        &mut self,
        instance: Id,
        columns: IterationColumns,
    ) -> Result<(), StoreError> {
        self.write_columns(instance, columns)
            .map_err(|error| error.at(self.path))
    }

    fn write_columns(
        &mut self,
        instance: Id,
        mut columns: IterationColumns,
    ) -> Result<(), StoreError> {
        let first = columns.first;
        let parent = self.parent_instance(RecordKind::Iteration, instance, || {
            format!("{first} and more")
        })?;
        refuse_infinite(instance, &columns)?;
        let Some(last) = last_index(&columns)? else {
            return Ok(());
        };
        let stored = self.stored_indices.of(self.connection, parent.key)?;
        if stored.has_any(first, last) || self.held_iterations.has(parent.key) {
            return Err(StoreError::damaged(format!(
                "an instance just made has iterations from {first} on"
            )));
        }
        stored.insert_run(first, last);
        let mut all_series = Vec::with_capacity(columns.values.len());
        for (name, column) in &columns.values {
            if column.iter().any(|value| !value.is_nan()) {
                let metric = self.metric_of(parent.benchmark, name)?;
                all_series.push(NewSeries::new(metric, column)?);
            }
        }
        let mut marks = std::mem::take(&mut columns.marks);
        for range in divide(columns.count, &all_series) {
            // Every number fits, because the last one does.
            let number = u32::try_from(range.start).unwrap_or(last);
            let later = u32::try_from(range.end)
                .map_or_else(|_too_large| BTreeMap::new(), |end| marks.split_off(&end));
            let mut marked = std::mem::replace(&mut marks, later);
            let chunk = NewChunk {
                first: first + number,
                count: range.len(),
                offsets: part(&columns.offsets, &range),
                burn_in: part(&columns.burn_in, &range),
                loops: part(&columns.loops, &range),
                details: take_details(&mut marked, number),
                outcomes: placed(&marked, number)
                    .filter(|(_, mark)| mark.outcome != Outcome::Ok)
                    .map(|(place, mark)| (place, mark.outcome))
                    .collect(),
                messages: placed(&marked, number)
                    .filter_map(|(place, mark)| Some((place, mark.message.as_deref()?)))
                    .collect(),
                ..NewChunk::default()
            };
            self.chunks.chunk(parent.key, &chunk)?;
            for series in &all_series {
                self.chunks
                    .series(parent.key, chunk.first, series, &range)?;
            }
        }
        self.appended
            .count_new(RecordKind::Iteration, columns.count as u64);
        Ok(())
    }
}

/// Returns the last index, if there is any iteration; refuses columns that do not agree.
fn last_index(columns: &IterationColumns) -> Result<Option<u32>, StoreError> {
    let count = columns.count;
    let usual_or_whole = |length: usize| length == 0 || length == count;
    let agree = usual_or_whole(columns.offsets.len())
        && usual_or_whole(columns.burn_in.len())
        && usual_or_whole(columns.loops.len())
        && columns.values.values().all(|column| column.len() == count)
        && columns
            .marks
            .keys()
            .all(|&number| (number as usize) < count);
    if !agree {
        return Err(StoreError::damaged(format!(
            "columns of different lengths were given for {count} iterations"
        )));
    }
    let Some(last) = count.checked_sub(1) else {
        return Ok(None);
    };
    let last = u32::try_from(last).ok();
    match last.and_then(|last| last.checked_add(columns.first)) {
        Some(last) => Ok(Some(last)),
        None => Err(StoreError::damaged(format!(
            "{count} iterations from {} on are more than an instance can have",
            columns.first
        ))),
    }
}

fn refuse_infinite(instance: Id, columns: &IterationColumns) -> Result<(), StoreError> {
    let infinite = |column: &[f64]| column.iter().position(|value| value.is_infinite());
    let offsets = infinite(&columns.offsets).map(|place| (place, "offset"));
    let mut values = columns.values.iter();
    let values = values.find_map(|(name, column)| Some((infinite(column)?, name.as_str())));
    match values.or(offsets) {
        None => Ok(()),
        Some((place, metric)) => Err(StoreError::NotFinite {
            kind: RecordKind::Iteration,
            key: child_key(place + columns.first as usize, instance),
            metric: metric.to_owned(),
        }),
    }
}

/// Returns the part of a column; an empty column stays empty.
fn part<'c, T>(column: &'c [T], range: &Range<usize>) -> &'c [T] {
    column.get(range.clone()).unwrap_or_default()
}

/// Returns marks by place in the chunk that begins with that number.
fn placed(marks: &BTreeMap<u32, Mark>, number: u32) -> impl Iterator<Item = (usize, &Mark)> {
    marks
        .iter()
        .map(move |(it, mark)| (it.saturating_sub(number) as usize, mark))
}

fn take_details(marks: &mut BTreeMap<u32, Mark>, number: u32) -> BTreeMap<usize, IterationDetail> {
    marks
        .iter_mut()
        .filter(|(_, mark)| !mark.attributes.is_empty())
        .map(|(it, mark)| {
            let detail = IterationDetail {
                attributes: std::mem::take(&mut mark.attributes),
                ..IterationDetail::default()
            };
            (it.saturating_sub(number) as usize, detail)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use serde_json::json;

    use super::*;
    use crate::model::{Iteration, Object, Record};
    use crate::record::{Filter, Store, parse_line};

    fn id(number: u64) -> Id {
        Id::derived(&[&number.to_le_bytes()])
    }

    fn store_with_instances(path: &Path, instances: u64) -> Store {
        let mut store = Store::open(path).unwrap();
        let mut lines = vec![
            json!({"v": 1, "kind": "session", "id": id(1), "suite": "s", "tool": "t",
                "started": "2026-11-20T10:00:00Z"}),
            json!({"v": 1, "kind": "run", "id": id(2), "session": id(1)}),
        ];
        for number in 0..instances {
            lines.push(
                json!({"v": 1, "kind": "instance", "id": id(100 + number), "run": id(2),
                "benchmark": {"id": "b"}}),
            );
        }
        let records: Vec<Record> = lines
            .iter()
            .map(|line| parse_line(line.to_string().as_bytes()).unwrap())
            .collect();
        store.append(&records).unwrap();
        store
    }

    fn put(store: &mut Store, instance: Id, columns: IterationColumns) -> Result<(), StoreError> {
        store.write(|writer| writer.put_columns(instance, columns))
    }

    fn stored(store: &Store) -> Vec<Iteration> {
        let mut iterations = Vec::new();
        store
            .scan(&Filter::default(), |record| {
                if let Record::Iteration(iteration) = record {
                    iterations.push(iteration);
                }
                Ok::<(), StoreError>(())
            })
            .unwrap();
        iterations
    }

    #[test]
    fn columns_come_back_as_the_iterations_that_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store_with_instances(&folder.path().join("lapwing.db"), 1);
        let time = |k: u32| if k == 9 { f64::NAN } else { f64::from(k) / 7.0 };
        let mut attributes = Object::new();
        attributes.insert("note".to_owned(), json!("x"));
        let mark = Mark {
            outcome: Outcome::Failed,
            message: Some("exit code 1".to_owned()),
            attributes: attributes.clone(),
        };
        let columns = IterationColumns {
            first: 0,
            count: 200,
            burn_in: (0..200).map(|k| k < 2).collect(),
            loops: vec![3; 200],
            offsets: (0..200).map(f64::from).collect(),
            values: BTreeMap::from([
                ("none".to_owned(), vec![f64::NAN; 200]),
                ("time".to_owned(), (0..200).map(time).collect()),
            ]),
            marks: BTreeMap::from([(9, mark.clone()), (199, mark.clone())]),
        };
        put(&mut store, id(100), columns).unwrap();
        let expected: Vec<Iteration> = (0..200_u32)
            .map(|k| {
                let marked = k == 9 || k == 199;
                let values = [("time".to_owned(), time(k))];
                Iteration {
                    instance: id(100),
                    index: k,
                    offset: Some(f64::from(k)),
                    burn_in: k < 2,
                    loops: 3,
                    outcome: if marked { Outcome::Failed } else { Outcome::Ok },
                    message: marked.then(|| "exit code 1".to_owned()),
                    metrics: values.into_iter().filter(|(_, it)| !it.is_nan()).collect(),
                    attributes: if marked {
                        attributes.clone()
                    } else {
                        Object::new()
                    },
                    artifacts: Object::new(),
                    extra: Object::new(),
                }
            })
            .collect();
        assert_eq!(stored(&store), expected);
        let records: Vec<Record> = expected.into_iter().map(Record::Iteration).collect();
        assert_eq!(store.append(&records).unwrap().total().already_there, 200);
        assert_eq!(
            store.upkeep().check().unwrap().problems,
            Vec::<String>::new()
        );
    }

    #[test]
    fn columns_may_come_in_parts_and_in_turn_with_those_of_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store_with_instances(&folder.path().join("lapwing.db"), 2);
        let failed = Mark {
            outcome: Outcome::Failed,
            message: Some("exit code 1".to_owned()),
            attributes: Object::new(),
        };
        let part = |first: u32, count: u32| IterationColumns {
            first,
            count: count as usize,
            values: BTreeMap::from([(
                "time".to_owned(),
                (first..first + count).map(f64::from).collect(),
            )]),
            // The last of the part.
            marks: BTreeMap::from([(count - 1, failed.clone())]),
            ..IterationColumns::default()
        };
        store
            .write(|writer| {
                writer.put_columns(id(100), part(0, 150))?;
                writer.put_columns(id(101), part(0, 3))?;
                writer.put_columns(id(100), part(150, 2))?;
                writer.put_columns(id(101), part(3, 1))
            })
            .unwrap();
        let expected = |instance: u64, count: u32, failures: [u32; 2]| {
            (0..count).map(move |index| {
                let failed = failures.contains(&index);
                Iteration {
                    instance: id(instance),
                    index,
                    offset: None,
                    burn_in: false,
                    loops: 1,
                    outcome: if failed { Outcome::Failed } else { Outcome::Ok },
                    message: failed.then(|| "exit code 1".to_owned()),
                    metrics: BTreeMap::from([("time".to_owned(), f64::from(index))]),
                    attributes: Object::new(),
                    artifacts: Object::new(),
                    extra: Object::new(),
                }
            })
        };
        let expected: Vec<Iteration> = expected(100, 152, [149, 151])
            .chain(expected(101, 4, [2, 3]))
            .collect();
        assert_eq!(stored(&store), expected);
        let again = store.write(|writer| writer.put_columns(id(100), part(151, 2)));
        assert!(
            again
                .unwrap_err()
                .to_string()
                .ends_with("an instance just made has iterations from 151 on")
        );
    }

    #[test]
    fn columns_that_cannot_be_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = store_with_instances(&folder.path().join("lapwing.db"), 1);
        let one = |value: f64, count: usize| IterationColumns {
            count,
            values: BTreeMap::from([("time".to_owned(), vec![value])]),
            ..IterationColumns::default()
        };
        assert_eq!(
            put(&mut store, id(100), one(f64::INFINITY, 1))
                .unwrap_err()
                .to_string(),
            format!(
                "iteration 0 of instance {} has a value that is no finite number: `time`",
                id(100)
            )
        );
        assert!(
            put(&mut store, id(100), one(1.0, 2))
                .unwrap_err()
                .to_string()
                .ends_with("columns of different lengths were given for 2 iterations")
        );
        assert_eq!(stored(&store), []);
        put(&mut store, id(100), one(1.0, 1)).unwrap();
        assert!(
            put(&mut store, id(100), one(1.0, 1))
                .unwrap_err()
                .to_string()
                .ends_with("an instance just made has iterations from 0 on")
        );
    }

    /// Returns how long this thread has been at work, whatever else the machine does.
    fn processor_time() -> Duration {
        let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        Duration::try_from(time).unwrap()
    }

    /// `cargo test --release -p lapwing-core --lib a_million -- --ignored --nocapture`
    #[test]
    #[ignore = "measures; says nothing in a debug build"]
    fn a_million_samples_go_in_and_come_out() {
        const INSTANCES: u64 = 10_000;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lapwing.db");
        let mut store = store_with_instances(&path, INSTANCES);
        let columns: Vec<IterationColumns> = (0..INSTANCES)
            .map(|number| IterationColumns {
                count: 100,
                values: BTreeMap::from([(
                    "time".to_owned(),
                    (0..100_u64)
                        .map(|k| f64::from(u32::try_from(number * 100 + k).unwrap()).sqrt() / 1e4)
                        .collect(),
                )]),
                ..IterationColumns::default()
            })
            .collect();
        let before = processor_time();
        let mut put = before;
        store
            .write(|writer| {
                for (number, columns) in (0..).zip(columns) {
                    writer.put_columns(id(100 + number), columns)?;
                }
                put = processor_time();
                Ok::<(), StoreError>(())
            })
            .unwrap();
        let committed = processor_time();
        let mut samples = 0;
        store
            .each_recorded(&Filter::default(), |data| {
                samples += data
                    .instances
                    .iter()
                    .map(|it| it.iterations.values["time"].len())
                    .sum::<usize>();
                Ok::<(), StoreError>(())
            })
            .unwrap();
        let read = processor_time();
        assert_eq!(samples, 1_000_000);
        let bytes = std::fs::metadata(&path).unwrap().len();
        println!(
            "put {:?}, commit {:?}, read {:?}, {bytes} bytes",
            put - before,
            committed - put,
            read - committed
        );
    }
}
