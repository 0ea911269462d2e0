//! Charts as files: the same everywhere and every time, complete, and only in forms we know.

use crate::synthetic;

use std::sync::Arc;

use lapwing_analyse::clean::{IterationState, SteadyFrom, find_steady};
use lapwing_analyse::judge::{Estimate, SampleSize};
use lapwing_analyse::sample::{BenchmarkData, HistoryPosition, RunOrder, Sample};
use lapwing_model::Id;
use lapwing_show::chart::{
    self, BarFigures, BurnInMarks, ComparedValue, HistoryPoint, LevelMark, RunName, RunNumber,
};
use lapwing_show::{BenchmarkMeaning, Chart, ChartTheme, MetricSample, RunSummary, VariantColours};
use lapwing_stats::steady::BurnInOptions;
use serde_json::json;

fn measure(recipe: &synthetic::Recipe) -> BenchmarkData {
    synthetic::measure(recipe, &mut synthetic::Sessions::default())
}

fn sample(data: &BenchmarkData) -> (MetricSample<'_>, VariantColours) {
    let sample = MetricSample::of(data, "wall_time");
    let mut colours = VariantColours::default();
    for variant in sample.variants() {
        colours.number(variant);
    }
    (sample, colours)
}

#[test]
fn a_history_that_was_measured_backwards_is_drawn_forwards() {
    let recipe = synthetic::Recipe {
        sessions: 3,
        ..synthetic::Recipe::default()
    };
    let mut data = measure(&recipe);
    let versions = |data: &BenchmarkData| -> Vec<String> {
        let runs = MetricSample::of(data, "wall_time").runs;
        runs.into_iter().filter_map(|run| run.version).collect()
    };
    assert_eq!(versions(&data), ["1.0", "1.1", "1.2"]);
    for instance in &mut data.instances {
        let version = &mut Arc::make_mut(&mut instance.run).version;
        version.date = match version.name.as_deref() {
            Some("1.0") => Some("2026-03-01T00:30:00+02:00".to_owned()),
            Some("1.1") => Some("2026-02-28T23:00:00Z".to_owned()),
            Some(_) | None => Some("2026-01-31".to_owned()),
        };
    }
    assert_eq!(versions(&data), ["1.2", "1.0", "1.1"]);
    // Where nobody knows when a version is of, it stands behind the newest that was measured before.
    let run = data.instances[0].run.id;
    for instance in data.instances.iter_mut().filter(|it| it.run.id == run) {
        Arc::make_mut(&mut instance.run).version.date = None;
    }
    assert_eq!(versions(&data), ["1.0", "1.2", "1.1"]);
}

fn compared(name: &str, value: f64) -> ComparedValue {
    ComparedValue {
        name: name.to_owned(),
        colour: 0,
        estimate: Estimate {
            value,
            interval: Some(lapwing_stats::Interval {
                lower: value * 0.9,
                upper: value * 1.1,
            }),
            size: SampleSize::of([5; 5]),
            cv: None,
            between: None,
            within: None,
        },
    }
}

fn comparison(names: &[&str]) -> Chart {
    let rows: Vec<ComparedValue> = names.iter().map(|name| compared(name, 1.3)).collect();
    chart::comparison(&"wall_time".to_owned(), "s", &rows)
}

#[test]
fn a_chart_is_the_same_bytes_whatever_was_drawn_before_it() {
    let data = measure(&synthetic::Recipe::default());
    let (sample, colours) = sample(&data);
    let draw = || {
        chart::iterations(&sample, &sample.runs, &colours)
            .svg(ChartTheme::Light)
            .expect("it draws")
    };
    let first = draw();
    comparison(&["another"])
        .svg(ChartTheme::Dark)
        .expect("it draws");
    assert_eq!(first, draw());
    let elsewhere = std::thread::scope(|scope| scope.spawn(draw).join().expect("no panic"));
    assert_eq!(first, elsewhere);
}

