//! Turns a filter into keys.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, Row};

use super::super::curation::curated::CuratedNames;
use super::super::{StoreCatalogue, StoreError, StoreResult, query};
use super::rows::{parsed, parsed_if_any};
use super::select_metrics::{ChosenMetrics, choose_metrics};
use crate::{Filter, FirstInstance, RunHead, SessionHead};
use lapwing_model::{Id, StartedFrom, matches_pattern};

/// What passes a filter, as keys; `None` lets everything pass.
#[derive(Debug, Default)]
pub(crate) struct Selection {
    pub(crate) sessions: Option<BTreeSet<i64>>,
    pub(crate) runs: Option<BTreeSet<i64>>,
    pub(crate) benchmarks: Option<BTreeSet<i64>>,
    /// The metrics asked for.
    pub(crate) metrics: Option<ChosenMetrics>,
    /// The hosts, and the outcomes, of instances.
    pub(crate) of_instances: [(&'static str, Option<Vec<String>>); 2],
    /// What people said of benchmarks, instances and metrics.
    pub(crate) curated: CuratedNames,
}

impl Selection {
    /// Returns what passes `filter`.
    ///
    /// A store without any session has nothing to be mistaken about; otherwise an
    /// entry that fits nothing is an error, because it is most likely mistyped.
    pub(crate) fn of(connection: &Connection, filter: &Filter) -> StoreResult<Self> {
        if is_empty(connection)? {
            return Ok(Self::default());
        }
        let mut selection = Self {
            curated: CuratedNames::of(connection, filter.retired)?,
            sessions: chosen_keys(connection, "session", filter.sessions.as_ref())?,
            runs: chosen_keys(connection, "run", filter.runs.as_ref())?,
            of_instances: [
                ("host", choose_values(connection, "host", &filter.hosts)?),
                (
                    "outcome",
                    choose_values(connection, "outcome", &filter.outcomes)?,
                ),
            ],
            ..Self::default()
        };
        if let Some(sessions) = &selection.sessions {
            let of_sessions = runs_of(connection, sessions)?;
            selection.runs = Some(match selection.runs.take() {
                Some(runs) => runs.intersection(&of_sessions).copied().collect(),
                None => of_sessions,
            });
        }
        selection.benchmarks = choose_benchmarks(connection, &selection.curated, filter)?;
        selection.metrics = choose_metrics(connection, &selection.curated, filter)?;
        selection.fill_tables(connection)?;
        Ok(selection)
    }

    /// Returns all that was recorded in these runs.
    pub(crate) fn of_runs(connection: &Connection, runs: BTreeSet<i64>) -> StoreResult<Self> {
        let selection = Self {
            runs: Some(runs),
            ..Self::default()
        };
        selection.fill_tables(connection)?;
        Ok(selection)
    }

    /// Returns a condition on `instance` in SQL, beginning with ` AND`, or nothing.
    pub(crate) fn on_instance(&self) -> String {
        let mut condition = String::new();
        if self.runs.is_some() {
            condition.push_str(" AND instance.run IN (SELECT key FROM temp.selected_run)");
        }
        if self.benchmarks.is_some() {
            condition
                .push_str(" AND instance.benchmark IN (SELECT key FROM temp.selected_benchmark)");
        }
        for (column, values) in &self.of_instances {
            let Some(values) = values else { continue };
            let quote = |value: &String| format!("'{}'", value.replace('\'', "''"));
            let values: Vec<String> = values.iter().map(quote).collect();
            condition.push_str(&format!(
                " AND instance.{column} IN ({})",
                values.join(", ")
            ));
        }
        if self.curated.hides {
            condition.push_str(" AND instance.key NOT IN (SELECT key FROM temp.retired_instance)");
        }
        condition
    }

    /// Returns a condition on `instance` in SQL, beginning with ` AND`: that its benchmark has a
    /// metric asked for. Nothing where none is.
    pub(crate) fn on_metrics(&self) -> String {
        let Some(metrics) = &self.metrics else {
            return String::new();
        };
        let list = |keys: &BTreeSet<i64>| {
            let keys: Vec<String> = keys.iter().map(ToString::to_string).collect();
            keys.join(", ")
        };
        match &metrics.benchmarks {
            None => format!(
                " AND instance.benchmark IN (SELECT benchmark FROM benchmark_metric \
                 WHERE metric IN ({}))",
                list(&metrics.keys)
            ),
            Some(benchmarks) => format!(" AND instance.benchmark IN ({})", list(benchmarks)),
        }
    }

    /// Returns whether all instances of its runs and benchmarks pass.
    pub(crate) fn takes_all_instances(&self) -> bool {
        self.of_instances.iter().all(|(_, values)| values.is_none())
    }

    /// Returns whether the session passes.
    pub(crate) fn has_session(&self, key: i64) -> bool {
        self.sessions
            .as_ref()
            .is_none_or(|keys| keys.contains(&key))
    }

    /// Returns whether the run passes.
    pub(crate) fn has_run(&self, key: i64) -> bool {
        self.runs.as_ref().is_none_or(|keys| keys.contains(&key))
    }

    /// Returns whether the benchmark passes.
    pub(crate) fn has_benchmark(&self, key: i64) -> bool {
        self.benchmarks
            .as_ref()
            .is_none_or(|keys| keys.contains(&key))
    }

    /// Returns whether the metric passes.
    pub(crate) fn has_metric(&self, key: i64) -> bool {
        self.metrics
            .as_ref()
            .is_none_or(|metrics| metrics.keys.contains(&key))
    }

    /// Lists of keys go into temporary tables, which also a read-only store may have.
    fn fill_tables(&self, connection: &Connection) -> StoreResult<()> {
        for (table, keys) in [
            ("selected_run", &self.runs),
            ("selected_benchmark", &self.benchmarks),
        ] {
            let Some(keys) = keys else { continue };
            connection.execute_batch(&format!(
                "CREATE TEMP TABLE IF NOT EXISTS {table} (key INTEGER PRIMARY KEY); \
                 DELETE FROM temp.{table};"
            ))?;
            let insert = format!("INSERT INTO temp.{table} (key) VALUES (?1)");
            for key in keys {
                query::execute(connection, &insert, [key])?;
            }
        }
        Ok(())
    }
}

impl StoreCatalogue<'_> {
    /// Returns the sessions as people look them up, in the order in which they were recorded.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn session_heads(&self) -> StoreResult<Vec<SessionHead>> {
        let sql = "SELECT id, name, suite, started FROM session ORDER BY key";
        let read = |row: &Row<'_>| {
            Ok(SessionHead {
                id: parsed(row, 0)?,
                name: row.get(1)?,
                suite: row.get(2)?,
                started: parsed(row, 3)?,
            })
        };
        self.store
            .read(|snapshot| query::rows(snapshot, sql, [], read))
    }

    /// Returns the runs as people look them up, those of the latest session first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn run_heads(&self) -> StoreResult<Vec<RunHead>> {
        let sql = format!(
            "SELECT {RUN_HEAD_COLUMNS} FROM run JOIN session ON session.key = run.session \
             ORDER BY session.started DESC, run.key DESC"
        );
        self.store
            .read(|snapshot| query::rows(snapshot, &sql, [], read_run_head))
    }

    /// Returns the sessions that have an attribute.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn sessions_with(&self, attribute: &str) -> StoreResult<BTreeSet<Id>> {
        let sql = "SELECT id FROM session WHERE json_type(attributes, '$.' || ?1) IS NOT NULL";
        let found = self
            .store
            .read(|snapshot| query::rows(snapshot, sql, [attribute], |row| parsed(row, 0)))?;
        Ok(found.into_iter().collect())
    }

    /// Returns the first instance of each of these runs; none of a run without an instance.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn first_instances<'r>(
        &self,
        runs: impl IntoIterator<Item = &'r Id>,
    ) -> StoreResult<BTreeMap<Id, FirstInstance>> {
        let sql = "SELECT min(instance.started), count(*) = count(instance.started), \
             min(instance.position), json_group_array(DISTINCT instance.host) \
             FROM run JOIN instance ON instance.run = run.key WHERE run.id = ?1";
        self.store.read(|snapshot| {
            let mut found = BTreeMap::new();
            for run in runs {
                let read = |row: &Row<'_>| {
                    let Some(position) = row.get::<_, Option<u32>>(2)? else {
                        return Ok(None);
                    };
                    let hosts: String = row.get(3)?;
                    let hosts: Vec<Option<String>> =
                        serde_json::from_str(&hosts).unwrap_or_default();
                    Ok(Some(FirstInstance {
                        started: parsed_if_any(row, 0)?.filter(|_| row.get(1) == Ok(true)),
                        position,
                        hosts: hosts.into_iter().flatten().collect(),
                    }))
                };
                let first = query::rows(snapshot, sql, [run.to_string()], read)?;
                found.extend(first.into_iter().flatten().map(|first| (*run, first)));
            }
            Ok(found)
        })
    }
}

