//! The charts and the page of what could be detected.

use std::collections::BTreeSet;
use std::fs;

use crate::synthetic::{Recipe, Sessions, measure};
use lapwing_analyse::clean::CleaningRules;
use lapwing_analyse::explain::{Detectability, NoiseMetrics, detectability};
use lapwing_analyse::judge::{DetectionOptions, WantedBasis};
use lapwing_analyse::sample::{BenchmarkData, SettingChoice};
use lapwing_show::report::{self, DetectionTarget, ReportOptions};
use lapwing_show::{Chart, ChartTheme, DetectionView, chart};
use lapwing_stats::{DetectionMethod, Strategy};
use lapwing_testing::{report_data, report_entry};
use serde_json::{Value, json};

/// A benchmark of one session, with this noise between instances and within them.
fn benchmark(id: &str, instances: u32, noise: (f64, f64)) -> BenchmarkData {
    let recipe = Recipe {
        id: id.to_owned(),
        sessions: 1,
        instances,
        noise,
        metrics: 1,
        ..Recipe::default()
    };
    measure(&recipe, &mut Sessions::default())
}

fn by_formula() -> DetectionOptions {
    DetectionOptions {
        methods: vec![DetectionMethod::Paired],
        strategies: vec![Strategy::DifferentInstances],
        basis: WantedBasis::ClosedForm,
        ..DetectionOptions::default()
    }
}

fn found(benchmarks: Vec<BenchmarkData>, options: &DetectionOptions) -> Vec<Detectability> {
    let metrics = NoiseMetrics::default();
    let rules = CleaningRules::default();
    benchmarks
        .into_iter()
        .flat_map(|data| {
            detectability(&data, &rules, SettingChoice::Latest, &metrics, options).rows
        })
        .collect()
}

fn draw(rows: &[Detectability], options: &DetectionOptions) -> Chart {
    let view = DetectionView::of(options, 1.05, 0.95);
    chart::detection(rows, &options.grid, view)
}

/// A line for each row of cells, from the top of the picture.
fn cells(chart: &Chart, from_top: bool) -> String {
    let source = &chart.option["dataset"][0]["source"];
    let texts = &chart.option["series"][0]["renderItem"]["names"];
    let rows: BTreeSet<u64> = source["y"]
        .as_array()
        .expect("a column")
        .iter()
        .filter_map(Value::as_u64)
        .collect();
    let mut lines: Vec<String> = rows
        .iter()
        .map(|row| {
            let at = (0..texts.as_array().map_or(0, Vec::len))
                .filter(|at| source["y"][at] == json!(row));
            let cell = |at: usize| {
                let frame = if source["able"][at] == json!(1) {
                    "*"
                } else {
                    ""
                };
                format!(
                    "{}{frame}/{}",
                    texts[at].as_str().unwrap_or("?"),
                    source["shade"][at]
                )
            };
            at.map(cell).collect::<Vec<_>>().join("  ")
        })
        .collect();
    if !from_top {
        lines.reverse();
    }
    lines.join("\n")
}

