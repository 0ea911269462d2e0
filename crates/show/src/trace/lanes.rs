//! A timeline as a page of its own, and as a picture.

use std::fmt::Write as _;
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::ZlibEncoder;
use lapwing_trace::{
    LANE_ORDER, Lane, LaneKind, LanePart, MISSING, Name, TaskDuration, TaskEvent, Trace,
    TransferEvent, TransferMode, lanes,
};
use maud::{PreEscaped, html};
use serde_json::json;

use crate::document::html_document;
use crate::report::STYLE;

const SCRIPT: &str = include_str!("../../assets/lanes.js");
const LANES_STYLE: &str = include_str!("../../assets/lanes.css");

/// Times on the page fit in 31 bits.
const MOST_UNITS: i64 = 1 << 31;
/// The kinds of pieces other than a controller's phases: title and colour, which light and dark pages share.
const KINDS: [(&str, &str); 9] = [
    ("computing", "#2a9d5c"),
    ("publishing results", "#3f7fd9"),
    ("loading inputs", "#8a63d2"),
    ("in the queue of the worker", "#e07a1f"),
    ("on the way to the worker", "#8c6a4f"),
    ("until the controller notices", "#9aa3ad"),
    ("transfer waits", "#d9b54a"),
    ("copying", "#c2417c"),
    ("copied, until the controller notices", "#b9a1b0"),
];
/// The kind of a process that waits for a core, which has the colour of a task in a queue.
const WAITING_FOR_CORE: usize = 3;
/// The kind of a process that is blocked, which has the colour of a task that nothing is done for.
const BLOCKED: usize = 5;
/// The colours of a controller's phases but `wait`.
const PHASES: [&str; 5] = ["#1f8a9c", "#5566cc", "#b35fb0", "#6b9a2f", "#a8603c"];
const WAIT: &str = "#8f99a366";

/// A page with all lanes of a trace: the data are in it, and it works offline.
#[derive(Debug, Clone)]
pub struct LanesPage<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// What it is a trace of.
    pub title: &'t str,
    /// A sentence about it.
    pub summary: &'t str,
    /// The page that lists it with others, if there is one.
    pub list: Option<&'t str>,
}

impl LanesPage<'_> {
    /// Writes the page.
    ///
    /// # Errors
    /// If the page cannot be written.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let trace = &*self.trace.with_whole_calls();
        let lanes = lanes(trace);
        let kinds = Kinds::of(trace);
        let (start, end) = range(&lanes);
        let unit = unit(end - start);
        let data = PageData {
            trace,
            lanes: &lanes,
            kinds: &kinds,
            start,
            unit,
        };
        let rows: Vec<_> = (lanes.iter())
            .map(|lane| {
                let name = lane_name(trace, lane);
                json!({"name": name, "kind": lane.kind as u8, "pieces": lane.pieces.len()})
            })
            .collect();
        let head = json!({
            "unit": unit,
            "length": (end - start) / unit,
            "lanes": rows,
            "kinds": kinds.titles,
            "colours": kinds.colours,
            "texts": trace.names.texts(),
            "tasks": trace.tasks.len(),
            "transfers": trace.transfers.len(),
            "taskEvents": TaskEvent::ALL.map(TaskEvent::name),
            "transferEvents": TransferEvent::ALL.map(TransferEvent::name),
            "modes": ["unknown", "remote", "local", "redundant"],
        });
        let head = packed(&serde_json::to_vec(&head)?)?;
        let data = packed(&data.bytes())?;
        let style = html! { style { (PreEscaped(STYLE)) (PreEscaped(LANES_STYLE)) } };
        let body = html! {
            header {
                @if let Some(list) = self.list { p.site { a href=(list) { "Traces" } } }
                h1 { (self.title) }
            }
            p.answer { (self.summary) }
            div.tools {
                input #search type="search" placeholder="Find tasks and datasets"
                    aria-label="Find tasks and datasets";
                button #in aria-label="Zoom in" { "+" }
                button #out aria-label="Zoom out" { "−" }
                button #fit { "All" }
                button #png { "Save PNG" }
                span.hint #found role="status" {}
            }
            div.legend #legend {}
            div #stage {
                canvas #canvas tabindex="0" role="img" aria-label=(LABEL) {}
            }
            p.hint {
                "Drag to move, wheel or pinch to zoom, click a piece for details. \
                 Arrow keys, + and − work too."
            }
            section #details aria-live="polite" {}
            noscript {
                p.attention {
                    "The timeline is drawn by a script; "
                    code { "lapwing trace export -o lanes.svg" } " draws a picture."
                }
            }
            script #head type="application/octet-stream" { (head) }
            script #data type="application/octet-stream" { (data) }
            script { (PreEscaped(SCRIPT)) }
        };
        out.write_all(html_document(self.title, &style, "lanes", &body).as_bytes())
    }
}

