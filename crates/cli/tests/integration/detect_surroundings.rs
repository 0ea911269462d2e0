//! What `lapwing detect` says of one host, one branch, one failure, drifts and stairs.

use serde_json::Value;
use tempfile::TempDir;

use crate::nights_fixture::{
    Nights, QUIET, STEP, Surroundings, findings, gate, history, import, nights_in,
};
use crate::program::output;

fn history_in(number: u32, benchmarks: &[(&str, Nights)], surroundings: Surroundings) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    import(
        folder.path(),
        &nights_in(0..number, benchmarks, surroundings),
    );
    folder
}

fn detected(folder: &TempDir) -> Value {
    let words = ["detect", "--format", "json", "--full"];
    serde_json::from_slice(&output(folder.path(), &words).stdout).unwrap()
}

fn text(folder: &TempDir) -> String {
    let done = output(folder.path(), &["detect"]);
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn a_change_of_the_host_is_no_regression() {
    let hosts: Surroundings = |night| [if night < 20 { "m6i" } else { "m7i" }, "main"];
    let moved = history_in(40, &[("join", STEP), ("quiet", QUIET)], hosts);
    assert_eq!(gate(moved.path(), "regression"), 0);
    let answer = detected(&moved);
    assert_eq!(answer["verdict"], "no_new_change");
    assert_eq!(answer["counts"]["explained"], 1);
    let [finding] = findings(&answer)[..] else {
        panic!("{answer}");
    };
    assert_eq!(finding["state"], "explained");
    let text = text(&moved);
    assert!(text.contains("explained by the host: m6i → m7i"), "{text}");
    // The same step on another night is one of the software.
    let elsewhere: Nights = |night| Some(if night < 28 { 1.0 } else { 1.2 });
    let other = history_in(40, &[("join", elsewhere), ("quiet", QUIET)], hosts);
    assert_eq!(gate(other.path(), "regression"), 1);
}

#[test]
fn hosts_in_turn_neither_hide_a_step_nor_make_one() {
    let in_turn: Surroundings = |night| [if night * 7 % 10 < 3 { "old" } else { "new" }, "main"];
    let step: Nights = |night| {
        let host = if night * 7 % 10 < 3 { 1.15 } else { 1.0 };
        Some(host * if night < 28 { 1.0 } else { 1.03 })
    };
    let level: Nights = |night| Some(if night * 7 % 10 < 3 { 1.15 } else { 1.0 });
    let changed = detected(&history_in(40, &[("join", step)], in_turn));
    let [finding] = findings(&changed)[..] else {
        panic!("{changed}");
    };
    assert_eq!(finding["since"]["version"], "v28");
    let ratio = [&finding["ratio_lower"], &finding["ratio_upper"]].map(|it| it.as_f64().unwrap());
    assert!(ratio[0] < 1.03 && 1.03 < ratio[1], "{finding}");
    let quiet = history_in(40, &[("join", level)], in_turn);
    assert_eq!(detected(&quiet)["verdict"], "no_change");
}

#[test]
fn a_drift_is_a_regression_with_a_rate_and_its_own_gate() {
    for percent in [10, 20, 100] {
        let rises: Nights = match percent {
            10 => |night| Some(1.0 + 0.1 * f64::from(night) / 60.0),
            20 => |night| Some(1.0 + 0.2 * f64::from(night) / 60.0),
            _ => |night| Some(1.0 + f64::from(night) / 60.0),
        };
        let folder = history(60, &[("load", rises)]);
        assert_eq!(gate(folder.path(), "regression"), 1, "{percent} %");
        assert_eq!(gate(folder.path(), "drift"), 1, "{percent} %");
        let answer = detected(&folder);
        let [finding] = findings(&answer)[..] else {
            panic!("{answer}");
        };
        assert_eq!(finding["kind"], "drift");
        let rate = &finding["rates"][0];
        assert_eq!(rate["per"], "week");
        assert!(text(&folder).contains(" a week ["), "{}", text(&folder));
        // Logarithms of a straight line are steeper at first.
        if percent < 100 {
            let mean = (1.0 + f64::from(percent) / 100.0).ln() / 60.0 * 7.0;
            let found = rate["change"].as_f64().unwrap().ln();
            assert!((found / mean - 1.0).abs() < 0.1, "{finding}");
        }
        let ratio = finding["ratio"].as_f64().unwrap();
        let whole = 1.0 + f64::from(percent) / 100.0 * 59.0 / 60.0;
        assert!((ratio / whole - 1.0).abs() < 0.03, "{finding}");
    }
    let step = history(40, &[("join", STEP)]);
    assert_eq!(gate(step.path(), "drift"), 0);
    let falls: Nights = |night| Some(1.0 - 0.3 * f64::from(night) / 60.0);
    let faster = history(60, &[("load", falls)]);
    assert_eq!(gate(faster.path(), "regression,drift"), 0);
    assert_eq!(detected(&faster)["verdict"], "improvement");
}

#[test]
fn stairs_are_placed_exactly() {
    let stairs: Nights = |night| Some(1.0 + 0.5 * f64::from(night / 8));
    let answer = detected(&history(24, &[("load", stairs)]));
    let places: Vec<&str> = findings(&answer)
        .iter()
        .map(|finding| {
            assert_eq!(finding["kind"], "step");
            finding["since"]["version"].as_str().unwrap()
        })
        .collect();
    assert_eq!(places, ["v8", "v16"]);
}

#[test]
fn what_wanders_is_not_judged_and_does_not_pass() {
    let wave: Nights = |night| Some(1.0 + 0.02 * (f64::from(night) / 14.0).sin());
    let folder = history(330, &[("load", wave)]);
    let answer = detected(&folder);
    assert_eq!(answer["verdict"], "not_tested", "{answer}");
    assert_eq!(answer["series"][0]["state"], "wanders");
    assert_eq!(gate(folder.path(), "regression"), 3);
    let said = text(&folder);
    assert!(said.starts_with("nothing judged: wandering "), "{said}");
    assert!(!said.contains("no change"), "{said}");
}
