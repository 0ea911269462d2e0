use crate::shared::testing::{imported, shown};

#[test]
fn a_log_has_tasks_transfers_and_phases() {
    let all = shown(&imported("earthkit-0.19/trace_1x2.log"));
    let some: Vec<&str> = all.lines().take(8).collect();
    insta::assert_snapshot!(some.join("\n"), @"");
    let count = |category: &str| all.matches(&format!("\"category\":\"{category}\"")).count();
    assert_eq!((count("task"), count("micro") > 0), (23, true));
}
