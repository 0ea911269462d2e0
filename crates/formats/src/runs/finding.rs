//! Finds the meaning of the columns of a table of runs.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lapwing_model::text::{counted, first_names};

use crate::ColumnChoices;
use crate::runs::columns::{
    CostTitle, FactorColumn, NAMES_TOLD, RunsColumns, RunsDoubts, RunsRefusal, TIMES, TimeColumn,
    factor_name,
};
use crate::runs::level::presence;
use crate::runs::metric::StatedMetric;
use crate::runs::table::RunsTable;
use crate::shared::reading::cells::{is_missing, number, time};
use crate::shared::reading::notation::{DateOrder, DecimalMark, unclear_date};

/// Names of columns that are the time of a run if they hold dates.
const DATES: [&str; 13] = [
    "date",
    "time",
    "datetime",
    "date_time",
    "start",
    "started",
    "started_at",
    "start_time",
    "measured",
    "measured_at",
    "run_date",
    "when",
    "day",
];

/// Names of the column with the machine.
const HOSTS: [&str; 3] = ["host", "hostname", "node"];

/// Names of columns that number repeated runs of one setting.
const REPETITIONS: [&str; 7] = [
    "rep",
    "repeat",
    "repetition",
    "replicate",
    "trial",
    "instance",
    "iteration",
];

/// Rows and levels from which a level per row is no factor.
const MANY: usize = 8;

/// A possible meaning of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RunsRole {
    Time(DateOrder),
    Cost(Option<DecimalMark>),
    Factor,
    Host,
    Attribute,
}

/// Roles of columns on their way.
pub(super) struct RoleFinding<'t> {
    table: &'t RunsTable,
    choices: ColumnChoices,
    roles: Vec<Option<RunsRole>>,
    facts: Vec<ColumnFacts>,
    doubts: Vec<String>,
}

/// Facts about the cells of a column.
struct ColumnFacts {
    /// Cells that are not missing, and how many different ones.
    filled: usize,
    distinct: usize,
    /// All different cells.
    levels: usize,
    are_presences: bool,
    are_numbers: bool,
    has_decimals: bool,
}

impl ColumnFacts {
    fn of(table: &RunsTable, at: usize) -> Self {
        let mark = table.marks[at].mark;
        let mut facts = Self {
            filled: 0,
            distinct: 0,
            levels: 0,
            are_presences: true,
            are_numbers: true,
            has_decimals: false,
        };
        let mut known = HashSet::new();
        for cell in table.column(at) {
            let is_new = known.insert(cell);
            if is_missing(cell) {
                continue;
            }
            facts.filled += 1;
            if is_new {
                facts.distinct += 1;
                facts.are_presences &= presence(cell).is_some();
                let number = number(cell, mark);
                facts.are_numbers &= number.is_some();
                facts.has_decimals |= number.is_some_and(|it| it.fract() != 0.0);
            }
        }
        facts.levels = known.len();
        facts
    }

    fn has_many_levels(&self) -> bool {
        self.distinct >= MANY && 2 * self.distinct > self.filled
    }

    /// Returns whether its numbers look measured, not chosen.
    fn is_measured(&self) -> bool {
        self.are_numbers && self.has_decimals && self.has_many_levels()
    }
}

impl<'t> RoleFinding<'t> {
    pub(super) fn new(table: &'t RunsTable, choices: &ColumnChoices) -> Result<Self, String> {
        let mut known = BTreeSet::new();
        let named = table.header.iter().filter(|name| !name.is_empty());
        for name in named.map(|title| factor_name(title).0) {
            if !known.insert(name) {
                return Err(format!("there are two columns `{name}`"));
            }
        }
        let mut finding = Self {
            choices: choices.clone(),
            roles: vec![None; table.header.len()],
            facts: (0..table.header.len())
                .map(|at| ColumnFacts::of(table, at))
                .collect(),
            doubts: Vec::new(),
            table,
        };
        for (role, title) in choices.iter() {
            let at = finding.place(title)?;
            finding.roles[at] = Some(role_named(role)?);
        }
        Ok(finding)
    }

