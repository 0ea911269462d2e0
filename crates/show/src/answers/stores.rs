//! The store itself: `lapwing db info` and `lapwing db annotations`.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::Timestamp;
use lapwing_model::text::{counted, grouped};
use lapwing_record::{Change, Remark, StoreInfo};
use serde_json::{Value, json};

use crate::writing::Align::{Left, Right, Whole};
use crate::writing::{AnswerKind, ReadyAnswer, Table, Untyped};

const DB_INFO: AnswerKind = AnswerKind::of::<Untyped>("db-info");
const DB_ANNOTATIONS: AnswerKind = AnswerKind::of::<Untyped>("db-annotations");

/// Returns the size and contents of a store.
pub fn store_info(path: &Path, info: &StoreInfo) -> ReadyAnswer {
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
    let counts: BTreeMap<&str, u64> = info.counts.iter().copied().collect();
    ReadyAnswer::of_table(
        &DB_INFO,
        path.display().to_string(),
        table,
        json!({
            "path": path,
            "version": info.version,
            "newest_version": info.newest_version,
            "bytes": info.bytes,
            "first_session": info.first,
            "last_session": info.last,
            "counts": counts,
        }),
    )
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

/// Returns the annotations of a store.
pub fn annotations(remarks: &[Remark]) -> ReadyAnswer {
    let mut table = Table::new(&[
        ("at", Whole),
        ("by", Left),
        ("action", Left),
        ("what", Left),
        ("reason", Left),
        ("active", Left),
        ("id", Left),
    ]);
    let mut list: Vec<Value> = Vec::new();
    for remark in remarks {
        let annotation = &remark.annotation;
        list.push(json!({
            "id": annotation.id,
            "at": annotation.at,
            "by": annotation.by,
            "action": annotation.action,
            "target": annotation.target,
            "reason": annotation.reason,
            "undone_by": remark.undone_by,
            "superseded_by": remark.superseded_by,
        }));
        let active = match (remark.undone_by, remark.superseded_by) {
            (None, None) => "yes",
            (Some(_), _) => "no",
            (None, Some(_)) => "no, superseded",
        };
        table.row(vec![
            annotation.at.strftime("%Y-%m-%d %H:%M:%S").to_string(),
            annotation.by.clone(),
            annotation.action.clone(),
            target_text(remark),
            annotation.reason.clone().unwrap_or_default(),
            active.to_owned(),
            annotation.id.to_string(),
        ]);
    }
    ReadyAnswer::of_table(
        &DB_ANNOTATIONS,
        if remarks.is_empty() {
            "no annotations\n`lapwing db rename` and `lapwing db retire` add them".to_owned()
        } else {
            counted(remarks.len(), "annotation")
        },
        table,
        json!({ "annotations": list }),
    )
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
            at_version(&triage.version)
        ),
        Some(Change::Restore { annotation }) => annotation.to_string(),
        None => Value::Object(remark.annotation.target.clone()).to_string(),
    }
}
