//! Tests of the choice of runs of the default branch.

use jiff::Timestamp;
use lapwing_model::StartedFrom;

use super::Selector;
use super::main_runs::{CommitLine, MainChoice, MainRuns};
use lapwing_model::Id;
use lapwing_record::RunHead;
use std::collections::{BTreeMap, BTreeSet};

/// Runs, each written as its branch, its commit and whether there are uncommitted changes: `main abc +`.
fn runs(texts: &[&str]) -> Vec<RunHead> {
    let runs = (0_u64..).zip(texts).map(|(number, text)| {
        let mut words = text.split(' ');
        let mut word = || words.next().filter(|it| *it != "-").map(str::to_owned);
        let id = Id::derived(&[&number.to_le_bytes()]);
        RunHead {
            id,
            session: id,
            session_name: None,
            suite: "s".to_owned(),
            started: Timestamp::UNIX_EPOCH,
            variant: "default".to_owned(),
            levels: BTreeMap::default(),
            version: None,
            branch: word(),
            commit: word(),
            version_date: None,
            dirty: word().map(|it| it == "+"),
            started_from: StartedFrom::default(),
            file: None,
        }
    });
    runs.collect()
}

/// Returns the places of the judged runs, and the default branches.
fn judged(texts: &[&str], line: Option<&CommitLine>, choice: MainChoice) -> String {
    let runs = runs(texts);
    let main = MainRuns::of(&runs, line, choice);
    let places = runs
        .iter()
        .zip(0..)
        .filter(|(run, _)| main.judged.contains(&run.id));
    let places: Vec<String> = places.map(|(_, place)| place.to_string()).collect();
    let branches: Vec<&str> = main.branches.iter().map(String::as_str).collect();
    format!("{} {}", places.join(""), branches.join("+"))
        .trim()
        .to_owned()
}

fn of_default(texts: &[&str]) -> String {
    judged(texts, None, MainChoice::DefaultBranch)
}

#[test]
fn the_default_branch_is_told_by_its_name_or_by_the_most_runs() {
    assert_eq!(of_default(&["-", "-"]), "01");
    assert_eq!(of_default(&["idea", "idea"]), "01");
    assert_eq!(of_default(&["main", "idea", "-"]), "02 main");
    assert_eq!(of_default(&["refs/heads/main", "idea"]), "0 main");
    // It was renamed.
    assert_eq!(of_default(&["master", "main", "x"]), "01 main+master");
    assert_eq!(of_default(&["a", "b", "b"]), "12 b");
    // Releases of one branch, nights of the other.
    assert_eq!(of_default(&["main", "dev", "dev", "dev"]), "123 dev");
    // Unclear: nothing is left out.
    assert_eq!(of_default(&["idea", "-", "-"]), "012");
}

#[test]
fn uncommitted_changes_are_left_out_unless_they_are_the_most() {
    assert_eq!(
        of_default(&["main a", "main a +", "main b", "main c"]),
        "023"
    );
    assert_eq!(of_default(&["main a +", "main a +", "main b"]), "012");
}

#[test]
fn the_repository_tells_the_branch_of_commits() {
    let commits = ["aaaaaaaa1", "bbbbbbbb2", "cccccccc3"].map(str::to_owned);
    let known = ["aaaaaaaa", "bbbbbbbb2", "dddddddd4", "eeeeeeee5"].map(str::to_owned);
    let line = CommitLine::new("main".to_owned(), commits, known.into());
    assert_eq!(line.number("bbbbbbbb"), Some(2));
    assert_eq!([line.number("b"), line.number("dddddddd4")], [None, None]);
    let of = |texts: &[&str], choice| judged(texts, Some(&line), choice);
    let unnamed = ["- aaaaaaaa", "- bbbbbbbb2", "- dddddddd4", "- 99999999"];
    assert_eq!(of(&unnamed, MainChoice::DefaultBranch), "013 main");
    assert_eq!(of(&unnamed, MainChoice::FirstParents), "01 main");
    assert_eq!(of(&unnamed, MainChoice::All), "0123");
    // Most commits are elsewhere: first parents do not tell the history.
    let elsewhere = ["- aaaaaaaa", "- dddddddd4", "- eeeeeeee5"];
    assert_eq!(of(&elsewhere, MainChoice::DefaultBranch), "012");
    // What is recorded counts more.
    let recorded = ["main dddddddd4", "idea aaaaaaaa"];
    assert_eq!(of(&recorded, MainChoice::DefaultBranch), "0 main");
    assert_eq!(of(&recorded, MainChoice::FirstParents), "1 main");
    // Another repository.
    let other = ["main 11111111", "idea 22222222"];
    assert_eq!(of(&other, MainChoice::FirstParents), "");
}

#[test]
fn conditions_on_the_default_branch_choose_what_a_history_has() {
    let runs = runs(&["master a", "main b", "- c", "idea d", "main e +"]);
    let main = MainRuns::of(&runs, None, MainChoice::DefaultBranch);
    let choice = |text: &str| {
        let conditions = Selector::parse(text, Timestamp::UNIX_EPOCH).unwrap();
        MainChoice::DefaultBranch.unless_chosen(&conditions, &main)
    };
    for text in [
        "last 3",
        "since 2026-03-01",
        "variant=fast",
        "last 3 of main",
        "branch=master,main",
    ] {
        assert_eq!(choice(text), MainChoice::DefaultBranch, "{text}");
    }
    for text in [
        "last 3 of idea",
        "branch=main,idea",
        "branch=*",
        "version=1",
        "commit=abcd",
    ] {
        assert_eq!(choice(text), MainChoice::All, "{text}");
    }
    let of = |branch: &str| {
        runs.iter()
            .map(|run| main.is_of(branch, run))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        of("main"),
        [Some(true), Some(true), Some(true), Some(false), Some(true)]
    );
    assert_eq!(of("idea"), [None; 5]);
    assert_eq!(main.other_branches(), ["idea"].into());
    assert_eq!((main.branch_runs.len(), main.dirty_runs.len()), (1, 1));
    // Of one suite only; the other one has no known branch.
    let none = MainRuns::of(&runs[2..3], None, MainChoice::DefaultBranch);
    assert!(!none.is_default("main"));
}

#[test]
fn merged_commits_have_a_place_before_what_merged_them_and_no_number() {
    let [first, side, merge] = ["aaaaaaaa1", "bbbbbbbb2", "cccccccc3"].map(str::to_owned);
    let known = BTreeSet::from([first.clone(), side.clone(), merge.clone()]);
    let line = CommitLine::new("main".to_owned(), [first.clone(), merge.clone()], known);
    assert!(line.has_others());
    assert_eq!(line.place(&side), None);
    let line = line.in_order([first.clone(), side.clone(), merge.clone()]);
    let places = [&first, &side, &merge].map(|commit| line.place(commit));
    assert_eq!(places, [Some(1), Some(2), Some(3)]);
    let numbers = [&first, &side, &merge].map(|commit| line.number(commit));
    assert_eq!(numbers, [Some(1), None, Some(2)]);
}
