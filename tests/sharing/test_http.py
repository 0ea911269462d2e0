"""Sharing through a plain HTTP server."""

import pytest
from conftest import RECORDS, push_all
from server import Server


@pytest.fixture
def server():
    server = Server()
    yield server
    server.stop()


def segments(server):
    return sorted(path for path in server.objects if "/segments/" in path)


def test_what_one_pushes_the_other_pulls(store, server):
    a, b = store("a"), store("b")
    a.add(1, 2)
    url = f"{server.url}/team/history/"
    assert a.run("db", "push", url).startswith("pushed 2 sessions in 1 segment (")
    assert a.run("db", "push", url) == "nothing to push; nothing new from others\nexit 0"
    said = b.run("db", "pull", url)
    assert said.startswith("pulled 1 segment (") and said.endswith(f"): {2 * RECORDS} new records\nexit 0")
    assert b.records() == a.records()
    assert segments(server) == ["/team/history/segments/00000001.jsonl.gz"]


def test_pulling_writes_nothing(store, server):
    a, b = store("a"), store("b")
    a.add(1)
    a.run("db", "push", server.url)
    server.requests.clear()
    b.run("db", "pull", server.url)
    assert [method for method, _ in server.requests] == ["GET"] * 4
    assert b.run("db", "push", server.url, "--dry-run").startswith("would push nothing")
    assert all(method == "GET" for method, _ in server.requests)


def test_eight_push_at_once(store, server):
    stores = [store(f"s{number}") for number in range(8)]
    for number, one in enumerate(stores):
        one.add(f"own {number}", f"shared {number // 2}", "everybody's")
    assert push_all(stores, server.url) == []
    expected = (8 + 4 + 1) * RECORDS
    for one in stores:
        one.run("db", "pull", server.url)
    everything = stores[0].records()
    assert len(everything) == expected
    assert all(one.records() == everything for one in stores)
    # Numbered without gaps.
    numbers = [int(path.rsplit("/", 1)[1].split(".")[0]) for path in segments(server)]
    assert numbers == list(range(1, len(numbers) + 1))


def test_a_server_that_ignores_the_condition_is_refused(store, server):
    server.conditional = False
    a = store("a")
    a.add(1)
    for _ in range(2):
        assert a.run("db", "push", server.url) == (
            f"error: {server.url} ignores conditional creation: two writers would overwrite each other's measurements\n"
            "  hint: use a folder, or a server or object store that supports `If-None-Match: *`\n"
            "exit 2"
        )
    assert list(server.objects) == ["/lapwing.json"]


def test_a_server_may_falter(store, server):
    a, b = store("a"), store("b")
    a.add(1)
    server.refusals = [503, 500, 429]
    assert a.run("db", "push", server.url).startswith("pushed 1 session")
    server.refusals = [502]
    assert b.run("db", "pull", server.url).startswith("pulled 1 segment")
    server.refusals = [503] * 5
    assert b.run("db", "pull", server.url) == (
        f"error: cannot use the shared history at {server.url}: cannot fetch lapwing.json: the server answers 503\n"
        "exit 2"
    )


def test_an_answer_that_was_lost_doubles_nothing(store, server):
    a, b = store("a"), store("b")
    a.add(1)
    a.run("db", "push", server.url)
    a.add(2)
    # lapwing.json, the last segment, none after it; then the new one is created, and nobody hears of it.
    server.lies = [200, 200, 404, 503]
    assert a.run("db", "push", server.url).startswith("pushed 1 session in 1 segment")
    assert len(segments(server)) == 2
    b.run("db", "pull", server.url)
    assert b.records() == a.records()


def test_a_password_is_sent_and_never_shown(store, server):
    server.login = "me:pass word/1"
    a = store("a")
    a.add(1)
    host = server.url.removeprefix("http://")
    assert a.run("db", "push", f"http://me:pass%20word%2F1@{host}").startswith("pushed 1 session")
    wrong = a.run("db", "push", f"http://me:secret@{host}")
    assert wrong == (
        f"error: cannot use the shared history at {server.url}: cannot fetch lapwing.json: the server answers 401 "
        "(user and password can stand in the address: https://user:password@server/path)\nexit 2"
    )
    assert b"pass word" not in a.path.read_bytes() and b"pass%20word" not in a.path.read_bytes()
    invalid = a.run("db", "push", f"http://me:secret@{host}:x y/")
    assert "secret" not in invalid and invalid.endswith("exit 2")


def test_a_token_behind_the_path_is_sent_and_never_shown(store, server):
    server.query = "token=secret"
    a = store("a")
    a.add(1)
    assert a.run("db", "push", f"{server.url}/x?token=secret").startswith("pushed 1 session")
    assert "secret" not in a.run("db", "push", f"{server.url}/x?token=secret2")
    assert b"secret" not in a.path.read_bytes()


