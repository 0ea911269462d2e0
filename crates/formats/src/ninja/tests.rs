use crate::shared::testing::{brief, imported, refusal, refusal_of};

#[test]
fn each_build_of_a_log_is_an_instance() {
    insta::assert_snapshot!(brief(&imported("ninja-1.13/.ninja_log")), @"");
}

#[test]
fn what_is_wrong_is_said_with_its_line() {
    insta::assert_snapshot!(refusal("ninja-1.13/truncated.ninja_log"), @"");
    insta::assert_snapshot!(refusal("ninja-1.13/wrong.ninja_log"), @"");
    insta::assert_snapshot!(refusal_of("ninja", "# ninja log v9\n0\t1\t2\ta.o\tff\n"), @"");
}
