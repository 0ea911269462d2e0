//! Pictures of numbers that fit into a few lines of a terminal.

use lapwing_analyse::judge::Comparison;
use lapwing_stats::as_f64;
use unicode_width::UnicodeWidthStr;

use super::fit::{common_prefix, shortened};

/// How pictures are drawn in a terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum PictureStyle {
    /// With blocks and lines of Unicode.
    #[default]
    Unicode,
    /// With ASCII alone.
    Ascii,
    /// Not at all.
    Never,
}

/// A picture of numbers, below the table of an answer for people.
#[derive(Debug, Clone, PartialEq)]
pub enum Picture {
    /// Values in order, such as the history of a benchmark.
    Curve(Curve),
    /// Intervals of ratios on one axis.
    Intervals(Vec<IntervalBar>),
}

/// Values in order, and where they change.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// What has the values.
    pub name: String,
    /// The values, from left to right; NaN where there is none.
    pub values: Vec<f64>,
    /// The place of the first value after a change, and its name.
    pub change: Option<(usize, String)>,
}

/// A ratio and its interval.
#[derive(Debug, Clone, PartialEq)]
pub struct IntervalBar {
    /// What has the ratio.
    pub name: String,
    /// The ratio, above 0.
    pub ratio: f64,
    /// The lower and the upper bound; `None` if there are none.
    pub interval: Option<[f64; 2]>,
}

impl IntervalBar {
    /// Returns the bar of a comparison under this name; `None` if it has no ratio, or an exact one.
    pub fn of(name: String, comparison: &Comparison) -> Option<Self> {
        let described = comparison.descriptive.as_ref();
        let (ratio, interval) = match comparison.ratio {
            Some(ratio) => (ratio.value, ratio.interval),
            None => described.map(|it| (it.value, it.interval))?,
        };
        let interval = interval.map(|it| [it.lower, it.upper]);
        let is_drawn = ratio > 0.0 && ratio.is_finite() && !comparison.is_exact;
        is_drawn.then_some(Self {
            name,
            ratio,
            interval,
        })
    }

    /// Returns the bar of the baseline relative to the candidate.
    #[must_use]
    pub fn inverted(self) -> Self {
        Self {
            ratio: self.ratio.recip(),
            interval: self
                .interval
                .map(|[lower, upper]| [upper.recip(), lower.recip()]),
            ..self
        }
    }
}

/// The widest name before a picture.
const NAME: usize = 40;

/// The widest picture.
const WIDEST: usize = 100;

/// Intervals that would be drawn; more are a page's.
const BARS: usize = 20;

/// The characters of pictures.
struct Characters {
    /// From the lowest to the highest value.
    levels: [char; 8],
    /// Below the first value after a change.
    change: char,
    /// The ends, the line and the middle of an interval.
    bar: [char; 4],
    /// The ratio 1.
    one: char,
}

impl PictureStyle {
    fn characters(self) -> Option<Characters> {
        match self {
            Self::Unicode => Some(Characters {
                levels: ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
                change: '╰',
                bar: ['├', '─', '┤', '●'],
                one: '│',
            }),
            Self::Ascii => Some(Characters {
                levels: ['_', '.', ',', '-', '~', '=', '*', '#'],
                change: '`',
                bar: ['[', '-', ']', 'o'],
                one: '|',
            }),
            Self::Never => None,
        }
    }
}

/// Returns the lines of pictures, of so many characters at most.
pub fn picture_lines(pictures: &[Picture], room: usize) -> Vec<String> {
    lines(pictures, PictureStyle::Unicode, room)
}

/// Returns the lines of pictures in a terminal of this width.
pub(super) fn lines(pictures: &[Picture], style: PictureStyle, room: usize) -> Vec<String> {
    let Some(characters) = style.characters() else {
        return Vec::new();
    };
    let names = || pictures.iter().flat_map(Picture::names);
    let prefix = common_prefix(names().filter(|name| !name.is_empty()));
    let label = |name: &str| match prefix.and_then(|prefix| name.strip_prefix(prefix)) {
        Some(rest) => format!("…{rest}"),
        None => name.to_owned(),
    };
    let widest = names().map(|name| label(name).width()).max().unwrap_or(0);
    let name_width = widest.min(NAME).min(room * 2 / 5);
    let Some(width) = room.checked_sub(name_width + 4).filter(|it| *it >= 10) else {
        return Vec::new();
    };
    let named = |name: &str, line: &str| {
        let name = shortened(&label(name), name_width);
        let space = " ".repeat(name_width - name.width().min(name_width));
        format!(" {name}{space}  {line}").trim_end().to_owned()
    };
    let drawn = pictures.iter().flat_map(|picture| match picture {
        Picture::Curve(curve) => curve.lines(&characters, width.min(WIDEST)),
        Picture::Intervals(bars) => interval_lines(bars, &characters, width.min(WIDEST)),
    });
    drawn.map(|(name, line)| named(name, &line)).collect()
}

