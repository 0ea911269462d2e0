//! The store itself: `lapwing db info` and `lapwing db annotations`.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use lapwing_model::Object;
use lapwing_model::text::{counted, grouped};
use lapwing_record::{Change, Remark, StoreInfo, TriageState};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::named_value::{NamedValue, named_values};
use crate::writing::Align::{Left, Right, Whole};
use crate::writing::{AnswerKind, Note, ReadyAnswer, Table, TextAnswer, WriteError};

/// The kind of the contents of a store.
pub const INFO: AnswerKind = AnswerKind::of::<StoreFields<'_>>("db-info");
/// The kind of a list of annotations.
pub const ANNOTATIONS: AnswerKind =
    AnswerKind::of::<AnnotationList<'_>>("db-annotations").listing("annotations");

/// The size and contents of a store, for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct StoreFields<'a> {
    path: &'a Path,
    /// Version of its tables.
    version: u32,
    /// The newest version that this program knows.
    newest_version: u32,
    bytes: u64,
    first_session: Option<String>,
    last_session: Option<String>,
    /// Number of sessions, runs, benchmarks and so on.
    counts: BTreeMap<&'a str, u64>,
}

/// Returns the size and contents of a store.
///
/// # Errors
///
/// Returns the error of a value that JSON has no form for.
pub fn store_info(path: &Path, info: &StoreInfo) -> Result<ReadyAnswer, WriteError> {
    let time = |time: Option<Timestamp>| {
        let text = time.map(|time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string());
        text.unwrap_or_default()
    };
    let mut table = Table::new(&[("what", Left), ("value", Right)]);
    let mut row = |name: &str, value: String| table.row(vec![name.to_owned(), value]);
    row("schema version", info.version.to_string());
    row("size", size_text(info.bytes));
    for (name, count) in &info.counts {
        row(name, grouped(*count));
    }
    row("first session", time(info.first));
    row("last session", time(info.last));
    let fields = StoreFields {
        path,
        version: info.version,
        newest_version: info.newest_version,
        bytes: info.bytes,
        first_session: info.first.map(|it| it.to_string()),
        last_session: info.last.map(|it| it.to_string()),
        counts: info.counts.iter().copied().collect(),
    };
    let mut rows = vec![
        NamedValue::new("version", info.version),
        NamedValue::new("bytes", info.bytes),
    ];
    rows.extend(named_values(&info.counts));
    rows.push(NamedValue::new(
        "first_session",
        fields.first_session.clone(),
    ));
    rows.push(NamedValue::new("last_session", fields.last_session.clone()));
    let text = TextAnswer {
        headline: path.display().to_string(),
        table,
        ..TextAnswer::default()
    };
    ReadyAnswer::new(&INFO, text, &fields, &rows)
}

/// Returns a size with three significant digits and its unit.
pub fn size_text(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1000 {
        return format!("{bytes} B");
    }
    // Integer arithmetic is enough for one decimal digit.
    let (mut tenths, mut unit) = (bytes / 100, 0);
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1000;
        unit += 1;
    }
    if tenths >= 1000 {
        format!("{} {}", tenths / 10, UNITS[unit])
    } else {
        format!("{}.{} {}", tenths / 10, tenths % 10, UNITS[unit])
    }
}

/// The annotations of a store for programs.
#[derive(Debug, Serialize, JsonSchema)]
struct AnnotationList<'a> {
    count: usize,
    annotations: Vec<AnnotationFields<'a>>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct AnnotationFields<'a> {
    #[serde(flatten)]
    row: AnnotationRow<'a>,
    /// The target of the annotation, as recorded.
    target: &'a Object,
}

#[derive(Debug, Default, Clone, Serialize, JsonSchema)]
struct AnnotationRow<'a> {
    id: String,
    at: String,
    by: &'a str,
    action: &'a str,
    /// What it is about, in words.
    what: String,
    reason: Option<&'a str>,
    active: bool,
    /// The annotation that undoes it.
    undone_by: Option<String>,
    /// A later annotation that replaces it.
    superseded_by: Option<String>,
}

