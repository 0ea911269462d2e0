//! Power curves: a small picture on the page of a benchmark, drawn without a script.

use std::fmt::Write;

use lapwing_stats::Configuration;
use lapwing_stats::as_f64;
use maud::{Markup, html};

use crate::DetectionView;
use crate::quantity::{percent, round_percent};
use lapwing_analyse::judge::DetectionCell;

/// The picture has these units, and text of eleven of them.
const WIDTH: f64 = 340.0;
const HEIGHT: f64 = 178.0;
const LEFT: f64 = 40.0;
const RIGHT: f64 = 332.0;
const TOP: f64 = 18.0;
const BOTTOM: f64 = 144.0;

/// The largest number of segments of a curve, which is drawn small.
const STRETCHES: usize = 24;

/// From here on a curve is drawn as if all were detected.
const ALL: f64 = 0.999;

/// The largest slowdown that is drawn.
const MOST: f64 = 1.5;

/// One of the curves.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct PowerCurve<'a> {
    /// The detection rates of the configuration.
    pub(in crate::report) cell: &'a DetectionCell,
    /// The smallest slowdown that it detects with the wanted power, in words.
    pub(in crate::report) smallest: &'a str,
}

/// Returns power curves with a table that says what matters of them; the more is measured, the thicker the curve.
///
/// `smallest` is the slowdown that the first of them detects, where it detects one: the picture goes a little beyond
/// it.
pub(in crate::report) fn picture(
    curves: &[PowerCurve<'_>],
    view: DetectionView,
    smallest: Option<f64>,
) -> Markup {
    let end = end(view, smallest);
    let place = PowerPlot { end };
    let (wanted, target) = (place.y(view.power), place.x(view.target));
    html! {
        figure.power {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(aria_label(curves, view)) {
                @for share in [0.0, 0.5, 1.0] {
                    line.frame x1=(LEFT) x2=(RIGHT) y1=(place.y(share)) y2=(place.y(share)) {}
                    text.end x=(LEFT - 5.0) y=(place.y(share) + 4.0) { (round_percent(share)) }
                }
                @for share in ticks(end - 1.0) {
                    text.middle x=(tenths(place.x(1.0 + share))) y=(BOTTOM + 14.0) { (round_percent(share).trim_end_matches(" %")) }
                }
                line.wanted x1=(LEFT) x2=(RIGHT) y1=(tenths(wanted)) y2=(tenths(wanted)) {}
                line.wanted x1=(tenths(target)) x2=(tenths(target)) y1=(TOP) y2=(BOTTOM) {}
                @for (curve, class) in curves.iter().zip(CLASSES) {
                    polyline class=(class) points=(points(curve.cell, place)) {}
                }
                // Above the curves, which never come that high.
                text.end x=(RIGHT) y=(TOP - 5.0) { "wanted: " (round_percent(view.power)) }
                text.middle x=(tenths(target)) y=(TOP - 5.0) { (view.target_text()) }
                text.middle x=((LEFT + RIGHT) / 2.0) y=(HEIGHT - 4.0) { "slowdown (%)" }
            }
            table {
                thead { tr {
                    th scope="col" { "instances × iterations per side" }
                    th.number scope="col" { "detects " (view.target_text()) }
                    th.number scope="col" { (round_percent(view.power)) " of the time from" }
                } }
                tbody {
                    @for (curve, class) in curves.iter().zip(CLASSES) {
                        tr {
                            th scope="row" { i class=(class) {} (curve.cell.configuration) }
                            td.number { (of_target(curve.cell, view)) }
                            td.number { (curve.smallest) }
                        }
                    }
                }
            }
        }
    }
}

/// The configurations that are drawn where nobody says which: the least, the first answer and the most of the usual
/// grid.
pub(in crate::report) const DRAWN: [Configuration; 3] = [
    Configuration {
        instances: 5,
        iterations: 5,
    },
    Configuration {
        instances: 10,
        iterations: 10,
    },
    Configuration {
        instances: 25,
        iterations: 25,
    },
];

const CLASSES: [&str; 3] = ["least", "middling", "most"];

fn aria_label(curves: &[PowerCurve<'_>], view: DetectionView) -> String {
    let each = curves.iter().map(|curve| {
        format!(
            "{} of the time with {}",
            of_target(curve.cell, view),
            curve.cell.configuration
        )
    });
    let each: Vec<String> = each.collect();
    format!(
        "Power curves. A slowdown of {} is detected {}",
        view.target_text(),
        each.join(", ")
    )
}

fn of_target(cell: &DetectionCell, view: DetectionView) -> String {
    cell.rate(view.target)
        .map_or_else(String::new, |it| percent(it.value))
}

/// Returns the last slowdown that is drawn: where the weakest curve detects nearly all, and in any case beyond the
/// target.
fn end(view: DetectionView, smallest: Option<f64>) -> f64 {
    let least = 1.0 + 1.5 * (view.target - 1.0);
    let reached = smallest.map_or(MOST, |it| 1.0 + 1.3 * (it - 1.0));
    reached.min(MOST).max(least)
}

/// The coordinates of slowdowns and rates.
#[derive(Debug, Clone, Copy)]
struct PowerPlot {
    end: f64,
}

impl PowerPlot {
    fn x(self, slowdown: f64) -> f64 {
        LEFT + (slowdown - 1.0) / (self.end - 1.0) * (RIGHT - LEFT)
    }

    fn y(self, rate: f64) -> f64 {
        BOTTOM - rate * (BOTTOM - TOP)
    }
}

/// Returns the points of a curve; once all is detected it goes straight on.
fn points(cell: &DetectionCell, place: PowerPlot) -> String {
    let mut points = String::new();
    for step in 0..=STRETCHES {
        let slowdown = 1.0 + (place.end - 1.0) * as_f64(step) / as_f64(STRETCHES);
        let Some(rate) = cell.rate(slowdown) else {
            continue;
        };
        let (x, y) = (place.x(slowdown), place.y(rate.value));
        // Writing into a text cannot fail.
        let _infallible = write!(points, "{x:.1},{y:.1} ");
        if rate.value >= ALL {
            let _infallible = write!(points, "{RIGHT},{y:.1}");
            break;
        }
    }
    points.trim_end().to_owned()
}

/// Returns round shares from zero to this one, at most six of them.
fn ticks(most: f64) -> Vec<f64> {
    let rough = most / 5.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|it| it * power);
    let step = step.into_iter().find(|it| *it >= rough * (1.0 - 1e-9));
    let step = step.unwrap_or(most);
    (0..=5_usize)
        .map(|number| as_f64(number) * step)
        .filter(|it| *it <= most * (1.0 + 1e-9))
        .collect()
}

fn tenths(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use lapwing_stats::{DetectionMethod, Noise, Strategy};

    use super::*;
    use lapwing_analyse::judge::{DetectionOptions, detection_by_formula};

    fn drawn(between: f64, within: f64, smallest: Option<f64>) -> String {
        let noise = Noise {
            between: between.powi(2),
            within: within.powi(2),
        };
        let options = DetectionOptions {
            methods: vec![DetectionMethod::Paired],
            strategies: vec![Strategy::DifferentInstances],
            ..DetectionOptions::default()
        };
        let view = DetectionView::of(&options, 1.05, 0.95);
        let cells = detection_by_formula(noise, &options);
        let curves: Vec<PowerCurve<'_>> = cells
            .iter()
            .filter(|it| DRAWN.contains(&it.configuration))
            .map(|cell| PowerCurve {
                cell,
                smallest: "~6.0 %",
            })
            .collect();
        picture(&curves, view, smallest).into_string()
    }

    /// Returns the places of each curve.
    fn lines(svg: &str) -> Vec<Vec<(f64, f64)>> {
        let number = |text: &str| text.parse::<f64>().expect("a number");
        let of = |points: &str| {
            let pairs = points.split_whitespace().map(|it| it.split_once(','));
            pairs
                .map(|it| it.map(|(x, y)| (number(x), number(y))).expect("a pair"))
                .collect()
        };
        let parts = svg.split(" points=\"").skip(1);
        parts
            .map(|it| of(it.split('"').next().unwrap_or_default()))
            .collect()
    }

    #[test]
    fn curves_rise_from_the_false_positives_and_more_detects_more() {
        let svg = drawn(0.03, 0.02, Some(1.09));
        let lines = lines(&svg);
        assert_eq!(lines.len(), 3);
        for line in &lines {
            // Five in a hundred are found where there is none.
            assert!((line[0].0 - LEFT).abs() < 0.1, "{line:?}");
            let false_positives = (BOTTOM - line[0].1) / (BOTTOM - TOP);
            assert!((0.03..0.06).contains(&false_positives), "{line:?}");
            assert!(line.windows(2).all(|it| it[0].0 < it[1].0), "{line:?}");
            assert!(line.windows(2).all(|it| it[0].1 >= it[1].1), "{line:?}");
            assert_eq!(line.last().map(|it| it.0), Some(RIGHT));
        }
        let few = lines[0].iter().zip(&lines[1]).zip(&lines[2]);
        for ((least, middling), most) in few.skip(1).take(5) {
            assert!(least.1 > middling.1 && middling.1 > most.1);
        }
        assert!(svg.len() < 4_000, "{} bytes", svg.len());
    }

    #[test]
    fn what_detects_nothing_or_all_is_drawn_to_the_end() {
        for (between, smallest) in [(2.0, None), (1e-9, Some(1.0 + 1e-8))] {
            let svg = drawn(between, between, smallest);
            for line in lines(&svg) {
                assert_eq!(line.last().map(|it| it.0), Some(RIGHT));
                let within = |it: &(f64, f64)| (TOP..=BOTTOM).contains(&it.1);
                assert!(line.iter().all(within), "{line:?}");
            }
        }
    }

    #[test]
    fn ticks_are_round_and_few() {
        let texts = |most: f64| {
            let shares = ticks(most).into_iter();
            shares.map(round_percent).collect::<Vec<_>>().join(", ")
        };
        assert_eq!(texts(0.075), "0 %, 2 %, 4 %, 6 %");
        assert_eq!(texts(0.5), "0 %, 10 %, 20 %, 30 %, 40 %, 50 %");
        assert_eq!(texts(0.0015), "0 %, 0.05 %, 0.1 %, 0.15 %");
    }
}
