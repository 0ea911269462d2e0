//! Google Benchmark's JSON: one document, one row for each repetition and each aggregate.

mod rows;
mod wire;

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::google_benchmark::rows::{describe, summarise, take_iteration};
use crate::google_benchmark::wire::{
    GoogleDocument, GoogleGroup, GoogleKey, GoogleRow, GoogleTitle, groups, params_in, statistic_in,
};
use crate::shared::detect::{has_key, has_own_key, is_object};
use crate::shared::intake::{InstanceDraft, Intake, RunDraft, SessionDraft};
use crate::shared::keys::{put, put_object, take_text};
use crate::shared::notes::{FOLLOWS, Notes};
use crate::shared::reading::document::Document;
use crate::shared::reading::moment::moment;
use crate::shared::reading::spot::Spot;
use crate::shared::sink::Sink;
use crate::shared::units::Unit;
use crate::{BadLine, Format, ImportError, Source};
use lapwing_model::{Object, Version};

pub(super) const FORMAT: Format = Format::new(
    "google-benchmark",
    "Google Benchmark JSON",
    looks_like,
    read,
)
.with_keys(&["benchmarks", "real_time", "time_unit", "iterations"]);

fn looks_like(head: &[u8]) -> Option<&'static str> {
    (is_object(head)
        && has_own_key(head, "benchmarks")
        && (has_key(head, "real_time") || has_key(head, "per_family_instance_index")))
    .then_some("it has `benchmarks` with `real_time`")
}

fn read(source: &Source, sink: &mut Sink<'_, '_>) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let GoogleDocument {
        mut context,
        benchmarks,
    } = document.parse()?;
    let session = new_session(&document, &mut context)?;
    let host = take_text(&mut context, "host_name");
    let digest = document.sha256();
    let mut intake = Intake::begin(source, digest, sink, session)?;
    let (titles, bad) = read_titles(&document, &benchmarks);
    let groups = groups(&titles);
    let draft = new_run(&document, &benchmarks, &groups, context, intake.notes());
    let run = intake.run(draft)?;
    for bad in bad {
        intake.bad(bad);
    }
    for (key, group) in groups {
        if group.iterations.is_empty() && group.aggregates.is_empty() {
            continue;
        }
        let spot = first_spot_of(&document, &benchmarks, &group);
        let draft = read_group(&document, &benchmarks, key, &group, intake.notes());
        let Some(mut draft) = intake.good(draft) else {
            continue;
        };
        if draft.iterations.count == 0 && draft.summaries.is_empty() {
            let name = &draft.benchmark.id;
            intake
                .notes()
                .left(name, "their aggregates have no figures");
        } else {
            draft.host.clone_from(&host);
            intake.instance(spot, run, draft)?;
        }
    }
    intake.finish()
}

fn new_session(document: &Document, context: &mut Object) -> Result<SessionDraft, ImportError> {
    let mut attributes = Object::new();
    let all: BTreeMap<String, &RawValue> = document.parse()?;
    for (key, raw) in all {
        if key != "context"
            && key != "benchmarks"
            && let Ok(value) = document.element(raw)
        {
            attributes.insert(key, value);
        }
    }
    for key in ["executable", "json_schema_version"] {
        put(&mut attributes, key, context.remove(key));
    }
    let tool = match take_text(context, "library_version") {
        Some(version) => format!("Google Benchmark {version}"),
        None => "Google Benchmark".to_owned(),
    };
    let date = context.get("date").and_then(Value::as_str).and_then(moment);
    if date.is_some() {
        context.remove("date");
    }
    Ok(SessionDraft {
        started: date,
        tool,
        attributes,
        ..SessionDraft::default()
    })
}

/// Names that people give by `--benchmark_context=name=value` to the commit and the branch.
const COMMIT: [&str; 4] = ["commit", "git_commit", "git_sha", "git_hash"];
const BRANCH: [&str; 2] = ["branch", "git_branch"];

