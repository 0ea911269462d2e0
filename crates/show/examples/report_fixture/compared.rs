//! Made-up comparisons of made-up measurements: each benchmark's last session against the one before.

use std::collections::BTreeSet;

use lapwing_analyse::clean::{CleaningPolicy, PreferredCentres, clean_with_summaries};
use lapwing_analyse::judge::{
    CompareOptions, Comparison, EarlierComparisons, SideSample, SuiteComparison, compare, decide,
};
use lapwing_analyse::sample::{BenchmarkData, Setting, Subject};
use lapwing_model::Id;
use lapwing_record::InstanceData;
use lapwing_show::report::ComparisonView;
use lapwing_stats::{Interval, SuiteRatio};

/// How much slower the candidate is made, benchmark after benchmark.
const FACTORS: [f64; 5] = [1.0, 1.14, 1.001, 0.86, 1.048];

/// Returns comparisons by wall time and peak memory that come to every verdict.
pub(crate) fn compared(benchmarks: &[BenchmarkData], options: &CompareOptions) -> Vec<Comparison> {
    let mut comparisons = Vec::new();
    for (data, factor) in benchmarks.iter().zip(FACTORS.iter().cycle()) {
        let mut sessions: Vec<(jiff::Timestamp, Id)> = data
            .instances
            .iter()
            .map(|it| (it.session.started, it.session.id))
            .collect();
        sessions.sort_unstable();
        sessions.dedup();
        let last = sessions.pop();
        let before = sessions.pop();
        for metric in ["wall_time", "peak_memory"] {
            let first = data.instances.first();
            let Some(stated) = first.and_then(|it| it.run.metrics.get(metric)) else {
                continue;
            };
            let subject = Subject {
                suite: data.suite.clone(),
                benchmark: data.benchmark.id.clone(),
                setting: Setting::default(),
                metric: metric.to_owned(),
            };
            let baseline = side(data, before, metric, 1.0);
            let candidate = side(data, last, metric, *factor);
            comparisons.push(compare(
                subject,
                stated.clone(),
                ["before", "after"],
                [&baseline, &candidate],
                options,
            ));
        }
    }
    decide(&mut comparisons, &EarlierComparisons::default(), options);
    comparisons
}

/// Returns such comparisons as a report shows them, with a mean over each suite.
pub(crate) fn view(benchmarks: &[BenchmarkData]) -> ComparisonView {
    let options = CompareOptions {
        smallest_effect: Some(0.03),
        ..CompareOptions::default()
    };
    let comparisons = compared(benchmarks, &options);
    let suites = [("synthetic", 1.021), ("sweep", 0.998)].map(|(suite, ratio)| SuiteComparison {
        suite: suite.to_owned(),
        metric: "wall_time".to_owned(),
        baseline: "before".to_owned(),
        candidate: "after".to_owned(),
        setting: None,
        ratio: SuiteRatio {
            ratio,
            interval: Some(Interval {
                lower: ratio * 0.99,
                upper: ratio * 1.01,
            }),
            benchmarks: 8,
        },
        is_descriptive: false,
    });
    ComparisonView {
        next: None,
        comparisons,
        options,
        suites: suites.into(),
        notes: Vec::new(),
    }
}

fn side(
    data: &BenchmarkData,
    session: Option<(jiff::Timestamp, Id)>,
    metric: &str,
    factor: f64,
) -> SideSample {
    let mut hosts = BTreeSet::new();
    let of_session: Vec<InstanceData> = data
        .instances
        .iter()
        .filter(|it| Some(it.session.id) == session.map(|(_, id)| id))
        .cloned()
        .collect();
    hosts.extend(of_session.iter().filter_map(|it| it.instance.host.clone()));
    let centres = PreferredCentres::of(&of_session, metric);
    let mut cleaned = clean_with_summaries(
        &of_session.iter().collect::<Vec<_>>(),
        metric,
        CleaningPolicy::default(),
        &centres,
    );
    for value in cleaned.instances.iter_mut().flat_map(|it| &mut it.values) {
        *value *= factor;
    }
    let places = cleaned.instances.iter().enumerate();
    let summarised =
        places.filter(|(_, it)| centres.summary(&of_session[it.position], metric).is_some());
    SideSample {
        summarised: summarised.map(|(place, _)| place).collect(),
        cleaned,
        recorded_instances: of_session.len(),
        has_summary: of_session.iter().any(|it| !it.summaries.is_empty()),
        hosts,
        ..SideSample::default()
    }
}
