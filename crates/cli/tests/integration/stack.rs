//! Stacks of package versions, resolved by the real uv from packages that the test makes.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use lapwing_testing::missing;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Makes wheels of `alpha` 1.0, 1.1 and 2.0, of `beta` 1.0, 2.0 (which needs alpha 2) and 3.0 (which cannot be
/// imported), and a source package `delta` that cannot be built.
const PACKAGES: &str = r#"
import io, pathlib, sys, tarfile, zipfile
folder = pathlib.Path(sys.argv[1])

def wheel(name, version, module, requires=()):
    info = f"{name}-{version}.dist-info"
    requires = "".join(f"Requires-Dist: {it}\n" for it in requires)
    files = {
        f"{name}.py": module,
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{requires}",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{it},,\n" for it in [*files, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)

for version, value in [("1.0", 4.0), ("1.1", 3.0), ("2.0", 1.0)]:
    wheel("alpha", version, f"VALUE = {value}\n")
wheel("beta", "1.0", "EXTRA = 0.0\n")
wheel("beta", "2.0", "EXTRA = 0.5\n", ["alpha>=2"])
wheel("beta", "3.0", "raise RuntimeError('no such library')\n")
files = {
    "PKG-INFO": "Metadata-Version: 2.2\nName: delta\nVersion: 1.0\n",
    "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n[project]\nname = 'delta'\nversion = '1.0'\n",
    "backend.py": "def build_wheel(*arguments, **named):\n    raise SystemExit('the compiler is missing')\n",
}
with tarfile.open(folder / "delta-1.0.tar.gz", "w:gz") as archive:
    for path, text in files.items():
        entry = tarfile.TarInfo(f"delta-1.0/{path}")
        entry.size = len(text)
        archive.addfile(entry, io.BytesIO(text.encode()))
"#;

/// Reports what the versions are worth.
const SCRIPT: &str = "import json, alpha, beta\n\
    elapsed = alpha.VALUE + beta.EXTRA\n\
    print(json.dumps({'name': 'Worth', 'framework': 'alpha', '@parameters': {}, '@result': {'elapsed': elapsed},\n\
        '@metrics': {'elapsed': {'unit': 's', 'better': 'lower'}}}))\n";

struct Bench {
    folder: TempDir,
}

impl Bench {
    /// Returns a folder with packages and a script; `None` without uv.
    fn new() -> Option<Self> {
        let uv = uv()?;
        let folder = TempDir::new().unwrap();
        for name in ["programs", "packages"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        symlink(uv, folder.path().join("programs/uv")).unwrap();
        let made = Command::new("python3")
            .args(["-c", PACKAGES])
            .arg(folder.path().join("packages"))
            .output()
            .unwrap();
        assert!(made.status.success(), "{made:?}");
        let packages = folder.path().join("packages");
        let configuration = format!("no-index = true\nfind-links = [{packages:?}]\n");
        fs::write(folder.path().join("uv.toml"), configuration).unwrap();
        fs::write(folder.path().join("worth.py"), SCRIPT).unwrap();
        Some(Self { folder })
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn output(&self, arguments: &[&str]) -> Output {
        let path = std::env::var("PATH").unwrap();
        let programs = self.path().join("programs");
        Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(arguments)
            .current_dir(self.path())
            .env("PATH", format!("{}:{path}", programs.display()))
            .env("XDG_CACHE_HOME", self.cache())
            .env("UV_CACHE_DIR", self.cache().join("uv"))
            .env("UV_CONFIG_FILE", self.path().join("uv.toml"))
            .env("UV_PYTHON_DOWNLOADS", "never")
            .output()
            .unwrap()
    }

    /// The cache must not be in the folder that is measured.
    fn cache(&self) -> PathBuf {
        let name = format!("cache-{}", std::process::id());
        self.path().parent().unwrap().join(name)
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        format!(
            "{}{}exit {}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
            output.status.code().unwrap()
        )
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let output = self.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {said}"))
    }
}

/// Returns the path of uv: that of `./test`, or the one installed here.
fn uv() -> Option<PathBuf> {
    let named = std::env::var_os("LAPWING_UV").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let installed = std::env::split_paths(&path).map(|it| it.join("uv"));
    let found = named.into_iter().chain(installed).find(|it| it.is_file());
    if found.is_none() {
        missing("uv is not installed", "install it with `pip install uv`");
    }
    found
}

fn pairs(stacks: &Value) -> Vec<(String, String)> {
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let stacks = stacks.as_array().unwrap().iter();
    let mut pairs: Vec<_> = stacks
        .map(|it| (text(&it["factors"]["alpha"]), text(&it["factors"]["beta"])))
        .collect();
    pairs.sort();
    pairs
}

fn strings(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(one, other)| ((*one).to_owned(), (*other).to_owned()))
        .collect()
}

#[test]
fn stacks_are_resolved_built_and_measured_and_failures_are_data() {
    let Some(bench) = Bench::new() else {
        return;
    };
    let file = bench.json(&["stack", "resolve", "alpha>=1", "beta", "--format", "json"]);
    assert_eq!(
        pairs(&file["stacks"]),
        strings(&[
            ("1.0", "1.0"),
            ("1.0", "3.0"),
            ("1.1", "1.0"),
            ("1.1", "3.0"),
            ("2.0", "1.0"),
            ("2.0", "2.0"),
            ("2.0", "3.0")
        ])
    );
    assert_eq!(
        pairs(&file["unresolved"]),
        strings(&[("1.0", "2.0"), ("1.1", "2.0")])
    );
    let log = file["unresolved"][0]["log"].as_str().unwrap();
    assert!(log.contains("alpha"), "{log}");

    let told = bench.run(&[
        "stack",
        "run",
        "worth.py",
        "-n",
        "3",
        "-i",
        "1",
        "--burn-in",
        "0",
        "--seed",
        "1",
        "--name",
        "all",
    ]);
    assert!(told.contains("it cannot be imported"), "{told}");
    let record = bench.output(&["export", "--to", "record"]);
    let records: Vec<Value> = String::from_utf8(record.stdout)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kind = |wanted: &str| {
        records
            .iter()
            .filter(|it| it["kind"] == wanted)
            .cloned()
            .collect::<Vec<_>>()
    };
    let values = |run: &Value| -> Vec<f64> {
        let instances = kind("instance");
        let of_run = |id: &Value| {
            instances
                .iter()
                .any(|it| it["id"] == *id && it["run"] == run["id"])
        };
        let iterations = kind("iteration");
        let own = iterations.iter().filter(|it| of_run(&it["instance"]));
        own.map(|it| it["metrics"]["elapsed"].as_f64().unwrap())
            .collect()
    };
    let runs = kind("run");
    assert_eq!(runs.len(), 7);
    for run in &runs {
        let level = |name: &str| run["factors"][name].as_str().unwrap();
        let (alpha, beta) = (level("alpha"), level("beta"));
        let worth = match (alpha, beta) {
            ("1.0", "1.0") => Some(4.0),
            ("1.1", "1.0") => Some(3.0),
            ("2.0", "1.0") => Some(1.0),
            ("2.0", "2.0") => Some(1.5),
            _ => None,
        };
        assert_eq!(
            values(run),
            worth.map_or(Vec::new(), |it| vec![it; 3]),
            "{alpha} {beta}"
        );
        if worth.is_some() {
            assert_eq!(
                run["environment"]["packages"],
                json!({"alpha": alpha, "beta": beta})
            );
            let stacks = file["stacks"].as_array().unwrap().iter();
            let mut locks = stacks
                .filter(|it| it["factors"] == run["factors"])
                .map(|it| &it["lock"]);
            assert_eq!(locks.next(), Some(&run["environment"]["lock"]));
        }
    }
    let session = &kind("session")[0];
    let refused = session["attributes"]["stacks"]["refused"]
        .as_array()
        .unwrap();
    let states: Vec<&str> = refused
        .iter()
        .map(|it| it["state"].as_str().unwrap())
        .collect();
    assert_eq!(states.iter().filter(|it| **it == "unresolved").count(), 2);
    assert_eq!(states.iter().filter(|it| **it == "unimportable").count(), 3);
    assert!(
        refused[2]["log"]
            .as_str()
            .unwrap()
            .contains("no such library")
    );

    let told = bench.run(&["stack", "run", "--resume", "all"]);
    assert!(told.contains("session `all` is complete"), "{told}");

    // The stacks are a study of their own.
    let fit = bench.run(&["study", "fit", "--metric", "elapsed"]);
    assert!(fit.contains("alpha"), "{fit}");
    let query = bench.json(&[
        "indicator",
        "query",
        "--package",
        "alpha=1.1",
        "--format",
        "json",
    ]);
    assert_eq!(query["rows"][0]["mean"], 3.0);
}

#[test]
fn a_choice_is_seeded_and_leaves_out_what_is_measured() {
    let Some(bench) = Bench::new() else {
        return;
    };
    let resolve = |more: &[&str]| {
        let arguments = ["stack", "resolve", "alpha", "beta<2", "--format", "json"];
        bench.json(&[&arguments, more].concat())
    };
    let one = resolve(&["--count", "2", "--seed", "5"]);
    assert_eq!(one, resolve(&["--count", "2", "--seed", "5"]));
    assert_eq!(one["stacks"].as_array().unwrap().len(), 2);
    assert_eq!(
        pairs(&resolve(&["--step", "minor", "--latest", "2"])["stacks"]),
        strings(&[("1.1", "1.0"), ("2.0", "1.0")])
    );
    assert_eq!(
        pairs(&resolve(&["--latest", "1"])["stacks"]),
        strings(&[("2.0", "1.0")])
    );
    let told = bench.run(&["stack", "run", "worth.py", "-n", "1", "-i", "1"]);
    assert!(told.ends_with("exit 0"), "{told}");
    let rest = resolve(&["--new"]);
    assert_eq!(
        pairs(&rest["stacks"]),
        strings(&[("1.0", "1.0"), ("1.1", "1.0")])
    );
    assert_eq!(
        pairs(&resolve(&["--new", "versions"])["stacks"]),
        pairs(&rest["stacks"])
    );
}

#[test]
fn a_build_that_fails_is_told_with_its_log() {
    let Some(bench) = Bench::new() else {
        return;
    };
    let told = bench.run(&["stack", "resolve", "delta"]);
    assert!(told.contains("does not resolve"), "{told}");
    bench.run(&["stack", "resolve", "delta", "--allow-build"]);
    let told = bench.run(&["stack", "run", "worth.py"]);
    assert!(told.contains("does not build"), "{told}");
    assert!(!told.contains("the compiler is missing"), "{told}");
    let told = bench.run(&["stack", "run", "worth.py", "--allow-build"]);
    assert!(told.contains("does not build"), "{told}");
    assert!(told.contains("the compiler is missing"), "{told}");
    assert!(told.ends_with("exit 4"), "{told}");
    let told = bench.run(&["stack", "resolve", "missing>=1"]);
    assert!(told.contains("0 stacks; 1 does not resolve"), "{told}");
    assert!(told.ends_with("exit 3"), "{told}");
}

/// Returns the stacks of the bench, changed.
fn changed_stacks(bench: &Bench, change: impl Fn(&mut Value)) {
    let path = bench.path().join("stacks.json");
    let mut file: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    change(&mut file);
    fs::write(&path, file.to_string()).unwrap();
}

#[test]
fn what_executes_code_or_takes_packages_from_elsewhere_needs_permission() {
    let Some(bench) = Bench::new() else {
        return;
    };
    let evil = bench.path().join("evil");
    fs::create_dir(&evil).unwrap();
    let setup = format!(
        "open({:?}, 'w').close()\nimport setuptools\nsetuptools.setup(name='evil')\n",
        bench.path().join("executed")
    );
    fs::write(evil.join("setup.py"), setup).unwrap();
    let interpreter = evil.join("bin/python3");
    fs::create_dir(evil.join("bin")).unwrap();
    let program = format!(
        "#!/bin/sh\ntouch {}\n",
        bench.path().join("executed").display()
    );
    fs::write(&interpreter, program).unwrap();
    fs::set_permissions(
        &interpreter,
        std::os::unix::fs::PermissionsExt::from_mode(0o755),
    )
    .unwrap();
    let address = format!("evil @ file://{}", evil.display());
    let path = evil.display().to_string();
    for text in [
        &address,
        &path,
        "-e ./evil",
        "--index-url=https://example.invalid/simple",
        "alpha @ git+file:///x",
    ] {
        let told = bench.run(&["stack", "resolve", "--", text]);
        assert!(told.ends_with("exit 2"), "{told}");
    }
    bench.run(&["stack", "resolve", "alpha==1.0"]);
    let kept = fs::read_to_string(bench.path().join("stacks.json")).unwrap();
    for line in [
        address.as_str(),
        path.as_str(),
        "-e ./evil",
        "./evil",
        "-r evil/requirements.txt",
        "--find-links evil",
        "--extra-index-url https://example.invalid/simple",
        "alpha==1.0 --index-url https://example.invalid/simple",
        "${HOME}/evil",
        "alpha\n-e ./evil",
    ] {
        fs::write(bench.path().join("stacks.json"), &kept).unwrap();
        changed_stacks(&bench, |file| {
            file["stacks"][0]["packages"][0] = line.into()
        });
        let told = bench.run(&["stack", "run", "-n", "1", "-i", "1"]);
        assert!(
            told.contains("may take a package from elsewhere"),
            "{line}: {told}"
        );
        assert!(told.contains("--allow-build"), "{told}");
        assert!(told.ends_with("exit 2"), "{line}: {told}");
    }
    for python in [path.as_str(), "evil", "./evil/bin/python3"] {
        fs::write(bench.path().join("stacks.json"), &kept).unwrap();
        changed_stacks(&bench, |file| {
            file["stacks"][0]["factors"]["python"] = python.into()
        });
        let told = bench.run(&["stack", "run", "-n", "1", "-i", "1"]);
        assert!(told.contains("is not a version of Python"), "{told}");
        assert!(told.ends_with("exit 2"), "{told}");
    }
    assert!(!bench.path().join("executed").exists());
}

#[test]
fn the_configuration_of_a_folder_names_no_index() {
    let Some(bench) = Bench::new() else {
        return;
    };
    bench.run(&["stack", "resolve", "alpha==1.0"]);
    let configuration = bench.path().join("uv.toml");
    let text = fs::read_to_string(&configuration).unwrap();
    // That of the user is elsewhere; that of the folder has no packages.
    let own = bench.path().join("own.toml");
    fs::write(&own, text).unwrap();
    fs::write(
        &configuration,
        "no-index = true\nfind-links = [\"/nowhere\"]\n",
    )
    .unwrap();
    let run = |arguments: &[&str]| {
        let told = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(arguments)
            .current_dir(bench.path())
            .env(
                "PATH",
                format!(
                    "{}:{}",
                    bench.path().join("programs").display(),
                    std::env::var("PATH").unwrap()
                ),
            )
            .env("XDG_CACHE_HOME", bench.cache().join("other"))
            .env("UV_CACHE_DIR", bench.cache().join("uv"))
            .env("XDG_CONFIG_HOME", bench.path().join("config"))
            .env("UV_PYTHON_DOWNLOADS", "never")
            .output()
            .unwrap();
        told.status.code()
    };
    fs::create_dir_all(bench.path().join("config/uv")).unwrap();
    fs::copy(&own, bench.path().join("config/uv/uv.toml")).unwrap();
    assert_eq!(run(&["stack", "resolve", "alpha==1.0"]), Some(0));
    assert_eq!(run(&["stack", "run", "-n", "1", "-i", "1"]), Some(0));
}

#[test]
fn a_lock_names_the_bytes_that_are_installed() {
    let Some(bench) = Bench::new() else {
        return;
    };
    let file = bench.json(&["stack", "resolve", "alpha==1.0", "--format", "json"]);
    let lock = file["stacks"][0]["lock"].clone();
    let written: Value =
        serde_json::from_str(&fs::read_to_string(bench.path().join("stacks.json")).unwrap())
            .unwrap();
    let line = written["stacks"][0]["packages"][0]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(line.starts_with("alpha==1.0 --hash=sha256:"), "{line}");
    let told = bench.run(&["stack", "run", "-n", "1", "-i", "1"]);
    assert!(told.ends_with("exit 0"), "{told}");
    let record = bench.output(&["export", "--to", "record"]);
    let record = String::from_utf8(record.stdout).unwrap();
    let hash = line.split("--hash=").nth(1).unwrap();
    assert!(
        record.contains(hash) && record.contains(lock.as_str().unwrap()),
        "{record}"
    );
    // Other bytes of the same version.
    let other = format!("alpha==1.0 --hash=sha256:{}", "0".repeat(64));
    changed_stacks(&bench, |file| {
        file["stacks"][0]["packages"][0] = other.clone().into()
    });
    let told = bench.run(&["stack", "run", "-n", "1", "-i", "1"]);
    assert!(told.contains("does not build"), "{told}");
    assert!(told.ends_with("exit 4"), "{told}");
    // A file of an earlier version has no hashes.
    changed_stacks(&bench, |file| {
        file["stacks"][0]["packages"][0] = "alpha==1.0".into()
    });
    let told = bench.run(&["stack", "run", "-n", "1", "-i", "1"]);
    assert!(told.ends_with("exit 0"), "{told}");
}

#[test]
fn a_dry_run_neither_builds_nor_executes() {
    let Some(bench) = Bench::new() else {
        return;
    };
    bench.run(&["stack", "resolve", "alpha==1.0"]);
    let program = format!(
        "#!/bin/sh\ntouch {}\n",
        bench.path().join("executed").display()
    );
    let uv = bench.path().join("programs/uv");
    fs::remove_file(&uv).unwrap();
    fs::write(&uv, program).unwrap();
    fs::set_permissions(&uv, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    fs::write(
        bench.path().join("touch.py"),
        "open('executed', 'w').close()\n",
    )
    .unwrap();
    fs::write(
        bench.path().join("suite.toml"),
        "[benchmark.a]\ncommand = \"true\"\n[variant.x]\npython = [\"alpha==1.1\"]\n",
    )
    .unwrap();
    fs::write(bench.path().join("spec.json"), INSPECTION).unwrap();
    for arguments in [
        ["stack", "run", "touch.py", "--dry-run"].as_slice(),
        &["stack", "run", "--dry-run"],
        &[
            "indicator",
            "run",
            "touch.py",
            "--param",
            "size=1,2",
            "--dry-run",
        ],
        &["run", "suite.toml", "--dry-run"],
    ] {
        let told = bench.run(arguments);
        assert!(told.ends_with("exit 0"), "{arguments:?}: {told}");
    }
    assert!(!bench.path().join("executed").exists());
}

#[test]
fn without_a_script_the_import_is_measured() {
    let Some(bench) = Bench::new() else {
        return;
    };
    bench.run(&["stack", "resolve", "alpha", "beta==1.0", "--latest", "2"]);
    let told = bench.run(&["stack", "run", "-n", "1", "-i", "1"]);
    assert!(told.ends_with("exit 0"), "{told}");
    let rows = bench.json(&["list", "--format", "json"]);
    assert_eq!(rows["benchmarks"][0]["benchmark"], "import alpha, beta");
}

/// A stand-in for podman: it keeps its arguments, fails to build what names a missing package, and runs the script of
/// the last build.
const PODMAN: &str = r#"#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> podman.log
case "$1" in
build)
    for folder; do :; done
    if grep -q missing "$folder/Dockerfile"; then echo "E: Unable to locate package missing" >&2; exit 100; fi
    [ ! -f "$folder/script" ] || cp "$folder/script" last-script ;;
run) exec sh last-script ;;
esac
"#;

const INSPECTION: &str = r#"{"base": "debian:12", "identifier": "copy", "batch_size": 3, "packages": ["which"],
    "files": [{"path": "/data/x", "content": "1"}], "run": {"requests": {"cpu": "500m", "memory": "1Gi"}},
    "script": "echo '{\"name\": \"Copy\", \"framework\": \"cat\", \"@parameters\": {}, \"@result\": {\"elapsed\": 0.5}}'"}"#;

