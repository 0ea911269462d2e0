//! `lapwing variability`, the audit of cleaning and `[judge]`: the real program, a real store.

#![expect(clippy::unwrap_used, reason = "a test may stop at the first surprise")]

use std::fs;
use std::path::Path;
use std::process::Command;

use insta::assert_snapshot;
use serde_json::{Value, json};

fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap();
    format!(
        "{}{}exit {}",
        String::from_utf8(output.stdout).unwrap(),
        String::from_utf8(output.stderr).unwrap(),
        output.status.code().unwrap()
    )
}

/// Records of version 1, written down one after another.
#[derive(Default)]
struct Records {
    lines: String,
    ids: u32,
}

impl Records {
    fn id(&mut self) -> String {
        self.ids += 1;
        format!("01930000-0000-7000-8000-{:012}", self.ids)
    }

    fn line(&mut self, kind: &str, mut content: Value) {
        content["v"] = json!(1);
        content["kind"] = json!(kind);
        self.lines.push_str(&content.to_string());
        self.lines.push('\n');
    }

    /// Begins a session of one run and returns the run.
    fn run(&mut self, day: u32, version: &str) -> String {
        let (session, run) = (self.id(), self.id());
        let started = format!("2026-11-{day:02}T10:00:00Z");
        self.line(
            "session",
            json!({"id": session, "suite": "joins", "started": started, "tool": "test 1.0"}),
        );
        self.line(
            "run",
            json!({"id": run, "session": session, "version": {"name": version}, "metrics": {
                "wall_time": {"unit": "s", "better": "lower"},
                "rate": {"unit": "1/s", "better": "higher"},
            }}),
        );
        run
    }

    /// Writes an instance and its iterations: the first is burn-in, those without value failed.
    fn instance(
        &mut self,
        run: &str,
        id: &str,
        position: u32,
        host: &str,
        metric: &str,
        values: &[f64],
    ) {
        let instance = self.id();
        self.line(
            "instance",
            json!({"id": instance, "run": run, "benchmark": {"id": id}, "position": position, "host": host}),
        );
        for (index, value) in values.iter().enumerate() {
            let mut line = json!({"instance": instance, "index": index, "burn_in": index == 0});
            if value.is_nan() {
                line["outcome"] = json!("failed");
                line["message"] = json!("exit code 1");
            } else {
                line["metrics"] = json!({metric: value});
            }
            self.line("iteration", line);
        }
    }
}

/// Values around a centre with some noise, the first twice as large.
fn around(centre: f64, seed: u32) -> Vec<f64> {
    let noise = |k: u32| f64::from((seed * 7 + k * 13) % 11) / 11.0 - 0.5;
    let value = |k| centre * (1.0 + 0.01 * noise(k)) * if k == 0 { 2.0 } else { 1.0 };
    // As few digits as people would write.
    (0..5).map(|k| (value(k) * 1e4).round() / 1e4).collect()
}

/// A benchmark that is slower on one of three hosts, one that is quiet, one that always fails, and
/// one that reports a rate.
fn records() -> String {
    let mut all = Records::default();
    let old = all.run(1, "1.0");
    for position in 0..4 {
        all.instance(
            &old,
            "join",
            position,
            "node3",
            "wall_time",
            &around(3.0, position),
        );
    }
    let new = all.run(2, "1.1");
    for position in 0..12 {
        let host = ["node3", "node7", "node4"][position as usize % 3];
        let join = if host == "node7" { 1.3 } else { 1.0 };
        all.instance(
            &new,
            "join",
            position,
            host,
            "wall_time",
            &around(join, position),
        );
        all.instance(
            &new,
            "sort",
            position,
            host,
            "wall_time",
            &around(0.25, position),
        );
    }
    for position in 0..3 {
        all.instance(
            &new,
            "broken",
            position,
            "node3",
            "wall_time",
            &[f64::NAN; 2],
        );
        all.instance(
            &new,
            "throughput",
            position,
            "node3",
            "rate",
            &around(5e4, position),
        );
    }
    all.lines
}

