"""What a test is as a benchmark."""

import hashlib

from conftest import Records

from pytest_lapwing.describe import without_markers


def test_ids_params_and_tags(suite):
    suite.ini("markers =", "    shuffle: ", "    slow: ")
    suite.write("""
    import pytest

    class Thing:
        pass

    pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore")]

    @pytest.mark.shuffle
    @pytest.mark.lapwing
    @pytest.mark.parametrize("n, what", [(10, Thing()), (0.5, len), (None, (1, "é"))])
    def test_it(n, what):
        pass
    """)
    records = suite.passes("-m", "shuffle", passed=3)
    found = [it["benchmark"] for it in records.of("instance")]
    assert [it["id"] for it in found] == [f"test_it.py::test_it[{it}]" for it in ("10-what0", "0.5-len", "None-what2")]
    assert [it["params"] for it in found] == [
        {"n": 10, "what": "<test_it.Thing object>"},
        {"n": 0.5, "what": "builtins.len"},
        {"n": None, "what": [1, "é"]},
    ]
    assert all(it["tags"] == ["shuffle", "slow"] for it in found)


UNSTABLE = """
    import functools, pytest

    class Thing:
        def __repr__(self):
            return f"Thing({id(self):#x}, mask=0xff00ff)"

    class Broken:
        def __repr__(self):
            raise ValueError

    class Float64:
        shape = ()
        def item(self):
            return 2.5

    class Plain:
        pass

    @pytest.fixture(params=[Plain()])
    def thing(request):
        return request.param

    VALUES = [Thing(), Broken(), Float64(), {"some", "words", "in", "a", "set"}, {"k": {"b", "a"}}, [Plain(), (1, 2)]]
    VALUES += [functools.partial(len, Plain()), Plain.__init__, float("nan"), {1: 2}, lambda: 1]

    @pytest.mark.lapwing(burn_in=0, iterations=1)
    @pytest.mark.parametrize("value", VALUES)
    def test_it(thing, value):
        pass
"""


def test_params_are_the_same_in_every_process(suite, monkeypatch):
    suite.write(UNSTABLE)
    found = []
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        path = suite.path / f"{seed}.jsonl"
        suite.pytester.runpytest_subprocess("--lapwing", f"--lapwing-output={path}", "-p", "no:cacheprovider")
        found.append([it["benchmark"]["params"] for it in Records(path).of("instance")])
    assert found[0] == found[1]
    plain = "<test_it.Plain object>"
    assert all(it["thing"] == plain for it in found[0])
    assert [it["value"] for it in found[0]] == [
        "Thing(0x…, mask=0xff00ff)",
        "<Broken object>",
        2.5,
        ["a", "in", "set", "some", "words"],
        {"k": ["a", "b"]},
        [plain, [1, 2]],
        f"functools.partial(<built-in function len>, {plain})",
        "object.__init__",
        "nan",
        "{1: 2}",
        "test_it.<lambda>",
    ]


def test_the_fingerprint_is_that_of_the_source_without_markers():
    plain = "@cached\ndef test_it(n):\n    assert n\n"
    marked = (
        '@pytest.mark.slow\n@pytest.mark.parametrize(\n    "n",\n    [1, 2],\n)\n'
        "@cached\ndef test_it(n):\n\n    assert n  \n"
    )
    assert without_markers(marked, {}) == without_markers(plain, {}) == "@cached\ndef test_it(n):\n    assert n"
    assert without_markers(plain.replace("cached", "other"), {}) != without_markers(plain, {})


def test_markers_under_other_names_are_not_in_the_fingerprint(suite):
    suite.ini("markers =", "    shuffle: ", "    slow: ")
    (suite.path / "marks.py").write_text("""if True:
    import pytest
    slow = pytest.mark.slow

    class Sizes:
        some = pytest.mark.parametrize("n", [1])
    """)
    suite.write("""
    import pytest
    import marks

    S = pytest.mark.shuffle
    sizes = pytest.mark.parametrize

    def plain(function):
        return function

    class TestBare:
        @plain
        def test_it(self, n=1):
            pass

    class TestMarked:
        own = pytest.mark.slow

        @S
        @marks.slow
        @marks.Sizes.some
        @plain
        @own
        def test_it(self, n):
            pass

    class TestCalled:
        @sizes(
            "n",
            [1],
        )
        @S()
        @plain
        def test_it(self, n):
            pass
    """)
    records = suite.passes("--lapwing-all=.", passed=3)
    bare, marked, called = (it["benchmark"] for it in records.of("instance"))
    assert (marked["tags"], called["tags"]) == (["shuffle", "slow"], ["shuffle"])
    plain = b"@plain\ndef test_it(self, n):\n    pass"
    assert marked["fingerprint"] == called["fingerprint"] == "sha256:" + hashlib.sha256(plain).hexdigest()
    assert bare["fingerprint"] == "sha256:" + hashlib.sha256(plain.replace(b"n)", b"n=1)")).hexdigest()


def test_a_fingerprint_changes_with_the_source_and_an_epoch_overrides_it(suite):
    body = """
    import pytest

    @pytest.mark.lapwing{}
    def test_it():
        x = {}
    """
    prints = []
    for marker, value in (("", 1), ("(iterations=2)", 1), ("", 2), ('(epoch="2")', 1), ('(epoch="2")', 2)):
        suite.write(body.format(marker, value))
        (suite.path / "__pycache__").exists() and [it.unlink() for it in (suite.path / "__pycache__").iterdir()]
        records = suite.passes("-p", "no:assertion")
        prints.append(records.instance("test_it")["benchmark"]["fingerprint"])
    assert prints[0] == prints[1] == "sha256:" + hashlib.sha256(b"def test_it():\n    x = 1").hexdigest()
    assert prints[2] not in prints[:2]
    assert prints[3:] == ["epoch:2", "epoch:2"]


def test_the_source_is_kept_for_pages(suite):
    suite.write("""
    import pytest

    class TestIt:
        @pytest.mark.lapwing
        def test_it(self):
            pass
    """)
    source = suite.passes().instance("test_it")["attributes"]["source"]
    assert source == {"path": "test_it.py", "line": 4, "text": "@pytest.mark.lapwing\ndef test_it(self):\n    pass"}


def test_the_cost_of_the_loop_stands_apart(suite):
    suite.write("""
    import pytest

    @pytest.mark.lapwing
    def test_it():
        pass
    """)
    assert 0 < suite.passes().instance("test_it")["attributes"]["loop_cost"] < 1e-3
