//! Tests of the grammar and the matching of selectors.

use jiff::Timestamp;
use proptest::prelude::*;

use super::selector::{KEYS, Selector, moment};
use lapwing_model::{Id, Levels, StartedFrom};
use lapwing_record::RunHead;

fn now() -> Timestamp {
    "2026-03-01T15:30:00Z".parse().expect("a time")
}

#[test]
fn moments_are_dates_times_and_spans_before_now() {
    let told = |text: &str| moment(text, now()).map(|it| it.to_string());
    for (text, expected) in [
        ("2026-11-20", "2026-11-20T00:00:00Z"),
        ("2026-11-20T10:00:00+02:00", "2026-11-20T08:00:00Z"),
        ("today", "2026-03-01T00:00:00Z"),
        ("yesterday", "2026-02-28T00:00:00Z"),
        ("3 days ago", "2026-02-26T15:30:00Z"),
        ("3 days", "2026-02-26T15:30:00Z"),
        ("2w", "2026-02-15T15:30:00Z"),
        ("1 month ago", "2026-02-01T15:30:00Z"),
        ("12h", "2026-03-01T03:30:00Z"),
    ] {
        assert_eq!(told(text).as_deref(), Some(expected), "{text}");
    }
    for text in ["", "soon", "2026-13-01", "3", "9999999 years"] {
        assert_eq!(told(text), None, "{text}");
    }
}

#[test]
fn a_selector_is_printed_in_one_way_however_it_was_written() {
    for (text, printed) in [
        ("variant=fast", "variant=fast"),
        ("  variant=fast \t version=2.1 ", "version=2.1 variant=fast"),
        ("variant=a,b", "variant=a,b"),
        ("variant=a variant=b", "variant=a,b"),
        ("variant='fast threads=4'", "variant=\"fast threads=4\""),
        ("variant=\"a,b\",c", "variant=\"a,b\",c"),
        ("variant=it\"'\"s", "variant=\"it's\""),
        ("session=*night*", "session=*night*"),
        (
            "threads=4 host=a*,b outcome=lost",
            "host=a*,b outcome=lost threads=4",
        ),
        ("note=a=b", "note=\"a=b\""),
        ("\"my factor\"=4", "\"my factor\"=4"),
        ("since=2026-02-01", "since=2026-02-01T00:00:00Z"),
        ("since=2w", "since=2026-02-15T15:30:00Z"),
        ("since 3 days ago", "since=2026-02-26T15:30:00Z"),
        (
            "since=\"3 days ago\" until=today",
            "since=2026-02-26T15:30:00Z until=2026-03-01T00:00:00Z",
        ),
        (
            "since '3 days ago' until yesterday",
            "since=2026-02-26T15:30:00Z until=2026-02-28T00:00:00Z",
        ),
        ("last 10 of main", "branch=main last=10"),
        ("last 3", "last=3"),
        ("last 3 variant=fast", "variant=fast last=3"),
        (
            "last 3 of main,next since 2w",
            "branch=main,next since=2026-02-15T15:30:00Z last=3",
        ),
        ("retired=yes", "retired=yes"),
        ("retired=no suite=s", "suite=s retired=no"),
    ] {
        let selector = Selector::parse(text, now()).map(|it| it.to_string());
        assert_eq!(selector.as_deref(), Ok(printed), "{text}");
    }
}