/// The columns of [`read_run_head`].
pub(crate) const RUN_HEAD_COLUMNS: &str = "run.id, session.id, session.name, session.suite, \
     session.started, run.variant, run.factors, run.version, run.\"commit\", run.version_date, run.dirty, run.branch, \
     session.attributes ->> '$.source.started_from', session.attributes ->> '$.source.file'";

/// Returns the run that a row begins with.
pub(crate) fn read_run_head(row: &Row<'_>) -> StoreResult<RunHead> {
    Ok(RunHead {
        id: parsed(row, 0)?,
        session: parsed(row, 1)?,
        session_name: row.get(2)?,
        suite: row.get(3)?,
        started: parsed(row, 4)?,
        variant: row.get(5)?,
        levels: super::rows::levels(row, 6)?,
        version: row.get(7)?,
        commit: row.get(8)?,
        version_date: row.get(9)?,
        dirty: row.get(10)?,
        branch: row.get(11)?,
        started_from: row
            .get::<_, Option<String>>(12)?
            .map_or_else(StartedFrom::default, |name| StartedFrom::named(&name)),
        file: row.get(13)?,
    })
}

fn is_empty(connection: &Connection) -> StoreResult<bool> {
    query::value(connection, "SELECT NOT EXISTS (SELECT 1 FROM session)", [])
}

