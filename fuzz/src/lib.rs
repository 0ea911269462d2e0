//! What every fuzz target does: reads bytes as one format, and checks whatever comes of it.
//!
//! An error is fine, and so are records that hold together. A panic, a hang, or records that
//! the store could not take are not.

use std::collections::HashSet;

use lapwing_core::model::Record;
use lapwing_core::record::import::{
    BadLines, EachRun, ImportOptions, Imported, Source, format_named, read,
};
use lapwing_core::record::{parse_line, write_line};

/// Reads bytes as the format of that name, strictly and leniently.
pub fn read_as(format: &str, bytes: &[u8]) {
    let strict = read_with(format, bytes, BadLines::Refuse);
    let lenient = read_with(format, bytes, BadLines::Skip);
    if let Some(strict) = strict {
        check(&strict);
        let lenient = lenient.expect("what is good strictly is good leniently");
        assert_eq!(strict.records, lenient.records);
        assert_eq!(lenient.bad_lines, []);
    } else if let Some(lenient) = lenient {
        check(&lenient);
    }
}

fn read_with(format: &str, bytes: &[u8], bad_lines: BadLines) -> Option<Imported> {
    let source = Source::from_bytes("fuzzed", bytes.to_vec()).ok()?;
    let options = ImportOptions {
        format: Some(format_named(format).expect("a known format")),
        suite: None,
        each_run: if bytes.len() % 2 == 0 {
            EachRun::Iteration
        } else {
            EachRun::Instance
        },
        bad_lines,
        now: "2026-01-01T00:00:00Z".parse().expect("a time"),
    };
    read(&source, &options).ok()
}

/// Parents come first, nothing comes twice, numbers are finite, and each record survives
/// being written and read.
fn check(imported: &Imported) {
    let mut known = HashSet::new();
    let mut iterations = HashSet::new();
    for record in &imported.records {
        match record {
            Record::Session(it) => assert!(known.insert(it.id)),
            Record::Run(it) => assert!(known.contains(&it.session) && known.insert(it.id)),
            Record::Instance(it) => {
                assert!(known.contains(&it.run) && known.insert(it.id));
                assert!(!it.benchmark.id.is_empty());
            }
            Record::Iteration(it) => {
                assert!(known.contains(&it.instance));
                assert!(iterations.insert((it.instance, it.index)));
                assert!(it.metrics.values().all(|value| value.is_finite()));
            }
            Record::Summary(it) => {
                assert!(known.contains(&it.instance) && it.centre.is_finite());
            }
            Record::InstanceEnd(it) => assert!(known.contains(&it.instance)),
            Record::Span(_) | Record::Annotation(_) => {}
        }
        let mut line = Vec::new();
        write_line(&mut line, record).expect("memory takes everything");
        let again = parse_line(line.trim_ascii_end()).expect("a record reads itself");
        assert_eq!(&again, record);
    }
}

/// Makes a fuzz target of a format.
#[macro_export]
macro_rules! target {
    ($format:literal) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::read_as($format, bytes));
    };
}
