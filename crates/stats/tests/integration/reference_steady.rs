//! Compares the steady states of published forks with what their authors found.

use std::io::{BufRead, BufReader};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use lapwing_stats::Seed;
use lapwing_stats::steady::traini::{Traini, traini};
use lapwing_testing::reference_data;
use serde_json::Value;

struct Fork {
    name: String,
    seconds: Vec<f64>,
    start: Option<usize>,
    segment_ends: Vec<usize>,
}

fn forks(name: &str, seconds: &Value, ends: &Value, starts: &Value) -> Vec<Fork> {
    let series = seconds.as_array().unwrap();
    (0..series.len())
        .map(|k| Fork {
            name: format!("{name} {k}"),
            seconds: serde_json::from_value(seconds[k].clone()).unwrap(),
            start: usize::try_from(starts[k].as_i64().unwrap()).ok(),
            segment_ends: serde_json::from_value(ends[k].clone()).unwrap(),
        })
        .collect()
}

fn json(path: &Path) -> Value {
    serde_json::from_reader(BufReader::new(std::fs::File::open(path).unwrap())).unwrap()
}

fn published(folder: &Path) -> Vec<Fork> {
    let mut all = Vec::new();
    let file = std::fs::File::open(folder.join("steady_state/steady_state_forks.jsonl.gz"));
    for line in BufReader::new(MultiGzDecoder::new(file.unwrap())).lines() {
        let it: Value = serde_json::from_str(&line.unwrap()).unwrap();
        all.extend(forks(
            it["benchmark"].as_str().unwrap(),
            &it["forks_seconds"],
            &it["changepoints"],
            &it["classification"]["steady_state_starts"],
        ));
    }
    for k in 1..=6 {
        let part =
            |kind: &str| json(&folder.join(format!("B_samples/sealab_jmh/jmh{k}.{kind}.json")));
        all.extend(forks(
            &format!("jmh{k}"),
            &part("timeseries"),
            &part("changepoints"),
            &part("classification")["steady_state_starts"],
        ));
    }
    all
}

/// How many forks agree in label (steady or not), start, and all change points.
fn agreement(forks: &[&Fork]) -> [usize; 3] {
    let options = Traini {
        resamples: 2_000,
        ..Traini::default()
    };
    let mut agreed = [0; 3];
    for fork in forks {
        let random = &mut Seed(7).stream(&fork.name);
        let state = traini(&fork.seconds, &options, random);
        agreed[0] += usize::from(state.start.is_some() == fork.start.is_some());
        agreed[1] += usize::from(state.start == fork.start);
        agreed[2] += usize::from(state.segment_ends == fork.segment_ends);
    }
    agreed
}

#[test]
fn labels_of_some_published_forks_are_reproduced() {
    let Some(folder) = reference_data(".") else {
        return;
    };
    let forks = published(&folder);
    let some: Vec<&Fork> = forks.iter().step_by(44).collect();
    let [labels, starts, segmentations] = agreement(&some);
    eprintln!(
        "{} forks: {labels} labels, {starts} starts, {segmentations} segmentations",
        some.len()
    );
    assert!(labels * 100 >= some.len() * 95);
}

#[test]
#[ignore = "takes minutes"]
fn at_least_98_percent_of_the_published_labels_are_reproduced() {
    let Some(folder) = reference_data(".") else {
        return;
    };
    let forks = published(&folder);
    let [labels, starts, segmentations] = agreement(&forks.iter().collect::<Vec<_>>());
    eprintln!(
        "{} forks: {labels} labels, {starts} starts, {segmentations} segmentations",
        forks.len()
    );
    assert!(labels * 100 >= forks.len() * 98);
}