def test_reading_follows_a_redirection_and_writing_does_not(store, server):
    a, b = store("a"), store("b")
    a.add(1)
    a.run("db", "push", server.url)
    other = Server()
    other.moved_to = server.url
    assert b.run("db", "pull", other.url).startswith("pulled 1 segment")
    b.add(2)
    said = b.run("db", "push", other.url)
    assert said == (
        f"error: cannot use the shared history at {other.url}: cannot create lapwing.json: the server answers 307 "
        f"(moved to {server.url}/lapwing.json)\nexit 2"
    )
    other.stop()


def test_a_password_does_not_go_along_with_a_redirection(store, server):
    a, b = store("a"), store("b")
    a.add(1)
    a.run("db", "push", server.url)
    other = Server()
    other.moved_to = server.url
    server.authorizations.clear()
    # Another port of the same host may be somebody else's.
    url = other.url.replace("://", "://me:secret@")
    assert b.run("db", "pull", url).startswith("pulled 1 segment")
    assert set(other.authorizations) != {None} and None not in other.authorizations
    assert set(server.authorizations) == {None}
    other.stop()


def test_a_segment_that_is_missing_is_not_filled(store, server):
    a, b = store("a"), store("b")
    for number in range(4):
        a.add(number)
        a.run("db", "push", server.url)
    del server.objects["/segments/00000003.jsonl.gz"]
    b.add("own")
    for _ in range(2):
        assert b.run("db", "push", server.url).startswith(
            f"error: {server.url}/segments/00000003.jsonl.gz is missing, though segments/00000004.jsonl.gz is there"
        )
    assert len(segments(server)) == 3


def test_a_server_that_is_not_there_is_said(store, server):
    server.stop()
    a = store("a")
    a.add(1)
    said = a.run("db", "push", server.url)
    assert said.startswith(f"error: cannot use the shared history at {server.url}: cannot fetch lapwing.json: ")
    assert said.endswith("exit 2")


def test_what_takes_no_put_is_said(store, server):
    a = store("a")
    a.add(1)
    server.refusals = [404, 405]
    assert "cannot create lapwing.json: the server answers 405 (it does not take PUT)" in a.run(
        "db", "push", server.url
    )


def test_tls_trusts_whom_it_is_told_to(store, server, tmp_path, environment):
    certificate = server.with_tls(tmp_path)
    a = store("a")
    a.add(1)
    refused = a.run("db", "push", server.url)
    assert "UnknownIssuer" in refused and refused.endswith("exit 2")
    environment["SSL_CERT_FILE"] = str(certificate)
    assert a.run("db", "push", server.url).startswith("pushed 1 session")
    environment["SSL_CERT_FILE"] = str(a.path)
    assert a.run("db", "push", server.url) == (
        f"error: {a.path}, which SSL_CERT_FILE names, holds no certificate\nexit 2"
    )


def test_a_segment_that_comes_without_its_end_is_asked_for_again(store, server):
    a, b = store("a"), store("b")
    a.add(1)
    a.run("db", "push", server.url)
    server.cuts = 2
    assert b.run("db", "pull", server.url).startswith("pulled 1 segment")
    assert server.cuts == 0
    server.cuts = 3
    said = store("c").run("db", "pull", server.url)
    assert "/segments/00000001.jsonl.gz is cut off or damaged" in said and said.endswith("exit 2")


def test_no_more_is_read_than_may_be_there(store, server):
    a, b = store("a"), store("b")
    a.add(1)
    a.run("db", "push", server.url)
    # A page that says that there is nothing may be long.
    server.verbosity = 100_000
    assert b.run("db", "pull", server.url).startswith("pulled 1 segment")
    server.objects["/lapwing.json"] += b" " * (1 << 20)
    said = store("c").run("db", "pull", server.url)
    assert "cannot fetch lapwing.json" in said and "limit" in said and said.endswith("exit 2")


def test_signatures_go_beside_the_segments(store, server, signer):
    a, b = store("a"), store("b")
    a.add(1)
    key, allowed = signer
    assert a.run("db", "push", server.url, "--sign", key).startswith("pushed 1 session")
    assert segments(server) == ["/segments/00000001.jsonl.gz", "/segments/00000001.sig"]
    said = b.run("db", "pull", server.url, "--allowed-signers", allowed)
    assert said.startswith("pulled 1 segment") and "note" not in said
    server.objects["/segments/00000001.sig"] = b"none"
    said = store("c").run("db", "pull", server.url, "--allowed-signers", allowed)
    assert "the signature of" in said and said.endswith("exit 2")
