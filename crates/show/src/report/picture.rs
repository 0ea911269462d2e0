//! Small pictures of a history, as inline SVG: beside the headline, and in lists of findings.

use std::fmt::Write;

use lapwing_stats::as_f64;
use maud::{Markup, html};

use super::headline::News;
use crate::chart::thin;
use crate::quantity::quantity;

/// The levels before and after a change.
#[derive(Debug, Clone, Copy)]
pub(super) struct PictureLevel {
    /// The place of the first value after it.
    pub(super) change: usize,
    pub(super) before: f64,
    pub(super) after: f64,
}

/// The values of a history with a change.
#[derive(Debug, Clone)]
pub(super) struct HistoryPicture {
    pub(super) values: Vec<f64>,
    pub(super) levels: Option<PictureLevel>,
    pub(super) news: News,
    pub(super) unit: String,
}

/// More points than this are thinned.
const MOST_POINTS: usize = 240;

/// The place of the picture in its own units.
struct Frame {
    width: f64,
    height: f64,
    /// Room for labels at the right.
    right: f64,
    margin: f64,
}

impl HistoryPicture {
    /// Returns the picture with the levels in words.
    pub(super) fn large(&self) -> Markup {
        self.drawn(&Frame {
            width: 320.0,
            height: 96.0,
            right: 64.0,
            margin: 10.0,
        })
    }

    /// Returns the picture without words.
    pub(super) fn small(&self) -> Markup {
        self.drawn(&Frame {
            width: 120.0,
            height: 32.0,
            right: 0.0,
            margin: 4.0,
        })
    }

    fn title(&self) -> String {
        let number = self.values.len();
        match self.levels {
            Some(PictureLevel { before, after, .. }) => format!(
                "{number} runs: {} before, {} after",
                quantity(before, &self.unit),
                quantity(after, &self.unit)
            ),
            None => format!("{number} runs"),
        }
    }

    fn drawn(&self, frame: &Frame) -> Markup {
        let finite = || self.values.iter().copied().filter(|it| it.is_finite());
        let lowest = finite().fold(f64::INFINITY, f64::min);
        let highest = finite().fold(f64::NEG_INFINITY, f64::max);
        let last = as_f64(self.values.len().saturating_sub(1)).max(1.0);
        let across = frame.width - frame.right - 2.0 * frame.margin;
        let x = |at: f64| frame.margin + across * at / last;
        let y = |value: f64| {
            let share = if highest > lowest {
                (value - lowest) / (highest - lowest)
            } else {
                0.5
            };
            frame.margin + (1.0 - share.clamp(0.0, 1.0)) * (frame.height - 2.0 * frame.margin)
        };
        let change = self.levels.map(|it| it.change);
        let shown = thin(&self.values, MOST_POINTS);
        let path = |from: usize, to: usize| {
            let mut path = String::new();
            let mut is_on = false;
            for &at in shown.iter().filter(|at| (from..to).contains(*at)) {
                let value = self.values.get(at).copied().unwrap_or(f64::NAN);
                if value.is_finite() {
                    let command = if is_on { 'L' } else { 'M' };
                    // Writing into a text cannot fail.
                    let _infallible = write!(path, "{command}{:.1} {:.1}", x(as_f64(at)), y(value));
                }
                is_on = value.is_finite();
            }
            path
        };
        let end = self.values.len();
        let middle = change.unwrap_or(end);
        let title = self.title();
        html! {
            svg class=(format!("history-picture {}", self.news.class())) viewBox=(format!("0 0 {} {}", frame.width, frame.height)) width=(frame.width) height=(frame.height) role="img" aria-label=(title) {
                title { (title) }
                path d=(path(0, middle)) {}
                path.after d=(path(middle, end)) {}
                @if let Some(PictureLevel { change, before, after }) = self.levels {
                    @let at = x(as_f64(change) - 0.5);
                    line.level x1=(x(0.0)) x2=(at) y1=(y(before)) y2=(y(before)) {}
                    line.level.after x1=(at) x2=(x(last)) y1=(y(after)) y2=(y(after)) {}
                    @if frame.right > 0.0 {
                        text x=(frame.width - frame.right) y=(y(before) + 4.0) { (quantity(before, &self.unit)) }
                        text.after x=(frame.width - frame.right) y=(apart(y(after), y(before)) + 4.0) { (quantity(after, &self.unit)) }
                    }
                }
            }
        }
    }
}

/// The value of a side of a comparison.
#[derive(Debug)]
pub(super) struct SideValue {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) value: f64,
    pub(super) interval: Option<[f64; 2]>,
}

