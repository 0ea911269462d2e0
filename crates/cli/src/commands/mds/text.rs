//! Detectable slowdowns as tables.

use lapwing_analyse::explain::Detectability;
use lapwing_analyse::judge::CellRate;
use lapwing_show::writing::Align::{Left, Right};
use lapwing_show::writing::{Align, Table, TextAnswer};
use lapwing_show::{
    DetectionAbility, DetectionView, EnoughConfigurations, RowTitles, configuration_text,
    detectable_text, detectable_with_interval,
};
use lapwing_stats::{Configuration, DetectionMethod};

use super::notes::notes;
use super::{FoundDetection, MdsCommand};

/// The detection rates that are shown, and how.
#[derive(Clone, Copy)]
pub struct ShownDetection<'a> {
    pub found: &'a FoundDetection,
    pub command: &'a MdsCommand,
    pub view: DetectionView,
    /// By row.
    pub enough: &'a [EnoughConfigurations<'a>],
}

/// Returns the answer; the table has the intervals in its cells if they fit into `room`.
pub fn answer(found: &FoundDetection, command: &MdsCommand, room: Option<usize>) -> TextAnswer {
    let rows = &found.all.rows;
    let view = DetectionView::of(&found.options, found.target, command.power);
    // This takes a while.
    let enough: Vec<EnoughConfigurations<'_>> = rows.iter().map(|row| view.enough(row)).collect();
    let shown = ShownDetection {
        found,
        command,
        view,
        enough: &enough,
    };
    let (table, ends) = table(shown, room);
    TextAnswer {
        headline: view.headline(rows, &enough, found.options.grid.largest()),
        table,
        notes: notes(shown, ends),
    }
}

/// Place of the intervals of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// In its cells.
    Shown,
    /// Below it: their largest distance from the values.
    Below,
}

fn table(shown: ShownDetection<'_>, room: Option<usize>) -> (Table, Ends) {
    let (found, view) = (shown.found, shown.view);
    match (shown.command.wide, found.all.rows.as_slice()) {
        (true, rows) => {
            let ends = match found.options.grid.configurations().as_slice() {
                [_] => Ends::Shown,
                _ => Ends::Below,
            };
            (wide_table(rows, found, ends), ends)
        }
        (false, [row]) => {
            let table = square(row, found, view, Ends::Shown);
            if room.is_none_or(|room| table.width() <= room) {
                (table, Ends::Shown)
            } else {
                (square(row, found, view, Ends::Below), Ends::Below)
            }
        }
        (false, _) => (overview(shown), Ends::Shown),
    }
}