#[test]
fn what_is_wrong_with_a_selector_is_said() {
    let time =
        "is not a date or time such as 2026-11-20, 2026-11-20T10:00:00Z, yesterday or `3 days ago`";
    for (text, error) in [
        (
            "",
            "a selector has a condition such as `variant=fast`".to_owned(),
        ),
        (
            "  ",
            "a selector has a condition such as `variant=fast`".to_owned(),
        ),
        (
            "fast",
            "`fast` is not a condition such as `variant=fast`".to_owned(),
        ),
        (
            "variant=a fast",
            "`fast` is not a condition such as `variant=fast`".to_owned(),
        ),
        (
            "=fast",
            "`=fast` is not a condition such as `variant=fast`".to_owned(),
        ),
        ("variant=", "`variant` has no value".to_owned()),
        ("variant=a,", "`variant` has no value".to_owned()),
        ("variant=''", "`variant` has no value".to_owned()),
        ("last", "`last` has no value".to_owned()),
        ("last of main", "`last` has no value".to_owned()),
        ("last 3 of", "`branch` has no value".to_owned()),
        ("since until 2w", "`since` has no value".to_owned()),
        (
            "variant='a b",
            "the quotation in `variant='a b` has no end".to_owned(),
        ),
        ("since=soon", format!("`soon` {time}")),
        ("until next week", format!("`next week` {time}")),
        ("last ten", "`ten` is not a number of sessions".to_owned()),
        ("last=0", "`0` is not a number of sessions".to_owned()),
        (
            "last 3 main",
            "`main` is not a condition such as `variant=fast`".to_owned(),
        ),
        (
            "retired=perhaps",
            "`perhaps` is not `yes` or `no`".to_owned(),
        ),
        (
            "outcome=fine",
            "`fine` is not one of ok, failed, timed_out, skipped and lost".to_owned(),
        ),
        ("since=2w since=1w", "`since` takes one value".to_owned()),
        ("last 3 last=3", "`last` takes one value".to_owned()),
    ] {
        let selector = Selector::parse(text, now());
        assert_eq!(selector.map_err(|it| it.to_string()), Err(error), "{text}");
    }
}

#[test]
fn only_what_can_be_nothing_else_is_meant_as_a_selector() {
    for text in [
        "last 3",
        "since 2w",
        "variant=fast",
        "threads=4 since=2w",
        "of main",
        "fast run=1",
    ] {
        assert!(Selector::is_meant_by(text), "{text}");
    }
    for text in [
        "last",
        "since",
        "fast",
        "threads=4",
        "fast threads=4",
        "variant:fast",
        "a=b.json",
    ] {
        assert!(!Selector::is_meant_by(text), "{text}");
    }
}

fn run(number: u8, day: i8, branch: &str, variant: &str, levels: &[(&str, &str)]) -> RunHead {
    let levels: Levels = (levels.iter())
        .map(|(factor, level)| ((*factor).to_owned(), (*level).to_owned()))
        .collect();
    let id = |kind: u8| -> Id {
        let text = format!("0193{number:02x}00-0000-7000-8000-0000000000{kind:02x}");
        text.parse().expect("an id")
    };
    RunHead {
        id: id(1),
        session: id(2),
        session_name: Some(format!("night {number}")),
        suite: "joins".to_owned(),
        started: format!("2026-02-{day:02}T00:00:00Z")
            .parse()
            .expect("a time"),
        variant: variant.to_owned(),
        levels,
        version: Some(format!("1.{number}")),
        commit: Some(format!("abcd{number}")),
        branch: Some(branch.to_owned()),
        version_date: None,
        dirty: None,
        started_from: StartedFrom::default(),
        file: None,
    }
}

fn nights() -> Vec<RunHead> {
    vec![
        run(1, 1, "main", "slow", &[("threads", "1")]),
        run(2, 8, "main", "fast", &[("threads", "4")]),
        run(3, 15, "next", "fast", &[("threads", "16")]),
        run(4, 22, "main", "faster", &[]),
    ]
}

#[test]
fn of_files_without_dates_the_last_have_the_highest_numbers() {
    let of_file = |(run, name): (RunHead, &str)| RunHead {
        version: None,
        commit: None,
        started_from: StartedFrom::FileTime,
        file: Some(name.to_owned()),
        session: run.id,
        ..run
    };
    let names = ["run10.json", "run9.json", "run2.json", "run1.json"];
    let runs: Vec<RunHead> = nights().into_iter().zip(names).map(of_file).collect();
    let selector = Selector::parse("last 2", now()).expect("a selector");
    let chosen = selector.choose(&runs).expect("matches");
    let chosen = runs.iter().filter(|run| chosen.contains(&run.id));
    let files: Vec<&str> = chosen.filter_map(|run| run.file.as_deref()).collect();
    assert_eq!(files, ["run10.json", "run9.json"]);
}

