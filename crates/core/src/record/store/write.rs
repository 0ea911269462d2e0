//! Puts records into the store, within a transaction.

use std::collections::BTreeMap;
use std::path::Path;

use rusqlite::{CachedStatement, Connection, params};
use serde::Serialize;

use super::bulk::{Bulk, IterationRow, ValueRow};
use super::cache::{Cache, InstanceKey, RunKey, SessionKey};
use super::compare::differences;
use super::rows::{better_text, detail_text, json_text, object_text, time_text};
use super::{Appended, StoreError, read, scan};
use crate::model::{
    Annotation, Id, Instance, InstanceEnd, Iteration, Record, RecordKind, Run, Session, Span,
    Summary,
};

/// Spans to hold back, so that they are stored in large pieces.
const SPANS_HELD: usize = 8_192;

/// Puts records into the store, within a transaction (`Store::write`).
pub struct Writer<'t> {
    pub(super) connection: &'t Connection,
    pub(super) cache: &'t mut Cache,
    pub(super) path: &'t Path,
    insert_iteration: CachedStatement<'t>,
    insert_value: CachedStatement<'t>,
    pub(super) bulk: Bulk<'t>,
    held_spans: BTreeMap<i64, (Id, Vec<Span>)>,
    held: usize,
    pub(super) appended: Appended,
}

impl<'t> Writer<'t> {
    pub(super) fn new(
        connection: &'t Connection,
        cache: &'t mut Cache,
        path: &'t Path,
    ) -> Result<Self, StoreError> {
        Ok(Self {
            connection,
            cache,
            path,
            insert_iteration: connection.prepare_cached(
                "INSERT INTO iteration (instance, idx, \"offset\", burn_in, loops, outcome, \
                 message, detail) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
            )?,
            insert_value: connection.prepare_cached(
                "INSERT INTO value (metric, instance, idx, value) VALUES (?1, ?2, ?3, ?4)",
            )?,
            bulk: Bulk::new(connection)?,
            held_spans: BTreeMap::new(),
            held: 0,
            appended: Appended::default(),
        })
    }

    /// Puts one record; its parents must have been put before it, now or ever.
    ///
    /// # Errors
    /// When the key is there already with other content, the parent is missing, or
    /// the store cannot be written to.
    pub fn put(&mut self, record: &Record) -> Result<(), StoreError> {
        match record {
            Record::Session(session) => self.put_session(session),
            Record::Run(run) => self.put_run(run),
            Record::Instance(instance) => self.put_instance(instance),
            Record::Iteration(iteration) => self.put_iteration(iteration),
            Record::Span(span) => self.put_span(span),
            Record::InstanceEnd(end) => self.put_instance_end(end),
            Record::Summary(summary) => self.put_summary(summary),
            Record::Annotation(annotation) => self.put_annotation(annotation),
        }
        .map_err(|error| error.at(self.path))
    }

    /// Writes what is held back and returns the counts so far.
    ///
    /// # Errors
    /// When a span is there already with other content, or the store cannot be written to.
    pub fn settle(&mut self) -> Result<Appended, StoreError> {
        self.bulk
            .write()
            .and_then(|()| self.write_held_spans())
            .map_err(|error| error.at(self.path))?;
        Ok(self.appended.clone())
    }

    pub(super) fn finish(mut self) -> Result<(), StoreError> {
        self.settle().map(|_counts| ())
    }

