//! Views of comparisons of several variants: each as the baseline, and heat maps.

use std::fs;

use insta::assert_snapshot;
use lapwing_testing::RecordLines;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::program::run;

/// A store with three variants of four benchmarks, measured in blocks.
fn three_variants() -> TempDir {
    let mut lines = RecordLines::default();
    let session = lines.session("2026-11-20T10:00:00Z", json!({"name": "nightly"}));
    let variants = ["main", "arrow", "threads"];
    let runs = variants.map(|it| lines.run(&session, json!({"variant": it})));
    let factors = [
        ("join", [1.0, 1.2, 1.0]),
        ("read", [1.0, 1.0, 0.7]),
        ("sort", [1.0, 1.02, 1.3]),
        ("write", [1.0, 1.0, 1.0]),
    ];
    let mut position = 0;
    for block in 0..6_u32 {
        for (at, (benchmark, factors)) in factors.iter().enumerate() {
            for (run, factor) in runs.iter().zip(factors) {
                let more = json!({"block": block, "position": position});
                position += 1;
                let instance = lines.instance(run, benchmark, more);
                // Scattered like noise, and always the same.
                let noise =
                    (position * 2_654_435 + u32::try_from(at).unwrap() * 77_347) % 1_009 % 31;
                let value = factor * (1.0 + 0.001 * f64::from(noise));
                lines.iteration(&instance, 0, json!({"metrics": {"wall_time": value}}));
                lines.instance_end(&instance);
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("in.jsonl"), lines.text).unwrap();
    let done = run(folder.path(), &["import", "in.jsonl"]);
    assert!(done.ends_with("exit 0"), "{done}");
    folder
}

const SIDES: [&str; 5] = [
    "compare",
    "variant:main",
    "variant:arrow",
    "variant:threads",
    "--each-baseline",
];

#[test]
fn each_side_is_the_baseline_in_turn() {
    let folder = three_variants();
    let join = [&SIDES[..], &["--benchmark", "join"]].concat();
    assert_snapshot!(run(folder.path(), &join), @"
    main, arrow, threads against each other: 2 regressions, 2 improvements, 2 unchanged within 1.7 %   (6 comparisons, FDR 5 %, no change: within 3 %)

     benchmark  candidate of  against   ratio  interval        verdict                     baseline  candidate  instances
     join       arrow         main      1.19×  [1.18, 1.21]    ✗ regression                  1.02 s     1.21 s      6 / 6
     join       arrow         threads  1.192×  [1.183, 1.201]  ✗ regression                  1.02 s     1.21 s      6 / 6
     join       main          arrow     0.84×  [0.83, 0.85]    ✓ improvement                 1.21 s     1.02 s      6 / 6
     join       threads       arrow    0.839×  [0.833, 0.845]  ✓ improvement                 1.21 s     1.02 s      6 / 6
     join       threads       main      1.00×  [0.99, 1.02]    = no change, at most 1.7 %    1.02 s     1.02 s      6 / 6
     join       main          threads   1.00×  [0.98, 1.01]    = no change, at most 1.7 %    1.02 s     1.02 s      6 / 6

    note: the unit of replication is the block: 6 pairs
    exit 0
    ");
    let json = [&SIDES[..], &["--format", "json"]].concat();
    let text = run(folder.path(), &json);
    let (text, _) = text.rsplit_once("exit").unwrap();
    let answer: Value = serde_json::from_str(text).unwrap();
    assert_eq!(answer["baseline"], Value::Null);
    assert_eq!(answer["candidates"], json!(["main", "arrow", "threads"]));
    let rows = answer["comparisons"].as_array().unwrap();
    assert_eq!(rows.len(), 4 * 6);
    let ratio = |baseline: &str, candidate: &str| {
        let is_it = |row: &&Value| {
            row["benchmark"] == "join"
                && row["baseline"] == baseline
                && row["candidate"] == candidate
        };
        rows.iter().find(is_it).unwrap()["ratio"].as_f64().unwrap()
    };
    let inverse = ratio("main", "arrow") * ratio("arrow", "main");
    assert!((inverse - 1.0).abs() < 1e-9);
}

#[test]
fn heat_maps_are_charts_like_the_others() {
    let folder = three_variants();
    for kind in ["heatmap", "coiled", "ratios"] {
        for ending in ["svg", "html"] {
            let file = format!("{kind}.{ending}");
            let plot = [&SIDES[..], &["--plot", &file, "--plot-kind", kind]].concat();
            let done = run(folder.path(), &plot);
            assert!(done.ends_with("exit 0"), "{done}");
            let text = fs::read_to_string(folder.path().join(&file)).unwrap();
            assert!(text.contains("join"), "{file}");
        }
    }
    let svg = fs::read_to_string(folder.path().join("heatmap.svg")).unwrap();
    for text in ["threads / main", "main / arrow", "Orange is worse"] {
        assert!(svg.contains(text), "{text}");
    }
    let svg = fs::read_to_string(folder.path().join("coiled.svg")).unwrap();
    for text in ["&gt;10 %", "&lt;−80 %"] {
        assert!(svg.contains(text), "{text}");
    }
    let refused = run(
        folder.path(),
        &[&SIDES[..], &["--plot-kind", "heatmap"]].concat(),
    );
    assert!(refused.ends_with("exit 2"), "{refused}");
}
