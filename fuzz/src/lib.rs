//! What every fuzz target does: reads bytes as one format, and checks whatever comes of it.
//!
//! An error is fine, and so are records that hold together. A panic, a hang, or records that
//! the store could not take are not.

use lapwing_formats::{
    BadLines, ColumnChoices, EachRun, ImportOptions, Imported, Source, TraceNames, check_promises, format_named,
    read,
};

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
        trace: TraceNames::default(),
        each_run: if bytes.len() % 2 == 0 {
            EachRun::Iteration
        } else {
            EachRun::Instance
        },
        columns: ColumnChoices::default(),
        bad_lines,
        now: "2026-01-01T00:00:00Z".parse().expect("a time"),
    };
    read(&source, &options).ok()
}

fn check(imported: &Imported) {
    assert_eq!(check_promises(imported), Ok(()));
}

/// Makes a fuzz target of a format.
#[macro_export]
macro_rules! target {
    ($format:literal) => {
        libfuzzer_sys::fuzz_target!(|bytes: &[u8]| $crate::read_as($format, bytes));
    };
}
