//! The meaning of the columns of a table of runs.

use lapwing_model::text::first_names;

use crate::ColumnChoices;
use crate::runs::finding::RoleFinding;
use crate::runs::metric::StatedMetric;
use crate::runs::table::RunsTable;
use crate::shared::reading::notation::{DateOrder, DecimalMark};

/// Names of the column with the time of a run; the first one is a sign of the format.
pub(super) const TIMES: [&str; 2] = ["unix_time", "timestamp"];

/// Names of columns of one kind that are told.
pub(super) const NAMES_TOLD: usize = 12;

/// The meaning of the columns.
#[derive(Debug)]
pub(super) struct RunsColumns {
    pub(super) factors: Vec<FactorColumn>,
    pub(super) time: Option<TimeColumn>,
    /// The costs, the main one first.
    pub(super) costs: Vec<CostTitle>,
    /// Place and name of the column with the machine.
    pub(super) host: Option<(usize, String)>,
    /// Columns that are kept and not analysed: place and name.
    pub(super) attributes: Vec<(usize, String)>,
}

/// A column of a factor: `workers`, or `workers (base 4)`.
#[derive(Debug)]
pub(super) struct FactorColumn {
    pub(super) at: usize,
    pub(super) name: String,
    pub(super) base: Option<String>,
    pub(super) mark: DecimalMark,
    pub(super) is_treatment: bool,
    pub(super) is_constant: bool,
}

/// The column with the time of a run.
#[derive(Debug)]
pub(super) struct TimeColumn {
    pub(super) at: usize,
    pub(super) title: String,
    pub(super) order: DateOrder,
}

/// A column of costs.
#[derive(Debug)]
pub(super) struct CostTitle {
    pub(super) at: usize,
    pub(super) title: String,
    pub(super) metric: StatedMetric,
    pub(super) mark: DecimalMark,
}

/// Columns that may mean this or that.
#[derive(Debug)]
pub(super) struct RunsDoubts {
    pub(super) doubts: Vec<String>,
    /// The likely meanings, and those that were given.
    pub(super) choices: ColumnChoices,
}

/// Why a table is not read.
#[derive(Debug)]
pub(super) enum RunsRefusal {
    Wrong(String),
    Unclear(RunsDoubts),
}

/// Returns whether the first line of a file shows that it holds runs: it has `unix_time`, and its last column states a unit.
pub(super) fn are_runs(header: &[String]) -> bool {
    let is_time = |name: &&String| name.eq_ignore_ascii_case(TIMES[0]);
    let mut others = header.iter().filter(|name| !is_time(name));
    let cost = others.next_back();
    let has_factor = others.next().is_some();
    header.iter().any(|name| is_time(&name))
        && has_factor
        && cost.is_some_and(|title| StatedMetric::of(title).states_unit)
}

impl RunsColumns {
    /// Returns the meaning of the columns: as it was given, else by names and contents. The cost is the last column that
    /// means nothing else, all others are factors.
    pub(super) fn of(table: &RunsTable, choices: &ColumnChoices) -> Result<Self, RunsRefusal> {
        let mut finding = RoleFinding::new(table, choices).map_err(RunsRefusal::Wrong)?;
        finding.find_time();
        finding.find_others();
        finding.find_cost().map_err(RunsRefusal::Wrong)?;
        finding.doubt_factors();
        finding.columns()
    }

    /// Returns the meaning in words, as it is kept: it is the same of a file that has grown.
    pub(super) fn text(&self) -> String {
        self.words(usize::MAX, &|_| false)
    }

    /// Returns the meaning in words, short enough to be shown.
    pub(super) fn told(&self) -> String {
        self.words(NAMES_TOLD, &|it| it.is_constant)
    }

    fn words(&self, shown: usize, is_constant: &dyn Fn(&FactorColumn) -> bool) -> String {
        let costs = self.costs.iter().map(|cost| {
            let metric = &cost.metric;
            let unit = if metric.written.is_empty() {
                "without a unit".to_owned()
            } else {
                format!("in {}", metric.written.replace("us", "µs"))
            };
            format!("cost `{}` ({unit})", cost.title)
        });
        let mut parts: Vec<String> = costs.collect();
        parts.push(match &self.time {
            Some(time) => format!("time `{}`", time.title),
            None => "no time".to_owned(),
        });
        let of = |is_wanted: &dyn Fn(&FactorColumn) -> bool| {
            let factors = self.factors.iter().filter(|it| is_wanted(it));
            factors.map(|it| it.name.clone()).collect::<Vec<String>>()
        };
        let kinds = [
            ("treatments", of(&|it| it.is_treatment && !is_constant(it))),
            ("settings", of(&|it| !it.is_treatment && !is_constant(it))),
            ("constant", of(is_constant)),
            (
                "kept and not analysed",
                self.attributes
                    .iter()
                    .map(|(_, name)| name.clone())
                    .collect(),
            ),
        ];
        if let Some((_, title)) = &self.host {
            parts.push(format!("host `{title}`"));
        }
        for (kind, names) in kinds {
            if !names.is_empty() {
                parts.push(format!("{kind} {}", first_names(names, shown)));
            }
        }
        parts.join("; ")
    }
}

/// Returns the name and the base in a title such as `workers (base 4)`.
pub(super) fn factor_name(title: &str) -> (&str, Option<&str>) {
    let stated = title.strip_suffix(')');
    let stated = stated.and_then(|rest| rest.rsplit_once(" (base "));
    stated.map_or((title, None), |(name, base)| (name, Some(base)))
}
