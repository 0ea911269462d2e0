//! What could be detected, for people.

use std::io::{self, Write};

use lapwing_core::explain::Detectability;
use lapwing_core::judge::CellRate;
use lapwing_core::show::{DetectionView, Titles, change, detectable_text};
use lapwing_stats::Configuration;

use super::{Found, Mds};
use crate::options::Context;
use crate::table::Align::{Left, Right};
use crate::table::{Table, counted};

/// Writes it for a terminal.
pub fn text(
    found: &Found,
    command: &Mds,
    context: &Context,
    out: &mut impl Write,
) -> io::Result<()> {
    let view = DetectionView::of(&found.options, found.target, command.power);
    writeln!(out, "{}\n", headline(found, view))?;
    table(found, command, view).text_within(context.terminal.width(), out)?;
    let notes = notes(found, command, view);
    writeln!(out, "\n{}", notes.join("\n"))
}

/// Writes it as Markdown.
pub fn markdown(found: &Found, command: &Mds, out: &mut impl Write) -> io::Result<()> {
    let view = DetectionView::of(&found.options, found.target, command.power);
    writeln!(out, "{}\n", headline(found, view))?;
    table(found, command, view).markdown(out)?;
    for note in notes(found, command, view) {
        writeln!(out, "\n{note}")?;
    }
    Ok(())
}

fn headline(found: &Found, view: DetectionView) -> String {
    let most = |of: &[usize]| of.iter().copied().max().unwrap_or_default();
    let grid = &found.options.grid;
    let most = Configuration {
        instances: most(&grid.instances),
        iterations: most(&grid.iterations),
    };
    view.headline(&found.rows, most)
}

fn table(found: &Found, command: &Mds, view: DetectionView) -> Table {
    match (command.wide, found.rows.as_slice()) {
        (true, rows) => wide_table(rows, found),
        (false, [row]) => square(row, found, view),
        (false, rows) => overview(rows, found, view),
    }
}

/// What tells the rows apart: the titles of the columns, and the cells of a row.
fn names(
    rows: &[Detectability],
) -> (
    Vec<(String, crate::table::Align)>,
    impl Fn(&Detectability) -> Vec<String>,
) {
    let titles = Titles::of(rows);
    let shown = [
        (true, "benchmark"),
        (titles.suites, "suite"),
        (titles.settings, "setting"),
        (titles.metrics, "metric"),
    ];
    let columns = shown
        .iter()
        .filter(|it| it.0)
        .map(|it| (it.1.to_owned(), Left))
        .collect();
    let cells = move |row: &Detectability| {
        let all = [
            row.benchmark.clone(),
            row.suite.clone(),
            row.setting.text().unwrap_or_default(),
            row.name.clone(),
        ];
        all.into_iter()
            .zip(shown)
            .filter(|(_, (is_shown, _))| *is_shown)
            .map(|it| it.0)
            .collect()
    };
    (columns, cells)
}

/// A line for each benchmark: what it detects with the least, with the most, and what it takes to
/// detect what matters.
fn overview(rows: &[Detectability], found: &Found, view: DetectionView) -> Table {
    let grid = &found.options.grid;
    let end = |of: &[usize]| {
        of.first()
            .copied()
            .zip(of.last().copied())
            .unwrap_or_default()
    };
    let ((fewest, most), (shortest, longest)) = (end(&grid.instances), end(&grid.iterations));
    let mut corners: Vec<Configuration> = [
        (fewest, shortest),
        (fewest, longest),
        (most, shortest),
        (most, longest),
    ]
    .map(|(instances, iterations)| Configuration {
        instances,
        iterations,
    })
    .to_vec();
    corners.dedup();
    let (mut columns, cells) = names(rows);
    let titles: Vec<String> = corners.iter().map(|it| it.to_string()).collect();
    columns.extend(titles.iter().map(|it| (it.clone(), Right)));
    columns.push((format!("for {}", view.target_text()), Right));
    let mut table = Table::new(&columns);
    if let [_, second, third, ..] = titles.as_slice() {
        table = table.dispensable(&[
            second.as_str(),
            third.as_str(),
            "suite",
            "metric",
            "setting",
        ]);
    }
    for row in rows {
        let mut line = cells(row);
        line.extend(corners.iter().map(|corner| {
            let cell = view.cell(row, *corner);
            cell.map_or("–".to_owned(), |cell| detectable_text(cell, view.power))
        }));
        let cheapest = view.cheapest(row);
        line.push(cheapest.map_or("–".to_owned(), |it| it.configuration.to_string()));
        table.row(line);
    }
    table
}

