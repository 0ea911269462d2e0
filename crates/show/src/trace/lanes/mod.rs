//! A timeline as a page of its own, and as a picture.

mod colours;
mod data;
mod picture;

use std::io::{self, Write};

use lapwing_trace::{
    Lane, LaneKind, Resource, TaskEvent, TaskGraph, Trace, TraceFindings, TransferEvent,
    WaitReason, lanes,
};
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

use self::colours::LaneColours;
use self::data::{PageData, packed};
pub use self::picture::lanes_svg;
use super::path_notes;
use crate::document::html_document;
use crate::report::STYLE;

const SCRIPT: &str = include_str!("../../../assets/lanes.js");
const LANES_STYLE: &str = include_str!("../../../assets/lanes.css");

/// Times on the page fit in 31 bits.
const MOST_UNITS: i64 = 1 << 31;

/// A page with all lanes of a trace: the data are in it, and it works offline.
#[derive(Debug, Clone)]
pub struct LanesPage<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// What explains its time.
    pub found: &'t TraceFindings,
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
        let colours = LaneColours::of(trace);
        let (start, end) = range(&lanes);
        let unit = unit(end - start);
        // Whole calls are not the tasks that paths and waits are about.
        let is_tasks = self.trace.calls.is_empty();
        let graph = TaskGraph::of(trace).filter(|_| is_tasks);
        let inputs = graph.map(|graph| graph.inputs).unwrap_or_default();
        let waits = if is_tasks {
            self.found.task_waits(trace)
        } else {
            Vec::new()
        };
        let data = PageData {
            trace,
            lanes: &lanes,
            colours: &colours,
            inputs: &inputs,
            waits: &waits,
            start,
            unit,
        };
        let mut head = self.head(trace, &lanes, &colours, unit);
        head["length"] = ((end - start) / unit).into();
        head["zero"] = ((begin(trace, &lanes) - start) / unit).into();
        let pressures = trace.pressures.iter().flat_map(|pressure| {
            let times = [pressure.start, pressure.end].map(|it| (it - start) / unit);
            let shares = pressure.shares.iter().enumerate();
            shares.map(move |(resource, share)| json!([resource, times[0], times[1], share]))
        });
        head["pressures"] = pressures.collect();
        let head = packed(&serde_json::to_vec(&head)?)?;
        let data = packed(&data.bytes())?;
        let style = html! { style { (PreEscaped(STYLE)) (PreEscaped(LANES_STYLE)) } };
        let body = self.body(&head, &data);
        out.write_all(html_document(self.title, &style, "lanes", &body).as_bytes())
    }

    /// Returns what the page needs to know besides its data.
    fn head(&self, trace: &Trace, lanes: &[Lane], colours: &LaneColours, unit: i64) -> Value {
        let rows = lanes.iter().map(|lane| {
            let name = lane_name(trace, lane);
            json!({"name": name, "kind": lane.kind as u8, "pieces": lane.pieces.len()})
        });
        let mut classes: Vec<_> = colours.classes.iter().map(|(it, at)| (it.0, at)).collect();
        classes.sort_unstable();
        let is_tasks = self.trace.calls.is_empty();
        let paths = [
            ("path", self.found.path.as_ref().map(|it| &it.tasks)),
            (
                "critical_path",
                self.found.ideal.as_ref().map(|it| &it.path),
            ),
        ];
        let notes = path_notes(self.found);
        let paths = paths.into_iter().filter_map(|(code, tasks)| {
            let note = notes.iter().find(|note| note.code == code)?;
            Some(json!({"code": code, "tasks": tasks?, "text": unbroken(&note.text)}))
        });
        json!({
            "unit": unit,
            "lanes": rows.collect::<Vec<_>>(),
            "titles": colours.titles,
            "colours": colours.colours,
            "kinds": colours.kinds,
            "classes": classes,
            "classColours": colours.count,
            "byClass": colours.is_by_class,
            "texts": trace.names.texts(),
            "tasks": trace.tasks.len(),
            "transfers": trace.transfers.len(),
            "calls": !is_tasks,
            "taskEvents": TaskEvent::ALL.map(TaskEvent::name),
            "transferEvents": TransferEvent::ALL.map(TransferEvent::name),
            "modes": ["unknown", "remote", "local", "redundant"],
            "reasons": WaitReason::ALL.map(WaitReason::meaning),
            "resources": Resource::ALL.map(|it| match it {
                Resource::Cpu => "CPU pressure",
                Resource::Io => "disk pressure",
                Resource::Memory => "memory pressure",
            }),
            "paths": paths.filter(|_| is_tasks).collect::<Vec<_>>(),
        })
    }

    fn body(&self, head: &str, data: &str) -> Markup {
        html! {
            header {
                @if let Some(list) = self.list { p.site { a href=(list) { "Traces" } } }
                h1 { (self.title) }
            }
            p.answer { (unbroken(self.summary)) }
            div.tools {
                input #search type="search" placeholder="Find tasks and datasets"
                    aria-label="Find tasks and datasets";
                button #in aria-label="Zoom in" { "+" }
                button #out aria-label="Zoom out" { "−" }
                button #fit { "All" }
                button #class aria-pressed="false" { "Colour by class" }
                span #paths {}
                button #png { "Save PNG" }
                span.hint #found role="status" {}
            }
            div.legend #legend {}
            div #stage {
                div #drawing {
                    canvas #map role="img" aria-label="Tasks that run at once in the whole trace, and the part shown below" {}
                    canvas #canvas tabindex="0" role="img" aria-label=(LABEL) aria-describedby="keys" {}
                }
                aside #panel tabindex="0" aria-label="Details and sums" {
                    section #details aria-live="polite" {}
                    section #sums {}
                }
            }
            p.hint #keys {
                "Drag to move, wheel or pinch to zoom, click a piece for details and for what it waited for. \
                 Drag along the axis, or with Shift, to sum up a range. \
                 Keys: arrows, + and −; N and P choose the next and the previous task of a lane, Escape none."
            }
            noscript {
                p.attention {
                    "The timeline is drawn by a script; "
                    code { "lapwing trace export -o lanes.svg" } " draws a picture."
                }
            }
            script #head type="application/octet-stream" { (head) }
            script #data type="application/octet-stream" { (data) }
            script { (PreEscaped(SCRIPT)) }
        }
    }
}