    /// Returns the session of that id, if it is in the store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn session(&self, id: Id) -> Result<Option<Session>, StoreError> {
        read::session(self.connection, id).map_err(|error| error.at(self.path))
    }

    /// Returns whether an instance of that id is in the store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn has_instance(&mut self, id: Id) -> Result<bool, StoreError> {
        let found = self.find_instance(id);
        found
            .map(|key| key.is_some())
            .map_err(|error| error.at(self.path))
    }

    /// Counts records that were found to be in the store without putting them.
    pub(crate) fn count_already_there(&mut self, kind: RecordKind, number: usize) {
        let number = u64::try_from(number).unwrap_or(u64::MAX);
        self.appended.count_already_there(kind, number);
    }

    fn put_session(&mut self, session: &Session) -> Result<(), StoreError> {
        if self.find_session(session.id)?.is_some() {
            let stored = read::session(self.connection, session.id)?;
            return self.same(
                RecordKind::Session,
                session.id.to_string(),
                stored.as_ref(),
                session,
            );
        }
        self.connection
            .prepare_cached(
                "INSERT INTO session (id, suite, name, started, seed, tool, attributes, \
                 artifacts, extra) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                session.id.to_string(),
                session.suite,
                session.name,
                time_text(session.started),
                session.seed.map(|seed| seed.to_string()),
                session.tool,
                object_text(&session.attributes)?,
                object_text(&session.artifacts)?,
                object_text(&session.extra)?,
            ])?;
        let key = SessionKey {
            key: self.connection.last_insert_rowid(),
            suite: session.suite.clone(),
        };
        self.cache.sessions.insert(session.id, key);
        self.appended.count_new(RecordKind::Session, 1);
        Ok(())
    }

    fn put_run(&mut self, run: &Run) -> Result<(), StoreError> {
        if let Some(found) = self.find_run(run.id)? {
            let stored = read::run(self.connection, found.key)?;
            return self.same(RecordKind::Run, run.id.to_string(), Some(&stored), run);
        }
        let session = self.find_session(run.session)?.ok_or_else(|| {
            no_parent(
                RecordKind::Run,
                run.id.to_string(),
                RecordKind::Session,
                run.session,
            )
        })?;
        let version = &run.version;
        let factors = (!run.factors.is_empty())
            .then(|| json_text(&run.factors))
            .transpose()?;
        let definitions = (!run.definitions.is_empty())
            .then(|| json_text(&run.definitions))
            .transpose()?;
        self.connection
            .prepare_cached(
                "INSERT INTO run (id, session, variant, version, \"commit\", branch, \
                 version_date, dirty, version_extra, factors, definitions, environment, \
                 attributes, artifacts, extra) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)",
            )?
            .execute(params![
                run.id.to_string(),
                session.key,
                run.variant,
                version.name,
                version.commit,
                version.branch,
                version.date,
                version.dirty,
                object_text(&version.extra)?,
                factors,
                definitions,
                object_text(&run.environment)?,
                object_text(&run.attributes)?,
                object_text(&run.artifacts)?,
                object_text(&run.extra)?,
            ])?;
        let key = self.connection.last_insert_rowid();
        for (name, metric) in &run.metrics {
            let metric_key = self.metric(name)?;
            self.connection
                .prepare_cached(
                    "INSERT INTO run_metric (run, metric, unit, better) VALUES (?1, ?2, ?3, ?4)",
                )?
                .execute(params![
                    key,
                    metric_key,
                    metric.unit,
                    better_text(metric.better)
                ])?;
        }
        let suite = session.suite;
        self.cache.runs.insert(run.id, RunKey { key, suite });
        self.appended.count_new(RecordKind::Run, 1);
        Ok(())
    }

    fn put_instance(&mut self, instance: &Instance) -> Result<(), StoreError> {
        if let Some(found) = self.find_instance(instance.id)? {
            let stored = self.instance_row(found.key)?.instance;
            return self.same(
                RecordKind::Instance,
                instance.id.to_string(),
                Some(&stored),
                instance,
            );
        }
        let run = self.find_run(instance.run)?.ok_or_else(|| {
            no_parent(
                RecordKind::Instance,
                instance.id.to_string(),
                RecordKind::Run,
                instance.run,
            )
        })?;
        let described = &instance.benchmark;
        let benchmark = self.benchmark(&run.suite, &described.id)?;
        let tags = (!described.tags.is_empty())
            .then(|| json_text(&described.tags))
            .transpose()?;
        self.connection
            .prepare_cached(
                "INSERT INTO instance (id, run, benchmark, params, tags, fingerprint, \
                 benchmark_extra, block, position, attempt, host, started, environment, job, \
                 attributes, artifacts, extra) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, \
                 ?11, ?12, ?13, ?14, ?15, ?16, ?17)",
            )?
            .execute(params![
                instance.id.to_string(),
                run.key,
                benchmark,
                object_text(&described.params)?,
                tags,
                described.fingerprint,
                object_text(&described.extra)?,
                instance.block,
                instance.position,
                instance.attempt,
                instance.host,
                instance.started.map(time_text),
                object_text(&instance.environment)?,
                object_text(&instance.job)?,
                object_text(&instance.attributes)?,
                object_text(&instance.artifacts)?,
                object_text(&instance.extra)?,
            ])?;
        let key = self.connection.last_insert_rowid();
        self.cache
            .remember_instance(instance.id, InstanceKey { key, benchmark });
        self.bulk.begin(key);
        self.appended.count_new(RecordKind::Instance, 1);
        Ok(())
    }

    fn put_iteration(&mut self, iteration: &Iteration) -> Result<(), StoreError> {
        let parent = self.parent_instance(RecordKind::Iteration, iteration.instance, || {
            iteration.index.to_string()
        })?;
        for (name, value) in &iteration.metrics {
            if !value.is_finite() {
                return Err(StoreError::NotFinite {
                    kind: RecordKind::Iteration,
                    key: child_key(iteration.index, iteration.instance),
                    metric: name.clone(),
                });
            }
        }
        if self.bulk.is_new(parent.key, iteration.index) {
            return self.hold_iteration(parent, iteration);
        }
        self.bulk.write()?;
        let inserted = self.insert_iteration.execute(params![
            parent.key,
            iteration.index,
            iteration.offset,
            iteration.burn_in,
            iteration.loops.cast_signed(),
            iteration.outcome.name(),
            iteration.message,
            detail_text(iteration)?,
        ])?;
        if inserted == 0 {
            let stored =
                scan::iteration(self.connection, parent, iteration.instance, iteration.index)?;
            return self.same(
                RecordKind::Iteration,
                child_key(iteration.index, iteration.instance),
                stored.as_ref(),
                iteration,
            );
        }
        for (name, value) in &iteration.metrics {
            let metric = self.metric_of(parent.benchmark, name)?;
            self.insert_value
                .execute(params![metric, parent.key, iteration.index, value])?;
        }
        self.appended.count_new(RecordKind::Iteration, 1);
        Ok(())
    }

    /// An iteration that cannot be in the store yet is written later, with many others.
    fn hold_iteration(
        &mut self,
        parent: InstanceKey,
        iteration: &Iteration,
    ) -> Result<(), StoreError> {
        self.bulk.iteration(IterationRow {
            instance: parent.key,
            index: iteration.index,
            offset: iteration.offset,
            burn_in: iteration.burn_in,
            loops: iteration.loops.cast_signed(),
            outcome: iteration.outcome,
            message: iteration.message.clone(),
            detail: detail_text(iteration)?,
        });
        for (name, &value) in &iteration.metrics {
            let metric = self.metric_of(parent.benchmark, name)?;
            self.bulk.value(ValueRow {
                metric,
                instance: parent.key,
                index: iteration.index,
                value,
            });
        }
        if self.bulk.is_full() {
            self.bulk.write()?;
        }
        self.appended.count_new(RecordKind::Iteration, 1);
        Ok(())
    }

    fn put_instance_end(&mut self, end: &InstanceEnd) -> Result<(), StoreError> {
        let parent = self.parent_instance(RecordKind::InstanceEnd, end.instance, || {
            "record".to_owned()
        })?;
        let ended = self
            .connection
            .prepare_cached(
                "UPDATE instance SET outcome = ?2, ended = ?3, end_message = ?4, observed = ?5, \
                 end_extra = ?6 WHERE key = ?1 AND outcome IS NULL",
            )?
            .execute(params![
                parent.key,
                end.outcome.name(),
                end.ended.map(time_text),
                end.message,
                object_text(&end.observed)?,
                object_text(&end.extra)?,
            ])?;
        if ended == 0 {
            let stored = self.instance_row(parent.key)?.end;
            let key = format!("of instance {}", end.instance);
            return self.same(RecordKind::InstanceEnd, key, stored.as_ref(), end);
        }
        self.appended.count_new(RecordKind::InstanceEnd, 1);
        Ok(())
    }

    fn put_summary(&mut self, summary: &Summary) -> Result<(), StoreError> {
        let name = || format!("`{}` {}", summary.metric, summary.statistic);
        let parent = self.parent_instance(RecordKind::Summary, summary.instance, name)?;
        let key = || format!("{} of instance {}", name(), summary.instance);
        if !summary.centre.is_finite() || summary.spread.is_some_and(|it| !it.is_finite()) {
            return Err(StoreError::NotFinite {
                kind: RecordKind::Summary,
                key: key(),
                metric: summary.metric.clone(),
            });
        }
        let metric = self.metric_of(parent.benchmark, &summary.metric)?;
        let inserted = self
            .connection
            .prepare_cached(
                "INSERT INTO summary (instance, metric, statistic, n, centre, spread, extra) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                parent.key,
                metric,
                summary.statistic,
                summary.n.map(u64::cast_signed),
                summary.centre,
                summary.spread,
                object_text(&summary.extra)?,
            ])?;
        if inserted == 0 {
            let stored = read::summaries(self.connection, parent.key, summary.instance)?
                .into_iter()
                .find(|it| it.metric == summary.metric && it.statistic == summary.statistic);
            return self.same(RecordKind::Summary, key(), stored.as_ref(), summary);
        }
        self.appended.count_new(RecordKind::Summary, 1);
        Ok(())
    }

    fn put_annotation(&mut self, annotation: &Annotation) -> Result<(), StoreError> {
        let inserted = self
            .connection
            .prepare_cached(
                "INSERT INTO annotation (id, at, by, action, target, reason, extra) \
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                annotation.id.to_string(),
                time_text(annotation.at),
                annotation.by,
                annotation.action,
                object_text(&annotation.target)?,
                annotation.reason,
                object_text(&annotation.extra)?,
            ])?;
        if inserted == 0 {
            let stored = read::annotation(self.connection, annotation.id)?;
            let key = annotation.id.to_string();
            return self.same(RecordKind::Annotation, key, stored.as_ref(), annotation);
        }
        self.appended.count_new(RecordKind::Annotation, 1);
        Ok(())
    }

    fn put_span(&mut self, span: &Span) -> Result<(), StoreError> {
        let parent =
            self.parent_instance(RecordKind::Span, span.instance, || span.index.to_string())?;
        self.held_spans
            .entry(parent.key)
            .or_insert_with(|| (span.instance, Vec::new()))
            .1
            .push(span.clone());
        self.held += 1;
        if self.held >= SPANS_HELD {
            self.write_held_spans()?;
        }
        Ok(())
    }

    fn write_held_spans(&mut self) -> Result<(), StoreError> {
        self.held = 0;
        for (key, (instance, spans)) in std::mem::take(&mut self.held_spans) {
            let count = super::spans::append(self.connection, key, instance, spans)?;
            self.appended.count_new(RecordKind::Span, count.new);
            self.appended
                .count_already_there(RecordKind::Span, count.already_there);
        }
        Ok(())
    }

    /// Counts a record that is there with the same content; anything else is a conflict.
    fn same<T: PartialEq + Serialize>(
        &mut self,
        kind: RecordKind,
        key: String,
        stored: Option<&T>,
        new: &T,
    ) -> Result<(), StoreError> {
        let Some(stored) = stored else {
            return Err(StoreError::damaged(format!("{kind} {key} has no content")));
        };
        if stored != new {
            return Err(StoreError::Conflict {
                kind,
                key,
                differences: differences(stored, new),
            });
        }
        self.appended.count_already_there(kind, 1);
        Ok(())
    }

    pub(super) fn parent_instance(
        &mut self,
        kind: RecordKind,
        instance: Id,
        child: impl Fn() -> String,
    ) -> Result<InstanceKey, StoreError> {
        self.find_instance(instance)?
            .ok_or_else(|| no_parent(kind, child(), RecordKind::Instance, instance))
    }
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Writer")
            .field("path", &self.path)
            .field("appended", &self.appended)
            .finish_non_exhaustive()
    }
}

fn child_key(index: u32, instance: Id) -> String {
    format!("{index} of instance {instance}")
}

fn no_parent(kind: RecordKind, key: String, parent_kind: RecordKind, parent: Id) -> StoreError {
    StoreError::NoParent {
        kind,
        key,
        parent_kind,
        parent: parent.to_string(),
    }
}
