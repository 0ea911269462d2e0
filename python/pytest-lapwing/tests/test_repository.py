"""What the plugin asks of Git, which executes nothing that a repository names."""

import os
import subprocess

import pytest

from pytest_lapwing import environment


@pytest.fixture
def planted(tmp_path):
    """A repository that names one program wherever Git takes one; the program writes a file `ran`."""

    def git(*words):
        person = ["-c", "user.name=T", "-c", "user.email=t@example.org"]
        subprocess.run(["git", *person, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q", "--initial-branch=trunk")
    (tmp_path / "a").write_text("hi\n")
    git("add", "a")
    git("commit", "-qm", "1")
    evil = tmp_path / ".git/evil"
    evil.write_text(f"#!/bin/sh\necho ran >>{tmp_path}/ran\ncat\n")
    evil.chmod(0o755)
    for key in ("filter.evil.clean", "filter.evil.process", "core.fsmonitor", "core.pager", "gpg.program"):
        git("config", key, str(evil))
    git("config", "filter.evil.required", "true")
    git("config", "log.showSignature", "true")
    (tmp_path / ".git/info/attributes").write_text("* filter=evil\n")
    (tmp_path / "a").write_text("hj\n")
    return tmp_path


def test_nothing_that_a_repository_names_is_executed(planted):
    version = environment.repository_version(planted)
    assert version["branch"] == "trunk" and version["dirty"] is True
    assert environment.repository_name(planted)
    assert not (planted / "ran").exists()


def test_a_repository_of_another_user_gives_no_version_and_a_warning(planted):
    if os.getuid() != 0:
        pytest.skip("only root can give a repository to another user")
    for path in (planted, planted / ".git"):
        os.chown(path, 65534, 65534)
    with pytest.warns(UserWarning, match="safe.directory"):
        assert environment.repository_version(planted) == {}
    assert not (planted / "ran").exists()