#[test]
fn a_picture_says_title_units_and_names() {
    let svg = comparison(&["gzip -6", "<b>&\"zstd\""])
        .svg(ChartTheme::Light)
        .expect("it draws");
    for text in [
        "wall time: comparison",
        "wall time (s)",
        ">gzip -6<",
        "&lt;b&gt;&amp;",
        "1.30 s  [1.17–1.43]",
    ] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    assert!(svg.starts_with("<svg "), "{svg}");
}

#[test]
fn burn_in_is_hollow_and_other_iterations_that_do_not_count_are_triangles() {
    let data = measure(&synthetic::Recipe::default());
    let (sample, colours) = sample(&data);
    let chart = chart::iterations(&sample, &sample.runs, &colours);
    let symbols = &chart.option["series"][0]["symbol"]["symbols"];
    let of = |wanted: IterationState| {
        let at = IterationState::ALL
            .iter()
            .position(|state| *state == wanted)
            .expect("one of all");
        symbols[at].as_str()
    };
    assert_eq!(of(IterationState::Steady), Some("circle"));
    assert_eq!(of(IterationState::BurnIn), Some("ring"));
    assert_eq!(of(IterationState::Lost), Some("triangle"));
    assert!(chart.subtitle.contains("hollow: burn-in"));
}

#[test]
fn every_text_of_a_picture_lies_inside_it() {
    let long = "benchmarks/io/test_parquet.py::TestRoundTrip::test_partitioned_dataset_with_statistics[snappy-10-1000]";
    let svg = comparison(&[long, "short"])
        .svg(ChartTheme::Light)
        .expect("it draws");
    assert!(svg.contains("…"), "shortened: {svg}");
    let positions = regex::Regex::new(r#"text-anchor="end"[^>]*transform="translate\(([0-9.-]+)"#)
        .expect("a regular expression");
    let mut found = 0;
    for capture in positions.captures_iter(&svg) {
        let right: f64 = capture[1].parse().expect("a number");
        assert!(right > 300.0, "room for the shortened name left of {right}");
        found += 1;
    }
    assert!(found >= 2, "names are right-aligned at the axis: {svg}");
}

#[test]
fn the_extension_says_the_form_of_the_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let chart = comparison(&["a", "b"]);
    for (name, begin) in [
        ("chart.svg", b"<svg ".as_slice()),
        ("chart.PNG", b"\x89PNG\r\n"),
        ("chart.html", b"<!DOCTYPE html>"),
    ] {
        let path = directory.path().join(name);
        chart.save(&path).expect("it saves");
        let bytes = std::fs::read(&path).expect("it is there");
        assert!(bytes.starts_with(begin), "{name}: {:?}", bytes.get(..20));
    }
    let error = chart
        .save(std::path::Path::new("chart.jpeg"))
        .expect_err("no such form");
    assert_eq!(
        error.to_string(),
        "`chart.jpeg` does not end in .svg, .png or .html"
    );
}

fn point(number: i64, of: RunNumber) -> HistoryPoint {
    HistoryPoint {
        place: HistoryPosition {
            commit_number: 0,
            version_date: None,
            rank: 0,
            measured: jiff::Timestamp::from_second(number).expect("a time"),
            session: Id::derived(&[&number.to_le_bytes()]),
            first_run: Id::derived(&[&number.to_le_bytes()]),
            order: RunOrder::default(),
        },
        place_name: format!("day {number}"),
        undated: true,
        retired: false,
        run: RunName {
            id: format!("run{number}"),
            started: format!("2026-01-0{number}T10:00:00Z"),
            session: "heron".to_owned(),
            version: String::new(),
        },
        variant: "default".to_owned(),
        number: Some(of),
        left_out: String::new(),
        failures: 0,
        release: None,
        meaning: BenchmarkMeaning::default(),
        link: String::new(),
    }
}

