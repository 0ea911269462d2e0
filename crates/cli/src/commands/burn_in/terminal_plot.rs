//! Iteration against value as text, for the terminal.

use lapwing_analyse::explain::BenchmarkBurnIn;
use lapwing_show::{UnitScale, quantity};
use lapwing_stats::{as_f64, median, quantile};

/// The height of a plot in lines.
const LINES: usize = 12;
/// Maximum width of a plot.
const WIDEST: usize = 110;
/// Maximum width of an iteration.
const WIDEST_ITERATION: usize = 4;

/// The values of the instances in one column.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Column {
    low: f64,
    median: f64,
    high: f64,
}

/// Numbers of columns and of iterations.
#[derive(Debug, Clone, Copy)]
struct PlotColumns {
    columns: usize,
    iterations: usize,
}

impl PlotColumns {
    fn new(iterations: usize, room: usize) -> Self {
        let wide = (room / iterations.max(1)).min(WIDEST_ITERATION);
        Self {
            columns: if wide > 0 { iterations * wide } else { room },
            iterations,
        }
    }

    /// The first column of an iteration.
    fn column(self, iteration: usize) -> usize {
        iteration * self.columns / self.iterations.max(1)
    }

    /// The iterations of a column.
    fn iterations(self, column: usize) -> std::ops::Range<usize> {
        let first = column * self.iterations / self.columns.max(1);
        let last = (column + 1) * self.iterations / self.columns.max(1);
        first..last.max(first + 1)
    }
}

/// Returns the plot in lines of at most `width`: the median of the instances, the range of most of them, and a
/// vertical line at the start. The steady part sets the scale.
pub fn lines(row: &BenchmarkBurnIn, width: usize) -> Vec<String> {
    let instances = &row.steady.instances;
    let last = instances.iter().filter_map(|it| it.index().last()).max();
    let iterations = last.map_or(0, |last| as_usize(*last) + 1);
    let values = instances.iter().flat_map(|it| it.values.iter().copied());
    let scale = UnitScale::of_all(values, &row.unit);
    let gutter = scale.text(highest(row)).chars().count().max(8);
    let room = width.saturating_sub(gutter + 2).clamp(20, WIDEST);
    let across = PlotColumns::new(iterations, room);
    let columns: Vec<Option<Column>> = (0..across.columns)
        .map(|column| of_column(row, across.iterations(column)))
        .collect();
    let Some((bottom, top)) = range(&columns) else {
        return Vec::new();
    };
    let mut cells = vec![vec![' '; across.columns]; LINES];
    for (at, column) in columns.iter().enumerate() {
        if let Some(column) = column {
            paint(&mut cells, at, *column, bottom, top);
        }
    }
    if let Some(found) = row.found {
        rule(&mut cells, across, found, '┊');
    }
    if let Some(start) = row.start {
        rule(&mut cells, across, start, '│');
    }
    let mut lines: Vec<String> = cells
        .into_iter()
        .enumerate()
        .map(|(line, cells)| {
            let value = top - (top - bottom) * share(line, LINES - 1);
            let is_labelled = line == 0 || line == LINES - 1 || line == LINES / 2;
            let label = if is_labelled {
                scale.text(value)
            } else {
                String::new()
            };
            let cells: String = cells.into_iter().collect();
            format!("{label:>gutter$} ┤{cells}").trim_end().to_owned()
        })
        .collect();
    lines.push(
        format!("{:gutter$}  {}", "", ticks(row, across))
            .trim_end()
            .to_owned(),
    );
    lines
}

/// Returns the legend of a plot.
pub fn legend(row: &BenchmarkBurnIn, plot: &[String]) -> String {
    let several = row.instances.len() > 1;
    let mut text = String::from(if several {
        "▀ median of the instances, ░ most of them"
    } else {
        "▀ the one instance"
    });
    if row.start.is_some() {
        text.push_str(", │ steady from here");
    }
    if row.found.is_some() && row.found != row.start {
        text.push_str(", ┊ found");
    }
    if plot.iter().any(|line| line.contains('▲')) {
        let highest = quantity(highest(row), &row.unit);
        text.push_str(&format!(", ▲ above (up to {highest})"));
    }
    if plot.iter().any(|line| line.contains('▼')) {
        text.push_str(", ▼ below");
    }
    text
}