/// Returns the keys of those rows of a table whose ids are asked for.
fn chosen_keys(
    connection: &Connection,
    table: &str,
    ids: Option<&BTreeSet<Id>>,
) -> StoreResult<Option<BTreeSet<i64>>> {
    let Some(ids) = ids else {
        return Ok(None);
    };
    let sql = format!("SELECT key, id FROM {table}");
    let keys = query::rows(connection, &sql, [], |row| {
        let is_wanted = ids.contains(&parsed(row, 1)?);
        Ok(is_wanted.then(|| row.get(0)).transpose()?)
    })?;
    Ok(Some(keys.into_iter().flatten().collect()))
}

fn runs_of(connection: &Connection, sessions: &BTreeSet<i64>) -> StoreResult<BTreeSet<i64>> {
    let keys = query::rows(connection, "SELECT key, session FROM run", [], |row| {
        let is_wanted = sessions.contains(&row.get(1)?);
        Ok(is_wanted.then(|| row.get(0)).transpose()?)
    })?;
    Ok(keys.into_iter().flatten().collect())
}

fn choose_benchmarks(
    connection: &Connection,
    curated: &CuratedNames,
    filter: &Filter,
) -> StoreResult<Option<BTreeSet<i64>>> {
    let mut chosen: Option<BTreeSet<i64>> = None;
    if !filter.benchmarks.is_empty() {
        let sql = "SELECT key, id FROM benchmark";
        let known: Vec<(i64, String)> = query::rows(connection, sql, [], |row| {
            let (key, id): (i64, String) = (row.get(0)?, row.get(1)?);
            Ok((key, curated.id(key, &id).to_owned()))
        })?;
        let former = curated.former_ids();
        let fits = alternatives("benchmark", &filter.benchmarks, |text| {
            let mut found = matching_benchmarks(&known, text);
            if found.is_empty() {
                // What nothing is called any more may have been the name of something.
                let was = matching_benchmarks(&former, text);
                let was = was.iter().map(|&at| former[at].0);
                let now: BTreeSet<&str> = was.map(|key| curated.id(key, "")).collect();
                found = positions(&known, |(_, id)| now.contains(id.as_str()));
            }
            (found, known.iter().map(|(_, id)| id.clone()).collect())
        })?;
        chosen = Some(fits.into_iter().map(|at| known[at].0).collect());
    }
    if !filter.tags.is_empty() {
        let tagged = tagged_benchmarks(connection, &filter.tags)?;
        chosen = Some(match chosen {
            Some(chosen) => chosen.intersection(&tagged).copied().collect(),
            None => tagged,
        });
    }
    Ok(chosen)
}

