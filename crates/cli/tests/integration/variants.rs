//! Variants that differ by command, set-up, variables, git revision or Python environment, and an A/A control.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use rusqlite::Connection;
use tempfile::TempDir;

/// A stand-in for uv: environments are real ones, and what is "installed" is metadata alone.
const UV: &str = r#"#!/bin/sh
case "$1 $2" in
"venv --quiet")
    shift 3
    exec python3 -m venv --without-pip "$1" ;;
"pip install")
    python=$5
    shift 5
    for requirement in "$@"; do
        case "$requirement" in missing*) echo "error: no version of $requirement" >&2; exit 1 ;; esac
        folder=$("$python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
        name=${requirement%==*} version=${requirement#*==}
        mkdir -p "$folder/$name-$version.dist-info"
        printf 'Metadata-Version: 2.1\nName: %s\nVersion: %s\n' "$name" "$version" \
            > "$folder/$name-$version.dist-info/METADATA"
    done ;;
esac
"#;

fn folder(suite: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("lapwing.toml"), suite).unwrap();
    fs::create_dir(folder.path().join("programs")).unwrap();
    let uv = folder.path().join("programs/uv");
    fs::write(&uv, UV).unwrap();
    fs::set_permissions(&uv, fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

fn output(folder: &Path, arguments: &[&str]) -> Output {
    let path = std::env::var("PATH").unwrap();
    Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(arguments)
        .current_dir(folder)
        .env(
            "XDG_CACHE_HOME",
            folder
                .parent()
                .unwrap()
                .join(format!("cache-{}", std::process::id())),
        )
        .env(
            "PATH",
            format!("{}:{path}", folder.join("programs").display()),
        )
        .output()
        .unwrap()
}

fn run(folder: &Path, arguments: &[&str]) -> String {
    let output = output(folder, arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{said}");
    String::from_utf8(output.stdout).unwrap() + &said
}

/// Returns each variant with the value of a metric in its iterations that count, without repetitions.
fn values(folder: &Path, metric: &str) -> Vec<(String, f64)> {
    let store = Connection::open(folder.join(".lapwing/lapwing.db")).unwrap();
    let query = format!(
        "SELECT DISTINCT variant, json_extract(metrics, '$.{metric}') + 0.0 FROM iterations \
         WHERE burn_in = 0 AND outcome = 'ok' ORDER BY 1, 2"
    );
    let mut statement = store.prepare(&query).unwrap();
    let rows = statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))
        .unwrap();
    rows.map(|it| it.unwrap()).collect()
}

/// Prints a number as the metric `n`.
const PRINT: &str = "echo \"{\\\"n\\\": ${N:-0}}\"";

#[test]
fn variants_differ_by_command_variable_argument_and_set_up() {
    let suite = format!(
        "suite = 't'\n[defaults]\niterations = 1\ninstances = 3\n\
         [benchmark.one]\ncommand = '''{PRINT}'''\nmetrics = 'json'\n\
         [benchmark.sweep]\nparams.k = [2, 3]\ncommand = ['echo', '{{\"n\": {{k}}}}']\nmetrics = 'json'\n\
         [variant.plain]\n\
         [variant.variable]\nenv = {{ N = 1 }}\n\
         [variant.command]\ncommand.one = 'echo \"{{\\\"n\\\": 7}}\"'\ncommand.sweep = ['echo', '{{\"n\": 1{{k}}}}']\n\
         [variant.setup]\nsetup = 'touch set-up'\n"
    );
    let folder = folder(&suite);
    let path = folder.path();
    run(path, &["run"]);
    let value = |variant: &str, value: f64| (variant.to_owned(), value);
    assert_eq!(
        values(path, "n"),
        [
            value("command", 7.0),
            value("command", 12.0),
            value("command", 13.0),
            value("plain", 0.0),
            value("plain", 2.0),
            value("plain", 3.0),
            value("setup", 0.0),
            value("setup", 2.0),
            value("setup", 3.0),
            value("variable", 1.0),
            value("variable", 2.0),
            value("variable", 3.0),
        ]
    );
    assert!(path.join("set-up").exists());
}

#[test]
fn a_variant_of_a_revision_is_measured_in_its_worktree() {
    let folder = folder(
        "suite = 't'\n[benchmark.one]\ncommand = './program'\nmetrics = 'json'\niterations = 1\ninstances = 3\n\
         [variant.now]\n[variant.before]\nworktree = 'v1'\n",
    );
    let path = folder.path();
    let git = |arguments: &[&str]| {
        let identity = ["-c", "user.name=T", "-c", "user.email=t@example.org"];
        let done = Command::new("git")
            .args(identity)
            .args(arguments)
            .current_dir(path)
            .output();
        assert!(done.unwrap().status.success(), "{arguments:?}");
    };
    git(&["init", "--quiet"]);
    for (tag, number) in [("v1", 1), ("v2", 2)] {
        let program = path.join("program");
        fs::write(&program, format!("#!/bin/sh\necho '{{\"n\": {number}}}'\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        git(&["add", "program"]);
        git(&["commit", "--quiet", "-m", tag]);
        git(&["tag", tag]);
    }
    run(path, &["run"]);
    let found = values(path, "n");
    assert_eq!(found, [("before".to_owned(), 1.0), ("now".to_owned(), 2.0)]);
    let refused = output(path, &["run", "--commits", "v1..v2"]);
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        said.contains("a variant has its own by `worktree` or a patch"),
        "{said}"
    );
}

const ENVIRONMENTS: &str = r#"
suite = "t"
[benchmark.one]
command = ["python", "-c", "import sys; print('{\"n\": %d}' % ('environments' in sys.prefix))"]
metrics = "json"
iterations = 1
instances = 3
[variant.old]
python = ["dask==1", "numpy==2"]
[variant.new]
python = ["dask==2", "numpy==3"]
[variant.broken]
python = ["missing==1"]
[variant.bare]
"#;

#[test]
fn python_environments_are_built_once_recorded_and_compared() {
    let folder = folder(ENVIRONMENTS);
    let path = folder.path();
    let measured = output(
        path,
        &[
            "run",
            "--variant",
            "old",
            "--variant",
            "new",
            "--variant",
            "broken",
        ],
    );
    // A side that cannot be built was not measured: that is no success.
    assert_eq!(measured.status.code(), Some(4));
    let said = String::from_utf8(measured.stderr).unwrap();
    assert!(
        said.contains("building the Python environment of old"),
        "{said}"
    );
    assert!(
        said.contains("broken is not measured: its Python environment cannot be built: exit code 1: error: no version of missing==1"),
        "{said}"
    );
    assert_eq!(
        values(path, "n"),
        [("new".to_owned(), 1.0), ("old".to_owned(), 1.0)]
    );
    let again = run(path, &["run", "--variant", "old"]);
    assert!(!again.contains("building"), "{again}");
    let compared = run(path, &["compare", "variant:old", "variant:new"]);
    assert!(!compared.contains("than was asked for"), "{compared}");
    // What nobody asked for is said.
    let store = path.join(".lapwing/lapwing.db");
    let store = Connection::open(store).unwrap();
    let changed = store
        .execute(
            "UPDATE run SET environment = replace(environment, '\"numpy\":\"3\"', '\"numpy\":\"3\",\"zict\":\"4\"')",
            [],
        )
        .unwrap();
    assert!(changed > 0);
    drop(store);
    let compared = run(path, &["compare", "variant:old", "variant:new"]);
    assert!(
        compared.contains("new differs from old in more than was asked for: zict none → 4"),
        "{compared}"
    );
}

#[test]
fn a_control_is_a_copy_of_the_first_variant_and_says_how_often_it_alarmed() {
    let suite = format!(
        "suite = 't'\n[benchmark.one]\ncommand = '''{PRINT}'''\nmetrics = 'json'\niterations = 1\n\
         [variant.a]\nenv.N = 1\n[variant.b]\nenv.N = 2\n"
    );
    let folder = folder(&suite);
    let path = folder.path();
    let said = run(path, &["run", "--aa"]);
    assert!(said.contains("A/A control: "), "{said}");
    assert_eq!(
        values(path, "n"),
        [
            ("a".to_owned(), 1.0),
            ("aa-control".to_owned(), 1.0),
            ("b".to_owned(), 2.0)
        ]
    );
    let compared = run(
        path,
        &["compare", "variant:a", "variant:b", "--metric", "n"],
    );
    assert!(
        compared.contains(
            "note: A/A control: no false alarm in 1 comparison of the baseline with its copy"
        ),
        "{compared}"
    );
    let unknown = output(path, &["run", "--variant", "nothing"]);
    let said = String::from_utf8(unknown.stderr).unwrap();
    assert!(
        said.contains("the suite has no variant `nothing`") && said.contains("available: a, b"),
        "{said}"
    );
}