/// The description of the timeline for readers that do not see it.
const LABEL: &str =
    "Timeline: a lane for each worker; the table of lapwing trace tasks has the same durations";

/// Returns the lanes between two moments, in ns since the beginning, as SVG.
pub fn lanes_svg(trace: &Trace, from: i64, to: i64, width: u32) -> String {
    const LEFT: f64 = 130.0;
    const ROW: f64 = 18.0;
    let trace = &*trace.with_whole_calls();
    let lanes = lanes(trace);
    let kinds = Kinds::of(trace);
    let (start, _) = range(&lanes);
    let (from, to) = (start + from, start + to);
    let height = ROW * lapwing_stats::as_f64(lanes.len()) + 60.0;
    let scale = (f64::from(width) - LEFT) / millions(to - from);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>"
    );
    let mut used = vec![false; kinds.titles.len()];
    for (row, lane) in lanes.iter().enumerate() {
        let top = ROW * lapwing_stats::as_f64(row);
        let name = escaped(&lane_name(trace, lane));
        let _ = write!(svg, "<text x=\"4\" y=\"{}\">{name}</text>", top + 13.0);
        for piece in columns(lane, from, to, scale) {
            let kind = kinds.of_part(piece.part);
            used[kind] = true;
            let _ = write!(
                svg,
                "<rect x=\"{:.2}\" y=\"{}\" width=\"{:.2}\" height=\"{}\" fill=\"{}\"{}/>",
                LEFT + piece.x,
                top + 2.0,
                piece.width,
                ROW - 4.0,
                kinds.colours[kind],
                if piece.share < 0.995 {
                    format!(" opacity=\"{:.2}\"", piece.share)
                } else {
                    String::new()
                }
            );
        }
    }
    let bottom = height - 40.0;
    let _ = write!(
        svg,
        "<text x=\"{LEFT}\" y=\"{0}\">{1}</text><text x=\"{2}\" y=\"{0}\" text-anchor=\"end\">{3}</text>",
        bottom + 12.0,
        seconds(from - start),
        width,
        seconds(to - start)
    );
    let mut x = LEFT;
    for (kind, title) in kinds
        .titles
        .iter()
        .enumerate()
        .filter(|(kind, _)| used[*kind])
    {
        let _ = write!(
            svg,
            "<rect x=\"{x}\" y=\"{0}\" width=\"10\" height=\"10\" fill=\"{1}\"/><text x=\"{2}\" y=\"{3}\">{4}</text>",
            bottom + 20.0,
            kinds.colours[kind],
            x + 14.0,
            bottom + 29.0,
            escaped(title)
        );
        x += 26.0 + 6.0 * lapwing_stats::as_f64(title.chars().count());
    }
    svg.push_str("</svg>\n");
    svg
}

/// Returns the name in front of a lane; a level of calls has that of the first.
fn lane_name(trace: &Trace, lane: &Lane) -> String {
    let name = trace.text(lane.name);
    match lane.kind {
        LaneKind::Controller => "controller".to_owned(),
        LaneKind::Worker if lane.level > 0 => String::new(),
        LaneKind::Worker => name.to_owned(),
        LaneKind::Transfers => format!("→ {name}"),
    }
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
    part: LanePart,
    /// The share of its width that the part takes.
    share: f64,
}

