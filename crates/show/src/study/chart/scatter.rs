//! Before against after of one treatment, coloured by the presence of another: dots, or their density where there are
//! many.

use std::collections::BTreeMap;

use crate::Chart;
use crate::chart::build::{ChartColumns, colour, grid, named_colour};
use crate::study::StudyMetricText;
use lapwing_model::text::grouped;
use lapwing_stats::as_f64;
use lapwing_stats::deltas::Delta;
use serde_json::{Value, json};

use super::spread::SpreadAxis;
use super::{AxisScale, metric_name};
use lapwing_study::StudyData;
use lapwing_study::StudyScale;

/// More dots cover each other.
const MOST_DOTS: usize = 2_000;
/// Cells of the density along each axis.
const CELLS: f64 = 40.0;
/// How opaque the cells with the fewest and the most pairs are.
const OPACITIES: [f64; 2] = [0.16, 1.0];

/// Returns the chart of the deltas of a treatment, with the line of no effect.
pub fn scatter(
    data: &StudyData,
    scale: StudyScale,
    treatment: usize,
    by: Option<usize>,
    deltas: &[Delta],
) -> Chart {
    let own = deltas.iter().filter(|delta| delta.factor == treatment);
    let own: Vec<&Delta> = own.collect();
    let name = &data.treatments[treatment].name;
    let is_below = data.metric.is_gain(scale, -1.0);
    let plot = ScatterPlot::new(data, scale, own, by);
    let (drawn, parts) = if plot.deltas.len() > MOST_DOTS {
        let density = plot.density();
        let what = format!(
            "{} pairs of settings that differ by {name} alone: the stronger a cell, the more pairs are in it (at most {})",
            grouped(plot.deltas.len()),
            grouped(density.most)
        );
        (what, density.parts)
    } else {
        let what = format!("Each dot is a pair of settings that differ by {name} alone");
        (what, plot.dots())
    };
    let subtitle = format!(
        "{drawn}; on the line it has no effect, {} it the setting is better.",
        if is_below { "below" } else { "above" }
    );
    let title = match by {
        Some(other) => format!("{name}, by {}", data.treatments[other].name),
        None => name.clone(),
    };
    Chart::new("scatter", title, subtitle, 520, plot.option(parts))
}

/// The deltas of a treatment, and the axis that is both the horizontal and the vertical one.
struct ScatterPlot<'d> {
    data: &'d StudyData,
    scale: StudyScale,
    axis: AxisScale,
    spread: SpreadAxis,
    deltas: Vec<&'d Delta>,
    by: Option<usize>,
}

/// The name, the data and the series of each group that is drawn.
type ScatterParts = Vec<(String, Value, Value)>;

/// The density of deltas.
struct ScatterDensity {
    parts: ScatterParts,
    /// The most pairs in a cell.
    most: usize,
}

impl<'d> ScatterPlot<'d> {
    fn new(
        data: &'d StudyData,
        scale: StudyScale,
        deltas: Vec<&'d Delta>,
        by: Option<usize>,
    ) -> Self {
        let values = || deltas.iter().flat_map(|it| [it.before, it.after]);
        let axis = AxisScale::of_values(data, scale, values());
        let spread = SpreadAxis::new(values().map(|value| axis.value(value)));
        Self {
            data,
            scale,
            axis,
            spread,
            deltas,
            by,
        }
    }

    /// Returns the places of a delta along both axes.
    fn place(&self, delta: &Delta) -> [f64; 2] {
        [delta.before, delta.after].map(|value| self.spread.place(self.axis.value(value)))
    }

    /// Returns the deltas with and without the treatment that distinguishes them.
    fn groups(&self) -> Vec<(String, Vec<&'d Delta>)> {
        let all = || self.deltas.iter().copied();
        match self.by {
            None => vec![("pairs of settings".to_owned(), all().collect())],
            Some(other) => {
                let name = &self.data.treatments[other].name;
                let has = |delta: &Delta| delta.set >> other & 1 == 1;
                let (with, without) = all().partition(|delta| has(delta));
                vec![
                    (format!("without {name}"), without),
                    (format!("with {name}"), with),
                ]
            }
        }
    }