    /// Returns the place of a column that is named or numbered (`#3`).
    fn place(&self, title: &str) -> Result<usize, String> {
        let mut header = self.table.header.iter();
        let named = header.position(|it| it == title || factor_name(it).0 == title);
        let number = || {
            let number: usize = title.strip_prefix('#')?.parse().ok()?;
            number.checked_sub(1).filter(|at| *at < self.roles.len())
        };
        named.or_else(number).ok_or_else(|| {
            let titles = self.table.header.iter().map(|it| format!("`{it}`"));
            format!(
                "there is no column `{title}`, only {}",
                first_names(titles, NAMES_TOLD)
            )
        })
    }

    /// Returns the name of a column for `--columns`.
    fn handle(&self, at: usize) -> String {
        let title = &self.table.header[at];
        if title.is_empty() || title.contains([',', '=', '#']) {
            format!("#{}", at + 1)
        } else {
            title.clone()
        }
    }

    fn key(&self, at: usize) -> String {
        self.table.header[at]
            .to_lowercase()
            .replace([' ', '-'], "_")
    }

    fn free(&self) -> impl Iterator<Item = usize> {
        (0..self.roles.len()).filter(|at| self.roles[*at].is_none())
    }

    /// Settles a column for now, and says why it has to be asked for.
    fn doubt(&mut self, at: usize, meaning: &str, reason: String) {
        self.doubts.push(reason);
        self.choices = self.choices.and(meaning, &self.handle(at));
        self.roles[at] = role_named(meaning).ok();
    }

    pub(super) fn find_time(&mut self) {
        let has_time = |of: &Self| {
            of.roles
                .iter()
                .flatten()
                .any(|it| matches!(it, RunsRole::Time(_)))
        };
        if !has_time(self) {
            let is_named = |at: &usize| TIMES.contains(&self.key(*at).as_str());
            let named = self.free().find(is_named);
            if let Some(at) = named {
                let order = DateOrder::of(self.table.column(at));
                self.roles[at] = Some(RunsRole::Time(order));
            }
        }
        for at in self.free().collect::<Vec<usize>>() {
            let cells = || self.table.column(at).filter(|cell| !is_missing(cell));
            let order = DateOrder::of(cells());
            let is_unclear = unclear_date(cells(), order).is_some();
            let are_dates = self.facts[at].filled > 0
                && cells().all(|cell| {
                    time(cell, order).is_some() || is_unclear && cell.contains(['/', '-'])
                });
            let is_named = DATES.contains(&self.key(at).as_str());
            let are_texts = !self.facts[at].are_numbers;
            if !are_dates || !(are_texts || is_named) {
                continue;
            }
            let title = self.table.header[at].clone();
            if has_time(self) {
                let reason = format!("`{title}` has dates too, so it may be no factor");
                self.doubt(at, "attribute", reason);
            } else if is_unclear {
                let cell = cells().next().unwrap_or_default().to_owned();
                let reason = format!(
                    "`{cell}` in column `{title}` may begin with the day (date_dmy) or with the month (date_mdy)"
                );
                self.doubt(at, "date_dmy", reason);
            } else if is_named {
                self.roles[at] = Some(RunsRole::Time(order));
            } else if cells().all(|cell| !cell.contains(['-', '/', ':'])) {
                let reason = format!(
                    "`{title}` has versions or dates: a factor, or the time of the runs (date)"
                );
                self.doubt(at, "factor", reason);
            } else {
                let reason = format!(
                    "`{title}` has dates, so it is probably the time of the runs (date) and no factor"
                );
                self.doubt(at, "date", reason);
            }
        }
    }

    /// Finds hosts and numbers of repetitions by their names, and doubts columns without one.
    pub(super) fn find_others(&mut self) {
        for at in self.free().collect::<Vec<usize>>() {
            let key = self.key(at);
            if key.is_empty() {
                let reason = match at {
                    0 => "the first column has no name, like the row names of R and the index of pandas, which are no factor".to_owned(),
                    _ => format!("column {} has no name", at + 1),
                };
                self.doubt(at, "attribute", reason);
            } else if HOSTS.contains(&key.as_str()) && !self.roles.contains(&Some(RunsRole::Host)) {
                self.roles[at] = Some(RunsRole::Host);
            } else if REPETITIONS.contains(&key.as_str()) && self.facts[at].are_numbers {
                self.roles[at] = Some(RunsRole::Attribute);
            }
        }
    }

