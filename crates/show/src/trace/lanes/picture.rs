//! A timeline as a picture.

use std::fmt::Write as _;

use lapwing_trace::{Lane, LaneKind, LanePart, TaskDuration, Trace, TraceRange, lanes};

use super::colours::LaneColours;
use super::{begin, lane_name};

const LEFT: f64 = 130.0;
const ROW: f64 = 18.0;
/// The height of the axis, and of a line of the legend.
const LINE: f64 = 18.0;
/// The width of a letter, about.
const LETTER: f64 = 6.2;

/// Returns the lanes in a range as SVG.
pub fn lanes_svg(trace: &Trace, range: TraceRange, width: u32) -> String {
    let trace = &*trace.with_whole_calls();
    let lanes = lanes(trace);
    let colours = LaneColours::of(trace);
    let zero = begin(trace, &lanes);
    let (from, to) = (zero + range.from, zero + range.until);
    let scale = (f64::from(width) - LEFT) / millions((to - from).max(1));
    let bottom = LINE + ROW * lapwing_stats::as_f64(lanes.len());
    let mut drawn = axis(range, bottom, scale);
    let mut used = vec![false; colours.titles.len()];
    for (row, lane) in lanes.iter().enumerate() {
        let top = LINE + ROW * lapwing_stats::as_f64(row);
        let name = clipped(&lane_name(trace, lane), LEFT - 8.0);
        let name = escaped(&name);
        let _ = write!(drawn, "<text x=\"4\" y=\"{}\">{name}</text>", top + 13.0);
        let height = ROW - 4.0;
        for piece in columns(trace, lane, &colours, from, to, scale) {
            used[piece.colour] = true;
            let colour = &colours.colours[piece.colour];
            let opacity = if piece.share < 0.995 {
                format!(" opacity=\"{:.2}\"", piece.share)
            } else {
                String::new()
            };
            // A white line parts neighbours.
            let gap = if piece.width > 3.0 { 0.7 } else { 0.0 };
            let (x, breadth) = (LEFT + piece.x, piece.width - gap);
            let _ = write!(
                drawn,
                "<rect x=\"{x:.2}\" y=\"{}\" width=\"{breadth:.2}\" height=\"{height}\" fill=\"{colour}\"{opacity}/>",
                top + 2.0,
            );
            let name = clipped(title(trace, lane, &piece), piece.width - 6.0);
            if !name.is_empty() {
                let _ = write!(
                    drawn,
                    "<text x=\"{:.2}\" y=\"{}\" fill=\"#fff\">{}</text>",
                    x + 3.0,
                    top + 13.0,
                    escaped(&name)
                );
            }
        }
    }
    let (legend, height) = legend(&colours, &used, bottom + 10.0, f64::from(width));
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>{drawn}{legend}</svg>\n"
    )
}

/// Returns the axis above the lanes, with a line down at each mark.
fn axis(range: TraceRange, bottom: f64, scale: f64) -> String {
    let length = (range.until - range.from).max(1);
    let mut step: i64 = 1;
    // The smallest of 1, 2, 5, 10 … whose marks are 100 pixels apart.
    for factor in [2, 5, 10].into_iter().cycle() {
        if millions(step) * scale >= 100.0 || step > length {
            break;
        }
        let power = 10_i64.pow(step.ilog10());
        step = power * factor;
    }
    let mut marks = String::new();
    let first = range.from.div_euclid(step) + i64::from(range.from.rem_euclid(step) > 0);
    for mark in first.. {
        let time = mark * step;
        let x = LEFT + millions(time - range.from) * scale;
        if time > range.until {
            break;
        }
        let _ = write!(
            marks,
            "<path d=\"M{x:.1} {}V{bottom}\" stroke=\"#dfe3e8\"/>",
            LINE - 4.0
        );
        let label = if time == 0 {
            "0".to_owned()
        } else {
            seconds(time)
        };
        if time + step / 2 < range.until {
            let _ = write!(
                marks,
                "<text x=\"{:.1}\" y=\"12\" fill=\"#59636e\">{label}</text>",
                x + 3.0
            );
        }
    }
    marks
}

