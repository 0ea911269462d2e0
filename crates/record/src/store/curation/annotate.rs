//! Annotations of measurements, and what they affect.

use std::collections::BTreeSet;

use jiff::Timestamp;
use rusqlite::{Connection, params_from_iter};

use super::super::reading::read::metrics_of;
use super::super::{Store, StoreResult, Writer, query};
use super::curated::{benchmarks, condition, remarks};
use crate::annotations::{AnnotationOrder, NameHistory};
use crate::{Change, Remark};
use lapwing_model::text::joined;
use lapwing_model::{Annotation, Id};

/// What an annotation is about, in numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TouchedCounts {
    /// Benchmarks, each counted once however many ids it had.
    pub benchmarks: u64,
    /// Instances.
    pub instances: u64,
}

/// Lists annotations and counts what they affect ([`Store::annotations`]).
#[derive(Debug, Clone, Copy)]
pub struct StoreAnnotations<'s> {
    pub(crate) store: &'s Store,
}

impl StoreAnnotations<'_> {
    /// Returns all annotations by the time at which they were said, and which of them hold.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn all(&self) -> StoreResult<Vec<Remark>> {
        self.store.read(remarks)
    }

    /// Returns the ids of all annotations.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn ids(&self) -> StoreResult<BTreeSet<Id>> {
        self.store.read(annotation_ids)
    }

    /// Returns the ids that a benchmark has had, the given one first and the current one last; with
    /// a metric, the names of that metric of the benchmark.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn names_since(
        &self,
        suite: &str,
        benchmark: &str,
        metric: Option<&str>,
    ) -> StoreResult<Vec<String>> {
        let remarks = self.all()?;
        let (names, suite, recorded) = match metric {
            Some(metric) => {
                let names = NameHistory::of_metrics(&remarks, suite, &[benchmark]);
                (names, "", metric)
            }
            None => (NameHistory::of(&remarks), suite, benchmark),
        };
        let names = names.all(suite, recorded);
        Ok(names.into_iter().map(str::to_owned).collect())
    }

    /// Returns the annotations about a benchmark of one of the ids that it had.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn about(&self, benchmark: &str) -> StoreResult<Vec<Remark>> {
        self.store.read(|snapshot| {
            let remarks = remarks(snapshot)?;
            let names = NameHistory::of(&remarks);
            let known = benchmarks(snapshot)?;
            let called_so: Vec<&(i64, String, String)> = known
                .iter()
                .filter(|(_, suite, id)| names.all(suite, id).contains(&benchmark))
                .collect();
            let is_about = |remark: &&Remark| {
                let mut all = called_so.iter();
                remark.active().is_some()
                    && all.any(|(_, suite, id)| remark.is_about(&names, suite, id))
            };
            Ok(remarks.iter().filter(is_about).cloned().collect())
        })
    }

    /// Returns when the last was said of what holds about the same benchmarks as `changes`, or what
    /// these undo. What is said after having seen that is to be dated after it, so that the order of
    /// the two does not hang on the clocks of two machines.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn last_said(&self, changes: &[Change]) -> StoreResult<Option<Timestamp>> {
        self.store.read(|snapshot| {
            let remarks = remarks(snapshot)?;
            let names = NameHistory::of(&remarks);
            let known = benchmarks(snapshot)?;
            let mut about: BTreeSet<(&str, Vec<&str>)> = BTreeSet::new();
            for (_, suite, id) in &known {
                let ids = names.all(suite, id);
                if changes.iter().any(|it| it.is_about(suite, &ids)) {
                    about.insert((suite, ids));
                }
            }
            for change in changes {
                if let Change::Rename { suite, new, .. } = change {
                    let all = known.iter().map(|(_, suite, _)| suite);
                    let suites = all.filter(|it| suite.as_ref().is_none_or(|one| one == *it));
                    about.extend(suites.map(|suite| (suite.as_str(), vec![new.as_str()])));
                }
            }
            let is_about = |remark: &&Remark| {
                let undone = |change: &Change| change.restored() == Some(remark.annotation.id);
                let of_any = |change: &Change| about.iter().any(|it| change.is_about(it.0, &it.1));
                changes.iter().any(undone) || remark.active().is_some_and(of_any)
            };
            let said = remarks.iter().filter(is_about);
            Ok(said.map(|it| it.annotation.at).max())
        })
    }

    /// Counts what changes would affect together if they were made now.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn touched(&self, changes: &[Change]) -> StoreResult<TouchedCounts> {
        self.count_touched(|names, suite, id| {
            let ids = names.all(suite, id);
            let about = changes.iter().filter(|it| it.is_about(suite, &ids));
            about.map(|it| (it, None)).collect()
        })
    }

    /// Counts what annotations affect together, active or not.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn touched_by(&self, remarks: &[&Remark]) -> StoreResult<TouchedCounts> {
        self.count_touched(|names, suite, id| {
            let about = remarks.iter().filter(|it| it.is_about(names, suite, id));
            about
                .copied()
                .filter_map(|it| Some((it.change.as_ref()?, Some(it.said()))))
                .collect()
        })
    }

    /// Counts what the changes affect that `about` returns for suite and recorded id, with their time
    /// if it is in the past.
    fn count_touched<'c>(
        &self,
        about: impl Fn(&NameHistory, &str, &str) -> Vec<(&'c Change, Option<AnnotationOrder>)>,
    ) -> StoreResult<TouchedCounts> {
        self.store.read(|snapshot| {
            let remarks = remarks(snapshot)?;
            let names = NameHistory::of(&remarks);
            let mut touched: BTreeSet<(String, String)> = BTreeSet::new();
            let mut instances: BTreeSet<i64> = BTreeSet::new();
            for (key, suite, id) in benchmarks(snapshot)? {
                let before = instances.len();
                let ids = names.all(&suite, &id);
                let metrics = NameHistory::of_metrics(&remarks, &suite, &ids);
                for (change, said) in about(&names, &suite, &id) {
                    let called = |recorded: &str, metric: &str| {
                        let then = match said {
                            Some(said) => metrics.until("", recorded, said),
                            None => metrics.all("", recorded),
                        };
                        then.contains(&metric)
                    };
                    instances.extend(instances_of(snapshot, key, change, called)?);
                }
                if instances.len() > before {
                    let now = ids.last().map_or(id.clone(), |&it| it.to_owned());
                    touched.insert((suite.clone(), now));
                }
            }
            Ok(TouchedCounts {
                benchmarks: touched.len() as u64,
                instances: instances.len() as u64,
            })
        })
    }
}

