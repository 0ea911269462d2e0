//! The colours of a timeline: by class of tasks, or by phase.

use std::cmp::Reverse;
use std::collections::HashMap;

use lapwing_trace::{LANE_ORDER, LanePart, LanePiece, Name, TaskDuration, Trace};

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
/// The colours of the classes that take most time, the longest first; others share the last.
const CLASSES: [&str; 11] = [
    "#2f74b5", "#d9822b", "#2f9e6e", "#7d5fc4", "#b8524a", "#1f8f99", "#a3782c", "#5c7f2b",
    "#a55a9c", "#4f5fb8", "#7b8794",
];
/// Follows the colour of a class while its task loads inputs or publishes results.
const FAINT: &str = "99";

/// The colours of all pieces. By phase, a piece has the colour of its kind: kinds are numbered as above, and then as
/// the phases of the controller. By class, tasks have colours that follow those: of each class while computing, of each
/// while loading or publishing, and one for all waiting.
pub(super) struct LaneColours {
    /// The colours of kinds, then those of classes.
    pub colours: Vec<String>,
    /// What they stand for; empty for what is not in the legend.
    pub titles: Vec<String>,
    /// Number of kinds.
    pub kinds: usize,
    /// The place of each class among those with a colour.
    pub classes: HashMap<Name, usize>,
    /// Number of colours of classes.
    pub count: usize,
    /// True if classes tell more than phases.
    pub is_by_class: bool,
    phases: Vec<Name>,
}

impl LaneColours {
    pub(super) fn of(trace: &Trace) -> Self {
        let mut phases: Vec<Name> = trace.phases.iter().map(|phase| phase.name).collect();
        phases.sort_unstable();
        phases.dedup();
        let (mut titles, mut colours): (Vec<String>, Vec<String>) = KINDS
            .iter()
            .map(|(title, colour)| ((*title).to_owned(), (*colour).to_owned()))
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
            let colour = match text {
                "wait" => WAIT,
                _ => others.next().copied().unwrap_or(WAIT),
            };
            colours.push(colour.to_owned());
        }
        let kinds = titles.len();
        let mut work: HashMap<Name, i64> = HashMap::new();
        for task in &trace.tasks {
            *work.entry(task.class).or_default() += task.work().unwrap_or(0);
        }
        let mut order: Vec<Name> = work.keys().copied().collect();
        order.sort_by_key(|class| (Reverse(work[class]), trace.text(*class)));
        let count = order.len().min(CLASSES.len());
        let last = count.saturating_sub(1);
        let mut named: Vec<String> = (order.iter().take(count))
            .map(|class| trace.text(*class).to_owned())
            .collect();
        if order.len() > CLASSES.len() {
            named[last] = format!("{} other classes", order.len() - last);
        }
        let palette = if order.len() < CLASSES.len() {
            0..count
        } else {
            0..CLASSES.len()
        };
        titles.extend(named);
        titles.extend(vec![String::new(); count]);
        titles.push("waiting".to_owned());
        colours.extend(CLASSES[palette.clone()].iter().map(|it| (*it).to_owned()));
        colours.extend(CLASSES[palette].iter().map(|it| format!("{it}{FAINT}")));
        colours.push("#8f99a355".to_owned());
        let places = order.iter().enumerate();
        Self {
            colours,
            titles,
            kinds,
            classes: places.map(|(at, class)| (*class, at.min(last))).collect(),
            count,
            is_by_class: order.len() > 1
                && !trace.is_of_processes()
                && (2 * order.len() <= trace.tasks.len() || !trace.calls.is_empty()),
            phases,
        }
    }

    /// Returns the kind of a part.
    pub(super) fn kind(&self, part: LanePart) -> usize {
        match part {
            LanePart::Task(TaskDuration::RunDelay) => WAITING_FOR_CORE,
            LanePart::Task(TaskDuration::OffCpu) => BLOCKED,
            LanePart::Task(part) => {
                let place = LANE_ORDER.iter().position(|it| *it == part);
                place.unwrap_or_default()
            }
            LanePart::Waiting => 6,
            LanePart::Copying => 7,
            LanePart::Noticing => 8,
            LanePart::Phase(name) => {
                KINDS.len() + self.phases.binary_search(&name).unwrap_or_default()
            }
        }
    }

    /// Returns the place of the colour of a piece: by class, if classes tell more than phases.
    pub(super) fn of_piece(&self, trace: &Trace, piece: &LanePiece) -> usize {
        let kind = self.kind(piece.part);
        let LanePart::Task(_) = piece.part else {
            return kind;
        };
        if !self.is_by_class {
            return kind;
        }
        let class = self.classes[&trace.tasks[piece.item].class];
        match kind {
            0 => self.kinds + class,
            1 | 2 => self.kinds + self.count + class,
            _ => self.colours.len() - 1,
        }
    }
}