impl Picture {
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Curve(curve) => vec![&curve.name],
            Self::Intervals(bars) => bars.iter().map(|it| it.name.as_str()).collect(),
        }
    }
}

impl Curve {
    /// Returns the curve, and a line that names the change, each with what stands before it.
    fn lines(&self, characters: &Characters, width: usize) -> Vec<(&str, String)> {
        let columns = self.values.len().min(width);
        let of_column = |at: usize| at * columns / self.values.len();
        // Values on both sides of a change are not averaged.
        let change = self
            .change
            .as_ref()
            .filter(|(at, _)| *at < self.values.len());
        let change_column = change.map(|(first, _)| of_column(*first).max((*first).min(1)));
        let mut means: Vec<Vec<f64>> = vec![Vec::new(); columns];
        for (at, value) in self.values.iter().enumerate() {
            let mut column = of_column(at);
            if let (Some((first, _)), Some(of_change)) = (change, change_column) {
                column = if at < *first {
                    column.min(of_change.saturating_sub(1))
                } else {
                    column.max(of_change)
                };
            }
            if value.is_finite() {
                means[column].push(*value);
            }
        }
        let means = means.iter().map(|values| {
            let sum: f64 = values.iter().sum();
            (!values.is_empty()).then(|| sum / as_f64(values.len()))
        });
        let means: Vec<Option<f64>> = means.collect();
        let shown = || means.iter().flatten().copied();
        let lowest = shown().fold(f64::INFINITY, f64::min);
        let highest = shown().fold(f64::NEG_INFINITY, f64::max);
        let level = |value: f64| {
            let share = (value - lowest) / (highest - lowest);
            let levels = characters.levels.len();
            let at = (0..levels).rfind(|at| share >= as_f64(*at) / as_f64(levels));
            characters.levels[at.unwrap_or(if highest > lowest { 0 } else { 3 })]
        };
        let curve = means.iter().map(|mean| mean.map_or(' ', level));
        let mut lines = vec![(self.name.as_str(), curve.collect::<String>())];
        if let (Some((_, name)), Some(at)) = (change, change_column) {
            let name = shortened(name, width.saturating_sub(2));
            // To the left where there is no room to the right.
            let line = if at + 2 + name.width() <= width {
                format!("{}{} {name}", " ".repeat(at), characters.change)
            } else {
                let space = at.saturating_sub(name.width() + 1);
                format!("{}{name} {}", " ".repeat(space), characters.change)
            };
            lines.push(("", line));
        }
        lines
    }
}

/// Returns a line per interval, and the axis below them.
fn interval_lines<'b>(
    bars: &'b [IntervalBar],
    characters: &Characters,
    width: usize,
) -> Vec<(&'b str, String)> {
    let bars = &bars[..bars.len().min(BARS)];
    let bounds = |bar: &IntervalBar| bar.interval.unwrap_or([bar.ratio; 2]);
    let all = || {
        let all = bars.iter().flat_map(|bar| {
            let [lower, upper] = bounds(bar);
            [lower, bar.ratio, upper]
        });
        let all = all.filter(|it| it.is_finite() && *it > 0.0);
        all.chain([1.0]).map(f64::ln)
    };
    let lowest = all().fold(f64::INFINITY, f64::min);
    let highest = all().fold(f64::NEG_INFINITY, f64::max);
    if highest <= lowest {
        return Vec::new();
    }
    let place = |ratio: f64| {
        let share = (ratio.ln() - lowest) / (highest - lowest);
        let last = width - 1;
        (0..=last)
            .rfind(|at| share * as_f64(last) + 0.5 >= as_f64(*at))
            .unwrap_or(0)
    };
    let [left, line, right, middle] = characters.bar;
    let one = place(1.0);
    let mut lines: Vec<(&str, String)> = bars
        .iter()
        .map(|bar| {
            let mut drawn = vec![' '; width];
            drawn[one] = characters.one;
            let [lower, upper] = bounds(bar).map(place);
            drawn[lower..=upper].fill(line);
            if bar.interval.is_some() && lower < upper {
                drawn[lower] = left;
                drawn[upper] = right;
            }
            drawn[place(bar.ratio)] = middle;
            (bar.name.as_str(), drawn.into_iter().collect())
        })
        .collect();
    lines.push(("", axis(lowest.exp(), highest.exp(), one, width)));
    lines
}