    fn dots(&self) -> ScatterParts {
        let mut parts = Vec::new();
        for (number, (name, deltas)) in self.groups().into_iter().enumerate() {
            let mut columns = ChartColumns::new(&["row", "x", "y", "before", "after"]);
            for (row, delta) in deltas.iter().enumerate() {
                let [x, y] = self.place(delta);
                let [before, after] = [delta.before, delta.after].map(|it| self.axis.value(it));
                columns.push(&[as_f64(row), x, y, before, after]);
            }
            let sets: Vec<String> = deltas.iter().map(|it| self.data.set_text(it.set)).collect();
            let metric = &self.data.metric;
            let changes: Vec<String> = (deltas.iter())
                .map(|delta| metric.change_text(self.scale, delta.change()))
                .collect();
            let series = json!({
                "name": name, "type": "scatter", "datasetIndex": number,
                "encode": {"x": "x", "y": "y"},
                "symbol": if number == 0 { "circle" } else { "triangle" }, "symbolSize": 9,
                "itemStyle": {"color": colour(number), "opacity": 0.75},
                "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                    {"label": "", "column": "row", "names": sets},
                    {"label": "before", "column": "before", "unit": self.axis.unit.unit},
                    {"label": "after", "column": "after", "unit": self.axis.unit.unit},
                    {"label": "change", "column": "row", "names": changes},
                ]}},
            });
            parts.push((name, columns.into_dataset(), series));
        }
        parts
    }

    /// Returns cells, of which one where both groups are is half of each.
    fn density(&self) -> ScatterDensity {
        let groups = self.groups();
        let size = (self.spread.high - self.spread.low) / CELLS;
        let mut cells: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
        for (number, (_, deltas)) in groups.iter().enumerate() {
            for delta in deltas {
                let at = self
                    .place(delta)
                    .map(|place| cell((place - self.spread.low) / size));
                cells.entry(at).or_insert_with(|| vec![0; groups.len()])[number] += 1;
            }
        }
        let most = cells.values().flatten().copied().max().unwrap_or(1);
        let [least, strongest] = OPACITIES;
        let mut parts = Vec::new();
        for (number, (name, _)) in groups.into_iter().enumerate() {
            let names = [
                "x", "y", "from", "to", "opacity", "pairs", "before", "after",
            ];
            let mut columns = ChartColumns::new(&names);
            for (at, counts) in cells.iter().filter(|(_, counts)| counts[number] > 0) {
                let [x, y] = at.map(|at| self.spread.low + as_f64(at) * size);
                let is_shared = counts.iter().all(|count| *count > 0) && counts.len() > 1;
                let (from, to) = match (is_shared, number) {
                    (false, _) => (0.0, 1.0),
                    (true, 0) => (0.0, 0.5),
                    (true, _) => (0.5, 1.0),
                };
                let count = as_f64(counts[number]);
                let share = count.ln_1p() / as_f64(most).ln_1p();
                let opacity = least + (strongest - least) * share;
                let [before, after] = [x, y].map(|it| self.spread.value(it + size / 2.0));
                columns.push(&[x, y, from, to, opacity, count, before, after]);
            }
            let series = json!({
                "name": name, "type": "custom", "datasetIndex": number, "clip": true,
                "encode": {"x": "x", "y": "y"}, "itemStyle": {"color": colour(number)},
                "renderItem": {"$function": "densityCell", "size": size},
                "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                    {"label": "pairs of settings", "column": "pairs"},
                    {"label": "before, about", "column": "before", "unit": self.axis.unit.unit},
                    {"label": "after, about", "column": "after", "unit": self.axis.unit.unit},
                ]}},
            });
            parts.push((name, columns.into_dataset(), series));
        }
        ScatterDensity { parts, most }
    }

    fn option(&self, parts: ScatterParts) -> Value {
        let (mut legend, mut datasets, mut series) = (Vec::new(), Vec::new(), Vec::new());
        for (name, dataset, drawn) in parts {
            legend.push(name);
            datasets.push(dataset);
            series.push(drawn);
        }
        let (low, high) = (self.spread.low, self.spread.high);
        legend.push("no effect".to_owned());
        series.push(json!({
            "name": "no effect", "type": "line", "data": [[low, low], [high, high]], "symbol": "none", "silent": true,
            "lineStyle": {"color": named_colour("muted"), "type": "dashed", "width": 1.5}, "tooltip": {"show": false},
            "itemStyle": {"color": named_colour("muted")},
        }));
        let metric = metric_name(self.data, self.scale);
        let axis = |when: &str, gap: u32| {
            self.spread
                .option(&self.axis.name(&format!("{metric} {when}")), gap)
        };
        json!({
            "dataset": datasets, "grid": grid(32),
            "legend": {"show": true, "top": 0, "left": 12, "data": legend},
            "xAxis": axis("before", 26), "yAxis": axis("after", 40),
            "tooltip": {"trigger": "item"}, "series": series,
        })
    }
}