#[test]
fn a_history_marks_failures_releases_and_epochs() {
    let of = |value: f64| RunNumber::Estimate(compared("it", value).estimate);
    let named = |number: i64, release: &str, fingerprint: &str| HistoryPoint {
        release: Some(release.to_owned()),
        meaning: BenchmarkMeaning {
            epoch: Some(fingerprint.to_owned()),
            ..BenchmarkMeaning::default()
        },
        link: format!("#trace=run{number}"),
        ..point(number, of(1.0))
    };
    let failed = HistoryPoint {
        number: None,
        failures: 2,
        ..named(3, "2.0", "a")
    };
    let points = [
        named(1, "1.0", "a"),
        named(2, "2.0", "a"),
        failed,
        named(4, "1.0", "b"),
        // What comes back is another change.
        named(5, "2.0", "a"),
        // A line of its own, which was another thing all the time.
        HistoryPoint {
            variant: "fast".to_owned(),
            ..named(5, "2.0", "c")
        },
    ];
    let chart = chart::history(
        &"wall_time".to_owned(),
        "s",
        &points,
        &[],
        &VariantColours::default(),
    );
    assert!(
        chart.subtitle.ends_with(
            "× at the foot is a run with failures. Dotted: the first run of a version; solid: the \
             benchmark itself changed. Click a point to see its run."
        ),
        "{}",
        chart.subtitle
    );
    // What is known of runs is said once: links are what stands before their ids.
    assert!(chart.links.is_empty());
    let run = &chart.option["tooltip"]["formatter"]["fields"][0];
    assert_eq!(run["link"], "#trace=");
    assert_eq!(
        run["heads"],
        json!(["started", "session", "variant", "version", "run"])
    );
    assert_eq!(
        run["joined"][4],
        json!({"packed": ["00run1", "302", "303", "304", "305", ""]})
    );
    let elsewhere = HistoryPoint {
        link: "other.html#run5".to_owned(),
        ..named(5, "2.0", "b")
    };
    let linked = [named(1, "1.0", "a"), elsewhere];
    let other = chart::history(
        &"wall_time".to_owned(),
        "s",
        &linked,
        &[],
        &VariantColours::default(),
    );
    assert_eq!(other.links, ["#trace=run1", "other.html#run5"]);
    let datasets = &chart.option["dataset"];
    assert_eq!(datasets[0]["source"]["place"], json!([0, 1, 3, 4]));
    assert_eq!(datasets[1]["source"]["place"], json!([4]));
    assert_eq!(datasets[2]["source"]["place"], json!([2]));
    assert_eq!(datasets[2]["source"]["failures"], json!([2]));
    assert_eq!(datasets[2]["source"]["above"], json!([0]));
    let series = chart.option["series"].as_array().expect("series");
    let marks = series.last().expect("a series")["markLine"]["data"].clone();
    let shown: Vec<_> = marks
        .as_array()
        .expect("marks")
        .iter()
        .map(|mark| (mark["xAxis"].clone(), mark["label"]["formatter"].clone()))
        .collect();
    assert_eq!(
        shown,
        [
            (json!(0), json!("1.0")),
            (json!(1), json!("2.0")),
            (json!(3), json!("changed")),
            (json!(4), json!("changed")),
        ]
    );
    let svg = chart.svg(ChartTheme::Light).expect("it draws");
    for text in ["changed", "2.0"] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
}

#[test]
fn a_bar_tells_the_median_and_the_spread() {
    let bar = BarFigures::new(&[1.0, 2.0, 6.0]).expect("a bar");
    assert_eq!(
        (bar.count, bar.min, bar.median, bar.mean, bar.max),
        (3, 1.0, 2.0, 3.0, 6.0)
    );
    assert!((bar.sd.expect("a spread") - 7.0_f64.sqrt()).abs() < 1e-12);
    assert_eq!(BarFigures::new(&[]), None);
    assert_eq!(BarFigures::new(&[4.0]).and_then(|bar| bar.sd), None);
}