/// Returns the ends of an axis and the ratio 1, as far as there is room.
fn axis(lowest: f64, highest: f64, one: usize, width: usize) -> String {
    let mut drawn = vec![' '; width];
    let mut write = |at: usize, text: &str| {
        let length = text.width();
        let start = at
            .saturating_sub(length / 2)
            .min(width.saturating_sub(length));
        let around = start.saturating_sub(1)..(start + length + 1).min(width);
        if drawn[around].iter().all(|it| *it == ' ') {
            for (place, character) in drawn[start..].iter_mut().zip(text.chars()) {
                *place = character;
            }
        }
    };
    write(one, "1×");
    write(0, &format!("{lowest:.2}×"));
    write(width, &format!("{highest:.2}×"));
    drawn.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;

    fn drawn(pictures: &[Picture], style: PictureStyle, room: usize) -> String {
        lines(pictures, style, room).join("\n")
    }

    fn curve(length: usize, first: usize) -> Picture {
        let value = |at: usize| if at < first { 1.0 } else { 1.5 };
        let values = (0..length).map(|at| value(at) + 0.1 * as_f64(at * 7 % 5) / 4.0);
        Picture::Curve(Curve {
            name: "parse".to_owned(),
            values: values.collect(),
            change: Some((first, "v2".to_owned())),
        })
    }

    #[test]
    fn the_mark_stands_below_the_first_value_after_the_change() {
        let told = [
            drawn(&[curve(30, 20)], PictureStyle::Unicode, 80),
            drawn(&[curve(3_000, 2_999)], PictureStyle::Unicode, 40),
            drawn(&[curve(3_000, 1)], PictureStyle::Ascii, 40),
        ];
        assert_snapshot!(told.join("\n"), @"
        parse  ▁▁▂▁▁▁▁▂▁▁▁▁▂▁▁▁▁▂▁▁▇██▇█▇██▇█
                                   ╰ v2
        parse  ▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁▁█
                                          v2 ╰
        parse  _##############################
                ` v2
        ");
        // A change of one value of many is seen.
        for first in [1, 500, 1_499, 2_999] {
            let text = drawn(&[curve(3_000, first)], PictureStyle::Unicode, 60);
            let mut lines = text.lines();
            let (line, mark) = (lines.next().unwrap(), lines.next().unwrap());
            let at = mark.chars().position(|it| it == '╰').unwrap();
            let level = |at: usize| "▁▂▃▄▅▆▇█".find(line.chars().nth(at).unwrap()).unwrap();
            assert!(level(at) > level(at - 1), "{first}: {line}");
        }
    }

    #[test]
    fn intervals_have_one_axis() {
        let bar = |name: &str, ratio: f64, interval| IntervalBar {
            name: name.to_owned(),
            ratio,
            interval,
        };
        let bars = Picture::Intervals(vec![
            bar(
                "a/long/name/of/a/benchmark::test_it",
                1.1,
                Some([1.05, 1.2]),
            ),
            bar("parse", 1.0, Some([0.98, 1.02])),
            bar("once", 0.9, None),
        ]);
        let told = [
            drawn(std::slice::from_ref(&bars), PictureStyle::Unicode, 70),
            drawn(std::slice::from_ref(&bars), PictureStyle::Ascii, 60),
        ];
        assert_snapshot!(told.join("\n"), @"
        …ame/of/a/benchmark::test_it                │     ├─────●──────────┤
        parse                                    ├──●─┤
        once                          ●             │
                                      0.90×        1×                  1.20×
        …of/a/benchmark::test_it             |     [----o--------]
        parse                              [-o-]
        once                      o          |
                                  0.90×     1×               1.20×
        ");
        assert_eq!(drawn(&[bars], PictureStyle::Never, 70), "");
    }

    #[test]
    fn values_without_a_change_and_without_a_spread_are_drawn() {
        let flat = Curve {
            name: "flat".to_owned(),
            values: vec![2.0, f64::NAN, 2.0],
            change: None,
        };
        let flat = Picture::Curve(flat);
        assert_snapshot!(drawn(&[flat], PictureStyle::Unicode, 70), @" flat  ▄ ▄");
        let nothing = Picture::Intervals(Vec::new());
        assert_eq!(drawn(&[nothing], PictureStyle::Unicode, 70), "");
    }
}
