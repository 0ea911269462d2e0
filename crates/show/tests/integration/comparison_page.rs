//! What a comparison came to, as a chart and as pages of the report.

use std::collections::BTreeMap;
use std::path::Path;

use crate::compared::{compared, view};
use crate::report_files::{entry, files};
use crate::synthetic::{Recipe, Sessions, Source, measure};
use lapwing_analyse::judge::{CompareOptions, Comparison, Verdict, VerdictReason};
use lapwing_analyse::sample::BenchmarkData;
use lapwing_show::report::{ReportOptions, ReportWriter};
use lapwing_show::{ChartTheme, chart};

fn benchmarks(number: u32) -> Vec<BenchmarkData> {
    let mut sessions = Sessions::default();
    (0..number)
        .map(|number| {
            let recipe = Recipe {
                id: format!("it {number}"),
                sessions: if number % 6 == 5 { 1 } else { 2 },
                noise: (0.004, 0.004),
                ..Recipe::default()
            };
            measure(&recipe, &mut sessions)
        })
        .collect()
}

fn options() -> CompareOptions {
    CompareOptions {
        smallest_effect: Some(0.05),
        ..CompareOptions::default()
    }
}

fn by_wall_time(number: u32) -> Vec<Comparison> {
    let mut comparisons = compared(&benchmarks(number), &options());
    comparisons.retain(|it| it.subject.metric == "wall_time");
    comparisons
}