/// Returns the rectangles of a lane: a piece each, but where pieces are narrower than a pixel, the part that takes
/// most of it.
fn columns(lane: &Lane, from: i64, to: i64, scale: f64) -> Vec<Rectangle> {
    let mut found: Vec<Rectangle> = Vec::new();
    let mut column: (f64, Vec<(LanePart, f64)>) = (-1.0, Vec::new());
    let flush = |column: &mut (f64, Vec<(LanePart, f64)>), found: &mut Vec<Rectangle>| {
        let sum: f64 = column.1.iter().map(|(_, width)| width).sum();
        let most = column
            .1
            .iter()
            .max_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((part, _)) = most {
            found.push(Rectangle {
                x: column.0,
                width: 1.0,
                part: *part,
                share: sum.min(1.0),
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
        if end - x >= 1.0 {
            flush(&mut column, &mut found);
            found.push(Rectangle {
                x,
                width: end - x,
                part: piece.part,
                share: 1.0,
            });
            continue;
        }
        if x.floor() > column.0 {
            flush(&mut column, &mut found);
            column.0 = x.floor();
        }
        match column.1.iter_mut().find(|(part, _)| *part == piece.part) {
            Some((_, width)) => *width += end - x,
            None => column.1.push((piece.part, end - x)),
        }
    }
    flush(&mut column, &mut found);
    found
}

/// The kinds of pieces, by their number.
struct Kinds {
    titles: Vec<String>,
    colours: Vec<&'static str>,
    phases: Vec<Name>,
}

impl Kinds {
    fn of(trace: &Trace) -> Self {
        let mut phases: Vec<Name> = trace.phases.iter().map(|phase| phase.name).collect();
        phases.sort_unstable();
        phases.dedup();
        let (mut titles, mut colours): (Vec<String>, Vec<&str>) = KINDS
            .iter()
            .map(|(title, colour)| ((*title).to_owned(), *colour))
            .unzip();
        if trace.is_of_processes() {
            let of_processes = [
                (0, "on a core"),
                (WAITING_FOR_CORE, "waiting for a core"),
                (BLOCKED, "blocked"),
            ];
            for (kind, title) in of_processes {
                title.clone_into(&mut titles[kind]);
            }
        }
        let mut others = PHASES.iter().cycle();
        for name in &phases {
            let text = trace.text(*name);
            titles.push(format!("controller: {text}"));
            colours.push(match text {
                "wait" => WAIT,
                _ => others.next().copied().unwrap_or(WAIT),
            });
        }
        Self {
            titles,
            colours,
            phases,
        }
    }

    fn of_part(&self, part: LanePart) -> usize {
        match part {
            LanePart::Task(TaskDuration::RunDelay) => WAITING_FOR_CORE,
            LanePart::Task(TaskDuration::OffCpu) => BLOCKED,
            LanePart::Task(part) => LANE_ORDER
                .iter()
                .position(|it: &TaskDuration| *it == part)
                .unwrap_or_default(),
            LanePart::Waiting => 6,
            LanePart::Copying => 7,
            LanePart::Noticing => 8,
            LanePart::Phase(name) => {
                KINDS.len() + self.phases.binary_search(&name).unwrap_or_default()
            }
        }
    }
}

/// What the page is drawn from, as whole numbers (LEB128; signed ones zigzag).
struct PageData<'t> {
    trace: &'t Trace,
    lanes: &'t [Lane],
    kinds: &'t Kinds,
    start: i64,
    unit: i64,
}

impl PageData<'_> {
    /// For each lane its pieces: the time since the end of the one before, the length, the kind, the item as a
    /// difference. Then for each task its name, class, worker and events, and for each transfer its dataset, source,
    /// target, mode and events; an event is 0, or 1 and the zigzag difference from the event before.
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        let at = |time: i64| (time - self.start) / self.unit;
        for lane in self.lanes {
            let (mut before, mut item) = (0, 0);
            for piece in &lane.pieces {
                let (start, end) = (at(piece.start), at(piece.end));
                put_signed(&mut bytes, start - before);
                put_signed(&mut bytes, end - start);
                put_signed(&mut bytes, self.kinds.of_part(piece.part) as i64);
                put_signed(&mut bytes, piece.item as i64 - item);
                (before, item) = (end, piece.item as i64);
            }
        }
        let mut before = 0;
        let mut events = |bytes: &mut Vec<u8>, events: &[i64]| {
            for time in events {
                if *time == MISSING {
                    bytes.push(0);
                    continue;
                }
                bytes.push(1);
                put_signed(bytes, at(*time) - before);
                before = at(*time);
            }
        };
        for task in &self.trace.tasks {
            for name in [task.name, task.class, task.worker] {
                put_signed(&mut bytes, i64::from(name.0));
            }
            events(&mut bytes, &task.events);
        }
        for transfer in &self.trace.transfers {
            for name in [transfer.dataset, transfer.source, transfer.target] {
                put_signed(&mut bytes, i64::from(name.0));
            }
            let mode = match transfer.mode {
                TransferMode::Unknown => 0,
                TransferMode::Remote => 1,
                TransferMode::Local => 2,
                TransferMode::Redundant => 3,
            };
            put_signed(&mut bytes, mode);
            events(&mut bytes, &transfer.events);
        }
        bytes
    }
}

fn put_signed(bytes: &mut Vec<u8>, number: i64) {
    let mut number = ((number << 1) ^ (number >> 63)).cast_unsigned();
    while number >= 0x80 {
        bytes.push((number & 0x7f) as u8 | 0x80);
        number >>= 7;
    }
    bytes.push((number & 0x7f) as u8);
}

fn packed(bytes: &[u8]) -> io::Result<String> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

fn range(lanes: &[Lane]) -> (i64, i64) {
    let pieces = || lanes.iter().flat_map(|lane| &lane.pieces);
    let start = pieces().map(|piece| piece.start).min().unwrap_or_default();
    let end = pieces().map(|piece| piece.end).max().unwrap_or(start);
    (start, end)
}

/// Returns the nanoseconds of a unit on the page: a power of ten.
fn unit(length: i64) -> i64 {
    let mut unit = 1;
    while length / unit >= MOST_UNITS {
        unit *= 10;
    }
    unit
}

fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}