fn new_run(
    document: &Document,
    rows: &[&RawValue],
    groups: &[(GoogleKey, GoogleGroup)],
    mut context: Object,
    notes: &mut Notes,
) -> RunDraft {
    let mut version = Version::default();
    if let Some(key) = COMMIT.into_iter().find(|key| is_commit(context.get(*key))) {
        version.commit = take_text(&mut context, key);
    }
    if let Some(key) = BRANCH.into_iter().find(|key| context.contains_key(*key)) {
        version.branch = take_text(&mut context, key);
    }
    let mut attributes = Object::new();
    let mut fits = Object::new();
    for (key, group) in groups {
        for &place in &group.complexity {
            let mut row: Object = document.element(rows[place]).unwrap_or_default();
            row.retain(|key, _| COMPLEXITY.contains(&key.as_str()));
            let fit = fits.entry(key.run_name.clone());
            if let Value::Object(fit) = fit.or_insert_with(|| json!({})) {
                fit.append(&mut row);
            }
        }
    }
    if !fits.is_empty() {
        notes.kept("BigO and RMS", "attribute `complexity` of the run");
    }
    put_object(&mut attributes, "complexity", fits);
    RunDraft {
        version,
        environment: context,
        attributes,
        ..RunDraft::default()
    }
}

/// The keys of a row of complexity.
const COMPLEXITY: [&str; 5] = [
    "cpu_coefficient",
    "real_coefficient",
    "big_o",
    "time_unit",
    "rms",
];

fn is_commit(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_some_and(|text| {
        (7..=64).contains(&text.len()) && text.bytes().all(|it| it.is_ascii_hexdigit())
    })
}

/// Returns what each row is, and the rows that say nothing of it.
fn read_titles(
    document: &Document,
    rows: &[&RawValue],
) -> (Vec<Option<GoogleTitle>>, Vec<BadLine>) {
    let mut bad = Vec::new();
    let titles = rows
        .iter()
        .map(|raw| {
            let title = document.element::<GoogleTitle>(raw);
            let title = title.map_err(|reason| bad.push(reason)).ok()?;
            if !title.is_named() {
                bad.push(document.wrong(raw, "`name` is missing"));
            }
            Some(title).filter(GoogleTitle::is_named)
        })
        .collect();
    (titles, bad)
}

fn first_spot_of(document: &Document, rows: &[&RawValue], group: &GoogleGroup) -> Spot {
    let place = group.iterations.iter().chain(&group.aggregates).min();
    place.map_or(Spot::from(1), |&place| document.spot_of(rows[place].get()))
}

fn read_group(
    document: &Document,
    rows: &[&RawValue],
    key: GoogleKey,
    group: &GoogleGroup,
    notes: &mut Notes,
) -> Result<InstanceDraft, BadLine> {
    let params = params_in(&key.run_name);
    let mut draft = InstanceDraft::of(key.run_name);
    draft.benchmark.params = params;
    if group.iterations.is_empty() {
        let mut aggregates = Vec::with_capacity(group.aggregates.len());
        for &place in &group.aggregates {
            let mut row = read_row(document, rows[place], &draft.benchmark.id)?;
            describe(&mut row, &mut draft, notes);
            let name = aggregate_name(document, rows[place], &row);
            aggregates.push((name, row));
        }
        summarise(aggregates, &mut draft, notes);
        return Ok(draft);
    }
    if !group.aggregates.is_empty() {
        notes.left("aggregates beside repetitions", FOLLOWS);
    }
    draft.iterations.count = group.iterations.len();
    for (index, &place) in group.iterations.iter().enumerate() {
        let mut row = read_row(document, rows[place], &draft.benchmark.id)?;
        describe(&mut row, &mut draft, notes);
        take_iteration(index, row, &mut draft, notes);
    }
    Ok(draft)
}

fn read_row(document: &Document, raw: &RawValue, benchmark: &str) -> Result<GoogleRow, BadLine> {
    let row: GoogleRow = document.element(raw)?;
    for (key, value) in [("real_time", row.real_time), ("cpu_time", row.cpu_time)] {
        if let Some(value) = value
            && value < 0.0
        {
            let reason = format!("`{key}` of `{benchmark}` is negative: {value}");
            return Err(document.wrong(raw, reason));
        }
    }
    if let Some(unit) = &row.time_unit
        && Unit::named(unit).metric.unit != "s"
    {
        return Err(document.wrong(raw, format!("`time_unit` is not a unit of time: {unit:?}")));
    }
    Ok(row)
}

/// Returns the statistic that a row gives; older versions have it in the name only.
fn aggregate_name(document: &Document, raw: &RawValue, row: &GoogleRow) -> String {
    if let Some(name) = &row.aggregate_name {
        return name.clone();
    }
    let object: Object = document.element(raw).unwrap_or_default();
    let name = object.get("name").and_then(Value::as_str);
    name.and_then(statistic_in)
        .unwrap_or("aggregate")
        .to_owned()
}

#[cfg(test)]
mod tests;
