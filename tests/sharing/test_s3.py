"""Sharing through an S3-compatible object store: moto."""

import urllib.request

import pytest
from conftest import RECORDS, push_all


@pytest.fixture
def bucket(moto, environment, request):
    """The name of a new bucket; the program is told of the server."""
    name = request.node.name.replace("_", "-")[:60].strip("-")
    urllib.request.urlopen(urllib.request.Request(f"{moto}/{name}", method="PUT"), timeout=30).close()
    environment.update(
        AWS_ACCESS_KEY_ID="AKIDEXAMPLE", AWS_SECRET_ACCESS_KEY="top secret", AWS_ENDPOINT_URL=moto, AWS_REGION="us-east-1"
    )
    return name


def test_one_pushes_another_pulls(store, bucket, moto, environment):
    a, b = store("a"), store("b")
    a.add(1, 2)
    url = f"s3://{bucket}/a team/history"
    assert a.run("db", "push", url).startswith("pushed 2 sessions in 1 segment (")
    assert a.run("db", "push", url) == "nothing to push; nothing new from others\nexit 0"
    # What the option says goes before what the environment says.
    environment["AWS_ENDPOINT_URL"] = "http://127.0.0.1:9"
    said = b.run("db", "pull", url, "--endpoint", moto, "--region", "eu-central-1")
    assert said.endswith(f"): {2 * RECORDS} new records\nexit 0")
    assert b.records() == a.records()
    assert b"top secret" not in a.path.read_bytes()


def test_eight_push_at_once(store, bucket):
    stores = [store(f"s{number}") for number in range(8)]
    for number, one in enumerate(stores):
        one.add(f"own {number}", f"shared {number // 2}", "everybody's")
    url = f"s3://{bucket}/h"
    for _ in range(2):
        assert push_all(stores, url) == []
    for one in stores:
        one.run("db", "pull", url)
    everything = stores[0].records()
    assert len(everything) == (8 + 4 + 1) * RECORDS
    assert all(one.records() == everything for one in stores)


def test_a_bucket_that_is_not_there_is_said(store, bucket, moto):
    a = store("a")
    a.add(1)
    said = a.run("db", "push", f"s3://{bucket}-not/h")
    assert said.startswith(
        f"error: cannot use the shared history at {moto}/{bucket}-not/h: cannot fetch lapwing.json: "
        "the server answers 404 (NoSuchBucket: "
    )
    assert "top secret" not in said and "AKIDEXAMPLE" not in said


def test_without_keys_it_says_what_to_set(store, bucket, environment):
    del environment["AWS_SECRET_ACCESS_KEY"]
    a = store("a")
    a.add(1)
    assert a.run("db", "push", f"s3://{bucket}/h").startswith(
        "error: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not both set\n  hint: "
    )


def test_signatures_go_beside_the_segments(store, bucket, signer):
    a, b = store("a"), store("b")
    a.add(1)
    key, allowed = signer
    url = f"s3://{bucket}/h"
    assert a.run("db", "push", url, "--sign", key).startswith("pushed 1 session")
    said = b.run("db", "pull", url, "--allowed-signers", allowed)
    assert said.startswith("pulled 1 segment") and "note" not in said
    a.add(2)
    assert a.run("db", "push", url).startswith("pushed 1 session")
    assert "note: 1 segment not signed" in b.run("db", "pull", url, "--allowed-signers", allowed)


def test_what_is_withdrawn_reaches_no_new_store(store, bucket):
    a, b = store("a"), store("b")
    a.add(1, 2)
    url = f"s3://{bucket}/h"
    a.run("db", "push", url)
    said = a.run("db", "withdraw", url, "--where", "session=1", "--by", "Ann", "--yes")
    assert said.startswith("withdrew 1 session") and "the location still holds the sessions" in " ".join(said.split())
    assert "1 session withdrawn by Ann: deleted here" in b.run("db", "pull", url)
    assert b.records() == a.records()