/// What every configuration of one benchmark detects.
fn square(row: &Detectability, found: &Found, view: DetectionView) -> Table {
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
            cell.map_or("–".to_owned(), |cell| detectable_text(cell, view.power))
        }));
        table.row(line);
    }
    table
}

/// The rates of all methods for one configuration and slowdown.
pub struct WideRow {
    /// The slowdown, as a factor.
    pub slowdown: f64,
    /// Instances and iterations a side.
    pub configuration: Configuration,
    /// By method and strategy; `None` where nothing can be said.
    pub rates: Vec<Option<CellRate>>,
}

/// Returns the wide rows of a benchmark, by slowdown and configuration, as Hail has them.
pub fn wide_rows(row: &Detectability, found: &Found) -> Vec<WideRow> {
    let options = &found.options;
    let mut rows = Vec::new();
    for slowdown in &options.grid.slowdowns {
        for configuration in options.grid.configurations() {
            let rate = |method, strategy| {
                let mut cells = row.cells.iter();
                let cell = cells.find(|it| {
                    (it.configuration, it.method, it.strategy) == (configuration, method, strategy)
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

fn wide_table(rows: &[Detectability], found: &Found) -> Table {
    let (mut columns, cells) = names(rows);
    columns.extend(["slowdown", "instances", "iterations"].map(|it| (it.to_owned(), Right)));
    for method in &found.options.methods {
        for strategy in &found.options.strategies {
            columns.push((format!("{} {}", method.name(), strategy.name()), Right));
        }
    }
    let mut table = Table::new(&columns);
    for row in rows {
        for wide in wide_rows(row, found) {
            let mut line = cells(row);
            line.push(wide.slowdown.to_string());
            line.push(wide.configuration.instances.to_string());
            line.push(wide.configuration.iterations.to_string());
            let rates = wide.rates.iter();
            line.extend(
                rates.map(|it| it.map_or("–".to_owned(), |rate| format!("{:.2}", rate.value))),
            );
            table.row(line);
        }
    }
    table
}

/// More benchmarks than this are told by the table alone.
const NAMES: usize = 3;

/// Returns what there is to say below the table.
fn notes(found: &Found, command: &Mds, view: DetectionView) -> Vec<String> {
    let mut notes = Vec::new();
    if !command.wide {
        notes.push(format!(
            "the minimal detectable slowdown with instances × iterations a side: {}",
            view.basis()
        ));
    }
    let simulated = found
        .rows
        .iter()
        .flat_map(|row| &row.cells)
        .any(|it| it.experiments().is_some());
    let by_formula = found
        .rows
        .iter()
        .flat_map(|row| &row.cells)
        .any(|it| it.experiments().is_none());
    if simulated {
        notes.push(format!(
            "from {} of each configuration, resampled {} times",
            counted(u64::from(found.options.experiments), "experiment"),
            found.options.replicates
        ));
    }
    if by_formula && !command.closed_form {
        notes.push(
            "~ is by formula: a simulation takes twice the instances that a side has".to_owned(),
        );
    }
    let titles = Titles::of(&found.rows);
    let unable: Vec<String> = found
        .rows
        .iter()
        .filter(|row| view.cheapest(row).is_none())
        .map(|row| match view.best(row) {
            Some((configuration, found)) if found.slowdown.is_finite() => format!(
                "{} ({} at {configuration})",
                titles.title(row),
                change(found.slowdown)
            ),
            Some(_) | None => titles.title(row),
        })
        .collect();
    if !unable.is_empty() && found.rows.len() > 1 {
        let shown = unable[..unable.len().min(NAMES)].join(", ");
        let more = match unable.len().checked_sub(NAMES) {
            None | Some(0) => String::new(),
            Some(more) => format!(" and {more} more"),
        };
        notes.push(format!(
            "cannot detect {}: {shown}{more}",
            change(view.target)
        ));
    }
    if found.older > 0 && command.settings.is_none() {
        notes.push("older versions were passed over (`--settings each`)".to_owned());
    }
    notes.push(format!(
        "`lapwing plan --slowdown {}` chooses how much to run",
        view.target_text().replace(' ', "")
    ));
    notes
}
