//! `lapwing init --from`: Coiled's A/B environments as a suite.

use std::fs;
use std::path::Path;

use lapwing_testing::reference_data;
use tempfile::TempDir;

use crate::program::run;

fn write(folder: &Path, name: &str, text: &str) {
    fs::create_dir_all(folder.join("AB_environments")).unwrap();
    fs::write(folder.join("AB_environments").join(name), text).unwrap();
}

#[test]
fn each_runtime_becomes_a_variant_and_the_configuration_its_settings() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    for name in ["arrow", "baseline"] {
        write(
            path,
            &format!("AB_{name}.conda.yaml"),
            "dependencies:\n  - dask ==2023.4.0\n",
        );
        write(path, &format!("AB_{name}.cluster.yaml"), "# nothing\n");
    }
    write(path, "AB_baseline.dask.yaml", "# nothing\n");
    write(
        path,
        "AB_arrow.dask.yaml",
        "dataframe:\n  convert-string: true\ndistributed:\n  scheduler:\n    worker-saturation: 1.2\n",
    );
    write(
        path,
        "AB_arrow.cluster.yaml",
        "small_cluster:\n  n_workers: 5\n",
    );
    write(
        path,
        "config.yaml",
        "repeat: 10\ntest_null_hypothesis: true\ntargets:\n  - tests/test_a.py::test_b\n  - tests/lost.py\nmarkers: not slow\nh2o_datasets:\n  - 5 GB (csv)\nmax_parallel:\n  ci_jobs: 5\n",
    );
    fs::create_dir(path.join("tests")).unwrap();
    fs::write(path.join("tests/test_a.py"), "").unwrap();
    let said = run(path, &["init", "--environments", "AB_environments"]);
    insta::assert_snapshot!(said, @"
    wrote lapwing.toml
    note: max_parallel has no equivalent: instances are measured one after another,
    which disturbs them least; `--executor` spreads them over machines
    note: target `tests/lost.py` does not exist
    next: `lapwing run --aa` measures it, `lapwing run --dry-run` shows the plan
    exit 0
    ");
    insta::assert_snapshot!(fs::read_to_string(path.join("lapwing.toml")).unwrap(), @r#"
    # Made from AB_environments by `lapwing init`.

    [benchmark.tests]
    pytest = ["tests/test_a.py::test_b", "tests/lost.py"]
    pytest_arguments = ["-m", "not slow"]
    instances = 10
    env = { H2O_DATASETS = "5 GB (csv)" }

    [variant.baseline]
    python = "AB_environments/AB_baseline.conda.yaml"
    env = { AB_VERSION = "AB_baseline" }

    [variant.arrow]
    python = "AB_environments/AB_arrow.conda.yaml"
    env = { AB_VERSION = "AB_arrow", CLUSTER_KWARGS = "AB_environments/AB_arrow.cluster.yaml", DASK_DATAFRAME__CONVERT_STRING = "True", DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION = "1.2" }
    "#);
    let said = run(path, &["init", "--environments", "AB_environments"]);
    assert!(said.contains("lapwing.toml exists already"), "{said}");
    let said = run(path, &["init", "--environments", "."]);
    assert!(
        said.contains("no file AB_NAME.conda.yaml is there"),
        "{said}"
    );
}

#[test]
fn the_published_configurations_are_suites() {
    let Some(examples) = reference_data("coiled/ab_config_examples") else {
        return;
    };
    for (name, variants, notes) in [
        ("arrow-strings", 2, 0),
        ("graviton4", 2, 0),
        ("fjetter_decide_worker_relax_candidates", 4, 0),
        ("worker-saturation", 5, 6),
    ] {
        let folder = TempDir::new().unwrap();
        let from = examples.join(name);
        let said = run(
            folder.path(),
            &["init", "--environments", &from.display().to_string()],
        );
        assert!(said.ends_with("exit 0"), "{said}");
        let suite = fs::read_to_string(folder.path().join("lapwing.toml")).unwrap();
        assert_eq!(suite.matches("[variant.").count(), variants, "{suite}");
        assert_eq!(said.matches("is missing").count(), notes, "{said}");
        let parsed = lapwing_measure::suite::Suite::parse(Path::new(name), &suite, folder.path());
        assert_eq!(parsed.unwrap().variants().len(), variants);
    }
}
