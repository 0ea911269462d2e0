//! A timeline as a page of its own, and as a picture.

mod colours;
mod data;
mod picture;
mod runs;

use std::collections::BTreeMap;
use std::io::{self, Write};

use lapwing_trace::{
    Lane, LaneKind, MatchedRuns, Resource, TaskEvent, Trace, TraceFindings, TransferEvent,
    WaitReason,
};
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

use self::colours::LaneColours;
use self::data::{PageData, packed};
pub use self::picture::lanes_svg;
use self::runs::DrawnRuns;
use super::path_notes;
use crate::document::{html_document, theme_script};
use crate::report::{Headline, News, STYLE};

/// The script that draws the lanes.
pub(crate) const SCRIPT: &str = concat!(
    "\"use strict\";\n(async () => {\n",
    include_str!("../../../assets/lanes/data.js"),
    include_str!("../../../assets/lanes/drawing.js"),
    include_str!("../../../assets/lanes/interaction.js"),
    "})();\n",
);
/// The style of the lanes, besides that of all pages.
pub(crate) const LANES_STYLE: &str = include_str!("../../../assets/lanes.css");

/// Times on the page fit in 31 bits.
const MOST_UNITS: i64 = 1 << 31;

/// A page with all lanes of a trace: the data are in it, and it works offline.
#[derive(Debug, Clone)]
pub struct LanesPage<'t> {
    /// The trace.
    pub trace: &'t Trace,
    /// The causes of its time.
    pub found: &'t TraceFindings,
    /// What it is a trace of.
    pub title: &'t str,
    /// The answer: its first finding.
    pub answer: &'t str,
    /// Further sentences; the first stands below the answer.
    pub facts: &'t [String],
    /// Another run of the same tasks, which is drawn below.
    pub other: Option<OtherRun<'t>>,
}

