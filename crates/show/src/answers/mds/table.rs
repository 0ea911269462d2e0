//! Detectable slowdowns as tables.

use lapwing_analyse::explain::Detectability;
use lapwing_analyse::judge::{CellRate, DetectionOptions};
use lapwing_stats::{Configuration, DetectionMethod, Strategy};

use super::ShownDetection;
use crate::answers::{identity_cells, identity_columns};
use crate::writing::Align::Right;
use crate::writing::{Table, View};
use crate::{
    DetectionAbility, EnoughConfigurations, RowTitles, configuration_text, detectable_text,
    detectable_with_interval,
};

/// Place of the intervals of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalPlace {
    /// In its cells.
    Cells,
    /// Below it: their largest distance from the values.
    Below,
}

/// Of more benchmarks only those that detect the least are listed.
const SHOWN: usize = 40;

/// Returns the listed benchmarks: those that detect the least first, unknown ones last.
pub fn listed(
    shown: ShownDetection<'_>,
    view: View,
) -> Vec<(&Detectability, EnoughConfigurations<'_>)> {
    let mut rows = hardest_first(shown);
    rows.truncate(rows.len() - omitted(shown, view));
    rows
}

/// Returns the number of benchmarks that are not listed.
pub fn omitted(shown: ShownDetection<'_>, view: View) -> usize {
    if view.full || shown.is_wide() {
        return 0;
    }
    shown.rows.len().saturating_sub(SHOWN)
}

/// Returns the table; it has the intervals in its cells if they fit into the room.
pub fn table(shown: ShownDetection<'_>, view: View) -> (Table, IntervalPlace) {
    if shown.is_wide() {
        let configurations = shown.answer.options.grid.configurations().len();
        let intervals = if configurations == 1 {
            IntervalPlace::Cells
        } else {
            IntervalPlace::Below
        };
        return (wide_table(shown, intervals), intervals);
    }
    let [row] = shown.rows else {
        return (overview(shown, view), IntervalPlace::Cells);
    };
    let table = square(row, shown, IntervalPlace::Cells);
    if view.room.is_none_or(|room| table.width() <= room) {
        return (table, IntervalPlace::Cells);
    }
    let table = square(row, shown, IntervalPlace::Below);
    (table, IntervalPlace::Below)
}

/// Returns a row for each benchmark: what the smallest and the largest configurations detect, and
/// the configuration needed for the target.
fn overview(shown: ShownDetection<'_>, extent: View) -> Table {
    let view = shown.view;
    let corners = shown.answer.options.grid.corners();
    let titles: Vec<String> = corners.iter().map(Configuration::to_string).collect();
    let target = format!("for {}", view.target_text());
    let mut columns = identity_columns(RowTitles::of(shown.rows)).to_vec();
    columns.extend(titles.iter().map(|title| (true, title.as_str(), Right)));
    columns.push((true, &target, Right));
    let mut table = Table::of_shown(&columns);
    if let [_, second, third, ..] = titles.as_slice() {
        table = table.dispensable(&[second, third, "suite", "metric", "setting"]);
    }
    for (row, enough) in listed(shown, extent) {
        let mut line = identity_cells(row);
        line.extend(corners.iter().map(|corner| {
            let cell = view.cell(row, *corner);
            cell.map_or("–".to_owned(), |cell| {
                detectable_with_interval(cell, view.power)
            })
        }));
        line.push(enough_text(enough));
        table.row(line);
    }
    table
}

/// Returns the configuration that is enough: `10 × 5`, and `10 × 5?` where that is too close to call.
fn enough_text(enough: EnoughConfigurations) -> String {
    match enough.told() {
        Some(cell) if enough.is_sure() => configuration_text(cell),
        Some(cell) => format!("{}?", configuration_text(cell)),
        None => "–".to_owned(),
    }
}

/// Returns the rows: those that detect the least first, unknown ones last.
fn hardest_first(shown: ShownDetection<'_>) -> Vec<(&Detectability, EnoughConfigurations<'_>)> {
    let key = |row: &Detectability, able: DetectionAbility| {
        let best = shown.view.best(row);
        let best = best.map_or(f64::INFINITY, |(_, smallest)| smallest.slowdown);
        (able == DetectionAbility::Unknown, able, best)
    };
    let rows = shown.rows.iter().zip(shown.enough);
    let mut rows: Vec<_> = rows
        .map(|(row, enough)| (key(row, enough.able()), (row, *enough)))
        .collect();
    rows.sort_by(|(one, _), (other, _)| {
        let (is_unknown, able, best) = *one;
        let group = (is_unknown, able).cmp(&(other.0, other.1));
        group.then(other.2.total_cmp(&best))
    });
    rows.into_iter().map(|(_, row)| row).collect()
}

