//! Puts records that have a row of their own.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::params;

use super::super::health::compare::{as_stored, with_metrics_of};
use super::super::reading::read;
use super::super::reading::rows::{better_text, json_text, object_text, time_text};
use super::super::{StoreError, Writer};
use super::keys::{InstanceKey, SuiteKey};
use super::write::no_parent;
use lapwing_model::{
    Annotation, Id, Instance, InstanceEnd, Metric, MetricName, Record, RecordKind, Run, Session,
    Summary, too_many_metrics,
};

impl Writer<'_> {
    pub(in crate::store) fn put_session(&mut self, session: &Session) -> Result<(), StoreError> {
        if self.find_session(session.id)?.is_some() {
            let stored = read::session(self.connection, session.id)?;
            let seen = stored.as_ref().map(|it| as_stored(it, session));
            self.appended.same(
                RecordKind::Session,
                session.id.to_string(),
                stored.as_ref(),
                seen.as_ref().unwrap_or(session),
            )?;
            return self.let_begin(session.id, session.started);
        }
        let started = time_text(session.started);
        self.connection
            .prepare_cached(
                "INSERT INTO session (id, suite, name, started, seed, tool, attributes, \
                 artifacts, extra) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
            )?
            .execute(params![
                session.id.to_string(),
                session.suite,
                session.name,
                started,
                session.seed.map(|seed| seed.to_string()),
                session.tool,
                object_text(&session.attributes)?,
                object_text(&session.artifacts)?,
                object_text(&session.extra)?,
            ])?;
        let key = SuiteKey {
            key: self.connection.last_insert_rowid(),
            suite: session.suite.clone(),
        };
        if let Some(begun) = &mut self.cache.begun {
            begun.entry(started).or_default().push(key.key);
        }
        self.cache.sessions.insert(session.id, key);
        self.appended.count_new(RecordKind::Session, 1);
        Ok(())
    }

    /// Moves the start of a session back if it is later: another file may contain more of an
    /// imported session.
    ///
    /// # Errors
    /// If the store cannot be written to.
    pub fn let_begin(&mut self, session: Id, started: Timestamp) -> Result<(), StoreError> {
        let earlier = self.at_path(|connection| {
            Ok(connection
                .prepare_cached("UPDATE session SET started = ?2 WHERE id = ?1 AND started > ?2")?
                .execute([session.to_string(), time_text(started)])?)
        })?;
        if earlier > 0 {
            self.cache.begun = None;
        }
        Ok(())
    }

    pub(in crate::store) fn put_run(&mut self, run: &Run) -> Result<(), StoreError> {
        if let Some(found) = self.find_run(run.id)? {
            let stored = read::run(self.connection, found.key)?;
            let (whole, seen) = (with_metrics_of(&stored, run), with_metrics_of(run, &stored));
            let id = run.id.to_string();
            self.appended
                .same(RecordKind::Run, id, Some(&whole), &seen)?;
            if whole.metrics.len() > stored.metrics.len() {
                self.add_metrics(run.id, &run.metrics)?;
            }
            return Ok(());
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
        self.insert_metrics(key, &run.metrics)?;
        let suite = session.suite;
        self.cache.runs.insert(run.id, SuiteKey { key, suite });
        self.appended.count_new(RecordKind::Run, 1);
        Ok(())
    }

    /// Returns whether a run of that id is in the store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn has_run(&mut self, id: Id) -> Result<bool, StoreError> {
        let found = self.find_run(id);
        found
            .map(|key| key.is_some())
            .map_err(|error| error.at(self.path))
    }

    /// Adds metrics to a run of the store, without changing those that it has.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn add_metrics(
        &mut self,
        run: Id,
        metrics: &BTreeMap<MetricName, Metric>,
    ) -> Result<(), StoreError> {
        let Some(run) = self.find_run(run).map_err(|error| error.at(self.path))? else {
            return Err(StoreError::damaged("a run just made has gone").at(self.path));
        };
        self.insert_metrics(run.key, metrics)
            .map_err(|error| error.at(self.path))
    }

    /// Puts one record as [`Writer::put`] does. A run gets the metrics of the record and of the store.
    pub(crate) fn put_or_grow(&mut self, record: &Record) -> Result<(), StoreError> {
        match record {
            Record::Run(run) => {
                let grown = self.with_all_metrics(run);
                match grown.map_err(|error| error.at(self.path))? {
                    Some(grown) => {
                        self.add_metrics(grown.id, &grown.metrics)?;
                        self.put(&Record::Run(grown))
                    }
                    None => self.put(record),
                }
            }
            Record::Session(_)
            | Record::Instance(_)
            | Record::Iteration(_)
            | Record::Span(_)
            | Record::InstanceEnd(_)
            | Record::Summary(_)
            | Record::Annotation(_) => self.put(record),
        }
    }

    /// Returns the run with the metrics of the store added; `None` if both have the same.
    fn with_all_metrics(&mut self, run: &Run) -> Result<Option<Run>, StoreError> {
        let Some(found) = self.find_run(run.id)? else {
            return Ok(None);
        };
        let stored = read::run(self.connection, found.key)?;
        if stored.metrics == run.metrics {
            return Ok(None);
        }
        let mut grown = run.clone();
        for (name, metric) in stored.metrics {
            grown.metrics.entry(name).or_insert(metric);
        }
        Ok(Some(grown))
    }

    fn insert_metrics(
        &mut self,
        run: i64,
        metrics: &BTreeMap<MetricName, Metric>,
    ) -> Result<(), StoreError> {
        for (name, metric) in metrics {
            let key = self.metric(name)?;
            let better = better_text(metric.better);
            self.connection
                .prepare_cached(
                    "INSERT INTO run_metric (run, metric, unit, better) VALUES (?1, ?2, ?3, ?4) \
                     ON CONFLICT DO NOTHING",
                )?
                .execute(params![run, key, metric.unit, better])?;
        }
        Ok(())
    }

    pub(in crate::store) fn put_instance(&mut self, instance: &Instance) -> Result<(), StoreError> {
        if let Some(found) = self.find_instance(instance.id)? {
            let stored = read::instance_row(self.connection, found.key)?.instance;
            return self.appended.same(
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
        self.stored_indices.begin(key);
        self.appended.count_new(RecordKind::Instance, 1);
        Ok(())
    }

    pub(in crate::store) fn put_instance_end(
        &mut self,
        end: &InstanceEnd,
    ) -> Result<(), StoreError> {
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
            let stored = read::instance_row(self.connection, parent.key)?.end;
            let key = format!("of instance {}", end.instance);
            return self
                .appended
                .same(RecordKind::InstanceEnd, key, stored.as_ref(), end);
        }
        self.appended.count_new(RecordKind::InstanceEnd, 1);
        Ok(())
    }

    pub(in crate::store) fn put_summary(&mut self, summary: &Summary) -> Result<(), StoreError> {
        let name = || format!("`{}` {}", summary.metric, summary.statistic);
        let parent = self.parent_instance(RecordKind::Summary, summary.instance, name)?;
        let key = || format!("{} of instance {}", name(), summary.instance);
        if !self.has_room_for(parent.benchmark, std::iter::once(&summary.metric))? {
            return Err(StoreError::Refused {
                kind: RecordKind::Summary,
                key: key(),
                why: too_many_metrics(),
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
            return self
                .appended
                .same(RecordKind::Summary, key(), stored.as_ref(), summary);
        }
        self.appended.count_new(RecordKind::Summary, 1);
        Ok(())
    }

    pub(in crate::store) fn put_annotation(
        &mut self,
        annotation: &Annotation,
    ) -> Result<(), StoreError> {
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
            let stored =
                read::annotations(self.connection, "id = ?1", [annotation.id.to_string()])?;
            let key = annotation.id.to_string();
            return self
                .appended
                .same(RecordKind::Annotation, key, stored.first(), annotation);
        }
        self.appended.count_new(RecordKind::Annotation, 1);
        Ok(())
    }
}
