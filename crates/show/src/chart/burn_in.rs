//! Iteration against value, with the burn-in shaded and the first steady iteration marked.
use lapwing_stats::as_f64;
use lapwing_stats::steady::Class;
use serde_json::{Value, json};

use super::iterations::DRAWN_BY_STRETCH;
use super::marks::columns::ChartColumns;
use super::parts::{axis_name, drawn_text, grid, number_axis, tooltip, value_axis, whole_numbers};
use super::{Chart, ChartView, LABEL_SIZE, colour, named_colour, six_digits, thin};
use crate::quantity::UnitScale;
use lapwing_analyse::clean::{BenchmarkSteady, InstanceSteady, SteadyFrom};
use lapwing_model::text::{counted, grouped};

/// Title and marks of a chart of burn-in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BurnInMarks<'a> {
    /// The beginning of the title: the benchmark, or the metric if the benchmark is clear.
    pub subject: &'a str,
    /// The unit of the metric.
    pub unit: &'a str,
    /// The start that is used.
    pub start: SteadyFrom,
    /// The start detected from the values.
    pub found: Option<u32>,
}

/// More dots than this could not be told apart.
const MOST_POINTS: usize = 4_000;
/// More lines than this are a smear.
const MOST_LINES: usize = 40;

const COLUMNS: [&str; 3] = ["index", "value", "instance"];

/// Returns the chart of how a benchmark gets steady: a thin line per instance, the
/// median of all, a dot where each instance gets steady, the burn-in shaded.
pub fn burn_in(steady: &BenchmarkSteady, marks: &BurnInMarks) -> Chart {
    let instances: Vec<&InstanceSteady> = steady.instances.iter().collect();
    let values = instances.iter().flat_map(|it| it.values.iter().copied());
    let scale = UnitScale::of_all(values, marks.unit);
    let drawn = spread(&instances, MOST_LINES);
    let mut plot = BurnInPlot {
        steady,
        marks,
        scale,
        left_out: 0,
        points: 0,
    };
    let option = plot.option(&drawn);
    let mut chart = Chart::new(
        "burn-in",
        title(steady, marks),
        plot.subtitle(drawn.len()),
        320,
        option,
    );
    chart.views = plot.views();
    chart
}

fn title(steady: &BenchmarkSteady, marks: &BurnInMarks) -> String {
    let subject = marks.subject;
    let never = steady
        .instances
        .iter()
        .filter(|it| never_steady(it))
        .count();
    match marks.start {
        SteadyFrom::Index(_) if 2 * never > steady.instances.len() => {
            format!("{subject}: most instances never become steady")
        }
        SteadyFrom::Index(0) => format!("{subject}: steady from the first iteration"),
        SteadyFrom::Index(start) => format!("{subject}: steady from iteration {start}"),
        SteadyFrom::Never => format!("{subject}: never reaches a steady state"),
        SteadyFrom::Recorded | SteadyFrom::Unknown => {
            format!("{subject}: too few iterations to detect a steady state")
        }
    }
}

/// Returns at most so many of them, evenly spread.
fn spread<'a>(instances: &[&'a InstanceSteady<'a>], most: usize) -> Vec<&'a InstanceSteady<'a>> {
    let all = instances.len();
    let kept = all.min(most);
    (0..kept).map(|at| instances[at * all / kept]).collect()
}

struct BurnInPlot<'a> {
    steady: &'a BenchmarkSteady<'a>,
    marks: &'a BurnInMarks<'a>,
    scale: UnitScale,
    left_out: usize,
    points: usize,
}

