//! Which slowdowns could be detected: of one benchmark with every configuration and how probably, of
//! several with those that tell most.

use std::cmp::Reverse;

use lapwing_stats::Configuration;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::Chart;
use super::heat::HeatCells;
use super::parts::{grid as plot_grid, names_axis, number_axis, plot, row_names, rows_height};
use super::power::{power_axes, power_curves};
use crate::words::detection::DetectionView;
use crate::words::enough::{DetectionAbility, EnoughConfigurations};
use crate::words::noise::RowTitles;
use lapwing_analyse::explain::Detectability;
use lapwing_analyse::judge::{DetectionCell, DetectionGrid};
use lapwing_model::text::{capitalised, grouped};

/// More rows than this would be illegible.
const MOST_ROWS: usize = 100;

/// More curves than this would hide each other.
const MOST_CURVES: usize = 5;

const CELL_HEIGHT: u32 = 34;
const ROW_HEIGHT: u32 = 26;
const CURVES_HEIGHT: u32 = 300;

/// Returns the chart of the detectable slowdowns for the configurations of a grid.
///
/// Of one benchmark a heat map and power curves; of several a heat map with a row each, those first
/// that cannot detect the slowdown which matters.
pub fn detection(rows: &[Detectability], grid: &DetectionGrid, view: DetectionView) -> Chart {
    let shown = rows.iter().map(|row| (row, None));
    draw(rows, shown.collect(), grid, view)
}

/// Returns the chart of what could be detected with the configurations of a grid beside what is planned of each row,
/// which has a cell for that as well.
pub fn plan(
    rows: &[(Detectability, Option<Configuration>)],
    grid: &DetectionGrid,
    view: DetectionView,
) -> Chart {
    let shown = rows.iter().map(|(row, planned)| (row, *planned)).collect();
    let all: Vec<Detectability> = rows.iter().map(|it| it.0.clone()).collect();
    let target = view.target_text();
    let chart = match rows {
        [(row, Some(planned))] => {
            let mut grid = grid.clone();
            grid.instances.push(planned.instances);
            grid.iterations.push(planned.iterations);
            for numbers in [&mut grid.instances, &mut grid.iterations] {
                numbers.sort_unstable();
                numbers.dedup();
            }
            let name = RowTitles::of(&all).title(row);
            Chart {
                title: format!("{name}: {planned} is planned to detect {target}"),
                ..draw(&all, shown, &grid, view)
            }
        }
        _ if rows.iter().any(|it| it.1.is_some()) => Chart {
            title: format!(
                "What is planned to detect {target}, beside what other configurations detect"
            ),
            ..draw(&all, shown, grid, view)
        },
        _ => draw(&all, shown, grid, view),
    };
    Chart {
        subtitle: format!("All of this is by formula. {}", chart.subtitle),
        ..chart
    }
}

/// A row and its plan.
type PlannedRow<'a> = (&'a Detectability, Option<Configuration>);

fn draw(
    rows: &[Detectability],
    mut shown: Vec<PlannedRow<'_>>,
    grid: &DetectionGrid,
    view: DetectionView,
) -> Chart {
    shown.retain(|(row, _)| view.cells(row).next().is_some());
    match shown.as_slice() {
        [] => Chart {
            subtitle: "Nothing to draw: detection needs three instances with two iterations each, and positive values."
                .to_owned(),
            ..chart(view.headline(rows, &vec![EnoughConfigurations::default(); rows.len()], grid.largest()), 160, nothing())
        },
        [(row, planned)] if rows.len() == 1 => one(row, *planned, grid, view),
        _ => several(rows, &shown, grid, view),
    }
}

fn chart(title: String, height: u32, option: Value) -> Chart {
    Chart::new("detection", title, String::new(), height, option)
}

fn nothing() -> Value {
    let (dataset, series) = HeatCells::new().into_parts();
    json!({"dataset": [dataset], "grid": plot_grid(36), "xAxis": number_axis("slowdown (%)"),
        "yAxis": {"type": "value"}, "series": [series]})
}

/// Returns the explanation of the shades.
fn legend<'a>(view: DetectionView, mut cells: impl Iterator<Item = &'a DetectionCell>) -> String {
    let target = view.target_text();
    let formula = if cells.any(|it| it.experiments().is_none()) {
        " ~: by formula."
    } else {
        ""
    };
    format!(
        "Minimal detectable slowdown with instances × iterations per side ({}). The more a cell stands out, the larger it is; \
         framed: {target} is detected.{formula}",
        view.basis().replace('`', "")
    )
}

