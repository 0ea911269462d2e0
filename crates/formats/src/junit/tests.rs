use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn a_test_case_has_one_time_and_says_why_it_failed() {
    insta::assert_snapshot!(shown(&imported("junit/pytest-9.2.xml")), @r##"
    junit because it has `testsuite` and `testcase`
    {"v":1,"kind":"session","id":"#0","suite":"junit","started":"2026-11-26T15:23:14.335812Z","tool":"JUnit","name":"pytest-9.2","attributes":{"name":"pytest tests","source":{"file":"pytest-9.2.xml","format":"junit","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"test_demo::test_sleep"},"block":0,"position":0,"attempt":0,"host":"vm"}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.021}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"test_demo::test_wrong"},"block":0,"position":3,"attempt":0,"host":"vm"}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"failed","message":"AssertionError: one & one\nassert (1 + 1) == 3"}
    {"v":1,"kind":"instance","id":"#4","run":"#1","benchmark":{"id":"test_demo::test_skipped"},"block":0,"position":4,"attempt":0,"host":"vm"}
    {"v":1,"kind":"instance_end","instance":"#4","outcome":"skipped","message":"not today"}
    {"v":1,"kind":"instance","id":"#5","run":"#1","benchmark":{"id":"test_demo::test_error"},"block":0,"position":5,"attempt":0,"host":"vm"}
    {"v":1,"kind":"instance_end","instance":"#5","outcome":"failed","message":"failed on setup with \"RuntimeError: no fixture\""}
    left, as their time is rounded to 0: test_demo::test_sort[10], test_demo::test_sort[1000]
    without a result: test_demo::test_sort[1000] (line 1): it has no value
    without a result: test_demo::test_sort[10] (line 1): it has no value
    "##);
    insta::assert_snapshot!(shown(&imported("junit/nextest.xml")), @r##"
    junit because it has `testsuite` and `testcase`
    {"v":1,"kind":"session","id":"#0","suite":"junit","started":"2026-11-03T10:11:11Z","tool":"JUnit","name":"nextest","attributes":{"name":"nextest-run","properties":{"profile":"ci"},"source":{"file":"nextest.xml","format":"junit","sha256":"…"}}}
    {"v":1,"kind":"run","id":"#1","session":"#0","variant":"default","metrics":{"wall_time":{"unit":"s","better":"lower"}}}
    {"v":1,"kind":"instance","id":"#2","run":"#1","benchmark":{"id":"demo::a::b"},"block":0,"position":0,"attempt":0,"started":"2026-11-03T10:11:12Z","attributes":{"retries":"1"}}
    {"v":1,"kind":"instance_end","instance":"#2","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#2","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":0.512}}
    {"v":1,"kind":"instance","id":"#3","run":"#1","benchmark":{"id":"demo::a::c"},"block":0,"position":1,"attempt":0}
    {"v":1,"kind":"instance_end","instance":"#3","outcome":"ok"}
    {"v":1,"kind":"iteration","instance":"#3","index":0,"burn_in":false,"outcome":"ok","metrics":{"wall_time":1234.5}}
    left, as they are output: system-out, system-err
    left, as they have no time: demo::a::d
    kept in attributes of the instance: retries
    kept in attributes of the session: profile
    without a result: demo::a::d (line 9): it has no value
    "##);
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
    insta::assert_snapshot!(broken.join("\n"), @r#"
    truncated.xml:1: the XML is cut off
    wrong.xml:8: `time` is not a number: "soon"
    made-up holds no results
    made-up:1: the benchmark has no name
    made-up:1: `wall_time` of `a` is negative: -1
    "#);
}