impl<'a> AnnotationRow<'a> {
    fn new(remark: &'a Remark) -> Self {
        let annotation = &remark.annotation;
        Self {
            id: annotation.id.to_string(),
            at: annotation.at.to_string(),
            by: &annotation.by,
            action: &annotation.action,
            what: target_text(remark),
            reason: annotation.reason.as_deref(),
            active: remark.undone_by.is_none() && remark.superseded_by.is_none(),
            undone_by: remark.undone_by.map(|it| it.to_string()),
            superseded_by: remark.superseded_by.map(|it| it.to_string()),
        }
    }
}

/// Returns the annotations of a store.
///
/// # Errors
///
/// Returns the error of a row that JSON has no form for.
pub fn annotations(remarks: &[Remark]) -> Result<ReadyAnswer, WriteError> {
    let mut table = Table::new(&[
        ("at", Whole),
        ("by", Left),
        ("action", Left),
        ("what", Left),
        ("reason", Left),
        ("active", Left),
        ("id", Left),
    ]);
    let rows: Vec<AnnotationRow<'_>> = remarks.iter().map(AnnotationRow::new).collect();
    for (remark, row) in remarks.iter().zip(&rows) {
        let active = match (remark.undone_by, remark.superseded_by) {
            (None, None) => "yes",
            (Some(_), _) => "no",
            (None, Some(_)) => "no, superseded",
        };
        table.row(vec![
            remark
                .annotation
                .at
                .strftime("%Y-%m-%d %H:%M:%S")
                .to_string(),
            row.by.to_owned(),
            row.action.to_owned(),
            row.what.clone(),
            row.reason.unwrap_or_default().to_owned(),
            active.to_owned(),
            row.id.clone(),
        ]);
    }
    let mut text = TextAnswer {
        headline: counted(remarks.len(), "annotation"),
        table,
        ..TextAnswer::default()
    };
    if remarks.is_empty() {
        "no annotations".clone_into(&mut text.headline);
        text.notes = vec![Note::new(
            "empty",
            "`lapwing db rename` and `lapwing db retire` add them",
        )];
    }
    let fields = rows
        .iter()
        .zip(remarks)
        .map(|(row, remark)| AnnotationFields {
            row: row.clone(),
            target: &remark.annotation.target,
        });
    let list = AnnotationList {
        count: remarks.len(),
        annotations: fields.collect(),
    };
    ReadyAnswer::new(&ANNOTATIONS, text, &list, &rows)
}

/// Returns the target of an annotation, in words.
fn target_text(remark: &Remark) -> String {
    let of_suite = |suite: &Option<String>| {
        let suite = suite.as_ref();
        suite.map_or_else(String::new, |suite| format!(" ({suite})"))
    };
    let of_metric = |metric: &Option<String>| {
        let metric = metric.as_ref();
        metric.map_or_else(String::new, |metric| format!("{metric} of "))
    };
    let at_version = |version: &Option<String>| {
        let version = version.as_ref();
        version.map_or_else(String::new, |version| format!(", version {version}"))
    };
    match &remark.change {
        Some(Change::Rename {
            suite,
            benchmark,
            new,
        }) => format!("{benchmark} → {new}{}", of_suite(suite)),
        Some(Change::RenameMetric {
            suite,
            benchmark,
            metric,
            exactly: _,
            new,
        }) => format!("{metric} → {new} of {benchmark}{}", of_suite(suite)),
        Some(Change::Retire(retirement)) => format!(
            "{}{}{}{}, before {}",
            of_metric(&retirement.metric),
            retirement.benchmark,
            of_suite(&retirement.suite),
            at_version(&retirement.version),
            retirement.before.strftime("%Y-%m-%d %H:%M:%S")
        ),
        Some(Change::Triage(triage)) => format!(
            "{}: {}{}{}{}",
            triage.state.name(),
            of_metric(&triage.metric),
            triage.benchmark,
            of_suite(&triage.suite),
            match (triage.state, &triage.version, triage.before) {
                (TriageState::Accepted, Some(version), _) => format!(", until {version}"),
                (_, version, None) => at_version(version),
                (_, _, Some(before)) => format!(", before {before}"),
            }
        ),
        Some(Change::Restore { annotation }) => annotation.to_string(),
        Some(Change::Withdraw { session }) => format!("session {session}"),
        None => Value::Object(remark.annotation.target.clone()).to_string(),
    }
}
