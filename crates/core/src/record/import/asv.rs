//! asv's results: a file for each commit, environment and machine.

use std::collections::BTreeMap;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::asv_document::{About, Measured, Row, Wire, about, first_start, row};
use super::detect::{has_key, has_own_key};
use super::document::Document;
use super::intake::{InstanceDraft, Intake, RunDraft, SessionDraft, SummaryDraft, hex};
use super::keys::{in_words, put_number, put_object, take_text};
use super::moment::since_epoch;
use super::notes::{FOLLOWS, Notes};
use super::sink::Sink;
use super::units::Unit;
use super::{Format, ImportError, ImportOptions, Source, no_folder};
use crate::model::{Benchmark, Id, InstanceOutcome, Object, Version};
use crate::record::IterationColumns;

pub(super) const FORMAT: Format = Format {
    name: "asv",
    about: "a result directory of airspeed velocity, or files of it",
    looks_like,
    folder: no_folder,
    companions: &["benchmarks.json", "machine.json"],
    read,
};

/// The newest version of the format that is known.
const NEWEST: u64 = 2;

/// More combinations of parameters than any benchmark has that failed as a whole: a few
/// bytes of a damaged file could stand for any number.
const MOST_WITHOUT_RESULT: usize = 4096;

fn looks_like(head: &[u8]) -> Option<&'static str> {
    if !head.trim_ascii_start().starts_with(b"{") || !has_own_key(head, "results") {
        return None;
    }
    if has_key(head, "result_columns") {
        return Some("it has `results` with `result_columns`");
    }
    (has_key(head, "commit_hash") && has_key(head, "requirements") && has_key(head, "params"))
        .then_some("it has `results` with `commit_hash` and `requirements`")
}

fn read(
    source: &Source,
    options: &ImportOptions,
    sink: &mut Sink<'_, '_>,
) -> Result<(), ImportError> {
    let document = Document::of(source)?;
    let mut wire: Wire<'_> = document.parse()?;
    if let Some(version) = wire.version
        && version > NEWEST
    {
        return Err(document.wrong_document(format!(
            "version {version} of asv's results is newer than {NEWEST}, which this program reads"
        )));
    }
    let known = known_benchmarks(source)?;
    if known.is_empty() {
        sink.notes().left(
            "units, parameter names",
            "there is no benchmarks.json in the directory above",
        );
    }
    note_impossible("date", wire.date, sink.notes());
    let mut others = std::mem::take(&mut wire.others);
    for key in others.keys() {
        sink.notes().kept(key, "attributes of the session");
    }
    others.insert("file_sha256".to_owned(), json!(hex(document.sha256())));
    let session = SessionDraft {
        started: first_start(&document, &wire)
            .or(wire.date)
            .and_then(since_epoch),
        tool: "asv".to_owned(),
        attributes: others,
        ..SessionDraft::default()
    };
    let mut machine = wire.params.take().unwrap_or_default();
    let host = take_text(&mut machine, "machine");
    let digest = identity(&document, source, &wire, host.as_deref());
    let mut intake = Intake::begin(FORMAT.name, source, &digest, options, sink, session)?;
    let session = intake.session();
    let run = intake.run(new_run(&wire, machine))?;
    let mut twins: BTreeMap<Id, u64> = BTreeMap::new();
    // One row after another, since those with samples are large.
    for (name, raw) in &wire.results.0 {
        let spot = document.spot_of(raw.get());
        let drafts = row(&document, &wire, name, raw).and_then(|row| {
            let about = known.get(name.as_ref());
            drafts(session, name, row, about, intake.notes())
                .map_err(|reason| document.wrong(raw, format!("`{name}`: {reason}")))
        });
        match drafts {
            Err(bad) => intake.bad(bad),
            Ok(drafts) => {
                for mut draft in drafts {
                    draft.host.clone_from(&host);
                    draft.id = draft.id.map(|id| told_apart(id, &mut twins));
                    intake.instance(spot, &run, draft)?;
                }
            }
        }
    }
    intake.finish()
}