#[test]
fn a_chart_of_ratios_has_every_verdict_the_worst_first() {
    let comparisons = by_wall_time(6);
    let verdicts: Vec<Verdict> = comparisons.iter().map(|it| it.verdict).collect();
    use Verdict::{Equivalent, Improvement, Inconclusive, NotMeasured, Regression};
    assert_eq!(
        verdicts,
        [
            Equivalent,
            Regression,
            Equivalent,
            Improvement,
            Inconclusive,
            NotMeasured
        ]
    );
    let chart = chart::ratios(&comparisons, &options());
    insta::assert_snapshot!(format!("{}\n{}", chart.title, chart.subtitle), @"
    wall time: after / before
    A dot is the ratio, the bar its 95 % interval; right of 1× the candidate has more. Shaded: changes below 5 %. 1 comparison without a ratio is not drawn.
    ");
    let datasets = chart.option["dataset"].as_array().expect("datasets");
    let places: Vec<_> = datasets
        .iter()
        .map(|it| it["source"]["place"].to_string())
        .collect();
    assert_eq!(places, ["[0]", "[4]", "[2,3]", "[1]"]);
    let svg = chart.svg(ChartTheme::Light).expect("it draws");
    for text in [
        "regression",
        "improvement",
        "no change",
        "undecided",
        "it 4",
        "1×",
    ] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
}

#[test]
fn of_very_many_ratios_the_most_changed_are_drawn() {
    let chart = chart::ratios(&by_wall_time(120), &options());
    insta::assert_snapshot!(chart.subtitle, @"A dot is the ratio, the bar its 95 % interval; right of 1× the candidate has more. Shaded: changes below 5 %. The 50 most changed of 100 are drawn. 20 comparisons without a ratio are not drawn.");
    assert_eq!(
        chart.option["yAxis"][0]["axisLabel"]["formatter"]["names"]
            .as_array()
            .map(Vec::len),
        Some(50)
    );
}

#[test]
fn summaries_have_no_ratio_and_runs_taken_as_instances_have_one() {
    let of = |source| {
        let recipe = Recipe {
            sessions: 2,
            source,
            ..Recipe::default()
        };
        let data = measure(&recipe, &mut Sessions::default());
        let comparisons = compared(&[data], &options());
        let only_summaries = comparisons[0].reason == Some(VerdictReason::OnlySummaries);
        (only_summaries, comparisons[0].ratio.is_some())
    };
    assert_eq!(of(Source::Summaries("asv", 2)), (true, false));
    assert_eq!(of(Source::Hyperfine("instance")), (false, true));
}

#[test]
fn without_a_ratio_there_is_nothing_to_draw() {
    let chart = chart::ratios(&[], &options());
    assert_eq!(
        chart.subtitle,
        "Nothing to draw: no comparison has a ratio."
    );
    chart.svg(ChartTheme::Light).expect("it draws all the same");
}

/// Returns the files of a report with comparisons, by name.
fn report(directory: &Path, compare: bool) -> BTreeMap<String, String> {
    let options = ReportOptions {
        title: "Report".to_owned(),
        made: "for a test".to_owned(),
        rules: lapwing_analyse::clean::CleaningRules::default(),
        metrics: Vec::new(),
        detect: lapwing_show::report::DetectionTarget::default(),
        raw: true,
    };
    let benchmarks = benchmarks(6);
    let mut writer = ReportWriter::create(directory, options).expect("a new directory");
    if compare {
        writer.comparisons(view(&benchmarks));
    }
    for data in benchmarks {
        writer.add(vec![data]).expect("it writes");
    }
    writer.finish().expect("it writes");
    files(directory)
}

/// Returns a column of a side file.
fn column(files: &BTreeMap<String, String>, file: &str, name: &str) -> serde_json::Value {
    entry(files, file)[name].clone()
}

#[test]
fn the_page_of_comparisons_has_every_one_the_worst_first() {
    let directory = tempfile::tempdir().expect("a directory");
    let files = report(directory.path(), true);
    let text = |name: &str| {
        let column = column(&files, "compare", name);
        let texts = column.as_array().expect("a column").iter();
        let texts = texts.map(|it| it.as_str().expect("a text").to_owned());
        texts.collect::<Vec<_>>()
    };
    let rows: Vec<String> = text("id")
        .into_iter()
        .zip(text("metric"))
        .zip(text("ratio_text"))
        .zip(text("verdict"))
        .zip(text("why"))
        .map(|((((id, metric), ratio), verdict), why)| {
            format!("{id} | {metric} | {ratio} | {verdict} | {why}")
        })
        .collect();
    insta::assert_snapshot!(rows.join("\n"), @"
    it 1 | wall_time | 1.144× | regression | 
    it 4 | wall_time | 1.047× | regression | 
    it 1 | peak_memory | 1.144× | regression | 
    it 4 | peak_memory | 1.047× | regression | 
    it 3 | wall_time | 0.858× | improvement | 
    it 3 | peak_memory | 0.858× | improvement | 
    it 5 | wall_time | – | not_measured | only in the candidate
    it 5 | peak_memory | – | not_measured | only in the candidate
    it 0 | wall_time | 1.002× | equivalent | at most 0.92 %
    it 2 | wall_time | 1.000× | equivalent | at most 0.52 %
    it 0 | peak_memory | 1.002× | equivalent | at most 0.92 %
    it 2 | peak_memory | 1.000× | equivalent | at most 0.52 %
    ");
    let page = &files["compare.html"];
    let said = "4 regressions, 2 improvements, 2 not measured, 4 unchanged within 0.92 %</h1>";
    assert!(page.contains(said), "{page}");
    assert!(page.contains("12 comparisons of 6 benchmarks, false discoveries at most 5 %."));
    assert!(page.contains("<strong>1.02× [1.01, 1.03]</strong> (geometric mean of 8 benchmarks)"));
}

#[test]
fn verdicts_stand_in_the_index_and_with_the_benchmark() {
    let directory = tempfile::tempdir().expect("a directory");
    let files = report(directory.path(), true);
    assert_eq!(
        column(&files, "index.m0", "verdict"),
        serde_json::json!([
            "regression",
            "regression",
            "equivalent",
            "equivalent",
            "improvement",
            "not_measured"
        ])
    );
    assert!(files["index.html"].contains("data-sort=\"verdict\""));
    let slugs = column(&files, "index.m0", "slug");
    let page = &files[&format!("benchmark/{}.html", slugs[5].as_str().expect("a slug"))];
    let said = "<span class=\"chip not_measured\"><span aria-hidden=\"true\">–</span> not measured</span> wall time <strong>no ratio</strong>, after against before: only in the candidate.";
    assert!(page.contains(said), "{page}");
    assert!(page.contains("href=\"../compare.html#q=it%205\""), "{page}");
}

#[test]
fn a_later_report_without_comparisons_has_no_page_of_them() {
    let directory = tempfile::tempdir().expect("a directory");
    let with = report(directory.path(), true);
    let without = report(directory.path(), false);
    assert!(with.contains_key("compare.html") && !without.contains_key("compare.html"));
    assert!(with["cleaning.html"].contains("compare.html"));
    for name in [
        "index.html",
        "cleaning.html",
        "burn-in.html",
        "variability.html",
    ] {
        assert!(!without[name].contains("compare.html"), "{name}");
    }
}
