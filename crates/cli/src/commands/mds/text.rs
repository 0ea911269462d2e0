//! What could be detected, for people.

use std::io::{self, Write};

use lapwing_core::explain::Detectability;
use lapwing_core::judge::CellRate;
use lapwing_core::show::{
    DetectionAbility, DetectionView, EnoughConfigurations, RowTitles, configuration_text,
    detectable_text, detectable_with_interval,
};
use lapwing_stats::{Configuration, DetectionMethod};

use super::notes::notes;
use super::{FoundDetection, MdsCommand};
use crate::fit::wrap;
use crate::options::Context;
use crate::table::Align::{Left, Right};
use crate::table::Table;

/// Writes it for a terminal.
pub fn text(
    found: &FoundDetection,
    command: &MdsCommand,
    context: &Context,
    out: &mut impl Write,
) -> io::Result<()> {
    let view = DetectionView::of(&found.options, found.target, command.power);
    let enough = all_enough(found, view);
    let room = context.terminal.width();
    let headline = headline(found, view, &enough);
    // Programs that read the first line get all of it.
    let headline = room.map_or(headline.clone(), |room| wrap(&headline, room));
    writeln!(out, "{headline}\n")?;
    let (table, ends) = table(found, command, view, &enough, room);
    table.text_within(room, out)?;
    let notes = notes(found, command, view, &enough, ends);
    writeln!(out, "\n{}", wrapped(&notes, context))
}

/// Writes the table as Markdown.
pub fn markdown(
    found: &FoundDetection,
    command: &MdsCommand,
    out: &mut impl Write,
) -> io::Result<()> {
    let view = DetectionView::of(&found.options, found.target, command.power);
    let enough = all_enough(found, view);
    writeln!(out, "{}\n", headline(found, view, &enough))?;
    let (table, ends) = table(found, command, view, &enough, None);
    table.markdown(out)?;
    for note in notes(found, command, view, &enough, ends) {
        writeln!(out, "\n{note}")?;
    }
    Ok(())
}

/// Returns what is enough for each row, which takes a while.
fn all_enough(found: &FoundDetection, view: DetectionView) -> Vec<EnoughConfigurations<'_>> {
    found.rows.iter().map(|row| view.enough(row)).collect()
}

fn headline(
    found: &FoundDetection,
    view: DetectionView,
    enough: &[EnoughConfigurations<'_>],
) -> String {
    view.headline(&found.rows, enough, found.options.grid.largest())
}

/// Where the ends of the intervals of a table stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// In its cells.
    Shown,
    /// Below it: how far they are away at most.
    Below,
}

fn table(
    found: &FoundDetection,
    command: &MdsCommand,
    view: DetectionView,
    enough: &[EnoughConfigurations<'_>],
    room: Option<usize>,
) -> (Table, Ends) {
    match (command.wide, found.rows.as_slice()) {
        (true, rows) => {
            let ends = match found.options.grid.configurations().as_slice() {
                [_] => Ends::Shown,
                _ => Ends::Below,
            };
            (wide_table(rows, found, ends), ends)
        }
        (false, [row]) => {
            let table = square(row, found, view, Ends::Shown);
            match room.is_none_or(|room| table.width() <= room) {
                true => (table, Ends::Shown),
                false => (square(row, found, view, Ends::Below), Ends::Below),
            }
        }
        (false, rows) => (overview(rows, found, view, enough), Ends::Shown),
    }
}

/// What tells the rows apart: the titles of the columns, and the cells of a row.
fn names(
    rows: &[Detectability],
) -> (
    Vec<(String, crate::table::Align)>,
    impl Fn(&Detectability) -> Vec<String>,
) {
    let titles = RowTitles::of(rows);
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
fn overview(
    rows: &[Detectability],
    found: &FoundDetection,
    view: DetectionView,
    enough: &[EnoughConfigurations<'_>],
) -> Table {
    let corners = found.options.grid.corners();
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
    for (row, enough) in hardest_first(rows, enough, view) {
        let mut line = cells(row);
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

/// Returns the rows so that what detects the least stands on top, and last of what nothing is known.
fn hardest_first<'a>(
    rows: &'a [Detectability],
    enough: &[EnoughConfigurations<'a>],
    view: DetectionView,
) -> Vec<(&'a Detectability, EnoughConfigurations<'a>)> {
    let key = |row: &Detectability, able: DetectionAbility| {
        let best = view.best(row).map_or(f64::INFINITY, |it| it.1.slowdown);
        (able == DetectionAbility::Unknown, able, best)
    };
    let rows = rows.iter().zip(enough);
    let mut rows: Vec<_> = rows
        .map(|(row, enough)| (key(row, enough.able()), (row, *enough)))
        .collect();
    rows.sort_by(|(one, _), (other, _)| {
        let group = (one.0, one.1).cmp(&(other.0, other.1));
        group.then(other.2.total_cmp(&one.2))
    });
    rows.into_iter().map(|it| it.1).collect()
}

/// What every configuration of one benchmark detects.
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
    /// Instances and iterations a side.
    pub configuration: Configuration,
    /// By method and strategy; `None` where nothing can be said.
    pub rates: Vec<Option<CellRate>>,
}

/// Returns the wide rows of a benchmark, by slowdown and configuration, as Hail has them.
pub fn wide_rows(row: &Detectability, found: &FoundDetection) -> Vec<WideRow> {
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
    let (mut columns, cells) = names(rows);
    // One benchmark has its name in the headline.
    let named = if rows.len() == 1 { 1 } else { 0 };
    columns.drain(..named);
    columns.extend(["slowdown", "per side"].map(|it| (it.to_owned(), Right)));
    columns.extend(rate_titles(found).into_iter().map(|it| (it, Right)));
    let last = ["welch tbs", "welch ibs", "metric", "suite", "schultz tbs"];
    let mut table = Table::new(&columns).dispensable(&last);
    for row in rows {
        for wide in wide_rows(row, found) {
            let mut line = cells(row).split_off(named);
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

/// Returns what stands below, no wider than people want to read.
fn wrapped(notes: &[String], context: &Context) -> String {
    const WIDTH: usize = 80;
    let width = context.terminal.width().map_or(WIDTH, |it| it.min(WIDTH));
    let lines: Vec<String> = notes.iter().map(|it| wrap(it, width)).collect();
    lines.join("\n")
}
