//! What a comparison came to, as a chart and as pages of the report.

#[path = "../examples/report_fixture/compared.rs"]
mod compared;
#[path = "../examples/report_fixture/synthetic.rs"]
mod synthetic;

use compared::compared;
use lapwing_core::judge::{CompareOptions, Comparison, Reason, Verdict};
use lapwing_core::record::BenchmarkData;
use lapwing_core::show::{Theme, chart};
use synthetic::{Recipe, Sessions, Source, measure};

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
    A dot is the ratio, the bar its 95 % interval; right of 1× the candidate has more. Shaded: changes below 5.0 %, which do not matter. 1 comparison without a ratio is not drawn.
    ");
    let datasets = chart.option["dataset"].as_array().expect("datasets");
    let places: Vec<_> = datasets
        .iter()
        .map(|it| it["source"]["place"].to_string())
        .collect();
    assert_eq!(places, ["[0]", "[4]", "[2,3]", "[1]"]);
    let svg = chart.svg(Theme::Light).expect("it draws");
    for text in [
        "regression",
        "improvement",
        "equivalent",
        "inconclusive",
        "it 4",
        "1×",
    ] {
        assert!(svg.contains(&format!(">{text}</text>")), "{text}");
    }
}

#[test]
fn of_very_many_ratios_the_most_changed_are_drawn() {
    let chart = chart::ratios(&by_wall_time(120), &options());
    insta::assert_snapshot!(chart.subtitle, @"A dot is the ratio, the bar its 95 % interval; right of 1× the candidate has more. Shaded: changes below 5.0 %, which do not matter. The 50 most changed of 100 are drawn. 20 comparisons without a ratio are not drawn.");
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
        (comparisons[0].reason, comparisons[0].ratio.is_some())
    };
    assert_eq!(
        of(Source::Summaries("asv", 2)),
        (Some(Reason::OnlySummaries), false)
    );
    assert_eq!(of(Source::Hyperfine("instance")), (None, true));
}

#[test]
fn without_a_ratio_there_is_nothing_to_draw() {
    let chart = chart::ratios(&[], &options());
    assert_eq!(
        chart.subtitle,
        "Nothing to draw: no comparison has a ratio."
    );
    chart.svg(Theme::Light).expect("it draws all the same");
}