impl Writer<'_> {
    /// Puts annotations of this store unless others were added since `known` were the ids of all of them;
    /// returns whether they were put. What was checked before, such as that a rename leads
    /// to no circle, is then still true.
    ///
    /// # Errors
    /// Those of [`Writer::put`].
    pub fn put_unless_annotated_since(
        &mut self,
        known: &BTreeSet<Id>,
        own: &[Annotation],
    ) -> StoreResult<bool> {
        if annotation_ids(self.connection)? != *known {
            return Ok(false);
        }
        for annotation in own {
            self.put_own(annotation)?;
        }
        Ok(true)
    }
}

fn annotation_ids(connection: &Connection) -> StoreResult<BTreeSet<Id>> {
    let all = remarks(connection)?;
    Ok(all.into_iter().map(|it| it.annotation.id).collect())
}

/// Returns the instances of a benchmark that a change affects; `called` returns whether a recorded metric had a name.
fn instances_of(
    connection: &Connection,
    benchmark: i64,
    change: &Change,
    called: impl Fn(&str, &str) -> bool,
) -> StoreResult<Vec<i64>> {
    let metric = match change {
        Change::Rename { .. } | Change::Restore { .. } | Change::Withdraw { .. } => None,
        Change::RenameMetric { metric, .. } => Some(metric),
        Change::Retire(retirement) => retirement.metric.as_ref(),
        Change::Triage(triage) => triage.metric.as_ref(),
    };
    let (mut condition, parameters) = match change.retirement() {
        Some(retirement) => condition(retirement),
        None => ("1".to_owned(), Vec::new()),
    };
    if let Some(metric) = metric {
        let mut recorded = metrics_of(connection, benchmark)?;
        recorded.retain(|_, name| called(name, metric));
        let keys = joined(recorded.keys().map(ToString::to_string));
        condition.push_str(&format!(
            " AND (EXISTS (SELECT 1 FROM series \
                            WHERE series.instance = instance.key AND series.metric IN ({keys})) \
                OR EXISTS (SELECT 1 FROM summary \
                            WHERE summary.instance = instance.key AND summary.metric IN ({keys})))"
        ));
    }
    let sql = format!(
        "SELECT instance.key FROM instance JOIN run ON run.key = instance.run \
           JOIN session ON session.key = run.session \
          WHERE instance.benchmark = {benchmark} AND {condition}"
    );
    query::column(connection, &sql, params_from_iter(parameters))
}
