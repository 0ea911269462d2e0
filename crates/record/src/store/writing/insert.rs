//! Puts records that have a row of their own.

use std::collections::BTreeMap;

use jiff::Timestamp;
use rusqlite::types::Value;
use rusqlite::{params, params_from_iter};

use super::super::health::compare::{as_stored, with_metrics_of};
use super::super::reading::read;
use super::super::reading::rows::{better_text, filled_text, time_text};
use super::super::{StoreError, StoreResult, Writer, query};
use super::batch::text;
use super::keys::{InstanceKey, SuiteKey};
use super::write::no_parent;
use lapwing_model::{
    Annotation, Id, Instance, InstanceEnd, Metric, MetricName, Record, RecordKind, Run, Session,
    Summary, too_many_metrics,
};

/// The columns of an instance; the last five are those of its end.
pub(crate) const INSTANCE_COLUMNS: &str = "instance (id, run, benchmark, params, \
     tags, fingerprint, benchmark_extra, block, position, attempt, host, started, environment, job, \
     attributes, artifacts, extra, outcome, ended, end_message, observed, end_extra)";

impl Writer<'_> {
    pub(crate) fn put_session(&mut self, session: &Session) -> StoreResult<()> {
        if self.find_session(session.id)?.is_some() {
            let stored = read::session(self.connection, session.id)?;
            let stored = stored.map(|(_, session)| session);
            let seen = stored.as_ref().map(|stored| as_stored(stored, session));
            self.appended.same(
                self.cleaner,
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
                filled_text(&session.attributes)?,
                filled_text(&session.artifacts)?,
                filled_text(&session.extra)?,
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
    pub fn let_begin(&mut self, session: Id, started: Timestamp) -> StoreResult<()> {
        let sql = "UPDATE session SET started = ?2 WHERE id = ?1 AND started > ?2";
        let earlier = self.execute(sql, [session.to_string(), time_text(started)])?;
        if earlier > 0 {
            self.cache.begun = None;
        }
        Ok(())
    }

    pub(crate) fn put_run(&mut self, run: &Run) -> StoreResult<()> {
        if let Some(found) = self.find_run(run.id)? {
            let stored = read::run(self.connection, found.key)?;
            let (whole, seen) = (with_metrics_of(&stored, run), with_metrics_of(run, &stored));
            let id = run.id.to_string();
            self.appended
                .same(self.cleaner, RecordKind::Run, id, Some(&whole), &seen)?;
            if whole.metrics.len() > stored.metrics.len() {
                self.add_metrics(run.id, &run.metrics)?;
            }
            return Ok(());
        }
        let session = self.find_session(run.session)?;
        let session = session.ok_or_else(|| {
            let parent = (RecordKind::Session, run.session);
            no_parent(RecordKind::Run, run.id.to_string(), parent)
        })?;
        let version = &run.version;
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
                filled_text(&version.extra)?,
                filled_text(&run.factors)?,
                filled_text(&run.definitions)?,
                filled_text(&run.environment)?,
                filled_text(&run.attributes)?,
                filled_text(&run.artifacts)?,
                filled_text(&run.extra)?,
            ])?;
        let key = self.connection.last_insert_rowid();
        self.insert_metrics(key, &run.metrics)?;
        self.points.begin(key);
        let suite = session.suite;
        self.cache.runs.insert(run.id, SuiteKey { key, suite });
        self.appended.count_new(RecordKind::Run, 1);
        Ok(())
    }

    /// Returns whether a run of that id is in the store.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn has_run(&mut self, id: Id) -> StoreResult<bool> {
        let found = self.find_run(id).map(|key| key.is_some());
        found.map_err(|error| error.at(self.path))
    }

    /// Adds metrics to a run of the store, without changing those that it has.
    ///
    /// # Errors
    /// When the store cannot be written to.
    pub fn add_metrics(
        &mut self,
        run: Id,
        metrics: &BTreeMap<MetricName, Metric>,
    ) -> StoreResult<()> {
        let Some(run) = self.find_run(run).map_err(|error| error.at(self.path))? else {
            return Err(StoreError::damaged("a run just made has gone").at(self.path));
        };
        self.insert_metrics(run.key, metrics)
            .map_err(|error| error.at(self.path))
    }

    /// Puts one record as [`Writer::put`] does. A run gets the metrics of the record and of the store.
    pub(crate) fn put_or_grow(&mut self, record: &Record) -> StoreResult<()> {
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
    fn with_all_metrics(&mut self, run: &Run) -> StoreResult<Option<Run>> {
        let Some(found) = self.find_run(run.id)? else {
            return Ok(None);
        };
        let stored = read::run(self.connection, found.key)?;
        if stored.metrics == run.metrics {
            return Ok(None);
        }
        Ok(Some(with_metrics_of(run, &stored)))
    }

    fn insert_metrics(
        &mut self,
        run: i64,
        metrics: &BTreeMap<MetricName, Metric>,
    ) -> StoreResult<()> {
        for (name, metric) in metrics {
            let key = self.metric(name)?;
            let better = better_text(metric.better);
            let sql = "INSERT INTO run_metric (run, metric, unit, better) VALUES (?1, ?2, ?3, ?4) \
                       ON CONFLICT DO NOTHING";
            let parameters = params![run, key, metric.unit, better];
            query::execute(self.connection, sql, parameters)?;
        }
        Ok(())
    }

    pub(crate) fn put_instance(&mut self, instance: &Instance) -> StoreResult<()> {
        if let Some(found) = self.find_instance(instance.id)? {
            self.write_held_instances()?;
            let stored = read::instance_row(self.connection, found.key)?.instance;
            return self.appended.same(
                self.cleaner,
                RecordKind::Instance,
                instance.id.to_string(),
                Some(&stored),
                instance,
            );
        }
        let run = self.find_run(instance.run)?.ok_or_else(|| {
            let parent = (RecordKind::Run, instance.run);
            no_parent(RecordKind::Instance, instance.id.to_string(), parent)
        })?;
        let described = &instance.benchmark;
        let benchmark = self.benchmark(&run.suite, &described.id)?;
        let id = instance.id.to_string();
        let key = InstanceKey {
            key: self.new_instance(&id)?,
            run: run.key,
            benchmark,
        };
        let row = [
            Value::Text(id),
            Value::Integer(run.key),
            Value::Integer(benchmark),
            text(filled_text(&described.params)?),
            text(filled_text(&described.tags)?),
            text(described.fingerprint.as_deref()),
            text(filled_text(&described.extra)?),
            Value::Integer(instance.block.into()),
            Value::Integer(instance.position.into()),
            Value::Integer(instance.attempt.into()),
            text(instance.host.as_deref()),
            text(instance.started.map(time_text)),
            text(filled_text(&instance.environment)?),
            text(filled_text(&instance.job)?),
            text(filled_text(&instance.attributes)?),
            text(filled_text(&instance.artifacts)?),
            text(filled_text(&instance.extra)?),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
        ];
        self.hold_instance(row)?;
        self.cache.remember_instance(instance.id, key);
        self.stored_indices.begin(key.key);
        self.points.add_instance(self.connection, key, instance)?;
        self.appended.count_new(RecordKind::Instance, 1);
        Ok(())
    }

    pub(crate) fn put_instance_end(&mut self, end: &InstanceEnd) -> StoreResult<()> {
        let parent = self.parent_instance(RecordKind::InstanceEnd, end.instance, || {
            "record".to_owned()
        })?;
        let columns = [
            Value::Text(end.outcome.name().to_owned()),
            text(end.ended.map(time_text)),
            text(end.message.as_deref()),
            text(filled_text(&end.observed)?),
            text(filled_text(&end.extra)?),
        ];
        let ended = match self.held_instance(parent.key)? {
            Some([.., outcome @ Value::Null, ended, message, observed, extra]) => {
                [*outcome, *ended, *message, *observed, *extra] = columns;
                1
            }
            Some(_) | None => {
                self.write_held_instances()?;
                let sql = "UPDATE instance SET outcome = ?2, ended = ?3, end_message = ?4, \
                           observed = ?5, end_extra = ?6 WHERE key = ?1 AND outcome IS NULL";
                let parameters = [Value::Integer(parent.key)].into_iter().chain(columns);
                query::execute(self.connection, sql, params_from_iter(parameters))?
            }
        };
        if ended == 0 {
            let stored = read::instance_row(self.connection, parent.key)?.end;
            let key = format!("of instance {}", end.instance);
            return self.appended.same(
                self.cleaner,
                RecordKind::InstanceEnd,
                key,
                stored.as_ref(),
                end,
            );
        }
        self.points.add_end(self.connection, parent, end)?;
        self.appended.count_new(RecordKind::InstanceEnd, 1);
        Ok(())
    }

    pub(crate) fn put_summary(&mut self, summary: &Summary) -> StoreResult<()> {
        let name = || format!("`{}` {}", summary.metric, summary.statistic);
        let parent = self.parent_instance(RecordKind::Summary, summary.instance, name)?;
        let key = || format!("{} of instance {}", name(), summary.instance);
        if !self.has_room_for(parent.benchmark, std::iter::once(&summary.metric))? {
            let why = too_many_metrics();
            return Err(StoreError::refused(RecordKind::Summary, key(), why));
        }
        let metric = self.metric_of(parent.benchmark, &summary.metric)?;
        self.write_held_instances()?;
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
                filled_text(&summary.extra)?,
            ])?;
        if inserted == 0 {
            let stored = read::summaries(self.connection, parent.key, summary.instance)?
                .into_iter()
                .find(|one| one.metric == summary.metric && one.statistic == summary.statistic);
            return self.appended.same(
                self.cleaner,
                RecordKind::Summary,
                key(),
                stored.as_ref(),
                summary,
            );
        }
        self.points
            .add_summary(self.connection, parent, &summary.metric)?;
        self.appended.count_new(RecordKind::Summary, 1);
        Ok(())
    }

    pub(crate) fn put_annotation(&mut self, annotation: &Annotation) -> StoreResult<()> {
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
                filled_text(&annotation.target)?,
                annotation.reason,
                filled_text(&annotation.extra)?,
            ])?;
        if inserted == 0 {
            let stored =
                read::annotations(self.connection, "id = ?1", [annotation.id.to_string()])?;
            let key = annotation.id.to_string();
            return self.appended.same(
                self.cleaner,
                RecordKind::Annotation,
                key,
                stored.first(),
                annotation,
            );
        }
        self.appended.count_new(RecordKind::Annotation, 1);
        Ok(())
    }
}
