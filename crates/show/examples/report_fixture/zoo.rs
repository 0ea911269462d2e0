//! Made-up benchmarks for everything that a report has to cope with.

use crate::synthetic::{Recipe, Source};

/// Returns recipes for everything that a report has to cope with.
pub(crate) fn zoo() -> Vec<Recipe> {
    let two = vec![("baseline", 1.0), ("fast", 0.82)];
    let mut recipes = vec![
        Recipe { tags: vec!["cpu"], ..Recipe::default() },
        Recipe { id: "gzip[level=6]".to_owned(), tags: vec!["compress", "io"], sessions: 14, seconds: 0.131, hosts: 3, ..Recipe::default() },
        Recipe { id: "zstd[level=3]".to_owned(), tags: vec!["compress"], sessions: 14, seconds: 0.021, variants: two.clone(), hosts: 3, ..Recipe::default() },
        Recipe { id: "noisy".to_owned(), tags: vec!["network"], noise: (0.25, 0.1), sessions: 10, hosts: 4, ..Recipe::default() },
        Recipe { id: "slow to warm up".to_owned(), warm_up: 2.5, burn_in: 4, iterations: 20, sessions: 3, ..Recipe::default() },
        Recipe { id: "sometimes fails".to_owned(), failing: 5, lost_instances: true, sessions: 4, variants: two.clone(), ..Recipe::default() },
        Recipe { id: "always fails".to_owned(), failing: 1, sessions: 2, ..Recipe::default() },
        Recipe { id: "single instance".to_owned(), instances: 1, sessions: 1, iterations: 30, burn_in: 0, ..Recipe::default() },
        Recipe { id: "single iteration".to_owned(), instances: 1, sessions: 1, iterations: 1, burn_in: 0, warm_up: 0.0, ..Recipe::default() },
        Recipe { id: "many iterations".to_owned(), sessions: 25, instances: 3, iterations: 400, burn_in: 20, seconds: 0.0004, ..Recipe::default() },
        Recipe { suite: "odd names", id: "<script>alert(1)</script>\"'&</title>".to_owned(), tags: vec!["<b>\"tag\"</b>"], variants: vec![("a</script>b", 1.0), ("日本 & \"q\"", 1.3)], ..Recipe::default() },
        Recipe { suite: "odd names", id: "../../etc/passwd".to_owned(), ..Recipe::default() },
        Recipe { suite: "odd names", id: "benchmarks/überlång_çşğ/日本語_test.py::test[α→β \\ \u{2028}]".to_owned(), ..Recipe::default() },
        Recipe { suite: "odd names", id: "benchmarks/io/test_parquet_reading_and_writing.py::TestParquetRoundTrip::test_read_and_write_partitioned_dataset_with_statistics_and_row_group_filters[snappy-10-1000-columns-nullable-true]".to_owned(), ..Recipe::default() },
        Recipe { suite: "odd names", id: "x".repeat(200), ..Recipe::default() },
    ];
    for shape in ["10-100", "10-1000", "100-100"] {
        recipes.push(Recipe {
            suite: "a history",
            id: format!("benchmarks/test_join.py::test_join[{shape}]"),
            tags: vec!["shuffle"],
            sessions: 40,
            seconds: 0.4 * f64::from(u8::try_from(shape.len()).unwrap_or(1)),
            variants: two.clone(),
            eventful: true,
            ..Recipe::default()
        });
    }
    recipes.extend(elsewhere());
    for number in 0..40 {
        recipes.push(Recipe {
            suite: "sweep",
            id: format!("sort[size={}]", 1 << (number % 20))
                + if number < 20 { "" } else { "[stable]" },
            tags: vec!["cpu", if number < 20 { "quick" } else { "stable" }],
            sessions: 8,
            seconds: 2e-6 * 1.9_f64.powi(number % 20),
            noise: (0.01 + f64::from(number % 7) * 0.01, 0.01),
            ..Recipe::default()
        });
    }
    recipes
}

/// Returns recipes for what other programs measured: summaries, and runs back to back.
fn elsewhere() -> Vec<Recipe> {
    let one = Recipe {
        suite: "elsewhere",
        instances: 1,
        iterations: 30,
        burn_in: 0,
        seconds: 0.0011,
        ..Recipe::default()
    };
    vec![
        Recipe {
            id: "only summaries".to_owned(),
            sessions: 300,
            source: Source::Summaries("pytest-benchmark", 300),
            ..one.clone()
        },
        Recipe {
            id: "one summary".to_owned(),
            suite: "elsewhere once",
            sessions: 1,
            source: Source::Summaries("libtest", 1),
            ..one.clone()
        },
        Recipe {
            id: "summaries, then samples".to_owned(),
            suite: "elsewhere, later here",
            sessions: 12,
            instances: 3,
            variants: vec![("baseline", 1.0), ("fast", 0.9)],
            source: Source::Summaries("asv", 8),
            ..one.clone()
        },
        Recipe {
            id: "runs as iterations".to_owned(),
            suite: "hyperfine",
            sessions: 4,
            metrics: 2,
            source: Source::Hyperfine("iteration"),
            ..one.clone()
        },
        Recipe {
            id: "runs as instances".to_owned(),
            suite: "hyperfine each",
            sessions: 4,
            instances: 10,
            iterations: 1,
            warm_up: 0.0,
            metrics: 2,
            source: Source::Hyperfine("instance"),
            ..one
        },
    ]
}