/// Returns all colours that are used with what they stand for, in as many lines as they need, and where they end.
fn legend(colours: &LaneColours, used: &[bool], top: f64, width: f64) -> (String, f64) {
    let (mut x, mut y) = (LEFT, top);
    let mut legend = String::new();
    // What tasks are coloured by comes first.
    let order = (colours.kinds..colours.titles.len()).chain(0..colours.kinds);
    for (at, title) in order.map(|at| (at, &colours.titles[at])) {
        let is_faint = at >= colours.kinds && used.get(at + colours.count) == Some(&true);
        if title.is_empty() || !(used[at] || is_faint && at < colours.kinds + colours.count) {
            continue;
        }
        let breadth = 26.0 + LETTER * lapwing_stats::as_f64(title.chars().count());
        if x > LEFT && x + breadth > width {
            (x, y) = (LEFT, y + LINE);
        }
        let _ = write!(
            legend,
            "<rect x=\"{x:.1}\" y=\"{y}\" width=\"10\" height=\"10\" fill=\"{}\"/><text x=\"{:.1}\" y=\"{}\">{}</text>",
            colours.colours[at],
            x + 14.0,
            y + 9.0,
            escaped(title)
        );
        x += breadth;
    }
    (legend, y + LINE)
}

/// Returns what is written on a rectangle: the task, or the dataset.
fn title<'t>(trace: &'t Trace, lane: &Lane, piece: &Rectangle) -> &'t str {
    match (lane.kind, piece.item) {
        (LaneKind::Worker, Some((LanePart::Task(TaskDuration::Compute), item))) => {
            trace.text(trace.tasks[item].name)
        }
        (LaneKind::Transfers, Some((LanePart::Copying, item))) => {
            trace.text(trace.transfers[item].dataset)
        }
        _ => "",
    }
}

fn clipped(text: &str, room: f64) -> String {
    let count = text.chars().count();
    let fits = |letters: usize| LETTER * lapwing_stats::as_f64(letters) <= room;
    if fits(count) {
        return text.to_owned();
    }
    let most = (3..count).rev().find(|letters| fits(*letters));
    most.map_or_else(String::new, |most| {
        let kept: String = text.chars().take(most - 1).collect();
        format!("{kept}…")
    })
}

fn seconds(nanoseconds: i64) -> String {
    crate::quantity(millions(nanoseconds) / 1e3, "s")
}

#[expect(clippy::cast_precision_loss, reason = "durations are far below 2⁵³ ns")]
fn millions(nanoseconds: i64) -> f64 {
    nanoseconds as f64 / 1e6
}

/// A rectangle of a picture, in pixels.
struct Rectangle {
    x: f64,
    width: f64,
    /// The place of its colour.
    colour: usize,
    /// The share of its width that has the colour.
    share: f64,
    /// What it shows, if that is one piece.
    item: Option<(LanePart, usize)>,
}

/// Returns the rectangles of a lane: a piece each, but where pieces are narrower than a pixel, the colour that takes
/// most of it.
fn columns(
    trace: &Trace,
    lane: &Lane,
    colours: &LaneColours,
    from: i64,
    to: i64,
    scale: f64,
) -> Vec<Rectangle> {
    let mut found: Vec<Rectangle> = Vec::new();
    let mut column: (f64, Vec<(usize, f64)>) = (-1.0, Vec::new());
    let flush = |column: &mut (f64, Vec<(usize, f64)>), found: &mut Vec<Rectangle>| {
        let sum: f64 = column.1.iter().map(|(_, width)| width).sum();
        let most = column
            .1
            .iter()
            .max_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((colour, _)) = most {
            found.push(Rectangle {
                x: column.0,
                width: 1.0,
                colour: *colour,
                share: sum.min(1.0),
                item: None,
            });
        }
        column.1.clear();
    };
    let first = lane.pieces.partition_point(|piece| piece.end <= from);
    for piece in lane.pieces[first..]
        .iter()
        .take_while(|piece| piece.start < to)
    {
        let x = millions(piece.start.max(from) - from) * scale;
        let end = millions(piece.end.min(to) - from) * scale;
        let colour = colours.of_piece(trace, piece);
        if end - x >= 1.0 {
            flush(&mut column, &mut found);
            found.push(Rectangle {
                x,
                width: end - x,
                colour,
                share: 1.0,
                item: Some((piece.part, piece.item)),
            });
            continue;
        }
        if x.floor() > column.0 {
            flush(&mut column, &mut found);
            column.0 = x.floor();
        }
        match column.1.iter_mut().find(|(known, _)| *known == colour) {
            Some((_, width)) => *width += end - x,
            None => column.1.push((colour, end - x)),
        }
    }
    flush(&mut column, &mut found);
    found
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