#[test]
fn conditions_all_hold_and_values_are_alternatives() {
    let runs = nights();
    for (text, expected) in [
        ("branch=main", vec![1, 2, 4]),
        ("last 2", vec![3, 4]),
        ("last 2 of main", vec![2, 4]),
        ("last 9 of main", vec![1, 2, 4]),
        ("last 1 variant=fast", vec![3]),
        ("variant=fast", vec![2, 3]),
        ("variant=fast*", vec![2, 3, 4]),
        ("variant=slow,faster", vec![1, 4]),
        ("variant='fast threads=4'", vec![2]),
        ("threads=1*", vec![1, 3]),
        ("threads=4,16 branch=main", vec![2]),
        ("since=2026-02-08 until=2026-02-22", vec![2, 3]),
        ("since 2w", vec![4]),
        ("session='night 1',*4", vec![1, 4]),
        ("version=1.2,abcd3", vec![2, 3]),
        ("commit=abcd1", vec![1]),
        ("run=01930200", vec![2]),
        ("since=2026-03-01", vec![]),
        ("host=a outcome=ok", vec![1, 2, 3, 4]),
    ] {
        let selector = Selector::parse(text, now()).expect("a selector");
        let chosen = selector.choose(&runs).expect("matches");
        let numbers = (1..).zip(&runs).filter(|(_, run)| chosen.contains(&run.id));
        assert_eq!(
            numbers.map(|it| it.0).collect::<Vec<_>>(),
            expected,
            "{text}"
        );
    }
}

#[test]
fn a_value_without_a_match_is_an_error_that_names_it() {
    for (text, error) in [
        (
            "variant=fas",
            "no variant `fas`; did you mean `fast` or `faster`?",
        ),
        (
            "branch=mian",
            "no run is of branch `mian`: the recorded ones are main, next",
        ),
        ("suite=x", "no suite `x`"),
        (
            "threads=17",
            "no level `threads=17`; did you mean `threads=1` or `threads=16` or `threads=4`?",
        ),
        (
            "varaint=fast",
            "no key or factor `varaint`; did you mean `variant`?",
        ),
        ("colour=red", "no key or factor `colour`"),
        ("variant=q*", "no variant `q*`"),
        ("run=0", "no run `0`"),
    ] {
        let selector = Selector::parse(text, now()).expect("a selector");
        let told = selector.choose(&nights()).map_err(|it| it.to_string());
        assert_eq!(told, Err(error.to_owned()), "{text}");
    }
}

proptest! {
    #[test]
    fn what_is_printed_is_parsed_again_to_the_same(
        conditions in proptest::collection::vec(("[a-z_.]{1,8}", proptest::collection::vec("\\PC{1,9}", 1..4)), 0..4),
        last in proptest::option::of(1_usize..100),
        since in proptest::option::of(0_i64..2_000_000_000),
    ) {
        let mut text = vec!["suite=s".to_owned()];
        for (key, values) in conditions.iter().filter(|it| !KEYS.contains(&it.0.as_str())) {
            let quoted = values.iter().map(|value| format!("\"{}\"", value.replace('"', "\"'\"'\"")));
            text.push(format!("{key}={}", quoted.collect::<Vec<_>>().join(",")));
        }
        text.extend(last.map(|last| format!("last {last}")));
        text.extend(since.map(|since| format!("since={}", Timestamp::from_second(since).expect("a time"))));
        let selector = Selector::parse(&text.join(" "), now()).expect("a selector");
        let printed = selector.to_string();
        prop_assert_eq!(Selector::parse(&printed, now()), Ok(selector), "{}", printed);
    }

    #[test]
    fn no_text_is_too_strange(text in "\\PC*") {
        if let Ok(selector) = Selector::parse(&text, now()) {
            let printed = selector.to_string();
            prop_assert_eq!(Selector::parse(&printed, now()), Ok(selector), "{}", printed);
        }
    }
}
