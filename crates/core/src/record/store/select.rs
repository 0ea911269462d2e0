//! Turns a filter into keys.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::StoreError;
use super::curated::Curated;
use super::rows::time_text;
use super::select_metrics::{ChosenMetrics, choose_metrics};
use crate::model::matches_pattern;
use crate::record::{Filter, Levels, is_setting};

/// What passes a filter, as keys; `None` lets everything pass.
#[derive(Debug, Default)]
pub(super) struct Selection {
    pub(super) sessions: Option<BTreeSet<i64>>,
    pub(super) runs: Option<BTreeSet<i64>>,
    pub(super) benchmarks: Option<BTreeSet<i64>>,
    /// The metrics asked for.
    pub(super) metrics: Option<ChosenMetrics>,
    /// What people said of benchmarks, instances and metrics.
    pub(super) curated: Curated,
}

struct RunFacts {
    key: i64,
    id: String,
    variant: String,
    levels: Levels,
    version: Option<String>,
    commit: Option<String>,
    session: usize,
}

struct SessionFacts {
    key: i64,
    id: String,
    name: Option<String>,
    suite: String,
    started: String,
}

impl Selection {
    /// Returns what passes `filter`.
    ///
    /// A store without any session has nothing to be mistaken about; otherwise an
    /// entry that fits nothing is an error, because it is most likely mistyped.
    pub(super) fn of(connection: &Connection, filter: &Filter) -> Result<Self, StoreError> {
        let sessions = read_sessions(connection)?;
        if sessions.is_empty() {
            return Ok(Self::default());
        }
        let mut selection = Self {
            curated: Curated::of(connection, filter.retired)?,
            ..Self::default()
        };
        let chosen = choose_sessions(&sessions, filter)?;
        selection.runs = choose_runs(connection, &sessions, chosen.as_ref(), filter)?;
        selection.sessions =
            chosen.map(|chosen| chosen.into_iter().map(|at| sessions[at].key).collect());
        selection.benchmarks = choose_benchmarks(connection, &selection.curated, filter)?;
        selection.metrics = choose_metrics(connection, &selection.curated, filter)?;
        selection.fill_tables(connection)?;
        Ok(selection)
    }

    /// Returns a condition on `instance` in SQL, beginning with ` AND`, or nothing.
    pub(super) fn on_instance(&self) -> String {
        let mut condition = String::new();
        if self.runs.is_some() {
            condition.push_str(" AND instance.run IN (SELECT key FROM temp.selected_run)");
        }
        if self.benchmarks.is_some() {
            condition
                .push_str(" AND instance.benchmark IN (SELECT key FROM temp.selected_benchmark)");
        }
        if self.curated.hides {
            condition.push_str(" AND instance.key NOT IN (SELECT key FROM temp.retired_instance)");
        }
        condition
    }

