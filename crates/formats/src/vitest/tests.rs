use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn a_report_has_summaries_or_samples_in_milliseconds() {
    insta::assert_snapshot!(shown(&imported("vitest-4.1/report.json")), @"");
    insta::assert_snapshot!(shown(&imported("vitest-4.1/samples.json")), @"");
}

#[test]
fn tasks_of_tinybench_are_read_too() {
    insta::assert_snapshot!(shown(&imported("vitest-4.1/tinybench-6.2.json")), @"");
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal("vitest-4.1/truncated.json"),
        refusal("vitest-4.1/wrong.json"),
        refusal_of("vitest", "{\"files\": []}"),
        refusal_of("vitest", "[{\"name\": \"\", \"latency\": {\"mean\": 1}}]"),
        refusal_of("vitest", "{\"testResults\": {}}"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"");
}
