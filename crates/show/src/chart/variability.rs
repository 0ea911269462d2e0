//! Noise of benchmarks between instances and within them, the noisiest on top.

use crate::NoisePartText;
use lapwing_stats::{Interval, as_f64};
use serde_json::{Value, json};

use super::marks::columns::ChartColumns;
use super::parts::{
    axis_below_rows, drawn_text, grid, row_axis, row_intervals, row_names, rows_height,
};
use super::{Chart, colour};
use crate::words::noise::RowTitles;
use lapwing_analyse::explain::{Noise, NoisePart};

/// More rows than this would be illegible.
const MOST_ROWS: usize = 100;

/// From this ratio of largest to smallest on, the axis is logarithmic.
const LOGARITHMIC_FROM: f64 = 20.0;

/// Smaller values are too small to be measured as noise.
const FLOOR: f64 = 1e-4;

/// The distance of the two values from the middle of their row.
const BESIDE: f64 = 0.14;

/// Returns the chart of these benchmarks' noise, in their order from the top.
pub fn variability(rows: &[Noise]) -> Chart {
    let shown: Vec<&Noise> = rows
        .iter()
        .filter(|row| row.between.is_some())
        .take(MOST_ROWS)
        .collect();
    let parts = || {
        shown
            .iter()
            .flat_map(|row| [row.between, row.within])
            .flatten()
    };
    let values = || parts().map(|it| it.value).filter(|it| *it > FLOOR);
    let least = values().fold(f64::INFINITY, f64::min);
    let most = values().fold(0.0, f64::max);
    let logarithmic = most / least > LOGARITHMIC_FROM;
    let edge = if logarithmic {
        // Room for the lower ends, but not for those that go down to nothing.
        let ends = parts().filter_map(|it| Some(it.interval?.lower));
        let least = ends.filter(|it| *it > least / 4.0).fold(least, f64::min);
        10.0_f64.powf((least * 100.0).log10().floor())
    } else {
        0.0
    };
    let mut subtitle = "Relative standard deviation with its 95 % confidence interval. Noise between instances \
                        gets smaller with more instances, noise within them also with more iterations."
        .to_owned();
    if shown.is_empty() {
        "Nothing to draw: noise needs two instances, and two iterations in one of them."
            .clone_into(&mut subtitle);
    }
    if logarithmic {
        subtitle.push_str(&format!(
            " Logarithmic axis; values below {edge} % are drawn at its edge."
        ));
    }
    if !shown.is_empty() {
        subtitle.push_str(&drawn_text(shown.len(), rows.len(), "rows drawn"));
    }
    let titles = RowTitles::of(rows);
    let names: Vec<String> = shown.iter().map(|row| titles.title(*row)).collect();
    Chart::new(
        "variability",
        "Where the noise lies".to_owned(),
        subtitle,
        104 + rows_height(shown.len(), 30),
        option(&shown, &names, logarithmic, edge),
    )
}

fn option(shown: &[&Noise], names: &[String], logarithmic: bool, edge: f64) -> Value {
    let between: Vec<Option<NoisePart>> = shown.iter().map(|row| row.between).collect();
    let within: Vec<Option<NoisePart>> = shown.iter().map(|row| row.within).collect();
    let sizes: Vec<String> = shown
        .iter()
        .map(|row| row.variability.size.text())
        .collect();
    let series = [
        ("between instances", &between),
        ("within instances", &within),
    ];
    let datasets: Vec<Value> = [(&between, -BESIDE), (&within, BESIDE)]
        .into_iter()
        .map(|(parts, beside)| dataset(parts, beside, edge))
        .collect();
    let drawn: Vec<Value> = series
        .iter()
        .enumerate()
        .flat_map(|(number, (name, parts))| {
            let texts: Vec<String> = parts
                .iter()
                .map(|part| part.map_or(String::new(), |it| it.text()))
                .collect();
            [
                row_intervals(name, number, 3, &colour(number)),
                json!({
                    "name": name,
                    "type": "scatter",
                    "datasetIndex": number,
                    "encode": {"x": "value", "y": "place"},
                    "symbol": if number == 0 { "circle" } else { "diamond" },
                    "symbolSize": if number == 0 { 10 } else { 11 },
                    "itemStyle": {"color": colour(number)},
                    "emphasis": {"scale": 1.3},
                    "tooltip": {"formatter": {"$function": "tooltip", "fields": [
                        {"label": "", "column": "row", "names": names},
                        {"label": name, "column": "row", "names": texts},
                        {"label": "", "column": "row", "names": sizes},
                    ]}},
                }),
            ]
        })
        .collect();
    let mut axis = axis_below_rows("relative standard deviation (%)");
    if logarithmic {
        axis["type"] = json!("log");
        axis["min"] = json!(edge);
        // A label at each power of ten.
        axis["interval"] = json!(1);
    }
    json!({
        "dataset": datasets,
        "grid": grid(36),
        "legend": {"show": true, "top": 0, "left": 12, "data": series.map(|it| it.0)},
        "xAxis": axis,
        "yAxis": row_axis(&row_names(names), "left"),
        "tooltip": {"trigger": "item"},
        "series": drawn,
    })
}