    /// Returns a condition on `instance` in SQL, beginning with ` AND`: that its benchmark has a
    /// metric asked for. Nothing where none is.
    pub(super) fn on_metrics(&self) -> String {
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

    /// Returns whether the session passes.
    pub(super) fn has_session(&self, key: i64) -> bool {
        self.sessions
            .as_ref()
            .is_none_or(|keys| keys.contains(&key))
    }

    /// Returns whether the run passes.
    pub(super) fn has_run(&self, key: i64) -> bool {
        self.runs.as_ref().is_none_or(|keys| keys.contains(&key))
    }

    /// Returns whether the benchmark passes.
    pub(super) fn has_benchmark(&self, key: i64) -> bool {
        self.benchmarks
            .as_ref()
            .is_none_or(|keys| keys.contains(&key))
    }

    /// Returns whether the metric passes.
    pub(super) fn has_metric(&self, key: i64) -> bool {
        self.metrics
            .as_ref()
            .is_none_or(|metrics| metrics.keys.contains(&key))
    }

    /// Lists of keys go into temporary tables, which also a read-only store may have.
    fn fill_tables(&self, connection: &Connection) -> Result<(), StoreError> {
        for (table, keys) in [
            ("selected_run", &self.runs),
            ("selected_benchmark", &self.benchmarks),
        ] {
            let Some(keys) = keys else { continue };
            connection.execute_batch(&format!(
                "CREATE TEMP TABLE IF NOT EXISTS {table} (key INTEGER PRIMARY KEY); \
                 DELETE FROM temp.{table};"
            ))?;
            let mut insert = connection
                .prepare_cached(&format!("INSERT INTO temp.{table} (key) VALUES (?1)"))?;
            for key in keys {
                insert.execute([key])?;
            }
        }
        Ok(())
    }
}

fn read_sessions(connection: &Connection) -> Result<Vec<SessionFacts>, StoreError> {
    let mut statement =
        connection.prepare_cached("SELECT key, id, name, suite, started FROM session")?;
    let rows = statement.query_map([], |row| {
        Ok(SessionFacts {
            key: row.get(0)?,
            id: row.get(1)?,
            name: row.get(2)?,
            suite: row.get(3)?,
            started: row.get(4)?,
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}

/// Returns positions in `sessions`, or `None` when the filter says nothing about sessions.
fn choose_sessions(
    sessions: &[SessionFacts],
    filter: &Filter,
) -> Result<Option<BTreeSet<usize>>, StoreError> {
    if filter.suites.is_empty()
        && filter.sessions.is_empty()
        && filter.since.is_none()
        && filter.until.is_none()
    {
        return Ok(None);
    }
    let mut chosen: BTreeSet<usize> = (0..sessions.len()).collect();
    if !filter.suites.is_empty() {
        let fits = alternatives("suite", &filter.suites, |text| {
            let found = positions(sessions, |it| it.suite == text);
            (found, sessions.iter().map(|it| it.suite.clone()).collect())
        })?;
        chosen.retain(|at| fits.contains(at));
    }
    if !filter.sessions.is_empty() {
        let fits = alternatives("session", &filter.sessions, |text| {
            let named = positions(sessions, |it| it.name.as_deref() == Some(text));
            let found = if named.is_empty() {
                positions(sessions, |it| it.id.starts_with(text))
            } else {
                named
            };
            let names = sessions.iter().filter_map(|it| it.name.clone());
            (found, names.collect())
        })?;
        chosen.retain(|at| fits.contains(at));
    }
    if let Some(since) = filter.since.map(time_text) {
        chosen.retain(|&at| sessions[at].started >= since);
    }
    if let Some(until) = filter.until.map(time_text) {
        chosen.retain(|&at| sessions[at].started < until);
    }
    Ok(Some(chosen))
}

fn choose_runs(
    connection: &Connection,
    sessions: &[SessionFacts],
    chosen_sessions: Option<&BTreeSet<usize>>,
    filter: &Filter,
) -> Result<Option<BTreeSet<i64>>, StoreError> {
    if chosen_sessions.is_none()
        && filter.versions.is_empty()
        && filter.variants.is_empty()
        && filter.runs.is_empty()
    {
        return Ok(None);
    }
    let runs = read_runs(connection, sessions)?;
    let mut chosen: BTreeSet<usize> = (0..runs.len()).collect();
    if let Some(sessions) = chosen_sessions {
        chosen.retain(|&at| sessions.contains(&runs[at].session));
    }
    if !filter.versions.is_empty() {
        let fits = alternatives("version", &filter.versions, |text| {
            let named = positions(&runs, |it| it.version.as_deref() == Some(text));
            let found = if named.is_empty() && !text.is_empty() {
                positions(&runs, |it| {
                    it.commit.as_deref().is_some_and(|it| it.starts_with(text))
                })
            } else {
                named
            };
            let names = runs.iter().flat_map(|it| [&it.version, &it.commit]);
            (found, names.flatten().cloned().collect())
        })?;
        chosen.retain(|at| fits.contains(at));
    }
    if !filter.variants.is_empty() {
        let fits = alternatives("variant", &filter.variants, |text| {
            let named = positions(&runs, |it| it.variant == text);
            let found = if named.is_empty() {
                positions(&runs, |it| is_setting(text, &it.variant, &it.levels))
            } else {
                named
            };
            (found, runs.iter().map(|it| it.variant.clone()).collect())
        })?;
        chosen.retain(|at| fits.contains(at));
    }
    if !filter.runs.is_empty() {
        let fits = alternatives("run", &filter.runs, |text| {
            let found = positions(&runs, |it| it.id.starts_with(text));
            (found, Vec::new())
        })?;
        chosen.retain(|at| fits.contains(at));
    }
    Ok(Some(chosen.into_iter().map(|at| runs[at].key).collect()))
}

fn read_runs(
    connection: &Connection,
    sessions: &[SessionFacts],
) -> Result<Vec<RunFacts>, StoreError> {
    let place: std::collections::BTreeMap<i64, usize> = sessions
        .iter()
        .enumerate()
        .map(|(at, session)| (session.key, at))
        .collect();
    let mut statement = connection.prepare_cached(
        "SELECT key, id, variant, version, \"commit\", session, factors FROM run",
    )?;
    let mut runs = Vec::new();
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        runs.push(RunFacts {
            key: row.get(0)?,
            id: row.get(1)?,
            variant: row.get(2)?,
            version: row.get(3)?,
            commit: row.get(4)?,
            session: place.get(&row.get(5)?).copied().unwrap_or(usize::MAX),
            levels: super::rows::levels(row, 6)?,
        });
    }
    Ok(runs)
}

fn choose_benchmarks(
    connection: &Connection,
    curated: &Curated,
    filter: &Filter,
) -> Result<Option<BTreeSet<i64>>, StoreError> {
    let mut chosen: Option<BTreeSet<i64>> = None;
    if !filter.benchmarks.is_empty() {
        let mut statement = connection.prepare_cached("SELECT key, id FROM benchmark")?;
        let known: Vec<(i64, String)> = statement
            .query_map([], |row| {
                let key = row.get(0)?;
                let id: String = row.get(1)?;
                Ok((key, curated.id(key, &id).to_owned()))
            })?
            .collect::<Result<_, _>>()?;
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

/// A benchmark has a tag when any of its instances has it, so that a tag that was
/// added today finds yesterday's measurements too.
fn tagged_benchmarks(
    connection: &Connection,
    tags: &[String],
) -> Result<BTreeSet<i64>, StoreError> {
    let mut statement = connection
        .prepare_cached("SELECT DISTINCT benchmark, tags FROM instance WHERE tags IS NOT NULL")?;
    let mut rows = statement.query([])?;
    let mut known: Vec<(i64, Vec<String>)> = Vec::new();
    while let Some(row) = rows.next()? {
        known.push((row.get(0)?, super::rows::from_json(row, 1)?));
    }
    let fits = alternatives("tag", tags, |text| {
        let found = positions(&known, |(_, tags)| tags.iter().any(|tag| tag == text));
        (
            found,
            known.iter().flat_map(|(_, tags)| tags.clone()).collect(),
        )
    })?;
    Ok(fits.into_iter().map(|at| known[at].0).collect())
}

pub(super) fn positions<T>(items: &[T], fits: impl Fn(&T) -> bool) -> Vec<usize> {
    (0..items.len()).filter(|&at| fits(&items[at])).collect()
}

/// Returns the positions that any of the texts finds; each must find something.
pub(super) fn alternatives(
    what: &'static str,
    texts: &[String],
    find: impl Fn(&str) -> (Vec<usize>, Vec<String>),
) -> Result<BTreeSet<usize>, StoreError> {
    let mut all = BTreeSet::new();
    for text in texts {
        let (found, names) = find(text);
        if found.is_empty() {
            return Err(no_match(what, text, names));
        }
        all.extend(found);
    }
    Ok(all)
}

/// Returns the error that says which of `names` may have been meant by `text`.
pub(super) fn no_match(what: &'static str, text: &str, mut names: Vec<String>) -> StoreError {
    const LIKE_ENOUGH: f64 = 0.75;
    const MOST: usize = 3;
    names.sort_unstable();
    names.dedup();
    let mut scored: Vec<(f64, String)> = names
        .into_iter()
        .map(|name| {
            // `test_jion` should find `tests/test_join.py::test_join`.
            let last = name.rsplit("::").next().unwrap_or(&name);
            let score = strsim::jaro_winkler(text, &name).max(strsim::jaro_winkler(text, last));
            (score, name)
        })
        .filter(|(score, _)| *score >= LIKE_ENOUGH)
        .collect();
    scored.sort_by(|left, right| right.0.total_cmp(&left.0));
    scored.truncate(MOST);
    StoreError::NoMatch {
        what,
        text: text.to_owned(),
        suggestions: scored.into_iter().map(|(_, name)| name).collect(),
    }
}