fn filled() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("all.jsonl"), records()).unwrap();
    let imported = run(folder.path(), &["import", "all.jsonl"]);
    assert!(imported.ends_with("exit 0"), "{imported}");
    folder
}

#[test]
fn the_noisiest_comes_first_and_what_goes_with_its_groups_is_named() {
    let folder = filled();
    assert_snapshot!(run(folder.path(), &["variability"]), @"
    1 of 3 benchmarks varies by more than 5 % between instances; 1 falls into two groups

     benchmark   metric        mean      cv  between instances                within  sample  best iterations
     join        wall_time   1.10 s    13 %    13 % [9.2–22 %]  0.31 % [0.25–0.40 %]  12 × 4                1
     throughput  rate       50.0k/s  0.28 %     0 % [0–0.43 %]  0.32 % [0.22–0.58 %]   3 × 4
     sort        wall_time   250 ms  0.28 %     0 % [0–0.09 %]  0.30 % [0.24–0.39 %]  12 × 4

    join, wall time falls into two groups: 8 instances around 1.00 s and 4 around 1.30 s (1.30×); host tells them apart: slower node7 (4 of 4); faster node3 (4 of 4), node4 (4 of 4)
    for surer means measure more iterations of throughput, rate, sort, wall time, and of the others more instances
    of each variant this is the latest version; an older one is in the store (`--settings each`)
    not judged: 1 benchmark; --audit says why

    left out of 141 iterations: 30 burn-in, 3 failed (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn settings_are_told_apart_or_pooled() {
    let folder = filled();
    let of = |which: &str| {
        let arguments = [
            "variability",
            "-b",
            "join",
            "--settings",
            which,
            "--format",
            "markdown",
        ];
        run(folder.path(), &arguments)
    };
    assert_snapshot!(of("each"), @"
    1 of 1 benchmark varies by more than 5 % between instances; 1 falls into two groups

    | benchmark | setting | mean | cv | between instances | within | sample | best iterations |
    |---|---|---:|---:|---:|---:|---:|---:|
    | join | 1.1 | 1.10 s | 13 % | 13 % [9.2–22 %] | 0.31 % [0.25–0.40 %] | 12 × 4 | 1 |
    | join | 1.0 | 3.00 s | 0.26 % | 0 % [0–0.20 %] | 0.30 % [0.21–0.49 %] | 4 × 4 |  |

    join (1.1) falls into two groups: 8 instances around 1.00 s and 4 around 1.30 s (1.30×); host tells them apart: slower node7 (4 of 4); faster node3 (4 of 4), node4 (4 of 4)

    for surer means measure more iterations of join (1.0), and of the others more instances

    left out of 80 iterations: 16 burn-in (`--audit` shows which)
    exit 0
    ");
    assert_snapshot!(of("pooled"), @"
    1 of 1 benchmark varies by more than 5 % between instances; 1 falls into two groups

    | benchmark | mean | cv | between instances | within | sample | best iterations |
    |---|---:|---:|---:|---:|---:|---:|
    | join | 1.57 s | 53 % | 47 % [34–72 %] | 0.30 % [0.25–0.38 %] | 16 × 4 | 1 |

    join falls into two groups: 12 instances around 1.10 s and 4 around 3.00 s (2.73×); version tells them apart: slower 1.0 (4 of 4); faster 1.1 (12 of 12); session as well

    for surer means measure more instances: more iterations would hardly help

    left out of 80 iterations: 16 burn-in (`--audit` shows which)
    exit 0
    ");
}

#[test]
fn json_has_every_number_and_csv_too() {
    let folder = filled();
    let arguments = ["variability", "--benchmark", "join", "--format", "json"];
    assert_snapshot!(run(folder.path(), &arguments), @r#"
    {
      "audit": {
        "funnel": [
          {
            "benchmarks": 1,
            "instances": 12,
            "iterations": 60,
            "stage": "recorded"
          },
          {
            "benchmarks": 1,
            "instances": 12,
            "iterations": 60,
            "stage": "known"
          },
          {
            "benchmarks": 1,
            "instances": 12,
            "iterations": 48,
            "stage": "past_burn_in"
          },
          {
            "benchmarks": 1,
            "instances": 12,
            "iterations": 48,
            "stage": "not_failed"
          },
          {
            "benchmarks": 1,
            "instances": 12,
            "iterations": 48,
            "stage": "not_outlying"
          },
          {
            "benchmarks": 1,
            "instances": 12,
            "iterations": 48,
            "stage": "steady"
          },
          {
            "benchmarks": 1,
            "instances": 12,
            "iterations": 48,
            "stage": "viable"
          }
        ],
        "left_out": {
          "burn_in": 12,
          "failed": 0,
          "few_instances": 0,
          "lost": 0,
          "never_steady": 0,
          "no_value": 0,
          "not_asked_for": 0,
          "outlier": 0,
          "short_instance": 0,
          "skipped": 0,
          "timed_out": 0
        },
        "never_steady": [],
        "not_viable": []
      },
      "variability": [
        {
          "benchmark": "join",
          "best_iterations": 1,
          "cv_between": 0.12917529981460882,
          "cv_between_lower": 0.09150069190702019,
          "cv_between_upper": 0.21933379761893906,
          "cv_instance_mean": 0.0025915999309784324,
          "cv_instance_sd": 0.0005461841504923165,
          "cv_total": 0.12860067867858976,
          "cv_within": 0.0030582673216055078,
          "cv_within_lower": 0.0024870151543002162,
          "cv_within_upper": 0.0039725685371898144,
          "instances": 12,
          "iterations": 48,
          "mean": 1.0995,
          "metric": "wall_time",
          "modes": {
            "associations": [
              {
                "attributes": [
                  "host"
                ],
                "levels": [
                  {
                    "level": "node3",
                    "lower": 4,
                    "upper": 0
                  },
                  {
                    "level": "node4",
                    "lower": 4,
                    "upper": 0
                  },
                  {
                    "level": "node7",
                    "lower": 0,
                    "upper": 4
                  }
                ],
                "p_adjusted": 0.0122,
                "p_value": 0.0061
              }
            ],
            "count": 2,
            "lower": {
              "instances": 8,
              "mean": 0.99954375
            },
            "p_value": 0.0018069754773134099,
            "upper": {
              "instances": 4,
              "mean": 1.2994124999999999
            }
          },
          "session": null,
          "share_between": 0.9994397929512787,
          "share_between_lower": 0.9986703400444823,
          "share_between_upper": 0.9998180779535126,
          "suite": "joins",
          "unit": "s",
          "variant": "default",
          "version": "1.1"
        }
      ]
    }
    exit 0
    "#);
    let arguments = ["variability", "--benchmark", "join", "--format", "csv"];
    assert_snapshot!(run(folder.path(), &arguments), @"
    suite,benchmark,metric,unit,variant,version,session,instances,iterations,mean,cv_total,cv_instance_mean,cv_instance_sd,cv_between,cv_between_lower,cv_between_upper,cv_within,cv_within_lower,cv_within_upper,share_between,share_between_lower,share_between_upper,best_iterations,modes
    joins,join,wall_time,s,default,1.1,,12,48,1.0995,0.12860067867858976,0.0025915999309784324,0.0005461841504923165,0.12917529981460882,0.09150069190702019,0.21933379761893906,0.0030582673216055078,0.0024870151543002162,0.0039725685371898144,0.9994397929512787,0.9986703400444823,0.9998180779535126,1,2
    exit 0
    ");
}

#[test]
fn the_audit_tells_each_step_and_each_benchmark() {
    let folder = filled();
    let audit = |more: &[&str]| run(folder.path(), &[&["variability", "--audit"], more].concat());
    assert_snapshot!(audit(&["--min-instances", "10"]), @"
    1 of 2 benchmarks varies by more than 5 % between instances; 1 falls into two groups

     benchmark    mean      cv  between instances                within  sample  best iterations
     join       1.10 s    13 %    13 % [9.2–22 %]  0.31 % [0.25–0.40 %]  12 × 4                1
     sort       250 ms  0.28 %     0 % [0–0.09 %]  0.30 % [0.24–0.39 %]  12 × 4

    join falls into two groups: 8 instances around 1.00 s and 4 around 1.30 s (1.30×); host tells them apart: slower node7 (4 of 4); faster node3 (4 of 4), node4 (4 of 4)
    for surer means measure more iterations of sort, and of the others more instances
    of each variant this is the latest version; an older one is in the store (`--settings each`)

    What was left out, step by step:

     left          benchmarks  instances  iterations
     recorded               4         30         141
     known                  4         30         141
     past burn-in           4         30         111
     not failed             3         27         108
     not outlying           3         27         108
     steady                 3         27         108
     viable                 2         24          96

    2 are not judged:

     benchmark   why
     broken      no iteration ended well
     throughput  3 instances are left; it needs 10

    What each benchmark lost:

     benchmark   burn-in     iterations left  left out
     broken      as planned           0 of 6  3 burn-in, 3 failed
     join        as planned         48 of 60  12 burn-in
     sort        as planned         48 of 60  12 burn-in
     throughput  as planned          0 of 15  3 burn-in, 12 of too few instances
    exit 0
    ");
    assert_snapshot!(audit(&["-b", "broken", "-b", "throughput", "--format", "json"]), @r#"
    {
      "audit": {
        "benchmarks": [
          {
            "benchmark": "broken",
            "burn_in": {
              "first_steady": null,
              "from": "recorded",
              "never_steady": false
            },
            "exclusions": [
              {
                "indices": [
                  [
                    0,
                    0
                  ]
                ],
                "instance": "01930000-0000-7000-8000-000000000033",
                "rule": "burn_in"
              },
              {
                "indices": [
                  [
                    1,
                    1
                  ]
                ],
                "instance": "01930000-0000-7000-8000-000000000033",
                "rule": "failed"
              },
              {
                "indices": [
                  [
                    0,
                    0
                  ]
                ],
                "instance": "01930000-0000-7000-8000-000000000035",
                "rule": "burn_in"
              },
              {
                "indices": [
                  [
                    1,
                    1
                  ]
                ],
                "instance": "01930000-0000-7000-8000-000000000035",
                "rule": "failed"
              },
              {
                "indices": [
                  [
                    0,
                    0
                  ]
                ],
                "instance": "01930000-0000-7000-8000-000000000037",
                "rule": "burn_in"
              },
              {
                "indices": [
                  [
                    1,
                    1
                  ]
                ],
                "instance": "01930000-0000-7000-8000-000000000037",
                "rule": "failed"
              }
            ],
            "left_out": {
              "burn_in": 3,
              "failed": 3,
              "few_instances": 0,
              "lost": 0,
              "never_steady": 0,
              "no_value": 0,
              "not_asked_for": 0,
              "outlier": 0,
              "short_instance": 0,
              "skipped": 0,
              "timed_out": 0
            },
            "metric": "wall_time",
            "setting": "1.1",
            "suite": "joins"
          },
          {
            "benchmark": "throughput",
            "burn_in": {
              "first_steady": null,
              "from": "recorded",
              "never_steady": false
            },
            "exclusions": [
              {
                "indices": [
                  [
                    0,
                    0
                  ]
                ],
                "instance": "01930000-0000-7000-8000-000000000034",
                "rule": "burn_in"
              },
              {
                "indices": [
                  [
                    0,
                    0
                  ]
                ],
                "instance": "01930000-0000-7000-8000-000000000036",
                "rule": "burn_in"
              },
              {
                "indices": [
                  [
                    0,
                    0
                  ]
                ],
                "instance": "01930000-0000-7000-8000-000000000038",
                "rule": "burn_in"
              }
            ],
            "left_out": {
              "burn_in": 3,
              "failed": 0,
              "few_instances": 0,
              "lost": 0,
              "never_steady": 0,
              "no_value": 0,
              "not_asked_for": 0,
              "outlier": 0,
              "short_instance": 0,
              "skipped": 0,
              "timed_out": 0
            },
            "metric": "rate",
            "setting": "1.1",
            "suite": "joins"
          }
        ],
        "funnel": [
          {
            "benchmarks": 2,
            "instances": 6,
            "iterations": 21,
            "stage": "recorded"
          },
          {
            "benchmarks": 2,
            "instances": 6,
            "iterations": 21,
            "stage": "known"
          },
          {
            "benchmarks": 2,
            "instances": 6,
            "iterations": 15,
            "stage": "past_burn_in"
          },
          {
            "benchmarks": 1,
            "instances": 3,
            "iterations": 12,
            "stage": "not_failed"
          },
          {
            "benchmarks": 1,
            "instances": 3,
            "iterations": 12,
            "stage": "not_outlying"
          },
          {
            "benchmarks": 1,
            "instances": 3,
            "iterations": 12,
            "stage": "steady"
          },
          {
            "benchmarks": 1,
            "instances": 3,
            "iterations": 12,
            "stage": "viable"
          }
        ],
        "left_out": {
          "burn_in": 6,
          "failed": 3,
          "few_instances": 0,
          "lost": 0,
          "never_steady": 0,
          "no_value": 0,
          "not_asked_for": 0,
          "outlier": 0,
          "short_instance": 0,
          "skipped": 0,
          "timed_out": 0
        },
        "never_steady": [],
        "not_viable": [
          {
            "benchmark": "broken",
            "metric": "wall_time",
            "reason": "no iteration ended well",
            "setting": "1.1",
            "stage": "not_failed",
            "suite": "joins"
          }
        ]
      },
      "variability": [
        {
          "benchmark": "throughput",
          "best_iterations": null,
          "cv_between": 0.0,
          "cv_between_lower": 0.0,
          "cv_between_upper": 0.004279037861406311,
          "cv_instance_mean": 0.002706884545077796,
          "cv_instance_sd": 0.00047600669872067367,
          "cv_total": 0.00281231794200988,
          "cv_within": 0.0031736158459141654,
          "cv_within_lower": 0.0021829247115162727,
          "cv_within_upper": 0.005793785403706365,
          "instances": 3,
          "iterations": 12,
          "mean": 49962.12121666667,
          "metric": "rate",
          "modes": null,
          "session": null,
          "share_between": 0.0,
          "share_between_lower": 0.0,
          "share_between_upper": 0.648416614431778,
          "suite": "joins",
          "unit": "1/s",
          "variant": "default",
          "version": "1.1"
        }
      ]
    }
    exit 0
    "#);
    assert_snapshot!(audit(&["-b", "throughput", "--format", "markdown"]), @"
    the one benchmark varies by 5 % or less between instances

    | benchmark | metric | mean | cv | between instances | within | sample |
    |---|---|---:|---:|---:|---:|---:|
    | throughput | rate | 50.0k/s | 0.28 % | 0 % [0–0.43 %] | 0.32 % [0.22–0.58 %] | 3 × 4 |

    for surer means measure more iterations: instances hardly differ for their number

    What was left out, step by step:

    | left | benchmarks | instances | iterations |
    |---|---:|---:|---:|
    | recorded | 1 | 3 | 15 |
    | known | 1 | 3 | 15 |
    | past burn-in | 1 | 3 | 12 |
    | not failed | 1 | 3 | 12 |
    | not outlying | 1 | 3 | 12 |
    | steady | 1 | 3 | 12 |
    | viable | 1 | 3 | 12 |

    What each benchmark lost:

    | benchmark | burn-in | iterations left | left out |
    |---|---|---:|---|
    | throughput | as planned | 12 of 15 | 3 burn-in |
    exit 0
    ");
    assert_snapshot!(audit(&["-b", "throughput", "--format", "csv"]), @"
    suite,benchmark,metric,unit,variant,version,session,instances,iterations,mean,cv_total,cv_instance_mean,cv_instance_sd,cv_between,cv_between_lower,cv_between_upper,cv_within,cv_within_lower,cv_within_upper,share_between,share_between_lower,share_between_upper,best_iterations,modes
    joins,throughput,rate,1/s,default,1.1,,3,12,49962.12121666667,0.00281231794200988,0.002706884545077796,0.00047600669872067367,0.0,0.0,0.004279037861406311,0.0031736158459141654,0.0021829247115162727,0.005793785403706365,0.0,0.0,0.648416614431778,,
    note: a CSV table has no place for the audit; --format json has all of it
    exit 0
    ");
}

#[test]
fn what_cannot_be_judged_is_said_with_its_reason() {
    let folder = filled();
    let of = |more: &[&str]| run(folder.path(), &[&["variability"], more].concat());
    assert_snapshot!(of(&["-b", "broken"]), @"
    error: nothing can be judged of 1 benchmark (no iteration ended well)
      hint: `lapwing report` shows what was measured, and why it failed
    exit 3
    ");
    assert_snapshot!(of(&["--min-instances", "50"]), @"
    error: nothing can be judged of 2 benchmarks (12 instances are left; it needs 50), nor of 1 benchmark (3 instances are left; it needs 50), nor of 1 benchmark (no iteration ended well)
      hint: --min-instances and --min-iterations say what is enough
    exit 3
    ");
    assert_snapshot!(of(&["-b", "join", "--metric", "rate"]), @"
    error: no benchmark passes all of these filters together
      hint: leave one out to see more; `lapwing list` shows what there is
    exit 3
    ");
    assert_snapshot!(of(&["--metric", "rates"]), @"
    error: no metric `rates`; did you mean `rate`?
      hint: `lapwing list metrics` shows what there is
    exit 2
    ");
    assert_snapshot!(of(&["--compat", "hail"]), @"
    error: --compat hail needs the first stable iterations
      hint: name their file with --burn-in-file; `lapwing burn-in --write FILE` makes one
    exit 2
    ");
    let empty = tempfile::tempdir().unwrap();
    assert_snapshot!(run(empty.path(), &["variability"]), @"
    error: nothing measured yet: there is no store at .lapwing/lapwing.db
      hint: measure with `lapwing run -- COMMAND`, or take in results with `lapwing import FILE`
    exit 2
    ");
}

#[test]
fn the_suite_file_says_how_to_judge_and_options_win() {
    let folder = filled();
    let suite = folder.path().join("lapwing.toml");
    fs::write(&suite, "[judge]\nburn_in = 3\nmin_instances = 12\n").unwrap();
    let of = |more: &[&str]| {
        let base = ["variability", "--format", "csv"];
        let answer = run(folder.path(), &[&base, more].concat());
        let row = |line: &str| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells.len() > 9).then(|| format!("{} {} × {}", cells[1], cells[7], cells[8]))
        };
        answer
            .lines()
            .skip(1)
            .filter_map(row)
            .collect::<Vec<_>>()
            .join(", ")
    };
    assert_eq!(of(&[]), "join 12 × 24, sort 12 × 24");
    assert_eq!(of(&["--burn-in", "4"]), "join 12 × 12, sort 12 × 12");
    assert_eq!(
        of(&["--no-suite"]),
        "join 12 × 48, throughput 3 × 12, sort 12 × 48"
    );
    fs::write(folder.path().join("starts.json"), r#"{"join": 2}"#).unwrap();
    fs::write(
        &suite,
        "[judge]\nburn_in = 4\nburn_in_file = \"starts.json\"\n",
    )
    .unwrap();
    assert_eq!(of(&[]), "join 12 × 36, throughput 3 × 3, sort 12 × 12");
    assert_eq!(of(&["-b", "join", "--burn-in", "1"]), "join 12 × 48");
    fs::write(&suite, "[judge]\nburnin = 4\n").unwrap();
    assert_snapshot!(run(folder.path(), &["variability"]), @"
    error: lapwing.toml:2: unknown key `burnin` in [judge]
      hint: did you mean `burn_in`? its [judge] table says how to judge; --no-suite judges without it
    exit 2
    ");
    assert_snapshot!(run(folder.path(), &["variability", "--suite", "none.toml"]), @"
    error: cannot read none.toml: No such file or directory (os error 2)
      hint: its [judge] table says how to judge; --no-suite judges without it
    exit 2
    ");
}

#[test]
fn a_plot_is_written_in_the_form_that_its_name_says() {
    let folder = filled();
    let plot = |name: &str| {
        run(
            folder.path(),
            &["variability", "--plot", name, "--format", "csv"],
        )
    };
    assert!(plot("noise.svg").ends_with("exit 0"));
    let svg = fs::read_to_string(folder.path().join("noise.svg")).unwrap();
    for text in [
        "Where the noise lies",
        ">join, wall time<",
        ">sort, wall time<",
        "between instances",
    ] {
        assert!(svg.contains(text), "{text} in {svg}");
    }
    assert!(plot("noise.html").ends_with("exit 0"));
    assert!(plot("noise.gif").contains("does not end in .svg, .png or .html"));
}

/// The folder with what Hail itself made of a large file: `../shared/data/hail` beside the repository, or
/// where `$LAPWING_REFERENCE_DATA` says.
fn reference() -> Option<std::path::PathBuf> {
    let folder = std::env::var_os("LAPWING_REFERENCE_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        std::path::PathBuf::from,
    );
    let hail = folder.join("hail");
    hail.join("benchmarks.jsonl.gz").is_file().then_some(hail)
}

#[test]
fn as_hail_does_the_numbers_are_those_of_hail() {
    let Some(hail) = reference() else { return };
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| hail.join(name).to_str().unwrap().to_owned();
    run(folder.path(), &["import", &file("benchmarks.jsonl.gz")]);
    let starts = file("first_stable_index.json");
    let arguments = [
        "--compat",
        "hail",
        "--burn-in-file",
        &starts,
        "--format",
        "json",
    ];
    let answer = run(folder.path(), &[&["variability"], &arguments[..]].concat());
    let answer: Value = serde_json::from_str(answer.strip_suffix("exit 0").unwrap()).unwrap();
    let ours = answer["variability"].as_array().unwrap();
    let theirs = fs::read_to_string(hail.join("variability.tsv")).unwrap();
    let theirs: Vec<Vec<&str>> = theirs
        .lines()
        .skip(1)
        .map(|it| it.split('\t').collect())
        .collect();
    assert_eq!(ours.len(), theirs.len());
    for row in theirs {
        let id = format!("{}::{}", row[0], row[1]);
        let ours = ours.iter().find(|it| it["benchmark"] == json!(id)).unwrap();
        let keys = ["mean", "cv_total", "cv_instance_mean", "cv_instance_sd"];
        for (key, theirs) in keys.into_iter().zip(&row[2..]) {
            let theirs: f64 = theirs.parse().unwrap();
            let ours = ours[key].as_f64().unwrap();
            assert!(
                (ours / theirs - 1.0).abs() < 1e-9,
                "{id} {key}: {ours} {theirs}"
            );
        }
    }
    let funnel = answer["audit"]["funnel"].as_array().unwrap();
    assert_eq!(funnel[6]["iterations"], json!(46_310));
}