/// Returns the slowdowns that the configurations detect for one benchmark.
fn square(row: &Detectability, shown: ShownDetection<'_>, intervals: IntervalPlace) -> Table {
    let grid = &shown.answer.options.grid;
    let power = shown.view.power;
    let mut columns = vec![("instances".to_owned(), Right)];
    columns.extend(grid.iterations.iter().map(|it| (format!("× {it}"), Right)));
    let mut table = Table::new(&columns);
    for &instances in &grid.instances {
        let mut line = vec![instances.to_string()];
        line.extend(grid.iterations.iter().map(|&iterations| {
            let configuration = Configuration {
                instances,
                iterations,
            };
            match (shown.view.cell(row, configuration), intervals) {
                (None, _) => "–".to_owned(),
                (Some(cell), IntervalPlace::Cells) => detectable_with_interval(cell, power),
                (Some(cell), IntervalPlace::Below) => detectable_text(cell, power),
            }
        }));
        table.row(line);
    }
    table
}

/// Returns the methods with their strategies, in the order of Hail.
fn tests(
    options: &DetectionOptions,
) -> impl Iterator<Item = (DetectionMethod, Strategy)> + use<'_> {
    options.methods.iter().flat_map(|method| {
        let strategies = options.strategies.iter();
        strategies.map(|strategy| (*method, *strategy))
    })
}

/// The rates of all methods for one configuration and slowdown.
pub struct WideRow {
    /// The slowdown, as a factor.
    pub slowdown: f64,
    /// Instances and iterations per side.
    pub configuration: Configuration,
    /// By method and strategy; `None` if unknown.
    pub rates: Vec<Option<CellRate>>,
}

/// Returns the wide rows of a benchmark, by slowdown and configuration, in the order of Hail.
pub fn wide_rows(row: &Detectability, options: &DetectionOptions) -> Vec<WideRow> {
    let slowdowns = options.grid.slowdowns.iter();
    let rows = slowdowns.flat_map(|&slowdown| {
        let configurations = options.grid.configurations().into_iter();
        configurations.map(move |configuration| {
            let rates = tests(options).map(|(method, strategy)| {
                let mut cells = row.cells.iter();
                let cell = cells.find(|cell| {
                    (cell.configuration, cell.method, cell.strategy)
                        == (configuration, method, strategy)
                })?;
                cell.rate(slowdown)
            });
            WideRow {
                slowdown,
                configuration,
                rates: rates.collect(),
            }
        })
    });
    rows.collect()
}

/// Returns the titles of the rates of all methods: `laaber ibs`.
pub fn rate_titles(options: &DetectionOptions) -> Vec<String> {
    let titles = tests(options);
    titles
        .map(|(method, strategy)| format!("{} {}", method.name(), strategy.name()))
        .collect()
}

fn wide_table(shown: ShownDetection<'_>, intervals: IntervalPlace) -> Table {
    let options = &shown.answer.options;
    let titles = rate_titles(options);
    let mut columns = identity_columns(RowTitles::of(shown.rows)).to_vec();
    // The headline has the name of a single benchmark.
    columns[0].0 = shown.rows.len() > 1;
    columns.extend(["slowdown", "per side"].map(|title| (true, title, Right)));
    columns.extend(titles.iter().map(|title| (true, title.as_str(), Right)));
    let last = ["paired tbs", "paired ibs", "metric", "suite", "schultz tbs"];
    let mut table = Table::of_shown(&columns).dispensable(&last);
    for row in shown.rows {
        for wide in wide_rows(row, options) {
            let mut line = identity_cells(row);
            line.push(wide.slowdown.to_string());
            line.push(wide.configuration.to_string());
            line.extend(wide.rates.iter().map(|rate| rate_text(*rate, intervals)));
            table.row(line);
        }
    }
    table
}

/// Returns `0.95` or `0.95 [0.89–0.98]`, `~0.95` by formula.
fn rate_text(rate: Option<CellRate>, intervals: IntervalPlace) -> String {
    let Some(CellRate {
        value, interval, ..
    }) = rate
    else {
        return "–".to_owned();
    };
    match (interval, intervals) {
        (None, _) => format!("~{value:.2}"),
        (Some(_), IntervalPlace::Below) => format!("{value:.2}"),
        (Some(interval), IntervalPlace::Cells) => {
            format!("{value:.2} [{:.2}–{:.2}]", interval.lower, interval.upper)
        }
    }
}
