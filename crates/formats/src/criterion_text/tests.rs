use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn an_estimate_is_a_summary_and_a_change_none() {
    insta::assert_snapshot!(shown(&imported("criterion-text-0.8/second-run.txt")), @"");
}

#[test]
fn what_a_terminal_shows_is_read_and_what_has_no_time_is_named() {
    insta::assert_snapshot!(shown(&imported("criterion-text-0.8/terminal.txt")), @"");
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal("criterion-text-0.8/wrong.txt"),
        refusal_of("criterion-text", "Benchmarking a\n"),
        refusal_of("criterion-text", "time: [1 ms 2 ms 3 ms]\n"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"");
    // A line that is cut off is no result; its benchmark is named where it was announced.
    insta::assert_snapshot!(shown(&imported("criterion-text-0.8/truncated.txt")), @"");
}