#[test]
fn a_specification_is_built_and_measured_with_podman() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::write(path.join("spec.json"), INSPECTION).unwrap();
    let lapwing = |arguments: &[&str], programs: &str| {
        let output = Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
            .args(arguments)
            .current_dir(path)
            .env(
                "PATH",
                format!("{}:/usr/bin:/bin", path.join(programs).display()),
            )
            .env(
                "XDG_CACHE_HOME",
                path.parent()
                    .unwrap()
                    .join(format!("cache-{}", std::process::id())),
            )
            .output()
            .unwrap();
        let text = [output.stdout, output.stderr].concat();
        format!(
            "{}exit {}",
            String::from_utf8_lossy(&text),
            output.status.code().unwrap()
        )
    };
    let run = |spec: &str, programs: &str| lapwing(&["stack", "run", "--spec", spec], programs);
    let told = run("spec.json", "nowhere");
    assert!(
        told.contains("images need podman, which is not installed"),
        "{told}"
    );
    assert!(told.ends_with("exit 2"), "{told}");
    let arguments = [
        "stack",
        "run",
        "--spec",
        "spec.json",
        "--build-folder",
        "image",
    ];
    assert!(lapwing(&arguments, "nowhere").ends_with("exit 0"));
    assert!(
        fs::read_to_string(path.join("image/Dockerfile"))
            .unwrap()
            .starts_with("FROM debian:12\n")
    );
    assert_eq!(fs::read_to_string(path.join("image/files/0")).unwrap(), "1");

    fs::create_dir(path.join("programs")).unwrap();
    let podman = path.join("programs/podman");
    fs::write(&podman, PODMAN).unwrap();
    fs::set_permissions(&podman, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let arguments = ["stack", "run", "--spec", "spec.json", "--dry-run"];
    let told = lapwing(&arguments, "programs");
    assert!(told.ends_with("exit 0"), "{told}");
    assert!(!path.join("programs/podman.log").exists());
    let told = run("spec.json", "programs");
    assert!(told.ends_with("exit 0"), "{told}");
    let log = fs::read_to_string(path.join("programs/podman.log")).unwrap();
    let runs: Vec<&str> = log.lines().filter(|line| line.starts_with("run")).collect();
    assert_eq!(
        runs.len(),
        4,
        "one to learn the identity, three of the batch"
    );
    assert!(runs[0].starts_with(
        "run --rm --cpu-period=100000 --cpu-quota=50000 --memory=1073741824 --network=none --cap-drop=all \
         --security-opt=no-new-privileges --pids-limit=4096 lapwing-inspection-"
    ));
    let list = lapwing(&["list", "--format", "csv"], "programs");
    assert!(
        list.contains("indicators,Copy/cat,indicator; cat; Copy,3,3,0"),
        "{list}"
    );

    // A build that fails is a result, and so is a build alone.
    let unbuilt = INSPECTION.replace("which", "missing");
    fs::write(path.join("unbuilt.json"), unbuilt).unwrap();
    assert!(run("unbuilt.json", "programs").ends_with("exit 4"));
    fs::write(path.join("alone.json"), r#"{"base": "debian:12"}"#).unwrap();
    assert!(run("alone.json", "programs").ends_with("exit 0"));
    let list = lapwing(&["list", "--format", "csv"], "programs");
    assert!(list.contains("indicators,build,,2,2,1"), "{list}");
}

#[test]
fn what_is_resolved_is_measured_advised_and_explored() {
    let Some(bench) = Bench::new() else { return };
    let resolved = bench.run(&["stack", "resolve", "alpha", "beta<3"]);
    assert!(resolved.ends_with("exit 0"), "{resolved}");
    let listed = "alpha==1.0 beta==1.0\nalpha==1.1 beta==1.0 # the rest is not measured\nalpha==2.0 beta==2.0\n";
    fs::write(bench.path().join("some.txt"), listed).unwrap();
    let some = bench.json(&[
        "stack",
        "resolve",
        "--stacks",
        "some.txt",
        "-o",
        "some.json",
        "--format",
        "json",
    ]);
    let expected = [("1.0", "1.0"), ("1.1", "1.0"), ("2.0", "2.0")];
    assert_eq!(
        pairs(&some["stacks"]),
        expected.map(|(a, b)| (a.to_owned(), b.to_owned()))
    );
    let run = bench.run(&[
        "stack",
        "run",
        "--stacks",
        "some.json",
        "worth.py",
        "-n",
        "3",
        "-i",
        "2",
    ]);
    assert!(run.ends_with("exit 0"), "{run}");
    let explored = bench.run(&[
        "advise",
        "alpha",
        "beta",
        "--goal",
        "elapsed",
        "--candidates",
        "stacks.json",
        "--explore",
        "--count",
        "1",
        "--output",
        "next.txt",
    ]);
    assert!(explored.ends_with("exit 0"), "{explored}");
    let next = fs::read_to_string(bench.path().join("next.txt")).unwrap();
    // The only other stack that resolves.
    assert!(next.contains("alpha==2.0 beta==1.0"), "{next}");
    let again = bench.run(&[
        "stack",
        "resolve",
        "--stacks",
        "next.txt",
        "-o",
        "next.json",
    ]);
    assert!(
        again.contains("1 stack, seed 1") && again.ends_with("exit 0"),
        "{again}"
    );
    let run = bench.run(&[
        "stack",
        "run",
        "--stacks",
        "next.json",
        "worth.py",
        "-n",
        "3",
        "-i",
        "2",
    ]);
    assert!(run.ends_with("exit 0"), "{run}");
    let advice = bench.json(&[
        "advise", "alpha", "beta", "--goal", "elapsed", "--format", "json",
    ]);
    let best = (&advice["stack"]["alpha"], &advice["stack"]["beta"]);
    assert_eq!(best, (&json!("2.0"), &json!("1.0")));
    fs::write(bench.path().join("bad.txt"), "alpha==1.0\nbeta==1.0\n").unwrap();
    let bad = bench.run(&["stack", "resolve", "--stacks", "bad.txt"]);
    assert!(bad.contains("do not all pin the same packages"), "{bad}");
}