    pub(super) fn find_cost(&mut self) -> Result<(), String> {
        let is_cost = |role: &RunsRole| matches!(role, RunsRole::Cost(_));
        if self.roles.iter().flatten().any(is_cost) {
            return Ok(());
        }
        let Some(last) = self.free().last() else {
            return Err(NEEDS.to_owned());
        };
        let title = &self.table.header[last];
        let facts = &self.facts[last];
        let states_unit = |at: usize| StatedMetric::of(&self.table.header[at]).states_unit;
        let is_number = |at: &usize| {
            *at != last && self.facts[*at].are_numbers && !self.facts[*at].are_presences
        };
        let likely = self
            .free()
            .filter(is_number)
            .filter(|at| {
                self.facts[*at].is_measured()
                    || states_unit(*at) && self.facts[*at].has_many_levels()
            })
            .max_by_key(|at| (states_unit(*at), self.facts[*at].distinct));
        let is_text = |at: usize| {
            let mark = self.table.marks[at].mark;
            let mut cells = self.table.column(at);
            cells.all(|cell| number(cell, mark).is_none_or(f64::is_nan))
        };
        let what = if facts.filled > 1 && facts.are_presences {
            "only 0 and 1 (absent and present)".to_owned()
        } else if facts.filled > 0 && !facts.are_numbers && is_text(last) {
            "no numbers".to_owned()
        } else if !states_unit(last)
            && !facts.has_many_levels()
            && !facts.has_decimals
            && likely.is_some()
        {
            counted(facts.distinct, "different value")
        } else {
            self.roles[last] = Some(RunsRole::Cost(None));
            return Ok(());
        };
        let reason = format!("`{title}`, the last column, has {what}, so it is probably");
        let other = likely.or_else(|| {
            let others = self.free().filter(is_number);
            others.max_by_key(|at| self.facts[*at].distinct)
        });
        match other {
            Some(at) => self.doubt(
                at,
                "value",
                format!("{reason} a factor and not the cost (value)"),
            ),
            None if facts.are_numbers || facts.are_presences => {
                let reason =
                    format!("{reason} no cost, but no other column looks like one (value)");
                self.doubt(last, "value", reason);
            }
            None => {
                return Err(format!(
                    "{reason} no cost, and no other column looks like one"
                ));
            }
        }
        Ok(())
    }

    /// Doubts columns that tell rows apart and are no factor.
    pub(super) fn doubt_factors(&mut self) {
        let free: Vec<usize> = self.free().collect();
        let varying = free.iter().filter(|at| self.facts[**at].levels > 1).count();
        if varying < 2 {
            return;
        }
        let mut settings = HashSet::new();
        for row in self.table.rows.iter().flatten() {
            settings.insert(free.iter().map(|at| &row[*at]).collect::<Vec<&str>>());
        }
        for at in free {
            let facts = &self.facts[at];
            let is_identity = facts.distinct >= MANY && facts.distinct == settings.len();
            let title = &self.table.header[at];
            if facts.is_measured() {
                let main = self
                    .roles
                    .iter()
                    .position(|it| matches!(it, Some(RunsRole::Cost(_))));
                let reason = format!(
                    "`{title}` has {} different numbers in {} rows, so it is probably a second cost (value) and no factor",
                    facts.distinct, facts.filled
                );
                let is_given = self
                    .choices
                    .iter()
                    .any(|(role, _)| role.starts_with("value"));
                if let Some(main) = main.filter(|_| !is_given) {
                    self.choices = self.choices.and("value", &self.handle(main));
                }
                self.doubt(at, "value", reason);
            } else if is_identity || !facts.are_numbers && facts.has_many_levels() {
                let is_time = facts.are_numbers
                    && self
                        .table
                        .column(at)
                        .all(|cell| time(cell, DateOrder::Unknown).is_some());
                let has_time = self
                    .roles
                    .iter()
                    .flatten()
                    .any(|it| matches!(it, RunsRole::Time(_)));
                let many = if facts.distinct == facts.filled {
                    "a level per row".to_owned()
                } else {
                    format!("{} levels in {} rows", facts.distinct, facts.filled)
                };
                if is_time && !has_time {
                    let reason = format!(
                        "`{title}` has {many}, all of them Unix times, so it is probably the time (date) and no factor"
                    );
                    self.doubt(at, "date", reason);
                } else {
                    let reason = format!(
                        "`{title}` has {many}, so it names the runs (attribute) and is no factor"
                    );
                    self.doubt(at, "attribute", reason);
                }
            }
        }
    }