/// Returns what tells a result from all others. asv writes what it measures later of the same
/// commit, environment and machine into the same file, so that the file's digest does not.
fn identity(document: &Document, source: &Source, wire: &Wire<'_>, host: Option<&str>) -> [u8; 32] {
    let Some(commit) = wire.commit_hash.as_deref().filter(|it| !it.is_empty()) else {
        return *document.sha256();
    };
    let environment = match wire.env_name.as_deref() {
        Some(name) if !name.is_empty() => name.to_owned(),
        Some(_) | None => json!([wire.python, wire.requirements]).to_string(),
    };
    let folder = source
        .path()
        .and_then(Path::parent)
        .and_then(Path::file_name);
    let folder = folder.map(|name| name.to_string_lossy().into_owned());
    let machine = host.map(str::to_owned).or(folder).unwrap_or_default();
    let mut content = Content::default();
    for part in [commit, &environment, &machine] {
        content.text(part);
    }
    content.digest()
}

/// Returns an id of its own for what stands in a file twice, word for word.
fn told_apart(id: Id, twins: &mut BTreeMap<Id, u64>) -> Id {
    let before = twins.entry(id).or_default();
    let own = if *before == 0 {
        id
    } else {
        Id::derived(&[id.as_bytes(), &before.to_le_bytes()])
    };
    *before += 1;
    own
}

/// A digest of what was read, however it was written.
#[derive(Default)]
struct Content(Sha256);

impl Content {
    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.update(text);
    }

    fn count(&mut self, count: usize) {
        self.0.update((count as u64).to_le_bytes());
    }

    fn number(&mut self, number: Option<f64>) {
        match number.filter(|it| !it.is_nan()) {
            None => self.0.update([0]),
            Some(number) => {
                self.0.update([1]);
                self.0.update(number.to_bits().to_le_bytes());
            }
        }
    }

    fn digest(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

fn note_impossible(what: &str, time: Option<f64>, notes: &mut Notes) {
    if time.is_some_and(|it| since_epoch(it).is_none()) {
        notes.left(what, "there is no such time");
    }
}

/// Reads `benchmarks.json` of the directory above, where there is one.
fn known_benchmarks(source: &Source) -> Result<BTreeMap<String, About>, ImportError> {
    let path = source
        .path()
        .and_then(Path::parent)
        .map(|machine| machine.join("../benchmarks.json"));
    match path {
        Some(path) if path.is_file() => {
            let folder = path.parent().unwrap_or(&path);
            about(&Document::of(&Source::open(&path, folder)?)?)
        }
        Some(_) | None => Ok(BTreeMap::new()),
    }
}

fn new_run(wire: &Wire<'_>, mut environment: Object) -> RunDraft {
    environment.retain(|_, value| value.as_str() != Some(""));
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value
            && !value.is_null()
            && value != json!({})
        {
            environment.insert(key.to_owned(), value);
        }
    };
    put("env_name", wire.env_name.clone().map(Value::from));
    put("python", wire.python.clone());
    put("requirements", wire.requirements.clone());
    put("env_vars", wire.env_vars.clone().map(Value::from));
    let mut attributes = Object::new();
    put_object(
        &mut attributes,
        "durations",
        wire.durations.clone().unwrap_or_default(),
    );
    RunDraft {
        version: Version {
            commit: wire.commit_hash.clone().filter(|it| !it.is_empty()),
            date: wire.date.and_then(since_epoch).map(|date| date.to_string()),
            ..Version::default()
        },
        environment,
        attributes,
        ..RunDraft::default()
    }
}

/// What the values of a benchmark are.
struct Kind {
    metric: String,
    unit: Unit,
    /// Whether a lone value is a centre of many, and not the one thing measured.
    is_summary: bool,
}

