use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn a_test_case_has_one_time_and_says_why_it_failed() {
    insta::assert_snapshot!(shown(&imported("junit/pytest-9.2.xml")), @"");
    insta::assert_snapshot!(shown(&imported("junit/nextest.xml")), @"");
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal("junit/truncated.xml"),
        refusal("junit/wrong.xml"),
        refusal_of("junit", "<testsuite name=\"a\"/>"),
        refusal_of("junit", "<testsuite><testcase time=\"1\"/></testsuite>"),
        refusal_of(
            "junit",
            "<testsuite><testcase name=\"a\" time=\"-1\"/></testsuite>",
        ),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"");
}