    pub(super) fn columns(self) -> Result<RunsColumns, RunsRefusal> {
        if !self.doubts.is_empty() {
            return Err(RunsRefusal::Unclear(RunsDoubts {
                doubts: self.doubts,
                choices: self.choices,
            }));
        }
        let mut columns = RunsColumns {
            factors: Vec::new(),
            time: None,
            costs: Vec::new(),
            host: None,
            attributes: Vec::new(),
        };
        let order: BTreeMap<String, usize> = self
            .choices
            .iter()
            .enumerate()
            .filter_map(|(rank, (_, title))| {
                Some((
                    self.table.header.get(self.place(title).ok()?)?.clone(),
                    rank,
                ))
            })
            .collect();
        for (at, role) in self.roles.iter().enumerate() {
            let title = self.table.header[at].clone();
            let mark = self.table.marks[at].mark;
            match role {
                Some(RunsRole::Time(order)) => {
                    let order = match order {
                        DateOrder::Unknown => DateOrder::of(self.table.column(at)),
                        known @ (DateOrder::DayFirst | DateOrder::MonthFirst) => *known,
                    };
                    columns.time = Some(TimeColumn { at, title, order });
                }
                Some(RunsRole::Cost(given)) => columns.costs.push(CostTitle {
                    at,
                    metric: StatedMetric::of(&title),
                    title,
                    mark: given.unwrap_or(mark),
                }),
                Some(RunsRole::Host) => columns.host = Some((at, title)),
                Some(RunsRole::Attribute) => {
                    let name = if title.is_empty() {
                        format!("#{}", at + 1)
                    } else {
                        title
                    };
                    columns.attributes.push((at, name));
                }
                Some(RunsRole::Factor) | None => {
                    let (name, base) = factor_name(&title);
                    if name.is_empty() {
                        return Err(RunsRefusal::Wrong(format!("column {} has no name", at + 1)));
                    }
                    let facts = &self.facts[at];
                    columns.factors.push(FactorColumn {
                        at,
                        name: name.to_owned(),
                        base: base.map(str::to_owned),
                        mark,
                        is_treatment: base.is_none_or(|it| presence(it).is_some())
                            && self.table.column(at).all(|cell| presence(cell).is_some()),
                        is_constant: facts.levels < 2 && base.is_none(),
                    });
                }
            }
        }
        columns
            .costs
            .sort_by_key(|cost| order.get(&cost.title).copied());
        if columns.costs.is_empty() || columns.factors.is_empty() {
            return Err(RunsRefusal::Wrong(NEEDS.to_owned()));
        }
        Ok(columns)
    }
}

const NEEDS: &str =
    "the first line needs a column per factor, and the cost as the last column beside the time";

fn role_named(name: &str) -> Result<RunsRole, String> {
    if let Some(order) = DateOrder::named(name) {
        return Ok(RunsRole::Time(order));
    }
    if let Some(mark) = DecimalMark::named(name) {
        return Ok(RunsRole::Cost(Some(mark)));
    }
    match name {
        "date" => Ok(RunsRole::Time(DateOrder::Unknown)),
        "value" => Ok(RunsRole::Cost(None)),
        "factor" | "parameter" => Ok(RunsRole::Factor),
        "host" => Ok(RunsRole::Host),
        "attribute" => Ok(RunsRole::Attribute),
        _ => Err(format!(
            "`{name}` is no meaning of a column of runs: value (the cost), date (the time), factor, host or attribute (kept and not analysed)"
        )),
    }
}
