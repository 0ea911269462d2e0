//! Plans from texts to entries and back.

use std::path::Path;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::suite::numbers::settings::{MOST_INSTANCES, MOST_ITERATIONS};

fn read(text: &str) -> Result<ReadPlan, String> {
    PlanDocument::parse(Path::new("plan.yaml"), text).map_err(|error| error.to_string())
}

fn entries(text: &str) -> Vec<PlanEntry> {
    read(text).expect("a plan").document.entries
}

fn wrong(text: &str) -> String {
    read(text).expect_err("wrong")
}

fn configuration(slowdown: f64, instances: u32, iterations: u32) -> PlanConfiguration {
    PlanConfiguration {
        slowdown,
        instances,
        iterations,
    }
}

fn sort_and_join() -> Vec<PlanEntry> {
    vec![
        PlanEntry {
            item: "a.py::test_sort[10-é]".to_owned(),
            burn_in: 5,
            mean: Some(11.41),
            cv: Some(0.18),
            configurations: vec![configuration(1.2, 15, 10), configuration(2.0, 5, 5)],
        },
        PlanEntry {
            item: "join".to_owned(),
            burn_in: 0,
            mean: None,
            cv: None,
            configurations: vec![configuration(1.05, 30, 30)],
        },
    ]
}

#[test]
fn yaml_and_json_of_either_key_are_read() {
    let of_script = "\
# Chosen by hand.
- item: a.py::test_sort[10-é]
  burn-in-iterations: 5
  mean: 11.41
  cv: 0.18
  owner: nobody
  config:
    - {slowdown: 1.2, instances: 15, iterations: 10, note: slow}
    - slowdown: 2
      instances: 5
      iterations: 5
---
---
- item: join
  burn_in: 0
  burn-in-iterations: 0
  mean: ~
  config:
  - slowdown: 1.05
    instances: 30
    iterations: 30
";
    assert_eq!(entries(of_script), sort_and_join());
    let of_notebook = r#"[
        {"item": "a.py::test_sort[10-\u00e9]", "burn_in": 5, "mean": 11.41, "cv": 0.18, "config": [
            {"slowdown": 1.2, "instances": 15, "iterations": 10},
            {"slowdown": 2, "instances": 5, "iterations": 5}]}]
        [{"item": "join", "burn_in": 0, "mean": null, "config": [
            {"slowdown": 1.05, "instances": 30, "iterations": 30}], "x": {"y": [1e400]}}]"#;
    assert_eq!(entries(of_notebook), sort_and_join());
    let in_brackets =
        "[{item: join, burn_in: 0, config: [{slowdown: 1.05, instances: 30, iterations: 30}]},]";
    assert_eq!(entries(in_brackets), sort_and_join()[1..]);
    assert_eq!(
        entries(in_brackets)[0].first(),
        Some(&configuration(1.05, 30, 30))
    );
}

#[test]
fn an_item_without_quotes_is_a_text_whatever_it_looks_like() {
    let items = ["y", "No", "1e5", "007", "0x1F", "12:30:45", "&a 5"];
    let found = items.map(|item| {
        let text = format!("- item: {item} # so\n  burn_in: 1\n  config: [{{slowdown: 1.1, instances: 1, iterations: 5}}]\n");
        entries(&text).remove(0).item
    });
    assert_eq!(found, ["y", "No", "1e5", "007", "0x1F", "12:30:45", "5"]);
}

#[test]
fn of_an_item_that_stands_twice_the_last_counts_in_the_place_of_the_first() {
    let one = |item: &str, instances: u32| {
        format!(
            "- item: {item}\n  burn_in: 1\n  config: [{{slowdown: 1.1, instances: {instances}, iterations: 5}}]\n"
        )
    };
    let text = [one("a", 1), one("b", 2), one("a", 3)].concat();
    let plan = read(&text).expect("a plan");
    let found: Vec<(&str, u32)> = plan
        .document
        .entries
        .iter()
        .map(|it| (it.item.as_str(), it.configurations[0].instances))
        .collect();
    assert_eq!(found, [("a", 3), ("b", 2)]);
    let notes: Vec<String> = plan.repeated.iter().map(ToString::to_string).collect();
    assert_eq!(
        notes,
        ["`a` stands 2 times, in lines 1, 7: the last one counts"]
    );
}

