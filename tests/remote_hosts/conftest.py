"""Instances on hosts of ssh and in stand-ins of other clusters, which share no folder with the client."""

import shutil
import tempfile
from pathlib import Path

import pytest
from client import Client, check_program
from needs import skip_or_fail
from small_hosts import SmallHosts, missing


def pytest_configure():
    check_program()


@pytest.fixture(scope="module")
def all_hosts():
    if absent := missing():
        skip_or_fail(f"{', '.join(absent)} not found", "install openssh-server and openssh-client")
    folder = Path(tempfile.mkdtemp(prefix="hosts-"))
    hosts = SmallHosts(folder / "h")
    try:
        yield hosts.start()
    finally:
        hosts.stop()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def hosts(all_hosts):
    """Three hosts that are up and print nothing by themselves."""
    yield all_hosts
    for name in all_hosts.ports:
        all_hosts.set_login(name, "")
        if name not in all_hosts.daemons:
            all_hosts.start_host(name)


@pytest.fixture
def client(tmp_path):
    return lambda suite: Client(tmp_path / "work", suite)