#[test]
fn summaries_are_hollow_and_lie_on_a_line_of_their_own() {
    let summary = |value: f64| {
        RunNumber::Summary(RunSummary {
            value,
            spread: None,
            n: Some(30),
            statistic: "median".to_owned(),
            instances: 1,
        })
    };
    let estimate = RunNumber::Estimate(compared("it", 1.2).estimate);
    let points = [
        point(1, summary(1.0)),
        point(2, summary(1.1)),
        point(3, estimate),
    ];
    let draw = |points: &[HistoryPoint]| {
        chart::history(
            &"wall_time".to_owned(),
            "s",
            points,
            &[],
            &VariantColours::default(),
        )
    };
    let alone = draw(&points[..2]);
    assert_eq!(
        (alone.title.as_str(), alone.subtitle.as_str()),
        (
            "wall time: run by run, as the source summarised it",
            "Hollow: 2 summaries that the source kept instead of samples (median), without an interval. \
             In order of time."
        )
    );
    assert_eq!(alone.option["series"].as_array().map(Vec::len), Some(1));
    assert_eq!(alone.option["series"][0]["symbol"]["$function"], "ring");
    let svg = draw(&points).svg(ChartTheme::Dark).expect("it draws");
    for name in ["summaries", "means of samples", "day 3"] {
        assert!(svg.contains(name), "{name} in {svg}");
    }
}

#[test]
fn a_metric_of_summaries_has_no_iterations_to_draw() {
    use synthetic::Source;
    for source in [
        Source::Summaries("asv", 9),
        Source::Hyperfine("instance"),
        Source::Hyperfine("iteration"),
    ] {
        let recipe = synthetic::Recipe {
            source,
            ..synthetic::Recipe::default()
        };
        let data = synthetic::measure(&recipe, &mut synthetic::Sessions::default());
        let sample = MetricSample::of(&data, "user_time");
        assert!(sample.has_values());
        for run in &sample.runs {
            let summary = sample.summary(run).expect("a summary");
            assert_eq!(summary.statistic, "median");
            assert!(run.instance_means().is_empty(), "{source:?}");
        }
    }
}

#[test]
fn a_chart_without_data_says_so_and_still_draws() {
    let data = measure(&synthetic::Recipe {
        sessions: 0,
        ..synthetic::Recipe::default()
    });
    let (sample, colours) = sample(&data);
    let chart = chart::distribution(&sample, &sample.runs.iter().collect::<Vec<_>>(), &colours);
    assert_eq!(chart.subtitle, "Nothing to draw: no iteration counts.");
    for chart in [
        chart,
        chart::iterations(&sample, &sample.runs, &colours),
        chart::instance_means(&sample, &sample.runs, &colours),
        chart::history(&sample.name, "s", &[], &[], &colours),
        chart::comparison(&sample.name, "s", &[]),
    ] {
        assert!(
            chart.subtitle.starts_with("Nothing to draw"),
            "{}",
            chart.subtitle
        );
        chart.svg(ChartTheme::Light).expect("it draws");
    }
}

#[test]
fn what_is_too_much_to_draw_is_thinned_and_said() {
    let data = measure(&synthetic::Recipe {
        sessions: 2,
        instances: 3,
        iterations: 2_000,
        burn_in: 0,
        ..synthetic::Recipe::default()
    });
    let (sample, colours) = sample(&data);
    let chart = chart::iterations(&sample, &sample.runs, &colours);
    assert!(
        chart.subtitle.ends_with(
            "4,000 of 12,000 dots drawn; the smallest and largest of each stretch are among them."
        ),
        "{}",
        chart.subtitle
    );
}

/// How the synthetic benchmark gets steady, and its chart with these marks.
fn burn_in_chart(recipe: &synthetic::Recipe, start: SteadyFrom, found: Option<u32>) -> Chart {
    let data = synthetic::measure(recipe, &mut synthetic::Sessions::default());
    let steady = find_steady(
        &Sample::of_all(&data),
        "wall_time",
        &BurnInOptions::default(),
    );
    let marks = BurnInMarks {
        subject: "test_join",
        unit: "s",
        start,
        found,
    };
    chart::burn_in(&steady, &marks)
}

