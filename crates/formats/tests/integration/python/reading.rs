//! Reads fixtures and puts their records into lines that can be compared.

use std::path::{Path, PathBuf};

use lapwing_formats::{
    BadLines, ColumnChoices, EachRun, ImportError, ImportOptions, Imported, Source, TraceNames,
    read,
};
use lapwing_model::Record;
use serde_json::Value;

/// Returns the path of a fixture.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/fixtures")
        .join(name)
}

/// Returns what becomes of a source, whose format has to be found out.
pub fn import(source: &Source) -> Result<Imported, ImportError> {
    let options = ImportOptions {
        format: None,
        suite: None,
        trace: TraceNames::default(),
        each_run: EachRun::Iteration,
        columns: ColumnChoices::default(),
        bad_lines: BadLines::Refuse,
        continued: None,
        now: "2026-11-20T10:00:00Z".parse().expect("a time"),
    };
    read(source, &options)
}

/// Returns a fixture as a source that has neither path nor date.
pub fn source(name: &str) -> Source {
    let bytes = std::fs::read(fixture(name)).expect("the fixture is there");
    let name = name.rsplit('/').next().unwrap_or(name);
    Source::from_bytes(name, bytes).expect("it is not empty")
}

/// Returns what becomes of a fixture without a path.
pub fn imported(name: &str) -> Imported {
    import(&source(name)).expect("a good fixture")
}

/// Returns the error of a bad fixture.
pub fn error(name: &str) -> String {
    import(&source(name))
        .expect_err("a bad fixture")
        .to_string()
}

/// Returns the records as lines, without ids and without what depends on the file's place.
pub fn lines(imported: &Imported) -> String {
    imported
        .records
        .iter()
        .map(|record| line(record) + "\n")
        .collect()
}

/// Returns what was left out, and what was kept without being understood.
pub fn notes(imported: &Imported) -> String {
    imported
        .notes
        .iter()
        .map(|note| {
            let verb = if note.kept { "kept" } else { "left" };
            format!("{verb} {}: {}\n", note.what.join(", "), note.why)
        })
        .collect()
}

/// Returns how many sessions, runs, instances, iterations and summaries there are.
pub fn counts(imported: &Imported) -> [usize; 5] {
    let count = |is: fn(&Record) -> bool| imported.records.iter().filter(|it| is(it)).count();
    [
        count(|it| matches!(it, Record::Session(_))),
        count(|it| matches!(it, Record::Run(_))),
        count(|it| matches!(it, Record::Instance(_))),
        count(|it| matches!(it, Record::Iteration(_))),
        count(|it| matches!(it, Record::Summary(_))),
    ]
}

fn line(record: &Record) -> String {
    let mut value = match record {
        Record::Session(it) => serde_json::to_value(it),
        Record::Run(it) => serde_json::to_value(it),
        Record::Instance(it) => serde_json::to_value(it),
        Record::Iteration(it) => serde_json::to_value(it),
        Record::Span(it) => serde_json::to_value(it),
        Record::InstanceEnd(it) => serde_json::to_value(it),
        Record::Summary(it) => serde_json::to_value(it),
        Record::Annotation(it) => serde_json::to_value(it),
    }
    .expect("records are JSON");
    if let Value::Object(object) = &mut value {
        for key in ["id", "session", "run", "instance"] {
            object.remove(key);
        }
        if let Some(Value::Object(source)) = object
            .get_mut("attributes")
            .and_then(|attributes| attributes.get_mut("source"))
        {
            source.remove("sha256");
            source.remove("file");
        }
    }
    format!("{} {value}", record.kind())
}