impl BurnInPlot<'_> {
    fn option(&mut self, drawn: &[&InstanceSteady]) -> Value {
        let limit = (MOST_POINTS / drawn.len().max(1)).max(4);
        let mut settled = ChartColumns::new(&COLUMNS);
        let mut unsettled = ChartColumns::new(&COLUMNS);
        let mut starts = ChartColumns::new(&COLUMNS);
        let mut names = Vec::new();
        for (number, instance) in drawn.iter().enumerate() {
            let lines = if never_steady(instance) {
                &mut unsettled
            } else {
                &mut settled
            };
            self.line(instance, as_f64(number), limit, lines);
            if let Some(start) = instance.start
                && let Some(value) = instance.values.get(start)
            {
                let index = f64::from(instance.index()[start]);
                starts.push(&[index, value / self.scale.factor, as_f64(number)]);
            }
            let id: String = instance.instance.to_string();
            names.push(id.get(id.len() - 6..).unwrap_or(&id).to_owned());
        }
        let mut medians = ChartColumns::new(&COLUMNS);
        if self.steady.instances.len() > 1 {
            self.median(&mut medians);
        }
        let line = |at: usize, name: &str, number: usize| {
            json!({
                "id": format!("line-{at}"),
                "name": name,
                "type": "line",
                "datasetIndex": at,
                "encode": {"x": "index", "y": "value"},
                "symbol": "circle",
                "symbolSize": if self.points > 600 { 2 } else { 3 },
                "showAllSymbol": true,
                "color": colour(number),
                "lineStyle": {"width": 1, "opacity": 0.35},
                "itemStyle": {"opacity": 0.5},
                "emphasis": {"disabled": true},
            })
        };
        let mut one = line(0, "instances", 0);
        one["markArea"] = self.area();
        one["markLine"] = self.rules();
        let series = json!([
            one,
            line(1, "never steady", 1),
            {
                "id": "median",
                "name": "median",
                "type": "line",
                "datasetIndex": 2,
                "encode": {"x": "index", "y": "value"},
                "symbol": "none",
                "color": named_colour("text"),
                "lineStyle": {"width": 2},
                "emphasis": {"disabled": true},
            },
            {
                "id": "starts",
                "name": "becomes steady",
                "type": "scatter",
                "datasetIndex": 3,
                "encode": {"x": "index", "y": "value"},
                "symbol": "diamond",
                "symbolSize": 8,
                "color": colour(4),
                "itemStyle": {"borderColor": named_colour("text"), "borderWidth": 0.5},
                "emphasis": {"disabled": true},
                "z": 5,
            },
        ]);
        let legend: Vec<&str> = [
            ("instances", settled.len() > 0),
            ("never steady", unsettled.len() > 0),
            ("median", medians.len() > 0),
            ("becomes steady", starts.len() > 0),
        ]
        .into_iter()
        .filter_map(|(name, is_there)| is_there.then_some(name))
        .collect();
        let tables = [settled, unsettled, medians, starts];
        let datasets: Vec<Value> = tables.into_iter().map(ChartColumns::into_dataset).collect();
        let metric = &self.steady.metric;
        json!({
            "dataset": datasets,
            "grid": grid(30),
            "legend": {"show": true, "top": 0, "left": 12, "itemWidth": 14, "data": legend, "selectedMode": false},
            "xAxis": whole_numbers(number_axis("iteration within its instance")),
            "yAxis": value_axis(metric, &self.scale),
            "tooltip": tooltip(&json!([
                {"label": "instance", "column": "instance", "names": names},
                {"label": "iteration", "column": "index"},
                {"label": axis_name(metric, &UnitScale::of(1.0, "")), "column": "value", "unit": self.scale.unit},
            ])),
            "series": series,
        })
    }

    fn line(
        &mut self,
        instance: &InstanceSteady,
        number: f64,
        limit: usize,
        into: &mut ChartColumns,
    ) {
        let kept = thin(&instance.values, limit);
        self.points += kept.len();
        self.left_out += instance.values.len() - kept.len();
        if into.len() > 0 {
            into.push_gap();
        }
        for at in kept {
            let value = instance.values[at] / self.scale.factor;
            into.push(&[f64::from(instance.index()[at]), value, number]);
        }
    }

    fn median(&self, into: &mut ChartColumns) {
        let medians = self.steady.medians();
        let values: Vec<f64> = medians.iter().map(|(_, value)| *value).collect();
        for at in thin(&values, MOST_POINTS / 2) {
            let (index, value) = medians[at];
            into.push(&[f64::from(index), value / self.scale.factor, f64::NAN]);
        }
    }

    /// The burn-in, from the first iteration on; all where nothing gets steady.
    fn area(&self) -> Value {
        let end = match self.marks.start {
            SteadyFrom::Index(0) | SteadyFrom::Recorded | SteadyFrom::Unknown => None,
            SteadyFrom::Index(start) => Some(edge(start)),
            SteadyFrom::Never => self.last_index().map(f64::from),
        };
        let data: Vec<Value> = end
            .into_iter()
            .map(|end| json!([{"xAxis": "min"}, {"xAxis": six_digits(end)}]))
            .collect();
        json!({
            "silent": true,
            "itemStyle": {"color": named_colour("shade")},
            "data": data,
        })
    }

    /// Lines at the start that is used and, if it differs, at the detected one.
    fn rules(&self) -> Value {
        let chosen = match self.marks.start {
            SteadyFrom::Index(start) => Some(start),
            SteadyFrom::Never | SteadyFrom::Recorded | SteadyFrom::Unknown => None,
        };
        let found = self.marks.found.filter(|found| Some(*found) != chosen);
        // Beside the line, at the top; on its left where there is no room on its right.
        let last = self.last_index().unwrap_or(0);
        let rule = |at: u32, text: String, kind: &str, tone: &str, down: u32| {
            let (side, away) = if at > last / 4 * 3 {
                ("right", -1)
            } else {
                ("left", 12)
            };
            json!({
                "xAxis": six_digits(edge(at)),
                "label": {
                    "formatter": text,
                    "position": "insideEnd",
                    "rotate": 0,
                    "align": side,
                    "verticalAlign": "top",
                    "offset": [away, down],
                    "color": named_colour(tone),
                    "fontSize": LABEL_SIZE,
                },
                "lineStyle": {"type": kind, "width": 1.5, "color": named_colour(tone)},
            })
        };
        let chosen = chosen.map(|at| rule(at, format!("steady from {at}"), "solid", "text", 4));
        let found = found.map(|at| rule(at, format!("found {at}"), "dashed", "muted", 22));
        json!({
            "silent": true,
            "animation": false,
            "symbol": "none",
            "data": chosen.into_iter().chain(found).collect::<Vec<_>>(),
        })
    }

    fn last_index(&self) -> Option<u32> {
        let instances = self.steady.instances.iter();
        instances.filter_map(|it| it.index().last().copied()).max()
    }

    fn subtitle(&self, drawn: usize) -> String {
        let all = self.steady.instances.len();
        let mut text = match all {
            0 => return "Nothing to draw: no iteration has a value.".to_owned(),
            1 => "One line: one instance.".to_owned(),
            _ if drawn < all => format!(
                "Thin: {} of {} instances, evenly chosen; thick: the median of all.",
                grouped(drawn),
                grouped(all)
            ),
            _ => format!("Thin: {}; thick: their median.", counted(all, "instance")),
        };
        let steady = self.steady.instances.iter();
        if steady.clone().any(|it| it.start.is_some()) {
            text.push_str(if all == 1 {
                " Diamond: where it becomes steady."
            } else {
                " Diamonds: where each becomes steady."
            });
        }
        match self.marks.start {
            SteadyFrom::Index(0) => text.push_str(" No burn-in is excluded."),
            SteadyFrom::Index(_) => text.push_str(" Shaded: burn-in, which does not count."),
            SteadyFrom::Never => {
                text.push_str(" All shaded: it still changes at the end, so no iteration counts.");
            }
            SteadyFrom::Recorded | SteadyFrom::Unknown => {}
        }
        let never = steady.filter(|it| never_steady(it)).count();
        if never > 0 && self.marks.start != SteadyFrom::Never {
            let verb = if never == 1 { "becomes" } else { "become" };
            text.push_str(&format!(
                " {} of {} never {verb} steady.",
                grouped(never),
                counted(all, "instance")
            ));
        }
        let points = self.points + self.left_out;
        text.push_str(&drawn_text(self.points, points, DRAWN_BY_STRETCH));
        text
    }

    /// All values, or those of the steady part alone: a slow first iteration presses the rest flat.
    fn views(&self) -> Vec<ChartView> {
        let SteadyFrom::Index(start @ 1..) = self.marks.start else {
            return Vec::new();
        };
        let instances = self.steady.instances.iter();
        let (least, most) = instances
            .flat_map(|it| it.index().iter().zip(it.values.iter()))
            .filter(|(index, _)| **index >= start)
            .fold(
                (f64::INFINITY, f64::NEG_INFINITY),
                |(least, most), (_, value)| (least.min(*value), most.max(*value)),
            );
        if least >= most {
            return Vec::new();
        }
        let room = 0.05 * (most - least);
        let ends = |label: &str, least: Value, most: Value| ChartView {
            label: label.to_owned(),
            patch: json!({"yAxis": {"min": least, "max": most}}),
        };
        let shown = |value: f64| json!(six_digits(value / self.scale.factor));
        vec![
            ends("all values", Value::Null, Value::Null),
            ends("steady values", shown(least - room), shown(most + room)),
        ]
    }
}

/// Returns the place before an iteration, half-way from the one before it if there is one.
fn edge(start: u32) -> f64 {
    (f64::from(start) - 0.5).max(0.0)
}

fn never_steady(instance: &InstanceSteady) -> bool {
    instance.class == Some(Class::NoSteadyState)
}