#[test]
fn a_burn_in_is_shaded_up_to_its_marked_end_and_what_was_found_instead_is_dashed() {
    let recipe = synthetic::Recipe {
        sessions: 1,
        instances: 8,
        iterations: 60,
        warm_up: 3.0,
        ..synthetic::Recipe::default()
    };
    let chart = burn_in_chart(&recipe, SteadyFrom::Index(12), Some(5));
    assert_eq!(
        (chart.title.as_str(), chart.subtitle.as_str()),
        (
            "test_join: steady from iteration 12",
            "Thin: 8 instances; thick: their median. Diamonds: where each becomes steady. Shaded: burn-in, which does not count."
        )
    );
    let labels: Vec<&str> = chart.views.iter().map(|it| it.label.as_str()).collect();
    assert_eq!(labels, ["all values", "steady values"]);
    let svg = chart.svg(ChartTheme::Light).expect("it draws");
    for text in [
        "steady from 12",
        "found 5",
        "wall time (s)",
        "becomes steady",
    ] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    assert!(!svg.contains("never steady"), "{svg}");
    let as_found = burn_in_chart(&recipe, SteadyFrom::Index(5), Some(5));
    let svg = as_found.svg(ChartTheme::Dark).expect("it draws");
    assert!(!svg.contains("found 5"), "{svg}");
}

#[test]
fn a_benchmark_without_a_steady_state_says_so_in_the_title_of_its_burn_in() {
    let recipe = synthetic::Recipe {
        sessions: 10,
        instances: 5,
        iterations: 400,
        ..synthetic::Recipe::default()
    };
    let chart = burn_in_chart(&recipe, SteadyFrom::Never, None);
    assert_eq!(chart.title, "test_join: never reaches a steady state");
    assert!(
        chart
            .subtitle
            .starts_with("Thin: 40 of 50 instances, evenly chosen"),
        "{}",
        chart.subtitle
    );
    assert!(chart.subtitle.contains("dots drawn"), "{}", chart.subtitle);
    assert!(chart.views.is_empty());
    let nothing = synthetic::Recipe {
        sessions: 0,
        ..synthetic::Recipe::default()
    };
    let chart = burn_in_chart(&nothing, SteadyFrom::Recorded, None);
    assert!(chart.subtitle.starts_with("Nothing to draw"));
    chart.svg(ChartTheme::Light).expect("it draws");
}

#[test]
fn changes_of_a_history_stand_at_its_runs_and_labels_beside_each_other() {
    let estimate = |value: f64| {
        RunNumber::Estimate(Estimate {
            value,
            interval: None,
            size: SampleSize::of([1]),
            cv: None,
            between: None,
            within: None,
        })
    };
    let points: Vec<HistoryPoint> = [1, 2, 4, 5].map(|day| point(day, estimate(0.002))).into();
    let place = |day: i64| point(day, estimate(0.002)).place;
    let mark = |next: i64, label: &str| LevelMark {
        variant: "default".to_owned(),
        span: [place(1), place(5)],
        change: [place(next - 1), place(next)],
        range: [place(next), place(5)],
        levels: [0.001, 0.002],
        tone: "worse",
        label: label.to_owned(),
        text: format!("{label}, a text"),
    };
    // A run without a point, as the third, belongs to the next one.
    let changes = [mark(4, "+100 %"), mark(4, "+99 %"), mark(5, "+1 %")];
    let colours = VariantColours::default();
    let chart = chart::history(&"wall_time".to_owned(), "s", &points, &changes, &colours);
    let series = chart.option["series"].as_array().unwrap().last().unwrap();
    assert_eq!(
        series["data"][0],
        json!([0, 0.0, 2.0, 2.0, 3.0, 2.0, 3.0, 1.0, 2.0])
    );
    let lines: Vec<&serde_json::Value> = (0..3)
        .map(|at| &series["renderItem"]["looks"][at]["line"])
        .collect();
    assert_eq!(lines, [0, 1, 0]);
    let fields = chart.option["tooltip"]["formatter"]["fields"].as_array();
    assert_eq!(fields.unwrap().last().unwrap()["names"][1], "+99 %, a text");
    assert!(chart.subtitle.contains("Thick: the level before and after"));
    let svg = chart.svg(ChartTheme::Dark).expect("it draws");
    assert!(svg.contains("+100 %") && svg.contains("#ff9a8f"), "{svg}");
    let plain = chart::history(&"wall_time".to_owned(), "s", &points, &[], &colours);
    assert!(!plain.subtitle.contains("Thick"));
}