/// The type decides; without it the name, by asv's own rules for names.
fn kind_of(name: &str, about: Option<&About>) -> Kind {
    let unit = |default: &str| {
        let unit = about.and_then(|about| about.unit.as_deref());
        Unit::named(unit.unwrap_or(default))
    };
    let kind = about.and_then(|about| about.kind.as_deref());
    let of = |metric: &str, unit: Unit, is_summary: bool| Kind {
        metric: metric.to_owned(),
        unit,
        is_summary,
    };
    match kind.unwrap_or_else(|| type_by_name(name)) {
        "time" => of("wall_time", unit("seconds"), true),
        "memory" => of("memory", unit("bytes"), false),
        "peakmemory" => of("peak_memory", unit("bytes"), false),
        _track => {
            // Every benchmark may track something else: without a name of its own, it is
            // told apart by its unit. `unit` is asv's word for none.
            let name = about.and_then(|about| about.unit.as_deref());
            match name.filter(|name| !matches!(*name, "" | "unit")) {
                Some(name) => of(&format!("value ({name})"), Unit::named(name), false),
                None => of("value", Unit::named("1"), false),
            }
        }
    }
}

fn type_by_name(name: &str) -> &'static str {
    let last = name.rsplit('.').next().unwrap_or(name);
    let is = |small: &str, large: &str| last.starts_with(small) || last.starts_with(large);
    if is("time", "Time") {
        "time"
    } else if is("mem_", "Mem") {
        "memory"
    } else if is("peakmem_", "PeakMem") {
        "peakmemory"
    } else {
        "track"
    }
}

/// Returns an instance for each combination of parameters, the last one varying fastest.
fn drafts(
    session: Id,
    name: &str,
    mut row: Row,
    about: Option<&About>,
    notes: &mut Notes,
) -> Result<Vec<InstanceDraft>, String> {
    let number = number_of(&row.params);
    let results = match row.results.take() {
        None if number <= MOST_WITHOUT_RESULT => vec![Measured::Failed; number],
        Some(results) if results.len() == number => results,
        None => {
            return Err(format!(
                "`params` has {number} combinations, and no result for any"
            ));
        }
        Some(results) => {
            return Err(format!(
                "`result` has {} values for {number} combinations of `params`",
                results.len(),
            ));
        }
    };
    let combinations = combinations(&row.params, number);
    if row.has_profile {
        notes.left("profile", "profiles are no measurements");
    }
    for key in row.others.keys() {
        notes.kept(key, "attributes of the instance");
    }
    note_impossible("started_at", row.started_at, notes);
    note_impossible("ended_at", row.ended_at, notes);
    // Names and units of a benchmark that has changed since may have changed too, but
    // nothing says how; its type follows from its name.
    let kind = kind_of(name, about);
    let alone = combinations.len() == 1;
    let mut samples = std::mem::take(&mut row.samples).into_iter();
    let drafts = results.iter().zip(combinations).enumerate();
    Ok(drafts
        .map(|(place, (measured, values))| {
            let samples = samples.next().flatten().unwrap_or_default();
            let content = content(name, &values, &row, (*measured, &samples), place);
            let mut draft = InstanceDraft {
                id: Some(Id::derived(&[
                    b"asv instance",
                    session.as_bytes(),
                    &content,
                ])),
                benchmark: benchmark(name, &values, &row, about),
                started: row.started_at.and_then(since_epoch),
                ended: ended(&row, alone),
                attributes: row.others.clone(),
                metrics: BTreeMap::from([(kind.metric.clone(), kind.unit.metric.clone())]),
                ..InstanceDraft::default()
            };
            if !alone || draft.ended.is_none() {
                put_number(&mut draft.attributes, "duration", row.duration);
            }
            put_measured(&mut draft, (*measured, samples), place, &row, &kind, notes);
            draft
        })
        .collect())
}