/// Returns what is said of an entry with this in place of one of its lines.
fn of_entry(key: &str, instead: &str) -> String {
    let lines = [
        ("item", "item: a::b"),
        ("burn_in", "burn_in: 1"),
        ("mean", "mean: 1.5"),
        ("config", "config:"),
        ("slowdown", "- slowdown: 1.1"),
        ("instances", "  instances: 10"),
        ("iterations", "  iterations: 5"),
    ];
    let lines = lines.map(|(name, line)| if name == key { instead } else { line });
    wrong(&format!("- {}\n", lines.join("\n  ")))
}

#[test]
fn what_is_wrong_with_an_entry_is_told_with_its_line() {
    let all = [
        of_entry("item", "name: a::b"),
        of_entry("item", "item: [5]"),
        of_entry("item", "item: ''"),
        of_entry("burn_in", "burn: 1"),
        of_entry("burn_in", "burn_in: -1"),
        of_entry("burn_in", "burn_in: auto"),
        of_entry("burn_in", "burn_in: 1\n  burn-in-iterations: 2"),
        of_entry("mean", "mean: -0.5"),
        of_entry("mean", "mean: .nan"),
        of_entry("mean", "mean: fast"),
        of_entry("slowdown", "- slowdown: 1.0"),
        of_entry("slowdown", "- slowdown: .inf"),
        of_entry("slowdown", "- slowdown: 10%"),
        of_entry("slowdown", "-"),
        of_entry("instances", "  instances: 0"),
        of_entry("instances", "  instances: 2.5"),
        of_entry("instances", "  instances: 5000000000"),
        of_entry("instances", "  instances: 1000000000000000000000"),
        of_entry("iterations", "  iterations: 0"),
        of_entry("iterations", "  often: 5"),
        wrong("- item: a\n  burn_in: 1\n"),
        wrong("- item: a\n  burn_in: 1\n  config: []\n"),
        wrong("- item: a\n  burn_in: 1\n  config: {slowdown: 1.1}\n"),
        wrong("- item: a\n  burn_in: 1\n  config: [5]\n"),
        wrong("-\n"),
        wrong("- a\n"),
    ];
    insta::assert_snapshot!(all.join("\n"), @"
    plan.yaml:1: entry 1: `item` is missing
    plan.yaml:1: entry 1: `item` must be a text, not a list
    plan.yaml:1: entry 1: `item` is empty
    plan.yaml:1: entry 1 (`a::b`): `burn-in-iterations` is missing
    plan.yaml:2: entry 1 (`a::b`): `burn_in` must be 0 or more, not -1
    plan.yaml:2: entry 1 (`a::b`): `burn_in` must be a whole number, not a text
    plan.yaml:2: entry 1 (`a::b`): `burn_in` is 1, and `burn-in-iterations` is 2: keep one of them
    plan.yaml:3: entry 1 (`a::b`): `mean` must be 0 or more, not -0.5
    plan.yaml:3: entry 1 (`a::b`): `mean` must be 0 or more, not NaN
    plan.yaml:3: entry 1 (`a::b`): `mean` must be a number, not a text
    plan.yaml:5: entry 1 (`a::b`): `slowdown` must be above 1, such as 1.05 for 5 %, not 1
    plan.yaml:5: entry 1 (`a::b`): `slowdown` must be above 1, such as 1.05 for 5 %, not inf
    plan.yaml:5: entry 1 (`a::b`): `slowdown` must be a number, not a text
    plan.yaml:6: entry 1 (`a::b`): `slowdown` is missing
    plan.yaml:6: entry 1 (`a::b`): `instances` must be 1 or more
    plan.yaml:6: entry 1 (`a::b`): `instances` must be a whole number, not 2.5
    plan.yaml:6: entry 1 (`a::b`): `instances` must be at most 100000, not 5000000000
    plan.yaml:6: entry 1 (`a::b`): `instances` is too large: 1e21
    plan.yaml:7: entry 1 (`a::b`): `iterations` must be 1 or more
    plan.yaml:5: entry 1 (`a::b`): `iterations` is missing
    plan.yaml:1: entry 1 (`a`): `config` is missing
    plan.yaml:3: entry 1 (`a`): `config` is an empty list
    plan.yaml:3: entry 1 (`a`): `config` must be a list, not a table
    plan.yaml:3: entry 1 (`a`): `config` must be a table, not a whole number
    plan.yaml:1: entry 1: `item` is missing
    plan.yaml:1: entry 1: `entry` must be a table, not a text
    ");
}

#[test]
fn nothing_is_measured_more_often_than_the_limits_say() {
    let all = [
        of_entry("burn_in", "burn_in: 1000001"),
        of_entry("instances", "  instances: 300000000"),
        of_entry("iterations", "  iterations: 1000001"),
    ];
    insta::assert_snapshot!(all.join("\n"), @"
    plan.yaml:2: entry 1 (`a::b`): `burn_in` must be at most 1000000, not 1000001
    plan.yaml:6: entry 1 (`a::b`): `instances` must be at most 100000, not 300000000
    plan.yaml:7: entry 1 (`a::b`): `iterations` must be at most 1000000, not 1000001
    ");
    let plan = "- {item: a, burn_in: 1000000, config: [{slowdown: 1.1, instances: 100000, iterations: 1000000}]}";
    assert!(PlanDocument::parse(Path::new("plan.yaml"), plan).is_ok());
}

#[test]
fn aliases_that_stand_for_too_much_are_refused_in_plain_words() {
    let level = |name: char, of: char| {
        let aliases = vec![format!("*{of}"); 10];
        format!("- &{name} [{}]\n", aliases.join(", "))
    };
    let names: Vec<char> = ('a'..='i').collect();
    let levels = names.windows(2).map(|pair| level(pair[1], pair[0]));
    let bomb = std::iter::once("- &a [x]\n".to_owned()).chain(levels);
    insta::assert_snapshot!(wrong(&bomb.collect::<String>()), @"plan.yaml:6:11: this stands for more than a plan can hold: write entries without aliases (`*name`)");
}

#[test]
fn what_is_no_plan_at_all_is_told_with_its_place() {
    let all = [
        wrong(""),
        wrong("# nothing yet\n"),
        wrong("[]"),
        wrong("---\n---\n"),
        wrong("a: 1\n"),
        wrong("{\"plan\": []}"),
        wrong("- item: a\n  item: b\n"),
        wrong("- item: [\n"),
        wrong("[{\"item\": \"a\",\n  \"burn_in\": }]"),
        wrong("[{\"item\": \"a\",\n  \"item\": \"b\"}]"),
        wrong(
            "[{\"item\": \"a\", \"burn_in\": 1,\n \"config\": [\n {\"slowdown\": 1.1, \"instances\":\n 0}]}]",
        ),
        wrong("[{\"item\": \"a\", \"burn_in\": 99999999999999999999}]"),
        wrong("[null]"),
        wrong("\0"),
    ];
    insta::assert_snapshot!(all.join("\n"), @r"
    plan.yaml plans nothing: it has no entry
    plan.yaml plans nothing: it has no entry
    plan.yaml plans nothing: it has no entry
    plan.yaml plans nothing: it has no entry
    plan.yaml:1: a plan is a list of entries, not a table
    plan.yaml:1: a plan is a list of entries, not a table
    plan.yaml:2:3: duplicate mapping key: item
    plan.yaml:1:9: unclosed bracket '['
    plan.yaml:1: entry 1 (`a`): `burn-in-iterations` is missing
    plan.yaml:2:14: `item` stands twice
    plan.yaml:4: entry 1 (`a`): `instances` must be 1 or more
    plan.yaml:1: entry 1 (`a`): `burn_in` is too large: 1e20
    plan.yaml:1: entry 1: `item` is missing
    plan.yaml:1:1: unexpected character: `\u{0}'
    ");
}

#[test]
fn what_is_nested_without_end_is_refused() {
    let deep =
        |open: &str, close: &str| wrong(&[open.repeat(100_000), close.repeat(100_000)].concat());
    insta::assert_snapshot!(deep("[", "]"), @"plan.yaml:1:26: this is nested more than 24 deep");
    insta::assert_snapshot!(deep("{\"a\":[", "]}"), @"plan.yaml:1:78: this is nested more than 24 deep");
    insta::assert_snapshot!(deep("- ", ""), @"plan.yaml:1:49: this is nested more than 24 deep");
}

#[test]
fn a_file_that_is_not_there_is_named() {
    let error = PlanDocument::load(Path::new("none/plan.yaml")).expect_err("no file");
    assert_eq!(error.to_string(), "cannot read none/plan.yaml");
}

#[test]
fn both_flavours_are_written_in_block_style() {
    let document = PlanDocument {
        entries: sort_and_join(),
    };
    insta::assert_snapshot!(document.text(PlanFlavour::HailBatch), @r#"
    - item: "a.py::test_sort[10-é]"
      burn-in-iterations: 5
      mean: 11.41
      cv: 0.18
      config:
      - slowdown: 1.2
        instances: 15
        iterations: 10
      - slowdown: 2.0
        instances: 5
        iterations: 5
    - item: join
      burn-in-iterations: 0
      config:
      - slowdown: 1.05
        instances: 30
        iterations: 30
    "#);
    let other = document.text(PlanFlavour::HailBatch);
    assert_eq!(
        document.text(PlanFlavour::HailNotebook),
        other.replace("burn-in-iterations", "burn_in")
    );
    assert_eq!(PlanDocument::default().text(PlanFlavour::HailBatch), "[]\n");
}

/// What PyYAML makes of our files and we of its (`tests/fixtures/plan/README.md`).
#[test]
fn pyyaml_reads_what_we_write_and_we_read_what_it_writes() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/plan");
    let of = |name: &str| {
        let plan = PlanDocument::load(&fixtures.join(name)).expect("a plan");
        plan.document
    };
    let ours = of("ours.yaml");
    assert_eq!(ours.entries.len(), 25);
    assert_eq!(of("ours-by-pyyaml.json"), ours);
    assert_eq!(of("pyyaml.yaml"), ours);
    let text = std::fs::read_to_string(fixtures.join("ours.yaml")).expect("there");
    assert_eq!(ours.text(PlanFlavour::HailBatch), text);
}

fn any_entry() -> impl Strategy<Value = PlanEntry> {
    let amount = || proptest::option::of(prop_oneof![0.0..1e-3, 0.0..1e3, 0.0..=f64::MAX]);
    let slowdown = prop_oneof![1.000_000_1..2.0_f64, 1.1..f64::MAX];
    let configuration = (slowdown, 1..=MOST_INSTANCES, 1..=MOST_ITERATIONS)
        .prop_map(|(slowdown, n, m)| super::tests::configuration(slowdown, n, m));
    let item = prop_oneof![
        any::<String>(),
        "[a-z0-9 :#\\[\\]{},'\"\\\\\n\t~!&*|>%@`-]{1,12}",
        "(yes|No|null|~|1e3|0x1f|1_000|12:30:45|2026-11-22|\\.inf|<<|=|---|\\.\\.\\.|- a|\\? a)",
    ];
    let item = item.prop_filter("an item has a name", |it| !it.is_empty());
    (
        item,
        0..=MOST_ITERATIONS,
        amount(),
        amount(),
        vec(configuration, 1..4),
    )
        .prop_map(|(item, burn_in, mean, cv, configurations)| PlanEntry {
            item,
            burn_in,
            mean,
            cv,
            configurations,
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(entries in vec(any_entry(), 1..8)) {
        let mut document = PlanDocument { entries };
        let mut known = std::collections::BTreeSet::new();
        document.entries.retain(|it| known.insert(it.item.clone()));
        for flavour in [PlanFlavour::HailBatch, PlanFlavour::HailNotebook] {
            let text = document.text(flavour);
            let plan = read(&text).map_err(|error| TestCaseError::fail(format!("{error}\n{text}")))?;
            prop_assert_eq!(&plan.document, &document);
        }
    }

    #[test]
    fn no_text_is_too_odd(
        text in "(?s).{0,60}",
        at in 0.0..1.0_f64,
        middle in "(?s).{0,3}",
    ) {
        let known = PlanDocument { entries: sort_and_join() }.text(PlanFlavour::HailBatch);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "a place in a short text"
        )]
        let place = (at * known.len() as f64) as usize;
        let broken = match known.split_at_checked(place) {
            Some((begin, end)) => format!("{begin}{middle}{end}"),
            None => text.clone(),
        };
        for text in [text, broken] {
            if let Ok(plan) = read(&text) {
                prop_assert!(plan.document.entries.iter().all(|it| it.first().is_some()));
                let again = read(&plan.document.text(PlanFlavour::HailNotebook));
                prop_assert_eq!(again.map(|it| it.document), Ok(plan.document));
            }
        }
    }
}