#[test]
fn one_benchmark_has_a_heat_map_and_power_curves() {
    let options = by_formula();
    let rows = found(vec![benchmark("test_join", 12, (0.02, 0.03))], &options);
    let chart = draw(&rows, &options);
    insta::assert_snapshot!(format!("{}\n{}\n\n{}", chart.title, chart.subtitle, cells(&chart, false)), @"
    test_join detects 5 % from 10 × 5 on
    Minimal detectable slowdown with instances × iterations per side (power 95 %, by the test of lapwing compare (paired), different instances on the two sides (ibs)). The more a cell stands out, the larger it is; framed: 5 % is detected. ~: by formula. Below: how probably each slowdown is detected.

    ~2.3 %*/2  ~1.8 %*/2  ~1.5 %*/1  ~1.4 %*/1  ~1.3 %*/1
    ~2.6 %*/3  ~2.0 %*/2  ~1.8 %*/1  ~1.6 %*/1  ~1.5 %*/1
    ~3.1 %*/3  ~2.4 %*/2  ~2.1 %*/2  ~1.9 %*/2  ~1.8 %*/2
    ~4.0 %*/4  ~3.1 %*/3  ~2.7 %*/3  ~2.4 %*/2  ~2.3 %*/2
    ~7.0 %/5  ~5.3 %/5  ~4.6 %*/4  ~4.2 %*/4  ~4.0 %*/4
    ");
    let curves = chart.option["dataset"]
        .as_array()
        .expect("a list")
        .iter()
        .skip(1);
    let ends: Vec<String> = curves
        .zip(chart.option["legend"]["data"].as_array().expect("names"))
        .map(|(curve, name)| {
            let source = &curve["source"];
            let all = source["rate"].as_array().expect("a column").len();
            let at = |position: usize| {
                format!(
                    "{}: {}",
                    source["slowdown"][position], source["rate"][position]
                )
            };
            format!("{name} {all} {}  {}  {}", at(0), at(50), at(100))
        })
        .collect();
    insta::assert_snapshot!(ends.join("\n"), @r#"
    "5 × 5" 101 0: 5  4.25098: 62.8033  8.50197: 99
    "10 × 10" 101 0: 5  4.25098: 99.8639  8.50197: 100
    "15 × 15" 101 0: 5  4.25098: 100  8.50197: 100
    "20 × 20" 101 0: 5  4.25098: 100  8.50197: 100
    "25 × 25" 101 0: 5  4.25098: 100  8.50197: 100
    "#);
    let svg = chart.svg(ChartTheme::Light).expect("it draws");
    for text in [
        "test_join detects 5 %",
        "iterations of each instance",
        "instances per side",
        "slowdown (%)",
        "detection rate (%)",
        "wanted power 95 %",
        ">5 %<",
        ">25 × 25<",
    ] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
}

#[test]
fn what_was_simulated_is_marked_off_from_what_is_by_formula() {
    let mut options = DetectionOptions {
        basis: WantedBasis::Both,
        ..by_formula()
    };
    options.grid.instances = vec![5, 20];
    options.grid.iterations = vec![2, 5];
    let rows = found(vec![benchmark("test_join", 12, (0.001, 0.001))], &options);
    let chart = draw(&rows, &options);
    let texts = &chart.option["series"][0]["renderItem"]["names"];
    let is_marked: Vec<bool> = texts
        .as_array()
        .expect("texts")
        .iter()
        .map(|it| it.as_str().is_some_and(|it| it.starts_with('~')))
        .collect();
    assert_eq!(is_marked, [false, false, true, true], "{texts}");
    let hover = &chart.option["series"][0]["tooltip"]["formatter"]["fields"][1]["names"];
    let hover: Vec<&str> = hover
        .as_array()
        .expect("texts")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert!(
        hover[0].ends_with(", 100 experiments") && hover[0].contains('['),
        "{hover:?}"
    );
    assert!(hover[3].ends_with(", by formula"), "{hover:?}");
}

#[test]
fn of_several_those_that_cannot_detect_enough_stand_on_top() {
    let options = by_formula();
    let benchmarks = vec![
        benchmark("quiet", 8, (0.001, 0.002)),
        benchmark("noisy", 8, (0.2, 0.02)),
        benchmark("single", 1, (0.01, 0.01)),
        benchmark("middling", 8, (0.02, 0.02)),
        benchmark("very noisy", 8, (0.4, 0.1)),
    ];
    let chart = draw(&found(benchmarks, &options), &options);
    let names = &chart.option["yAxis"]["data"];
    assert_eq!(names, &json!(["very noisy", "noisy", "middling", "quiet"]));
    let columns = &chart.option["xAxis"]["data"];
    assert_eq!(
        columns,
        &json!([
            "5 × 5", "10 × 10", "5 × 25", "25 × 5", "15 × 15", "20 × 20", "25 × 25"
        ])
    );
    insta::assert_snapshot!(format!("{}\n{}\n\n{}", chart.title, chart.subtitle, cells(&chart, true)), @"
    2 of 5 benchmarks can detect 5 % with at most 25 instances × 25 iterations per side; 1 with too few measurements
    Minimal detectable slowdown with instances × iterations per side (power 95 %, by the test of lapwing compare (paired), different instances on the two sides (ibs)). The more a cell stands out, the larger it is; framed: 5 % is detected. ~: by formula. 4 of 5 rows drawn; the others have too few measurements.

    ~181 %/9  ~82 %/9  ~178 %/9  ~42 %/9  ~59 %/9  ~48 %/9  ~42 %/9
    ~127 %/9  ~61 %/9  ~126 %/9  ~32 %/9  ~45 %/9  ~37 %/9  ~32 %/9
    ~6.5 %/5  ~2.8 %*/3  ~3.4 %*/3  ~2.2 %*/2  ~1.8 %*/2  ~1.4 %*/1  ~1.1 %*/0
    ~5.4 %/5  ~2.2 %*/2  ~2.4 %*/2  ~1.8 %*/2  ~1.4 %*/1  ~1.0 %*/0  ~0.80 %*/0
    ");
}

#[test]
fn more_benchmarks_than_fit_are_counted() {
    let options = by_formula();
    let benchmarks = (0..144).map(|number| {
        benchmark(
            &format!("test_{number}"),
            3,
            (0.002 + 0.002 * f64::from(number), 0.01),
        )
    });
    let chart = draw(&found(benchmarks.collect(), &options), &options);
    let drawn = chart.option["yAxis"]["data"].as_array().map(Vec::len);
    assert_eq!((drawn, chart.height), (Some(100), 2_676));
    assert!(
        chart
            .subtitle
            .ends_with("100 of 144 rows drawn, those first that cannot detect it."),
        "{}",
        chart.subtitle
    );
}

#[test]
fn where_too_little_was_measured_the_chart_says_what_it_takes() {
    let options = by_formula();
    for rows in [
        Vec::new(),
        found(vec![benchmark("single", 1, (0.01, 0.01))], &options),
    ] {
        let chart = draw(&rows, &options);
        assert_eq!(
            chart.subtitle,
            "Nothing to draw: detection needs three instances with two iterations each, and positive values."
        );
        chart.svg(ChartTheme::Dark).expect("it draws");
    }
}

/// Returns red, green and blue of `#rrggbb`, or of `rgb(r,g,b)`.
fn luminance(colour: &str) -> f64 {
    let channels: Vec<f64> = match colour.strip_prefix('#') {
        Some(digits) => (0..3)
            .map(|at| u8::from_str_radix(&digits[2 * at..2 * at + 2], 16).expect("a colour"))
            .map(f64::from)
            .collect(),
        None => regex::Regex::new(r"\d+")
            .expect("a regular expression")
            .find_iter(colour)
            .map(|it| it.as_str().parse().expect("a number"))
            .collect(),
    };
    let linear = channels.iter().map(|it| match it / 255.0 {
        low if low <= 0.04045 => low / 12.92,
        high => ((high + 0.055) / 1.055).powf(2.4),
    });
    linear
        .zip([0.2126, 0.7152, 0.0722])
        .map(|(it, weight)| it * weight)
        .sum()
}

#[test]
fn what_is_written_in_a_cell_can_be_read_on_every_shade() {
    let options = by_formula();
    let benchmarks = (0..12).map(|number| {
        benchmark(
            &format!("test_{number}"),
            5,
            (0.001 * 1.6_f64.powi(number), 0.0),
        )
    });
    let chart = draw(&found(benchmarks.collect(), &options), &options);
    let shades: BTreeSet<String> = chart.option["dataset"][0]["source"]["shade"]
        .as_array()
        .expect("a column")
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(shades.len(), 10, "{shades:?}");
    let cell = regex::Regex::new(r#"<path d="[^"]*" fill="([^"]+)"[^>]*></path>(?:\s*<path d="[^"]*" fill="none"[^>]*></path>)?\s*<text[^>]* fill="([^"]+)"[^>]*>~[^<]*%</text>"#)
        .expect("a regular expression");
    for theme in [ChartTheme::Light, ChartTheme::Dark] {
        let svg = chart.svg(theme).expect("it draws");
        let pairs: Vec<(String, String)> = cell
            .captures_iter(&svg)
            .map(|it| (it[1].to_owned(), it[2].to_owned()))
            .collect();
        assert_eq!(pairs.len(), 12 * 7, "{svg}");
        for (fill, text) in pairs {
            let (one, other) = (luminance(&fill), luminance(&text));
            let contrast = (one.max(other) + 0.05) / (one.min(other) + 0.05);
            // What WCAG 2 asks of small text.
            assert!(contrast >= 4.5, "{text} on {fill}: {contrast}");
        }
    }
}

fn write(benchmarks: Vec<BenchmarkData>, detect: DetectionTarget) -> tempfile::TempDir {
    let directory = tempfile::tempdir().expect("a directory");
    let options = ReportOptions {
        title: "Report".to_owned(),
        made: "for a test".to_owned(),
        rules: CleaningRules::default(),
        metrics: Vec::new(),
        detect,
        raw: true,
    };
    report::write(benchmarks, directory.path(), options).expect("it writes");
    directory
}

fn side_file(directory: &tempfile::TempDir, name: &str) -> Value {
    report_entry(directory.path(), name)
}

/// Returns the text of a page between two marks, without tags.
fn text_between(page: &str, begin: &str, end: &str) -> String {
    let (_, rest) = page.split_once(begin).expect("it begins");
    let (part, _) = rest.split_once(end).expect("it ends");
    regex::Regex::new("<[^>]*>")
        .expect("a regular expression")
        .replace_all(part, "")
        .into_owned()
}

#[test]
fn the_page_has_the_numbers_of_the_command_by_formula() {
    let benchmarks = vec![
        benchmark("quiet", 8, (0.001, 0.002)),
        benchmark("single", 1, (0.01, 0.01)),
        benchmark("noisy", 8, (0.2, 0.02)),
    ];
    let options = by_formula();
    let view = DetectionView::of(&options, 1.05, 0.95);
    let rows = found(benchmarks.clone(), &options);
    let expected: Vec<Value> = [2, 0]
        .into_iter()
        .map(|at| {
            let corners = options.grid.corners().into_iter();
            let slowdown = |it| {
                view.cell(&rows[at], it)
                    .and_then(|it| it.detectable(0.95))
                    .map(|it| it.slowdown)
            };
            json!(corners.map(slowdown).collect::<Vec<_>>())
        })
        .collect();
    let directory = write(benchmarks, DetectionTarget::default());
    let columns = side_file(&directory, "detection.m0");
    assert_eq!(columns["id"], json!(["noisy", "quiet", "single"]));
    assert_eq!(columns["able"], json!(["no", "yes", "unknown"]));
    assert_eq!(columns["needed_text"], json!(["", "5 × 10", ""]));
    assert_eq!(
        json!([columns["slowdowns"][0], columns["slowdowns"][1]]),
        json!(expected)
    );
    let chart = side_file(&directory, "detection.m0.chart");
    assert_eq!(chart["option"]["yAxis"]["data"], json!(["noisy", "quiet"]));
    let page = fs::read_to_string(directory.path().join("detection.html")).expect("a page");
    insta::assert_snapshot!(text_between(&page, "<h1>", "<form"), @"1 of 2 benchmarks can detect 5 % with at most 25 instances × 25 iterations per side1 cannot. 1 more with too few measurements: detection needs three instances with two usable iterations each, and positive values. The cheapest configurations that detect it would take 43.2 s for 1 benchmark per version. Caution: based on few instances (8 at least) for 2 of 2 benchmarks: the true MDS may be up to 2.0 times as large. ?lapwing run --instances 5 --iterations 5 measures enough for a first answer. These numbers are by formula, from the noise on the page Noise; lapwing mds simulates them with what was measured. For the one that cannot, lapwing plan --slowdown 5% says what it takes.");
}

#[test]
fn the_slowdown_that_matters_is_that_of_the_suite() {
    let detect = DetectionTarget {
        target: 1.5,
        ..DetectionTarget::default()
    };
    let directory = write(vec![benchmark("noisy", 8, (0.2, 0.02))], detect);
    assert_eq!(
        side_file(&directory, "detection.m0")["able"],
        json!(["yes"])
    );
    let page = fs::read_to_string(directory.path().join("detection.html")).expect("a page");
    let said =
        "The one benchmark can detect 50 % with at most 25 instances × 25 iterations per side";
    assert!(page.contains(said), "{page}");
}

#[test]
fn a_page_of_a_benchmark_says_what_ten_times_ten_would_detect() {
    let sentences = |data: BenchmarkData| {
        let directory = write(vec![data], DetectionTarget::default());
        // It is below the first screen, and comes with the data.
        let data = report_data(directory.path()).into_iter();
        let mut below = data.filter(|(name, _)| name.ends_with(".rest"));
        let page = below.next().expect("the rest of the page").1;
        let page = page.as_str().expect("a text").to_owned();
        assert!(!page.contains("<!--"), "nothing is left to fill in");
        if page.contains("<p class=\"hint detectable\">") {
            text_between(&page, "<p class=\"hint detectable\">", "</p>")
        } else {
            String::new()
        }
    };
    insta::assert_snapshot!(sentences(benchmark("<!--detectable-->", 8, (0.02, 0.02))), @"Comparing 10 instances × 10 iterations per side would detect a slowdown of 2.4 % or more by wall time, 95 % of the time (by formula).");
    assert_eq!(sentences(benchmark("single", 1, (0.02, 0.02))), "");
}