fn one(
    row: &Detectability,
    planned: Option<Configuration>,
    grid: &DetectionGrid,
    view: DetectionView,
) -> Chart {
    let name = RowTitles::of(std::slice::from_ref(row)).title(row);
    let target = view.target_text();
    let enough = view.enough(row);
    let title = match enough.told() {
        Some(cell) => format!(
            "{name} {} {target} from {} on",
            if enough.is_sure() {
                "detects"
            } else {
                "may detect"
            },
            cell.configuration
        ),
        None => format!(
            "{name} cannot detect {target} with {} or less",
            grid.largest()
        ),
    };
    let subtitle = format!(
        "{} Below: how probably each slowdown is detected.",
        legend(view, view.cells(row))
    );
    let mut cells = HeatCells::new();
    for (y, instances) in grid.instances.iter().enumerate() {
        for (x, iterations) in grid.iterations.iter().enumerate() {
            let configuration = Configuration {
                instances: *instances,
                iterations: *iterations,
            };
            if let Some(cell) = view.cell(row, configuration) {
                cells.add((x, y), &name, cell, view);
            }
        }
    }
    let (dataset, heat) = cells.into_parts();
    let mut curves = diagonal(grid);
    curves.extend(planned);
    curves.sort_by_key(|it| (it.instances * it.iterations, it.instances));
    curves.dedup();
    let curves: Vec<&DetectionCell> = curves
        .into_iter()
        .filter_map(|it| view.cell(row, it))
        .collect();
    let most = grid.slowdowns.iter().copied().fold(1.0, f64::max);
    let (mut datasets, mut series) = power_curves(&curves, view, most, 1);
    datasets.insert(0, dataset);
    series.insert(0, heat);
    let (slowdowns, rates) = power_axes(1);
    let height = 64 + rows_height(grid.instances.len(), CELL_HEIGHT);
    let option = json!({
        "dataset": datasets,
        "grid": [
            plot(20, height),
            with_tooltip(plot(height + 80, CURVES_HEIGHT - 32)),
        ],
        "legend": {"show": true, "top": height + 44, "left": 12, "selectedMode": false,
            "data": curves.iter().map(|it| it.configuration.to_string()).collect::<Vec<_>>()},
        "xAxis": [
            names_axis("iterations of each instance", "middle", &with_plan(&grid.iterations, planned.map(|it| it.iterations))),
            slowdowns,
        ],
        "yAxis": [names_axis("instances per side", "end", &with_plan(&grid.instances, planned.map(|it| it.instances))), rates],
        "tooltip": {"trigger": "item", "formatter": {"$function": "ratesAt"}},
        "series": series,
    });
    Chart {
        subtitle,
        ..chart(title, height + 80 + CURVES_HEIGHT - 20, option)
    }
}