/// Another run on the page of a run.
#[derive(Debug, Clone, Copy)]
pub struct OtherRun<'t> {
    /// Its trace.
    pub trace: &'t Trace,
    /// The causes of its time.
    pub found: &'t TraceFindings,
    /// The names of both runs.
    pub names: [&'t str; 2],
    /// Their tasks.
    pub matched: &'t MatchedRuns,
    /// A sentence about each run.
    pub summaries: [&'t str; 2],
}

impl LanesPage<'_> {
    /// Writes the page.
    ///
    /// # Errors
    /// If the page cannot be written.
    pub fn write(&self, mut out: impl Write) -> io::Result<()> {
        let head =
            html! { style { (PreEscaped(STYLE)) (PreEscaped(LANES_STYLE)) } (theme_script()) };
        let headline = Headline {
            about: Some(html! { (self.title) }),
            facts: self
                .facts
                .first()
                .map(|it| html! { (unbroken(it)) "." })
                .into_iter()
                .collect(),
            ..Headline::new(News::Nothing, html! { (unbroken(self.answer)) })
        };
        let body = html! {
            main { (headline.part()) (self.stage()?) }
            script { (PreEscaped(SCRIPT)) }
        };
        out.write_all(html_document(self.title, &head, "lanes", &body).as_bytes())
    }

    /// Returns the part of a page with the lanes and their data, which [`SCRIPT`] draws.
    ///
    /// # Errors
    /// If the data cannot be packed.
    pub(crate) fn stage(&self) -> io::Result<Markup> {
        let mut drawn = DrawnRuns::of(self.trace, self.found);
        if let Some(other) = self.other {
            drawn.add(DrawnRuns::of(other.trace, other.found));
        }
        let trace = &*drawn.trace;
        let lanes = &drawn.lanes;
        let colours = LaneColours::of(trace);
        let (start, end) = range(lanes);
        let unit = unit(end - start);
        let data = PageData {
            trace,
            lanes,
            colours: &colours,
            inputs: &drawn.inputs,
            waits: &drawn.waits,
            start,
            unit,
        };
        let zero = begin(trace, lanes) - start;
        let mut head = self.head(&drawn, &colours, unit);
        head["length"] = ((end - start) / unit).into();
        head["zero"] = (zero / unit).into();
        if let Some(other) = self.other {
            head["runs"] = self.runs(&other, drawn.first.1);
            let first = other.matched.first;
            head["divergence"] = first.map(|it| (zero + it.at) / unit).into();
        }
        // Several workers of a host know the same of it.
        let mut of_host = BTreeMap::new();
        let pressures = trace.pressures.iter();
        let pressures =
            pressures.filter(|it| *of_host.entry(it.host).or_insert(it.worker) == it.worker);
        let pressures = pressures.flat_map(|pressure| {
            let times = [pressure.start, pressure.end].map(|it| (it - start) / unit);
            let shares = pressure.shares.iter().enumerate();
            shares.map(move |(resource, share)| json!([resource, times[0], times[1], share]))
        });
        head["pressures"] = pressures.collect();
        let head = packed(&serde_json::to_vec(&head)?)?;
        let data = packed(&data.bytes())?;
        Ok(self.body(&head, &data))
    }

    /// Returns what the page needs to know besides its data.
    fn head(&self, drawn: &DrawnRuns<'_>, colours: &LaneColours, unit: i64) -> Value {
        let trace = &*drawn.trace;
        let mut rows = Vec::new();
        for (at, lane) in drawn.lanes.iter().enumerate() {
            let run = usize::from(at >= drawn.first.0);
            if let Some(other) = self.other
                && (at == 0 || at == drawn.first.0)
            {
                rows.push(
                    json!({"name": other.names[run], "kind": HEADING, "pieces": 0, "run": run}),
                );
            }
            let name = lane_name(trace, lane);
            rows.push(json!({"name": name, "kind": lane.kind as u8, "pieces": lane.pieces.len(), "run": run}));
        }
        let mut classes: Vec<_> = colours.classes.iter().map(|(it, at)| (it.0, at)).collect();
        classes.sort_unstable();
        let is_tasks = self.trace.calls.is_empty();
        let paths = ["path", "critical_path"].into_iter().filter_map(|code| {
            let (tasks, text) = path(self.found, code)?;
            let mut tasks = tasks.clone();
            let mut texts = vec![text];
            if let Some(other) = self.other
                && let Some((of_other, text)) = path(other.found, code)
            {
                tasks.extend(of_other.iter().map(|task| task + drawn.first.1));
                texts = vec![
                    format!("{}: {}", other.names[0], texts[0]),
                    format!("{}: {text}", other.names[1]),
                ];
            }
            Some(json!({"code": code, "tasks": tasks, "text": unbroken(&texts.join(". "))}))
        });
        json!({
            "unit": unit,
            "lanes": rows,
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

    /// Returns what the page needs to know of two runs: the other of each task in the other run, or -1.
    fn runs(&self, other: &OtherRun<'_>, tasks: usize) -> Value {
        // Calls are drawn as a whole, and matched by their parts.
        let is_tasks = self.trace.calls.is_empty() && other.trace.calls.is_empty();
        let mut like = vec![-1; tasks + other.trace.tasks.len()];
        for [one, two] in other.matched.pairs.iter().filter(|_| is_tasks) {
            like[*one] = (tasks + two) as i64;
            like[tasks + two] = *one as i64;
        }
        let first = other.matched.first.filter(|_| is_tasks);
        let first = first.map_or_else(Vec::new, |first| {
            let offsets = [0, tasks].into_iter().zip(first.tasks);
            let marked = offsets.filter_map(|(offset, task)| Some(offset + task?));
            marked.collect::<Vec<usize>>()
        });
        json!({"names": other.names, "like": like, "first": first})
    }

    fn body(&self, head: &str, data: &str) -> Markup {
        html! {
            @if let Some(other) = self.other {
                dl.runs {
                    @for (name, summary) in other.names.iter().zip(other.summaries) {
                        div { dt { (name) } dd { (unbroken(summary)) } }
                    }
                }
            }
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
            @if self.facts.len() > 1 {
                h2 { "Also found" }
                ul { @for fact in &self.facts[1..] { li { (unbroken(fact)) } } }
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
        }
    }
}

/// The kind of the line above the lanes of a run, beside those of [`LaneKind`].
const HEADING: u8 = 3;

/// Returns the tasks of a path of the run, and the note on it.
fn path<'f>(found: &'f TraceFindings, code: &str) -> Option<(&'f Vec<usize>, String)> {
    let tasks = match code {
        "path" => &found.path.as_ref()?.tasks,
        _ => &found.ideal.as_ref()?.path,
    };
    let mut notes = path_notes(found).into_iter();
    Some((tasks, notes.find(|note| note.code == code)?.text))
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