fn highest(row: &BenchmarkBurnIn) -> f64 {
    let instances = row.steady.instances.iter();
    let values = instances.flat_map(|it| it.values.iter().copied());
    values.fold(0.0, f64::max)
}

fn of_column(row: &BenchmarkBurnIn, iterations: std::ops::Range<usize>) -> Option<Column> {
    let mut values = Vec::new();
    for instance in &row.steady.instances {
        let from = instance
            .index()
            .partition_point(|index| as_usize(*index) < iterations.start);
        let to = instance
            .index()
            .partition_point(|index| as_usize(*index) < iterations.end);
        values.extend_from_slice(instance.values.get(from..to)?);
    }
    Some(Column {
        low: quantile(&values, 0.1)?,
        median: median(&values)?,
        high: quantile(&values, 0.9)?,
    })
}

/// Returns the limits of the vertical axis: those of the second half, with some room, so that a
/// slow start does not flatten the rest.
fn range(columns: &[Option<Column>]) -> Option<(f64, f64)> {
    let ends = |columns: &[Option<Column>]| {
        let told = columns.iter().flatten();
        let low = told.clone().map(|it| it.low).fold(f64::INFINITY, f64::min);
        let high = told.map(|it| it.high).fold(f64::NEG_INFINITY, f64::max);
        (low <= high).then_some((low, high))
    };
    let (lowest, highest) = ends(columns)?;
    let (low, high) = ends(&columns[columns.len() / 2..]).unwrap_or((lowest, highest));
    // Some room even where nothing varies.
    let spread = (high - low).max(0.02 * high.abs()).max(f64::MIN_POSITIVE);
    let bottom = (low - spread).max(lowest.min(low - 0.1 * spread));
    let top = (high + 2.0 * spread).min(highest.max(high + 0.1 * spread));
    Some((bottom, top))
}

/// Draws one column; the median is drawn half a line high.
fn paint(cells: &mut [Vec<char>], at: usize, column: Column, bottom: f64, top: f64) {
    let half_lines = 2 * LINES - 1;
    // Half lines from the top, or `None` beyond an end.
    let place = |value: f64| {
        let down = (top - value) / (top - bottom);
        (0..=half_lines).min_by(|a, b| {
            let distance = |it: usize| (share(it, half_lines) - down).abs();
            distance(*a).total_cmp(&distance(*b))
        })
    };
    let line = |half: Option<usize>| half.unwrap_or(0) / 2;
    let (from, to) = (line(place(column.high)), line(place(column.low)));
    let seen = column.low <= top && column.high >= bottom;
    for cells in cells.iter_mut().take(to + 1).skip(from) {
        if seen && from < to {
            cells[at] = '░';
        }
    }
    if column.median > top {
        cells[0][at] = '▲';
    } else if column.median < bottom {
        cells[LINES - 1][at] = '▼';
    } else if let Some(half) = place(column.median) {
        cells[half / 2][at] = if half % 2 == 0 { '▀' } else { '▄' };
    }
}

/// Draws a vertical line, except through the median.
fn rule(cells: &mut [Vec<char>], across: PlotColumns, start: u32, sign: char) {
    let at = across.column(as_usize(start));
    for cells in cells {
        if let Some(cell) = cells.get_mut(at)
            && [' ', '░', '┊'].contains(cell)
        {
            *cell = sign;
        }
    }
}

/// Returns the numbers below the plot: first and last iteration, and the start.
fn ticks(row: &BenchmarkBurnIn, across: PlotColumns) -> String {
    let mut line: Vec<char> = vec![' '; across.columns + 1];
    let mut put = |at: usize, text: String| {
        let from = at.min((across.columns + 1).saturating_sub(text.len()));
        for (cell, sign) in line[from..].iter_mut().zip(text.chars()) {
            *cell = sign;
        }
    };
    let last = across.iterations.saturating_sub(1);
    put(0, "0".to_owned());
    put(across.columns, last.to_string());
    if let Some(start) = row.start {
        put(across.column(as_usize(start)), start.to_string());
    }
    line.into_iter().collect()
}

fn as_usize(index: u32) -> usize {
    usize::try_from(index).unwrap_or(usize::MAX)
}

fn share(part: usize, whole: usize) -> f64 {
    as_f64(part) / as_f64(whole.max(1))
}
