"""Pages of a store in which every text is an attack: nothing of it is executed, fetched or drawn as an element."""

import json
import random
import subprocess
import uuid

# What ends a script, an attribute, a comment or a text, and executes something.
ATTACK = (
    "</script><script>window.PWNED=1</script><img src=https://evil.invalid/x onerror=window.PWNED=1>"
    "\"'><svg onload=window.PWNED=1>`${window.PWNED=1}`{{7*7}}<!--\x1b[2J\u202e javascript:window.PWNED=1"
)
ADDRESS = "javascript:window.PWNED=1//https://evil.invalid/"


def records():
    """Yields records of versions of two benchmarks, with spans."""
    chance = random.Random(1)
    identity = lambda *parts: str(uuid.uuid5(uuid.NAMESPACE_OID, repr(parts)))
    bad = lambda text: f"{text}{ATTACK}"
    for session in range(3):
        at = f"2026-11-{20 + session}T10:00:00Z"
        about = {"suite": bad("s"), "name": bad(f"n{session}"), "tool": bad("t"), "started": at}
        attributes = {"ci_run_url": ADDRESS, bad("key"): bad("value")}
        yield {"kind": "session", "id": identity(session), **about, "attributes": attributes, "artifacts": {bad("a"): ADDRESS}}
        for side in ("a", "b"):
            run = identity(session, side)
            version = {"name": bad(f"{session}"), "commit": f"{session}{side}" * 20, "branch": bad("main"), "date": at}
            yield {
                "kind": "run", "id": run, "session": identity(session), "variant": bad(side), "version": version,
                "factors": {bad("f"): bad(side)}, "metrics": {"wall_time": {"unit": "s", "better": "lower"}},
                "environment": {"packages": {bad("p"): bad(f"{session}")}, "cpu_model": bad("cpu")},
            }
            for number in range(8):
                for name in ("join", "sort", "fail"):
                    instance = identity(run, number, name)
                    benchmark = {"id": bad(name), "params": {bad("p"): bad("v")}, "tags": [bad("tag")]}
                    yield {
                        "kind": "instance", "id": instance, "run": run, "benchmark": benchmark, "host": bad("host"),
                        "block": number, "artifacts": {bad("profile"): ADDRESS},
                    }
                    value = chance.gauss(1 + (side == "b"), 0.01)
                    result = {"metrics": {"wall_time": value}}
                    if name == "fail":
                        result = {"outcome": "failed", "message": bad("broke")}
                    yield {"kind": "iteration", "instance": instance, "index": 0, **result}
                    for index in range(2):
                        yield {
                            "kind": "span", "instance": instance, "iteration": 0, "index": index, "category": "task",
                            "name": bad(f"task{index}"), "lane": bad(f"lane{index}"), "clock": "c",
                            "events": {"planned": 0, "started": index * 1000, "completed": index * 1000 + 900},
                            "inputs": [bad("task0")] if index else [], "attributes": {bad("k"): bad("v")},
                        }
                    yield {"kind": "instance_end", "instance": instance}
    yield {
        "kind": "annotation", "id": identity("mute"), "at": "2026-11-25T10:00:00Z", "by": bad("by"), "action": "retire",
        "target": {"benchmark": bad("fail")}, "reason": bad("reason"),
    }


def test_no_text_of_a_store_is_executed(program, visit, tmp_path):
    lines = (json.dumps({"v": 1, **record}) for record in records())
    (tmp_path / "all.jsonl").write_text("\n".join(lines) + "\n")

    def lapwing(*words):
        done = subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done
        return done.stdout

    lapwing("import", "all.jsonl")
    lapwing("report", "-o", "report")
    for words in ("compare --plot compare.html", "variability --plot variability.html", "burn-in --plot burn-in.html"):
        sides = [f"variant:{side}{ATTACK}" for side in "ab"] if words.startswith("compare") else []
        subprocess.run([program, *words.split(), *sides], cwd=tmp_path, capture_output=True)
    # The store has no file of a trace, so this one is read.
    event = {"name": f"a{ATTACK}", "cat": ATTACK, "ph": "X", "pid": 1, "tid": 1, "ts": 0, "dur": 500, "args": {ATTACK: ATTACK}}
    thread = {"name": "thread_name", "ph": "M", "pid": 1, "tid": 1, "args": {"name": f"t{ATTACK}"}}
    (tmp_path / "trace.json").write_text(json.dumps({"traceEvents": [thread, event, {**event, "ts": 600}]}))
    lapwing("trace", "export", "trace.json", "-o", "lanes.html")
    pages = sorted(tmp_path.rglob("*.html"))
    assert {"lanes.html", "compare.html", "variability.html", "burn-in.html", "index.html"} <= {it.name for it in pages}
    for path in pages:
        page = visit(path)
        page.wait_for_timeout(300)
        assert page.evaluate("window.PWNED") is None, path
        assert page.locator("img[src*=evil], svg[onload]").count() == 0, path
        assert page.locator("a[href^='javascript:' i]").count() == 0, path
        # Data of charts and tables is text too.
        for button in page.get_by_role("button", name="Show the table").all():
            button.click()
        assert page.evaluate("window.PWNED") is None, path
    # Something was drawn.
    shown = visit(tmp_path / "report/index.html").locator("body").inner_text()
    assert "window.PWNED" in shown
