//! Reads the files of reports about other trackers, each of which some tool could not read, or read in part without a
//! word: format, instances, values and spans, names without results.

use lapwing_formats::{BadLines, ColumnChoices, EachRun, ImportOptions, Source, TraceNames, read};
use lapwing_model::Record;
use lapwing_testing::reference_data;

/// File, format, instances, iterations and summaries with values, spans, names without results.
const REPORTS: [(&str, &str, usize, usize, usize, usize); 23] = [
    ("05-go-interleaved.txt", "go", 2, 3, 0, 0),
    ("05b-go-same-line.txt", "go", 2, 2, 0, 0),
    ("06-go-zero-iterations.txt", "go", 1, 2, 0, 0),
    ("07-go-utf16.txt", "go", 1, 2, 0, 0),
    ("08-google-nan-lower.json", "google-benchmark", 1, 3, 0, 0),
    (
        "10-google-concatenated.json",
        "google-benchmark",
        2,
        4,
        0,
        0,
    ),
    ("13b-pytest-old-no-ops.json", "pytest-benchmark", 1, 2, 0, 0),
    ("16b-gha-go/data.js", "github-action", 1, 3, 0, 0),
    ("17-bmf-v1.json", "bmf", 2, 2, 0, 0),
    ("18-jmh-no-version.json", "jmh", 2, 6, 0, 0),
    ("20c-wfcommons-1.4.json", "wfcommons", 1, 1, 4, 0),
    ("21-hail-2019.json", "hail", 3, 4, 0, 0),
    ("24b-chrome-control-char.json", "chrome-trace", 1, 1, 2, 0),
    ("24d-chrome-leading-comma.json", "chrome-trace", 1, 1, 1, 0),
    ("24f-chrome-missing-dur.json", "chrome-trace", 1, 1, 2, 0),
    (
        "24i-chrome-truncated-midline.json",
        "chrome-trace",
        1,
        1,
        1,
        0,
    ),
    ("25d-otlp-mixed-signals.jsonl", "otlp", 1, 1, 1, 0),
    ("25f-otlp-unended.json", "otlp", 1, 1, 2, 0),
    ("26-dask-no-startstops.json", "dask", 1, 1, 2, 0),
    ("26b-dask-tuple-startstops.json", "dask", 1, 1, 3, 0),
    ("27-bencher-midline.txt", "libtest", 2, 2, 0, 0),
    ("38-criterion", "criterion", 3, 30, 0, 1),
    ("41e-parsl-pandas-quoted.db", "parsl", 1, 1, 4, 0),
];

#[test]
fn what_others_could_not_read_is_read_or_told() {
    let Some(folder) = reference_data("../cases/reports") else {
        return;
    };
    let options = ImportOptions {
        format: None,
        suite: None,
        trace: TraceNames::default(),
        each_run: EachRun::Iteration,
        columns: ColumnChoices::default(),
        bad_lines: BadLines::Refuse,
        continued: None,
        now: "2026-01-01T00:00:00Z".parse().unwrap(),
    };
    let place = tempfile::tempdir().unwrap();
    let mut found = Vec::new();
    for (name, ..) in REPORTS {
        let source = Source::open(&folder.join(name), place.path()).unwrap();
        let imported = read(&source, &options).unwrap();
        let count = |is: fn(&Record) -> bool| imported.records.iter().filter(|it| is(it)).count();
        found.push((
            name,
            imported.format.name,
            count(|it| matches!(it, Record::Instance(_))),
            count(|it| matches!(it, Record::Iteration(_) | Record::Summary(_))),
            count(|it| matches!(it, Record::Span(_))),
            imported.found.without_results().count(),
        ));
    }
    assert_eq!(found, REPORTS);
}