/// Returns the digest of what a row says of one combination, and of when it was measured.
fn content(
    name: &str,
    values: &[&Value],
    row: &Row,
    (measured, samples): (Measured, &[f64]),
    place: usize,
) -> [u8; 32] {
    let mut content = Content::default();
    content.text(name);
    content.count(values.len());
    for value in values {
        content.text(&value.to_string());
    }
    content.text(row.version.as_deref().unwrap_or_default());
    content.number(row.started_at);
    content.number(row.ended_at);
    match measured {
        Measured::Value(value) => content.number(Some(value)),
        Measured::Failed => content.text("failed"),
        Measured::Skipped => content.text("skipped"),
    }
    content.count(row.stats.len());
    for (statistic, column) in &row.stats {
        content.text(statistic);
        content.number(column.get(place).copied().flatten());
    }
    content.count(samples.len());
    for sample in samples {
        content.number(Some(*sample));
    }
    content.digest()
}

fn number_of(params: &[Vec<Value>]) -> usize {
    params.iter().fold(1, |number: usize, values| {
        number.saturating_mul(values.len())
    })
}

fn combinations(params: &[Vec<Value>], number: usize) -> Vec<Vec<&Value>> {
    let mut combinations = vec![Vec::new(); number];
    let mut repeats = number;
    for values in params {
        repeats = repeats.checked_div(values.len()).unwrap_or(0);
        for (place, combination) in combinations.iter_mut().enumerate() {
            combination.push(&values[place / repeats % values.len()]);
        }
    }
    combinations
}

fn benchmark(name: &str, values: &[&Value], row: &Row, about: Option<&About>) -> Benchmark {
    let texts: Vec<String> = values.iter().map(|value| in_words(value)).collect();
    let names = about
        .map(|about| about.param_names.as_slice())
        .unwrap_or_default();
    let params = values
        .iter()
        .enumerate()
        .map(|(place, value)| {
            let name = names.get(place).cloned();
            let name = name.unwrap_or_else(|| format!("param{}", place + 1));
            (name, plain(value))
        })
        .collect();
    Benchmark {
        id: if texts.is_empty() {
            name.to_owned()
        } else {
            format!("{name}({})", texts.join(", "))
        },
        params,
        fingerprint: row.version.clone(),
        ..Benchmark::default()
    }
}

/// asv writes parameters as Python shows them: numbers and plain texts become values.
fn plain(value: &Value) -> Value {
    let Some(text) = value.as_str() else {
        return value.clone();
    };
    match text {
        "True" => return Value::Bool(true),
        "False" => return Value::Bool(false),
        "None" => return Value::Null,
        _other => {}
    }
    if let Ok(number @ Value::Number(_)) = serde_json::from_str(text) {
        return number;
    }
    let inner = ['\'', '"']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    match inner {
        Some(inner) if !inner.contains(['\\', '\'', '"']) => Value::from(inner),
        Some(_) | None => value.clone(),
    }
}

/// The duration of a row is that of all its combinations.
fn ended(row: &Row, alone: bool) -> Option<Timestamp> {
    if let Some(ended) = row.ended_at {
        return since_epoch(ended);
    }
    if !alone {
        return None;
    }
    let duration = SignedDuration::try_from_secs_f64(row.duration?).ok()?;
    since_epoch(row.started_at?)?.checked_add(duration).ok()
}

fn put_measured(
    draft: &mut InstanceDraft,
    (measured, samples): (Measured, Vec<f64>),
    place: usize,
    row: &Row,
    kind: &Kind,
    notes: &mut Notes,
) {
    let value = match measured {
        Measured::Failed => {
            draft.outcome = InstanceOutcome::Failed;
            draft.message = Some("asv has no result for it (null)".to_owned());
            return;
        }
        Measured::Skipped => {
            draft.outcome = InstanceOutcome::Skipped;
            draft.message = Some("asv skipped it, or it gave no number (NaN)".to_owned());
            return;
        }
        Measured::Value(value) => value,
    };
    let figure = |statistic: &str| *row.stats.get(statistic)?.get(place)?;
    let number = figure("number").and_then(whole);
    if !samples.is_empty() {
        for name in ["result"]
            .into_iter()
            .chain(row.stats.keys().map(String::as_str))
        {
            if name != "number" {
                notes.left(name, FOLLOWS);
            }
        }
        draft.iterations = columns(kind, samples, number.unwrap_or(1));
    } else if row
        .stats
        .values()
        .any(|column| column.get(place).is_some_and(Option::is_some))
    {
        draft.summaries = summaries(kind, value, &row.stats, place);
        if let Some(number) = number.filter(|number| *number > 1) {
            draft.attributes.insert("number".to_owned(), json!(number));
        }
    } else if kind.is_summary {
        draft.summaries.push(SummaryDraft {
            metric: kind.metric.clone(),
            centre: kind.unit.base(value),
            statistic: "unstated".to_owned(),
            ..SummaryDraft::default()
        });
    } else {
        draft.iterations = columns(kind, vec![value], 1);
    }
}