fn several(
    rows: &[Detectability],
    shown: &[PlannedRow<'_>],
    grid: &DetectionGrid,
    view: DetectionView,
) -> Chart {
    let mut shown: Vec<(RowUrgency, PlannedRow<'_>)> = shown
        .par_iter()
        .map(|it| (urgency(it.0, grid, view), *it))
        .collect();
    shown.sort_by_key(|it| it.0);
    let drawable = shown.len();
    let able: Vec<(&Detectability, DetectionAbility)> =
        shown.iter().map(|it| (it.1.0, it.0.0)).collect();
    let unknown = rows.iter().filter(|row| view.cells(row).next().is_none());
    let able = able
        .into_iter()
        .chain(unknown.map(|row| (row, DetectionAbility::Unknown)));
    let headline = view.headline_of_rows(rows, able, grid.largest());
    let shown: Vec<PlannedRow<'_>> = shown.into_iter().take(MOST_ROWS).map(|it| it.1).collect();
    let configurations = telling(grid);
    let titles = RowTitles::of(rows);
    let names: Vec<String> = shown.iter().map(|it| titles.title(it.0)).collect();
    let has_plan = shown.iter().any(|it| it.1.is_some());
    let mut cells = HeatCells::new();
    for (y, ((row, planned), name)) in shown.iter().zip(&names).enumerate() {
        for (x, configuration) in configurations.iter().enumerate() {
            if let Some(cell) = view.cell(row, *configuration) {
                cells.add((x, y), name, cell, view);
            }
        }
        if let Some(cell) = planned.and_then(|it| view.cell(row, it)) {
            let place = (configurations.len(), y);
            cells.add_named(place, name, cell, view, cell.configuration.to_string());
        }
    }
    debug_assert!(!cells.is_empty(), "every row has a cell");
    let (dataset, heat) = cells.into_parts();
    let mut columns = texts(&configurations);
    columns.extend(has_plan.then(|| "planned".to_owned()));
    let mut x = names_axis("instances × iterations per side", "middle", &columns);
    let mut y = names_axis("", "end", &row_names(&names));
    x["position"] = json!("top");
    y["inverse"] = json!(true);
    y["axisLabel"] = json!({"interval": 0, "color": {"$color": "text"}});
    let height = 56 + rows_height(shown.len(), ROW_HEIGHT);
    let option = json!({
        "dataset": [dataset],
        "grid": plot(8, height),
        "xAxis": x,
        "yAxis": y,
        "tooltip": {"trigger": "item"},
        "series": [heat],
    });
    let mut subtitle = legend(view, shown.iter().flat_map(|it| view.cells(it.0)));
    if has_plan {
        subtitle.push_str(" The last column names what is planned.");
    }
    if shown.len() < rows.len() {
        subtitle.push_str(&format!(
            " {} of {} rows drawn{}.",
            grouped(shown.len()),
            grouped(rows.len()),
            if shown.len() < drawable {
                ", those first that cannot detect it"
            } else {
                "; the others have too few measurements"
            }
        ));
    }
    Chart {
        subtitle,
        ..chart(capitalised(&headline), height + 20, option)
    }
}

/// In which order rows are drawn.
type RowUrgency = (DetectionAbility, Option<Reverse<usize>>, Reverse<u64>);

/// Those that cannot detect what matters come first, the worst of them before the others; then those for which it
/// takes most.
fn urgency(row: &Detectability, grid: &DetectionGrid, view: DetectionView) -> RowUrgency {
    let enough = view.enough(row);
    let cost = enough.told().map(|cell| {
        let Configuration {
            instances,
            iterations,
        } = cell.configuration;
        Reverse(instances * iterations)
    });
    let found = view
        .cell(row, grid.largest())
        .and_then(|it| it.detectable(view.power));
    // Slowdowns are at least 1, and such numbers are in the order of their bits.
    let slowdown = found.map_or(f64::INFINITY, |it| it.slowdown);
    (enough.able(), cost, Reverse(slowdown.to_bits()))
}

/// Returns at most five configurations from the smallest to the largest.
fn diagonal(grid: &DetectionGrid) -> Vec<Configuration> {
    let (instances, iterations) = (&grid.instances, &grid.iterations);
    let number = instances.len().max(iterations.len()).min(MOST_CURVES);
    let last = number.saturating_sub(1).max(1);
    let at = |of: &[usize], step: usize| {
        let position = (step * of.len().saturating_sub(1) + last / 2) / last;
        of.get(position).copied()
    };
    let mut all: Vec<Configuration> = (0..number)
        .filter_map(|step| {
            Some(Configuration {
                instances: at(instances, step)?,
                iterations: at(iterations, step)?,
            })
        })
        .collect();
    all.dedup();
    all
}

/// Returns the diagonal and the corners of the grid, by their iterations in all.
fn telling(grid: &DetectionGrid) -> Vec<Configuration> {
    let mut all = diagonal(grid);
    all.extend(grid.corners());
    all.sort_by_key(|it| (it.instances * it.iterations, it.instances));
    all.dedup();
    all
}

/// Returns the numbers of an axis, with a word at that which is planned.
fn with_plan(numbers: &[usize], planned: Option<usize>) -> Vec<String> {
    let text = |number: &usize| {
        if Some(*number) == planned {
            format!("{number} (planned)")
        } else {
            number.to_string()
        }
    };
    numbers.iter().map(text).collect()
}

fn texts(of: &[impl ToString]) -> Vec<String> {
    of.iter().map(ToString::to_string).collect()
}

fn with_tooltip(mut plot: Value) -> Value {
    plot["tooltip"] = json!({"trigger": "axis"});
    plot
}
