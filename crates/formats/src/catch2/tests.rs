use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn benchmarks_are_summaries_named_by_test_case_and_sections() {
    insta::assert_snapshot!(shown(&imported("catch2-2.13/benchmarks.xml")), @"");
    insta::assert_snapshot!(shown(&imported("catch2-2.13/version-3.xml")), @"");
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal("catch2-2.13/truncated.xml"),
        refusal("catch2-2.13/wrong.xml"),
        refusal_of("catch2", "<Catch name=\"a\"><TestCase name=\"b\"/></Catch>"),
        refusal_of("catch2", "<Catch><BenchmarkResults name=\"b\"/></Catch>"),
        refusal_of("catch2", "{}"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"");
}

#[test]
fn deep_documents_are_refused_or_read() {
    let deep = "<a>".repeat(100_000);
    insta::assert_snapshot!(refusal_of("catch2", &deep), @"");
}