/// Returns the positions of the benchmarks that a text names: exactly, by pattern, or in part.
fn matching_benchmarks(known: &[(i64, String)], text: &str) -> Vec<usize> {
    let exact = positions(known, |(_, id)| id == text);
    if !exact.is_empty() {
        return exact;
    }
    if text.contains(['*', '?']) {
        return positions(known, |(_, id)| matches_pattern(text, id));
    }
    positions(known, |(_, id)| id.contains(text))
}

/// Returns the values of a column of instances that the texts name, exactly or by pattern; `None` for all.
fn choose_values(
    connection: &Connection,
    column: &'static str,
    texts: &[String],
) -> StoreResult<Option<Vec<String>>> {
    if texts.is_empty() {
        return Ok(None);
    }
    let sql = format!("SELECT DISTINCT {column} FROM instance WHERE {column} IS NOT NULL");
    let known: Vec<String> = query::column(connection, &sql, [])?;
    let fits = alternatives(column, texts, |text| {
        let found = positions(&known, |value| {
            value == text || matches_pattern(text, value)
        });
        (found, known.clone())
    })?;
    Ok(Some(fits.into_iter().map(|at| known[at].clone()).collect()))
}

/// A benchmark has a tag when any of its instances has it, so that a tag that was
/// added today finds yesterday's measurements too.
fn tagged_benchmarks(connection: &Connection, tags: &[String]) -> StoreResult<BTreeSet<i64>> {
    let sql = "SELECT DISTINCT benchmark, tags FROM instance WHERE tags IS NOT NULL";
    let known: Vec<(i64, Vec<String>)> = query::rows(connection, sql, [], |row| {
        Ok((row.get(0)?, super::rows::from_json(row, 1)?))
    })?;
    let fits = alternatives("tag", tags, |text| {
        let found = positions(&known, |(_, tags)| tags.iter().any(|tag| tag == text));
        (
            found,
            known.iter().flat_map(|(_, tags)| tags.clone()).collect(),
        )
    })?;
    Ok(fits.into_iter().map(|at| known[at].0).collect())
}

pub(crate) fn positions<T>(items: &[T], fits: impl Fn(&T) -> bool) -> Vec<usize> {
    (0..items.len()).filter(|&at| fits(&items[at])).collect()
}

/// Returns the positions that any of the texts finds; each must find something.
pub(crate) fn alternatives(
    what: &'static str,
    texts: &[String],
    find: impl Fn(&str) -> (Vec<usize>, Vec<String>),
) -> StoreResult<BTreeSet<usize>> {
    let mut all = BTreeSet::new();
    for text in texts {
        let (found, names) = find(text);
        if found.is_empty() {
            return Err(StoreError::no_match(what, text, names));
        }
        all.extend(found);
    }
    Ok(all)
}
