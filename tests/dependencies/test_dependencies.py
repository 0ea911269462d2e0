"""The dependencies of this machine's build follow deny.toml, as cargo-deny reads it."""

import json
import pathlib
import re
import subprocess
import tomllib

import pytest

REPOSITORY = pathlib.Path(__file__).resolve().parents[2]
RULES = tomllib.loads((REPOSITORY / "deny.toml").read_text())
CRATES_IO = "registry+https://github.com/rust-lang/crates.io-index"


@pytest.fixture(scope="module")
def packages():
    """The packages that are built on this machine, with all features."""
    host = re.search("^host: (.*)$", output("rustc", "-vV"), re.MULTILINE)[1]
    known = json.loads(
        output("cargo", "metadata", "--locked", "--all-features", "--format-version=1", f"--filter-platform={host}")
    )
    built = {node["id"] for node in known["resolve"]["nodes"]}
    return [package for package in known["packages"] if package["id"] in built]


def output(*command):
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True).stdout


def is_accepted(expression):
    """Evaluates a licence expression (SPDX): `OR`, its old form `/`, `AND`, parentheses."""
    words = re.findall(r"[()]|(?:[\w.+-]+ WITH )?[\w.+-]+", expression.replace("/", " OR "))
    python = {"OR": "or", "AND": "and", "(": "(", ")": ")"}
    return eval(" ".join(python.get(word) or str(word in RULES["licenses"]["allow"]) for word in words))


@pytest.mark.parametrize(
    ("expression", "accepted"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT/GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", True),
        ("Apache-2.0 WITH LLVM-exception", True),
        ("MIT WITH LLVM-exception", False),
    ],
)
def test_licence_expressions_are_understood(expression, accepted):
    assert is_accepted(expression) == accepted


def test_every_licence_is_accepted(packages):
    refused = {
        package["name"]: package["license"] for package in packages if not is_accepted(package["license"] or "none")
    }
    assert len(packages) > 100 and refused == {}


def test_no_accepted_licence_is_left_over(packages):
    named = " ".join(package["license"] for package in packages)
    assert [licence for licence in RULES["licenses"]["allow"] if licence not in named] == []


def test_no_dependency_is_banned(packages):
    banned = {rule["name"] for rule in RULES["bans"]["deny"]}
    assert [package["name"] for package in packages if package["name"] in banned] == []


def test_every_dependency_is_from_the_registry_of_rust(packages):
    others = {package["name"]: package["source"] for package in packages if package["source"] not in (None, CRATES_IO)}
    assert others == {}