/// The description of the timeline for readers that do not see it.
const LABEL: &str =
    "Timeline: a lane for each worker; the table of lapwing trace tasks has the same durations";

/// Returns a sentence without line breaks between numbers and their units.
fn unbroken(text: &str) -> String {
    let mut unbroken = String::new();
    let mut letters = text.chars().peekable();
    let mut is_digit = false;
    while let Some(letter) = letters.next() {
        let is_unit = matches!(letters.peek(), Some('%' | 's' | 'm' | 'n' | 'µ' | 'h'));
        unbroken.push(if letter == ' ' && is_digit && is_unit {
            '\u{a0}'
        } else {
            letter
        });
        is_digit = letter.is_ascii_digit();
    }
    unbroken
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

fn range(lanes: &[Lane]) -> (i64, i64) {
    let pieces = || lanes.iter().flat_map(|lane| &lane.pieces);
    let start = pieces().map(|piece| piece.start).min().unwrap_or_default();
    let end = pieces().map(|piece| piece.end).max().unwrap_or(start);
    (start, end)
}

/// Returns the moment that times on the axis, and ranges, count from: the first event of a task.
fn begin(trace: &Trace, lanes: &[Lane]) -> i64 {
    trace.range().map_or(range(lanes).0, |(begin, _)| begin)
}

/// Returns the nanoseconds of a unit on the page: a power of ten.
fn unit(length: i64) -> i64 {
    let mut unit = 1;
    while length / unit >= MOST_UNITS {
        unit *= 10;
    }
    unit
}
