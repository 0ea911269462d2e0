use crate::shared::testing::{imported, refusal, refusal_of, shown};

#[test]
fn a_rate_is_a_summary() {
    insta::assert_snapshot!(shown(&imported("benchmarkjs-2.1.4/suite.txt")), @"");
}

#[test]
fn a_broken_file_is_named() {
    let broken = [
        refusal("benchmarkjs-2.1.4/truncated.txt"),
        refusal("benchmarkjs-2.1.4/wrong.txt"),
        refusal_of("benchmarkjs", "Fastest is sort\n"),
    ];
    insta::assert_snapshot!(broken.join("\n"), @"");
}