fn columns(kind: &Kind, mut values: Vec<f64>, loops: u64) -> IterationColumns {
    kind.unit.base_column(&mut values);
    IterationColumns {
        count: values.len(),
        loops: if loops > 1 {
            vec![loops; values.len()]
        } else {
            Vec::new()
        },
        values: BTreeMap::from([(kind.metric.clone(), values)]),
        ..IterationColumns::default()
    }
}

/// The result is the median; version 1 of the format has the mean as well.
fn summaries(
    kind: &Kind,
    median: f64,
    stats: &BTreeMap<String, Vec<Option<f64>>>,
    place: usize,
) -> Vec<SummaryDraft> {
    let figure = |statistic: &str| {
        let value = *stats.get(statistic)?.get(place)?;
        value.map(|value| kind.unit.base(value))
    };
    let n = stats
        .get("repeat")
        .and_then(|column| *column.get(place)?)
        .and_then(whole);
    let extra = |names: &[&str]| {
        let mut extra = Object::new();
        for name in names {
            put_number(&mut extra, name, figure(name));
        }
        extra
    };
    let iqr = figure("q_25")
        .zip(figure("q_75"))
        .map(|(low, high)| high - low);
    let mut summaries = vec![SummaryDraft {
        metric: kind.metric.clone(),
        n,
        centre: kind.unit.base(median),
        spread: iqr,
        statistic: if iqr.is_some() {
            "median/iqr"
        } else {
            "median"
        }
        .to_owned(),
        extra: extra(&["q_25", "q_75", "ci_99_a", "ci_99_b"]),
    }];
    if let Some(mean) = figure("mean") {
        let spread = figure("std");
        summaries.push(SummaryDraft {
            metric: kind.metric.clone(),
            n,
            centre: mean,
            spread,
            statistic: if spread.is_some() { "mean/sd" } else { "mean" }.to_owned(),
            extra: extra(&["min", "max"]),
        });
    }
    summaries
}

