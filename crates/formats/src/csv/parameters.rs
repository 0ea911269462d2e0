//! Tells the parameters of a benchmark from the surroundings of a run and from remarks.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::csv::columns::{Column, Columns, Content};
use crate::csv::role::{Role, SETTINGS};
use crate::csv::runs::ONE_RUN;
use crate::csv::table::CsvTable;
use crate::shared::reading::cells::time;

/// How often each value of a column stands in each run, of rows that are otherwise of the same benchmark.
type Occurrences<'t> = BTreeMap<&'t str, BTreeMap<usize, usize>>;

impl Columns {
    /// Finds the parameters: columns that tell rows of one run apart that would be of the same benchmark otherwise, with
    /// values that come back in nearly every run. What differs only between runs, or in some of them, is no parameter.
    pub(super) fn find_parameters(&mut self, table: &CsvTable) {
        let can_be = |it: &Column| it.is_free() && !it.title.is_empty() && it.can_be_parameter();
        let candidates: Vec<usize> = self
            .list
            .iter()
            .filter(|it| can_be(it))
            .map(|it| it.at)
            .collect();
        if candidates.is_empty() {
            return;
        }
        let is_numbered = [Role::Instance, Role::Iteration]
            .iter()
            .any(|role| self.the(*role).is_some());
        let runs = self.runs(table);
        let mut fixed: Vec<usize> = self
            .list
            .iter()
            .filter(|it| it.role.tells_apart() && !it.role.is_of_run())
            .map(|it| it.at)
            .collect();
        for at in candidates {
            let mut benchmarks: BTreeMap<Vec<&str>, Occurrences<'_>> = BTreeMap::new();
            let mut values = BTreeSet::new();
            for (row, run) in table.rows.iter().zip(&runs) {
                let key = fixed.iter().map(|at| row.cell(*at)).collect();
                let value = row.cell(at);
                values.insert(value);
                let of_benchmark = benchmarks.entry(key).or_default();
                *of_benchmark
                    .entry(value)
                    .or_default()
                    .entry(*run)
                    .or_default() += 1;
            }
            let is_setting = SETTINGS.contains(&self.list[at].heading.key().as_str());
            let telling: Vec<&Occurrences<'_>> = benchmarks
                .values()
                .filter(|it| has_several_in_a_run(it))
                .collect();
            let recurring = telling.iter().filter(|it| recurs(it)).count();
            let is_parameter =
                !telling.is_empty() && (is_setting || 2 * recurring >= telling.len());
            // A text that is another one in each numbered row is a remark.
            if is_parameter && (!is_numbered || 2 * values.len() <= table.rows.len()) {
                self.list[at].role = Role::Parameter;
                fixed.push(at);
            }
        }
    }

    /// Returns the number of the run of each row: rows of one version, branch and session within an hour.
    fn runs(&self, table: &CsvTable) -> Vec<usize> {
        let names: Vec<usize> = self
            .list
            .iter()
            .filter(|it| it.role.is_of_run() && it.role != Role::Date)
            .map(|it| it.at)
            .collect();
        let date = self.the(Role::Date);
        let mut rows: Vec<(Vec<&str>, Option<Timestamp>, usize)> = (0..)
            .zip(&table.rows)
            .map(|(at, row)| {
                let names = names.iter().map(|name| row.cell(*name)).collect();
                let started = date.and_then(|date| time(row.cell(date.at), date.order));
                (names, started, at)
            })
            .collect();
        rows.sort();
        let mut runs = vec![0; rows.len()];
        let mut number = 0;
        let mut first = 0;
        for at in 0..rows.len() {
            let (names, started, place) = &rows[at];
            let (first_names, first_started, _) = &rows[first];
            let is_near = match (first_started, started) {
                (Some(first), Some(it)) => it.duration_since(*first) <= ONE_RUN,
                (first, it) => first == it,
            };
            if names != first_names || !is_near {
                (number, first) = (number + 1, at);
            }
            runs[*place] = number;
        }
        // In the order of time, which the names of versions may not have.
        let mut order: BTreeMap<(Option<Timestamp>, usize), BTreeSet<usize>> = BTreeMap::new();
        for (_, started, place) in &rows {
            let key = (*started, if started.is_some() { 0 } else { *place });
            order.entry(key).or_default().insert(runs[*place]);
        }
        let mut places = BTreeMap::new();
        for run in order.into_values().flatten() {
            let next = places.len();
            places.entry(run).or_insert(next);
        }
        runs.iter().map(|run| places[run]).collect()
    }
}

impl Column {
    fn can_be_parameter(&self) -> bool {
        match self.content {
            Content::Text => true,
            Content::Numbers | Content::UnixTimes => {
                SETTINGS.contains(&self.heading.key().as_str())
            }
            Content::Nothing | Content::Times | Content::OnlyTimes => false,
        }
    }
}

fn has_several_in_a_run(values: &Occurrences<'_>) -> bool {
    let mut seen = BTreeSet::new();
    values
        .values()
        .flat_map(BTreeMap::keys)
        .any(|run| !seen.insert(*run))
}

/// Returns whether at least two values come back together: in nearly every run since their first or until their last
/// one, and with the same number of rows. The rows of a single run are spread evenly.
fn recurs(values: &Occurrences<'_>) -> bool {
    let runs: BTreeSet<usize> = values.values().flat_map(BTreeMap::keys).copied().collect();
    if runs.len() == 1 {
        let rows: Vec<usize> = values
            .values()
            .flat_map(BTreeMap::values)
            .copied()
            .collect();
        let most = rows.iter().copied().max().unwrap_or(0);
        let is_frequent = |rows: &&usize| 4 * **rows >= most;
        return 2 * rows.iter().filter(is_frequent).count() > rows.len();
    }
    let few = |of: usize| (of / 4).max(1);
    let comes_back = |its: &&BTreeMap<usize, usize>| {
        let since = its
            .keys()
            .next()
            .map_or(0, |first| runs.range(first..).count());
        let until = its
            .keys()
            .next_back()
            .map_or(0, |last| runs.range(..=last).count());
        let possible = since.min(until);
        let mut numbers: BTreeMap<usize, usize> = BTreeMap::new();
        for rows in its.values() {
            *numbers.entry(*rows).or_default() += 1;
        }
        let usual = numbers.values().copied().max().unwrap_or(0);
        its.len() >= runs.len().div_ceil(2).min(3)
            && possible - its.len() <= few(possible)
            && its.len() - usual <= few(its.len())
    };
    let recurring: Vec<_> = values.values().filter(comes_back).collect();
    // Texts of which each stands in one run only are remarks.
    recurring.len() >= 2 && 2 * recurring.len() >= values.len()
}
