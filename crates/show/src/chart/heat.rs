//! Cells in shades: which slowdowns each configuration detects.

use lapwing_stats::as_f64;
use serde_json::{Value, json};

use super::marks::columns::ChartColumns;
use crate::words::detection::{DetectionView, change, detectable_text, slowdown_interval};
use lapwing_analyse::judge::DetectionCell;

/// The last shade; `chart.js` has a colour for each.
const LAST_SHADE: f64 = 9.0;

/// The shade of the slowdown that matters: the last one of those that are fine.
const SHADE_OF_TARGET: f64 = 4.0;

/// Returns the shade of a slowdown, half an octave each: the same beside the same target in every chart.
///
/// No number where nothing is detected.
pub(super) fn shade(slowdown: f64, target: f64) -> f64 {
    let octaves = ((slowdown - 1.0) / (target - 1.0)).log2();
    // What is the target but for rounding is the target.
    let shade = SHADE_OF_TARGET + (2.0 * octaves - 1e-9).ceil();
    if slowdown.is_finite() {
        shade.clamp(0.0, LAST_SHADE)
    } else {
        f64::NAN
    }
}

/// The cells of a heat map, with what is written in them and shown on hover.
#[derive(Debug)]
pub(super) struct HeatCells {
    columns: ChartColumns,
    texts: Vec<String>,
    titles: Vec<String>,
    detected: Vec<String>,
}

impl HeatCells {
    pub(super) fn new() -> Self {
        let columns = [
            "cell",
            "x",
            "y",
            "instances",
            "iterations",
            "slowdown",
            "lower",
            "upper",
            "shade",
            "able",
        ];
        Self {
            columns: ChartColumns::new(&columns),
            texts: Vec::new(),
            titles: Vec::new(),
            detected: Vec::new(),
        }
    }

    /// Adds what a configuration of the benchmark of that title detects.
    pub(super) fn add(
        &mut self,
        (x, y): (usize, usize),
        title: &str,
        cell: &DetectionCell,
        view: DetectionView,
    ) {
        let text = detectable_text(cell, view.power);
        self.add_named((x, y), title, cell, view, text);
    }

    /// Adds what a configuration detects, with this text in its cell.
    pub(super) fn add_named(
        &mut self,
        (x, y): (usize, usize),
        title: &str,
        cell: &DetectionCell,
        view: DetectionView,
        text: String,
    ) {
        let found = cell.detectable(view.power);
        let share = |of: f64| (of - 1.0) * 100.0;
        let [slowdown, lower, upper] = found.map_or([f64::NAN; 3], |detectable| {
            [
                detectable.slowdown,
                detectable.interval.lower,
                detectable.interval.upper,
            ]
        });
        // As sure as the answer in words.
        let is_able = cell.rate(view.target).is_some_and(|rate| {
            let lower = rate.interval.map_or(rate.value, |it| it.lower);
            lower >= view.power
        });
        self.columns.push(&[
            as_f64(self.texts.len()),
            as_f64(x),
            as_f64(y),
            as_f64(cell.configuration.instances),
            as_f64(cell.configuration.iterations),
            share(slowdown),
            share(lower),
            share(upper),
            shade(slowdown, view.target),
            f64::from(u8::from(is_able)),
        ]);
        self.texts.push(text);
        self.titles
            .push(format!("{title}, {} per side", cell.configuration));
        self.detected.push(hover(cell, view));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns the data and what draws them.
    pub(super) fn into_parts(self) -> (Value, Value) {
        let series = json!({
            "name": "minimal detectable slowdown (%)",
            "type": "custom",
            "datasetIndex": 0,
            "encode": {"x": "x", "y": "y"},
            "renderItem": {"$function": "heatCell", "names": self.texts},
            "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                {"label": "", "column": "cell", "names": self.titles},
                {"label": "detects", "column": "cell", "names": self.detected},
            ]}},
        });
        (self.columns.into_dataset(), series)
    }
}

/// Returns what is shown on hover: `5.3 % [4.9–5.8 %], 100 experiments`.
fn hover(cell: &DetectionCell, view: DetectionView) -> String {
    let Some(found) = cell
        .detectable(view.power)
        .filter(|it| it.slowdown.is_finite())
    else {
        return "none".to_owned();
    };
    let slowdown = change(found.slowdown);
    match cell.experiments() {
        None => format!("{slowdown}, by formula"),
        Some(experiments) => {
            let interval = slowdown_interval(found.interval);
            format!("{slowdown} {interval}, {experiments} experiments")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shades_are_half_octaves_around_the_slowdown_that_matters() {
        let of = |percent: f64| shade(1.0 + percent / 100.0, 1.05).to_string();
        let shades = [0.0, 0.1, 1.25, 2.5, 3.6, 5.0].map(of);
        assert_eq!(shades, ["0", "0", "0", "2", "4", "4"]);
        let shades = [5.01, 7.0, 7.2, 10.0, 20.0, 21.0, 900.0].map(of);
        assert_eq!(shades, ["5", "5", "6", "6", "8", "9", "9"]);
        assert_eq!([f64::INFINITY, f64::NAN].map(of), ["NaN", "NaN"]);
    }
}