/// Returns the number of the cell of a place, counted in cells.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "places on the axis are between nothing and the number of cells"
)]
fn cell(place: f64) -> usize {
    place.floor() as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapwing_model::{Level, Metric};
    use lapwing_study::{StudyFactor, StudyMetric, Treatment};

    fn chart_of(pairs: usize) -> Chart {
        let treatment = |factor: usize, name: &str| Treatment {
            factor,
            level: 1,
            name: name.to_owned(),
        };
        let data = StudyData {
            suite: "s".to_owned(),
            benchmark: "b".to_owned(),
            metric: StudyMetric::new("wall_time", &Metric::lower("s")),
            factors: ["a", "b"]
                .map(|name| StudyFactor::new(name.to_owned(), vec![Level::Bool(true)]))
                .to_vec(),
            treatments: vec![treatment(0, "a"), treatment(1, "b")],
            instances: Vec::new(),
            failed: Vec::new(),
            notes: Vec::new(),
        };
        let deltas = (0..pairs).map(|number| {
            let before = 1.0 + 9.0 * as_f64(number) / as_f64(pairs);
            Delta {
                factor: 0,
                set: if number % 3 == 0 { 0b10 } else { 0 },
                before,
                after: 0.5 * before,
                runs: [1, 1],
            }
        });
        let deltas: Vec<Delta> = deltas.collect();
        scatter(&data, StudyScale::Time, 0, Some(1), &deltas)
    }

    fn column<'c>(chart: &'c Chart, dataset: usize, name: &str) -> &'c Vec<Value> {
        let column = &chart.option["dataset"][dataset]["source"][name];
        column.as_array().unwrap()
    }

    #[test]
    fn few_pairs_are_dots_and_many_are_counted_in_cells() {
        let dots = chart_of(MOST_DOTS);
        assert_eq!(dots.option["series"][0]["type"], "scatter");
        let drawn = [0, 1].map(|group| column(&dots, group, "x").len());
        assert_eq!(drawn, [1_333, 667]);
        let cells = chart_of(MOST_DOTS + 1);
        assert_eq!(cells.option["series"][0]["type"], "custom");
        let counted = [0, 1].map(|group| {
            let pairs = column(&cells, group, "pairs").iter();
            pairs.map(|pairs| pairs.as_u64().unwrap()).sum::<u64>()
        });
        assert_eq!(counted, [1_334, 667]);
        assert!(
            cells.subtitle.starts_with("2,001 pairs of settings"),
            "{}",
            cells.subtitle
        );
    }

    #[test]
    fn a_cell_with_pairs_of_both_groups_is_divided() {
        let cells = chart_of(3 * MOST_DOTS);
        let is_all = |group: usize, name: &str, value: Value| {
            let mut entries = column(&cells, group, name).iter();
            entries.all(|entry| *entry == value)
        };
        assert!(is_all(0, "from", json!(0)) && is_all(0, "to", json!(0.5)));
        assert!(is_all(1, "from", json!(0.5)) && is_all(1, "to", json!(1)));
    }
}