/// Returns the columns that identify a row.
fn identity_columns(rows: &[Detectability]) -> [(bool, &'static str, Align); 4] {
    let titles = RowTitles::of(rows);
    [
        (true, "benchmark", Left),
        (titles.suites, "suite", Left),
        (titles.settings, "setting", Left),
        (titles.metrics, "metric", Left),
    ]
}

/// Returns the cells of these columns.
fn identity_cells(row: &Detectability) -> Vec<String> {
    vec![
        row.benchmark.clone(),
        row.suite.clone(),
        row.setting.text().unwrap_or_default(),
        row.name.clone(),
    ]
}

/// Returns a row for each benchmark: what the smallest and the largest configurations detect, and
/// the configuration needed for the target.
fn overview(shown: ShownDetection<'_>) -> Table {
    let ShownDetection { found, view, .. } = shown;
    let rows = &found.all.rows;
    let corners = found.options.grid.corners();
    let titles: Vec<String> = corners.iter().map(|it| it.to_string()).collect();
    let target = format!("for {}", view.target_text());
    let mut columns = identity_columns(rows).to_vec();
    columns.extend(titles.iter().map(|title| (true, title.as_str(), Right)));
    columns.push((true, &target, Right));
    let mut table = Table::of_shown(&columns);
    if let [_, second, third, ..] = titles.as_slice() {
        table = table.dispensable(&[
            second.as_str(),
            third.as_str(),
            "suite",
            "metric",
            "setting",
        ]);
    }
    for (row, enough) in hardest_first(shown) {
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
        let best = shown
            .view
            .best(row)
            .map_or(f64::INFINITY, |it| it.1.slowdown);
        (able == DetectionAbility::Unknown, able, best)
    };
    let rows = shown.found.all.rows.iter().zip(shown.enough);
    let mut rows: Vec<_> = rows
        .map(|(row, enough)| (key(row, enough.able()), (row, *enough)))
        .collect();
    rows.sort_by(|(one, _), (other, _)| {
        let group = (one.0, one.1).cmp(&(other.0, other.1));
        group.then(other.2.total_cmp(&one.2))
    });
    rows.into_iter().map(|it| it.1).collect()
}

/// Returns the slowdowns that the configurations detect for one benchmark.
fn square(row: &Detectability, found: &FoundDetection, view: DetectionView, ends: Ends) -> Table {
    let grid = &found.options.grid;
    let mut columns = vec![("instances".to_owned(), Right)];
    columns.extend(grid.iterations.iter().map(|it| (format!("× {it}"), Right)));
    let mut table = Table::new(&columns);
    for instances in &grid.instances {
        let mut line = vec![instances.to_string()];
        line.extend(grid.iterations.iter().map(|iterations| {
            let configuration = Configuration {
                instances: *instances,
                iterations: *iterations,
            };
            let cell = view.cell(row, configuration);
            cell.map_or("–".to_owned(), |cell| match ends {
                Ends::Shown => detectable_with_interval(cell, view.power),
                Ends::Below => detectable_text(cell, view.power),
            })
        }));
        table.row(line);
    }
    table
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
pub fn wide_rows(row: &Detectability, found: &FoundDetection) -> Vec<WideRow> {
    let options = &found.options;
    let mut rows = Vec::new();
    for slowdown in &options.grid.slowdowns {
        for configuration in options.grid.configurations() {
            let rate = |method, strategy| {
                let mut cells = row.cells.iter();
                let cell = cells.find(|cell| {
                    (cell.configuration, cell.method, cell.strategy)
                        == (configuration, method, strategy)
                })?;
                cell.rate(*slowdown)
            };
            let rates = options.methods.iter().flat_map(|method| {
                options
                    .strategies
                    .iter()
                    .map(|strategy| rate(*method, *strategy))
                    .collect::<Vec<_>>()
            });
            rows.push(WideRow {
                slowdown: *slowdown,
                configuration,
                rates: rates.collect(),
            });
        }
    }
    rows
}

/// Returns the titles of the rates of all methods: `laaber ibs`.
pub fn rate_titles(found: &FoundDetection) -> Vec<String> {
    let options = &found.options;
    let of = |method: &DetectionMethod| {
        let name = method.name();
        let strategies = options.strategies.iter();
        let titles = strategies.map(move |it| format!("{name} {}", it.name()));
        titles.collect::<Vec<_>>()
    };
    options.methods.iter().flat_map(of).collect()
}

fn wide_table(rows: &[Detectability], found: &FoundDetection, ends: Ends) -> Table {
    let rates = rate_titles(found);
    let mut columns = identity_columns(rows).to_vec();
    // The headline has the name of a single benchmark.
    columns[0].0 = rows.len() > 1;
    columns.extend(["slowdown", "per side"].map(|title| (true, title, Right)));
    columns.extend(rates.iter().map(|title| (true, title.as_str(), Right)));
    let last = ["paired tbs", "paired ibs", "metric", "suite", "schultz tbs"];
    let mut table = Table::of_shown(&columns).dispensable(&last);
    for row in rows {
        for wide in wide_rows(row, found) {
            let mut line = identity_cells(row);
            line.push(wide.slowdown.to_string());
            line.push(wide.configuration.to_string());
            line.extend(wide.rates.iter().map(|it| rate_text(it, ends)));
            table.row(line);
        }
    }
    table
}

/// Returns `0.95` or `0.95 [0.89–0.98]`, `~0.95` by formula.
fn rate_text(rate: &Option<CellRate>, ends: Ends) -> String {
    let Some(CellRate {
        value, interval, ..
    }) = rate
    else {
        return "–".to_owned();
    };
    match (interval, ends) {
        (None, _) => format!("~{value:.2}"),
        (Some(_), Ends::Below) => format!("{value:.2}"),
        (Some(it), Ends::Shown) => format!("{value:.2} [{:.2}–{:.2}]", it.lower, it.upper),
    }
}
