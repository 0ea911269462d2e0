//! Environments of Conda, by stand-ins for `micromamba`, `mamba` and `conda` that check their arguments and make an
//! environment with the Python that is there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// Reads `[env] create --quiet [--yes] --prefix FOLDER --file FILE`, as these programs do.
const STAND_IN: &str = r#"#!/bin/sh
set -e
echo "$(basename "$0") $*" >> "$CALLS"
case $(basename "$0") in
    conda) test "$1" = env; shift; test "$1" = create; shift ;;
    *) test "$1" = create; shift; yes=no ;;
esac
while test $# -gt 0; do
    case $1 in
        --quiet) ;;
        --yes) yes=yes ;;
        --prefix) prefix=$2; shift ;;
        --file) file=$2; shift ;;
        *) echo "unknown argument $1" >&2; exit 2 ;;
    esac
    shift
done
test "$yes" != no
grep -q '^dependencies:' "$file" || { echo "$file: no dependencies" >&2; exit 1; }
python3 -m venv --without-pip "$prefix"
sed -n 's/^  - //p' "$file" > "$prefix/packages"
"#;

fn suite(programs: &[&str]) -> TempDir {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    fs::create_dir(path.join("bin")).unwrap();
    for program in programs {
        let program = path.join("bin").join(program);
        fs::write(&program, STAND_IN).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    }
    for (name, package) in [("old", "dask ==2026.1"), ("new", "dask ==2026.8")] {
        let text = format!("channels:\n  - conda-forge\ndependencies:\n  - {package}\n");
        fs::write(path.join(format!("{name}.conda.yaml")), text).unwrap();
    }
    let show = "import sys\nprint(open(sys.prefix + '/packages').read())\n";
    fs::write(path.join("show.py"), show).unwrap();
    fs::write(
        path.join("lapwing.toml"),
        "suite = 'conda'\n[version]\nname = '1'\n[benchmark.b]\niterations = 1\nburn_in = 0\n\
         command = 'python show.py >> seen'\n\
         [variant.old]\npython = 'old.conda.yaml'\n[variant.new]\npython = 'new.conda.yaml'\n",
    )
    .unwrap();
    folder
}

fn lapwing(folder: &Path, words: &[&str]) -> Output {
    let search = std::env::var("PATH").unwrap();
    Command::new(assert_cmd::cargo::cargo_bin!("lapwing"))
        .args(words)
        .current_dir(folder)
        .env("PATH", format!("{}:{search}", folder.join("bin").display()))
        .env("CALLS", folder.join("calls"))
        .env("XDG_CACHE_HOME", folder.join("cache"))
        .output()
        .unwrap()
}

#[test]
fn each_variant_is_measured_in_its_environment() {
    for (programs, used) in [
        (&["conda", "mamba", "micromamba"][..], "micromamba create"),
        (&["conda", "mamba"], "mamba create"),
        (&["conda"], "conda env create"),
    ] {
        let folder = suite(programs);
        let done = lapwing(folder.path(), &["run", "-n", "3"]);
        assert!(done.status.success(), "{done:?}");
        let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
        assert_eq!(calls.lines().count(), 2, "{calls}");
        assert!(calls.lines().all(|it| it.starts_with(used)), "{calls}");
        let seen = fs::read_to_string(folder.path().join("seen")).unwrap();
        for package in ["dask ==2026.1", "dask ==2026.8"] {
            assert_eq!(seen.matches(package).count(), 3, "{seen}");
        }
        // They are there, and not built again.
        let again = lapwing(folder.path(), &["run", "-n", "3"]);
        assert!(again.status.success(), "{again:?}");
        let calls = fs::read_to_string(folder.path().join("calls")).unwrap();
        assert_eq!(calls.lines().count(), 2, "{calls}");
    }
}

#[test]
fn an_environment_that_cannot_be_built_is_told_with_the_reason() {
    let folder = suite(&["micromamba"]);
    fs::write(folder.path().join("new.conda.yaml"), "channels: []\n").unwrap();
    let done = lapwing(folder.path(), &["run", "-n", "3"]);
    let said =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    assert!(said.contains("new.conda.yaml: no dependencies"), "{said}");
}