fn whole(number: f64) -> Option<u64> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is a whole number of that range"
    )]
    ((0.0..9e15).contains(&number) && number.fract() == 0.0).then_some(number as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::RecordKind;
    use crate::record::Store;
    use crate::record::import::testing::options;
    use crate::record::import::{BadLines, import, read as read_alone};

    const TIME_A: &str = r#""time_a": [[1.5, 2], [["1", "2"]], "v", 1000, 3.5, [[1, 2], [2.5]]]"#;
    const TIME_B: &str = r#""time_b": [[0.5], [], "v", 5000, 1.5]"#;
    const TRACK_C: &str = r#""track_c": [[7, 7], [["1", "1"]], "v", 4000, 1.5]"#;

    fn file(rows: &[&str]) -> String {
        format!(
            r#"{{"commit_hash": "c0ffee", "env_name": "py", "date": 1000,
"params": {{"machine": "m"}}, "python": "3", "requirements": {{}},
"result_columns": ["result", "params", "version", "started_at", "duration", "samples"],
"results": {{{}}}}}"#,
            rows.join(",\n")
        )
    }

    #[test]
    fn a_file_that_has_grown_adds_what_was_measured_since() {
        let place = tempfile::tempdir().expect("a folder");
        let mut store = Store::open(&place.path().join("a.db")).expect("a store");
        let mut new = |text: String| {
            let source = Source::from_bytes("a.json", text.into_bytes()).expect("bytes");
            let imported = import(&mut store, &source, &options(BadLines::Refuse)).expect("good");
            [
                RecordKind::Session,
                RecordKind::Run,
                RecordKind::Instance,
                RecordKind::Iteration,
                RecordKind::Summary,
            ]
            .map(|kind| imported.appended.of(kind).new)
        };
        assert_eq!(new(file(&[TIME_A])), [1, 1, 2, 3, 0]);
        // The new ones may stand before the old ones; two combinations may be the same.
        let whole = [TRACK_C, TIME_A, TIME_B];
        assert_eq!(new(file(&whole)), [0, 0, 3, 2, 1]);
        assert_eq!(new(file(&whole)), [0; 5]);
        let other_way = file(&[TIME_B, TRACK_C, TIME_A]);
        let value: Value = serde_json::from_str(&other_way).expect("JSON");
        let written = serde_json::to_string_pretty(&value).expect("JSON");
        assert_eq!(new(written.replace("1000", "1000.0")), [0; 5]);
        // Measured again, with the same result.
        let again = TIME_B.replace("5000", "6000");
        assert_eq!(new(file(&[TRACK_C, TIME_A, &again])), [0, 0, 1, 0, 1]);
        let elsewhere = file(&whole).replace(r#""machine": "m""#, r#""machine": "n""#);
        assert_eq!(new(elsewhere), [1, 1, 5, 5, 1]);
        let without_commit = file(&[TIME_A]).replace("c0ffee", "");
        assert_eq!(new(without_commit.clone()), [1, 1, 2, 3, 0]);
        assert_eq!(new(without_commit), [0; 5]);
    }

    #[test]
    fn what_is_no_time_is_left_out_and_said_so() {
        let text = file(&[&TIME_B.replace("5000", "-1e30"), TIME_A])
            .replace(r#""date": 1000"#, r#""date": 1e20"#);
        let source = Source::from_bytes("a.json", text.into_bytes()).expect("bytes");
        let imported = read_alone(&source, &options(BadLines::Refuse)).expect("good");
        let notes: Vec<_> = imported
            .notes
            .iter()
            .filter(|note| note.why == "there is no such time")
            .map(|note| note.what.join(", "))
            .collect();
        assert_eq!(notes, ["date, started_at"]);
        let session = imported.session.expect("one");
        assert_eq!(session.started, since_epoch(1000.0).expect("a time"));
    }

    #[test]
    fn the_last_parameter_varies_fastest() {
        let params = vec![
            vec![json!(1), json!(2)],
            vec![json!("a"), json!("b"), json!("c")],
        ];
        let texts: Vec<String> = combinations(&params, number_of(&params))
            .iter()
            .map(|values| values.iter().map(|value| in_words(value)).collect())
            .collect();
        assert_eq!(texts, ["1a", "1b", "1c", "2a", "2b", "2c"]);
        assert_eq!(combinations(&[], number_of(&[])).len(), 1);
        assert_eq!(combinations(&[vec![]], number_of(&[vec![]])).len(), 0);
    }

    #[test]
    fn a_few_bytes_do_not_become_any_number_of_instances() {
        let row = Row {
            params: vec![vec![Value::Null; 1000]; 30],
            ..Row::default()
        };
        assert_eq!(
            drafts(
                Id::derived(&[]),
                "time_it",
                row,
                None,
                &mut Notes::default()
            )
            .expect_err("too many"),
            format!(
                "`params` has {} combinations, and no result for any",
                usize::MAX
            )
        );
    }

    #[test]
    fn python_s_numbers_and_texts_become_values() {
        let of = |text: &str| plain(&json!(text));
        assert_eq!(of("10"), json!(10));
        assert_eq!(of("'up'"), json!("up"));
        assert_eq!(of("True"), json!(true));
        assert_eq!(of("(1,)"), json!("(1,)"));
        assert_eq!(of(r"'it\'s'"), json!(r"'it\'s'"));
    }
}