/// Returns the values of the two sides of a comparison with their intervals, on one axis.
pub(super) fn sides_picture(sides: &[SideValue; 2], news: News) -> Markup {
    const WIDTH: f64 = 320.0;
    const ROW: f64 = 44.0;
    const MARGIN: f64 = 12.0;
    let ends = |it: &SideValue| it.interval.unwrap_or([it.value, it.value]);
    let all = || sides.iter().flat_map(ends).filter(|it| it.is_finite());
    let lowest = all().fold(f64::INFINITY, f64::min);
    let highest = all().fold(f64::NEG_INFINITY, f64::max);
    let x = |value: f64| {
        let share = if highest > lowest {
            (value - lowest) / (highest - lowest)
        } else {
            0.5
        };
        MARGIN + share.clamp(0.0, 1.0) * (WIDTH - 2.0 * MARGIN)
    };
    let title = sides.iter().map(|it| format!("{} {}", it.name, it.text));
    let title = title.collect::<Vec<_>>().join(", ");
    html! {
        svg class=(format!("sides-picture {}", news.class())) viewBox=(format!("0 0 {WIDTH} {}", 2.0 * ROW)) width=(WIDTH) height=(2.0 * ROW) role="img" aria-label=(title) {
            title { (title) }
            @for (at, it) in sides.iter().enumerate() {
                @let y = ROW * as_f64(at) + 30.0;
                @let [lower, upper] = ends(it);
                @let is_right = x(it.value) > WIDTH / 2.0;
                g class=[(at == 1).then_some("after")] {
                    text.end[is_right] x=(if is_right { WIDTH - MARGIN } else { MARGIN }) y=(y - 14.0) { (it.name) " " tspan.value { (it.text) } }
                    line x1=(x(lower)) x2=(x(upper)) y1=(y) y2=(y) {}
                    circle cx=(x(it.value)) cy=(y) r="5" {}
                }
            }
        }
    }
}

/// The runs of a side of a change.
#[derive(Debug)]
pub(super) struct SideRuns {
    pub(super) name: &'static str,
    pub(super) values: Vec<f64>,
    pub(super) level: f64,
    /// The level in words.
    pub(super) text: String,
}

/// Returns the values of the runs before and after a change as dots, with the levels as lines.
pub(super) fn runs_picture(sides: &[SideRuns; 2], news: News) -> Markup {
    const WIDTH: f64 = 420.0;
    const LEFT: f64 = 52.0;
    const RIGHT: f64 = 80.0;
    const ROW: f64 = 26.0;
    const MOST: usize = 60;
    let all = || {
        let each = sides.iter().flat_map(|it| it.values.iter().copied());
        each.filter(|it| it.is_finite())
    };
    let lowest = all().fold(f64::INFINITY, f64::min);
    let highest = all().fold(f64::NEG_INFINITY, f64::max);
    let x = |value: f64| {
        let share = if highest > lowest {
            (value - lowest) / (highest - lowest)
        } else {
            0.5
        };
        LEFT + share.clamp(0.0, 1.0) * (WIDTH - LEFT - RIGHT)
    };
    let dots = |values: &[f64], y: f64| {
        let mut path = String::new();
        for (number, at) in thin(values, MOST).into_iter().enumerate() {
            if let Some(value) = values.get(at).filter(|it| it.is_finite()) {
                // Neighbours lie on lines of their own, so that equal values do not hide each other.
                let line = y + 4.0 * as_f64(number % 3) - 4.0;
                // Writing into a text cannot fail.
                let _infallible = write!(path, "M{:.1} {line}h0", x(*value));
            }
        }
        path
    };
    let each = sides.iter().map(|it| {
        let runs = it.values.len();
        format!("{} {} in {runs} runs", it.name, it.text)
    });
    let title = each.collect::<Vec<_>>().join(", ");
    html! {
        svg class=(format!("runs-picture {}", news.class())) viewBox=(format!("0 0 {WIDTH} {}", 2.0 * ROW)) width=(WIDTH) height=(2.0 * ROW) role="img" aria-label=(title) {
            title { (title) }
            @for (at, it) in sides.iter().enumerate() {
                @let y = ROW * as_f64(at) + ROW / 2.0;
                g class=[(at == 1).then_some("after")] {
                    text x="0" y=(y + 4.0) { (it.name) }
                    path d=(dots(&it.values, y)) {}
                    line x1=(format!("{:.1}", x(it.level))) x2=(format!("{:.1}", x(it.level))) y1=(y - 10.0) y2=(y + 10.0) {}
                    text.value x=(WIDTH - RIGHT + 10.0) y=(y + 4.0) { (it.text) }
                }
            }
        }
    }
}

/// Returns a place for a label near its own that is not over another one.
fn apart(own: f64, other: f64) -> f64 {
    const LINE: f64 = 14.0;
    if (own - other).abs() >= LINE {
        own
    } else if own <= other {
        other - LINE
    } else {
        other + LINE
    }
}