/// Returns the positions of the parts, in percent and not left of the edge.
fn dataset(parts: &[Option<NoisePart>], beside: f64, edge: f64) -> Value {
    let mut columns = ChartColumns::new(&["row", "place", "value", "lower", "upper"]);
    for (row, part) in parts.iter().enumerate() {
        let Some(part) = part else { continue };
        let shown = |value: f64| (value * 100.0).max(edge);
        let interval = part.interval.unwrap_or(Interval {
            lower: f64::NAN,
            upper: f64::NAN,
        });
        // `max` would turn an end that is not there into the edge.
        let end = |value: f64| if value.is_nan() { value } else { shown(value) };
        columns.push(&[
            as_f64(row),
            as_f64(row) + beside,
            shown(part.value),
            end(interval.lower),
            end(interval.upper),
        ]);
    }
    columns.into_dataset()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::instance;
    use lapwing_analyse::clean::CleaningRules;
    use lapwing_analyse::explain::{NoiseMetrics, noise};
    use lapwing_analyse::sample::{BenchmarkData, SettingChoice};
    use lapwing_model::{Benchmark, Outcome};

    /// A benchmark whose instances have these centres, and this share of noise within.
    fn benchmark(id: &str, centres: &[f64], within: f64) -> Vec<Noise> {
        let one = |centre: &f64| {
            let values = [-1.0, 1.0, -1.0, 1.0].map(|sign| centre * (1.0 + sign * within));
            instance(&values.map(|value| (false, Outcome::Ok, value)))
        };
        let data = BenchmarkData {
            suite: "test".to_owned(),
            benchmark: Benchmark {
                id: id.to_owned(),
                ..Benchmark::default()
            },
            instances: centres.iter().map(one).collect(),
        };
        let seed = lapwing_stats::Seed(7);
        noise(
            &data,
            &CleaningRules::default(),
            SettingChoice::Latest,
            &NoiseMetrics::Usual,
            seed,
        )
        .rows
    }

    #[test]
    fn alike_noises_stand_on_a_plain_axis_from_zero() {
        let rows = [
            benchmark("a", &[1.0, 1.1, 0.9], 0.05),
            benchmark("b", &[1.0, 1.2, 0.9], 0.04),
        ]
        .concat();
        let chart = variability(&rows);
        assert_eq!(chart.option["xAxis"]["type"], "value");
        assert!(!chart.subtitle.contains("Logarithmic"));
        assert_eq!(
            chart.option["yAxis"]["axisLabel"]["formatter"]["names"],
            json!(["a", "b"])
        );
    }

    #[test]
    fn what_is_too_small_for_a_logarithmic_axis_stands_at_its_edge() {
        let rows = [
            benchmark("noisy", &[1.0, 2.0, 0.5], 0.2),
            benchmark("quiet", &[1.0, 1.0, 1.0], 0.002),
        ]
        .concat();
        let chart = variability(&rows);
        assert_eq!(chart.option["xAxis"]["type"], "log");
        assert_eq!(chart.option["xAxis"]["min"], json!(0.1));
        // Of the quiet one nothing lies between the instances.
        let between = &chart.option["dataset"][0]["source"];
        assert_eq!(between["value"][1], json!(0.1), "{between}");
        assert!(
            chart
                .subtitle
                .ends_with("values below 0.1 % are drawn at its edge.")
        );
    }

    #[test]
    fn single_instances_are_nothing_to_draw() {
        let chart = variability(&benchmark("a", &[1.0], 0.1));
        assert!(chart.subtitle.starts_with("Nothing to draw"));
    }
}
