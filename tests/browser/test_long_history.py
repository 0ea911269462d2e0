"""A history of many runs, of two variants with long versions and sessions: what its page has room for."""

import datetime

import pytest

RUNS = 240


@pytest.fixture(scope="session")
def long_history(new_records):
    """The page of a benchmark with so many runs, several on each day."""
    records = new_records()
    for at in range(RUNS):
        began = datetime.datetime(2026, 1, 1) + datetime.timedelta(hours=at)
        variant = ["baseline", "shuffle-p2p-long-name"][at % 2]
        name = f"{at:04d}-with-a-long-name-{variant}"
        session = records.record("session", suite="s", tool="t", name=name, started=f"{began.isoformat()}Z")
        version = {"name": f"2026.9.0+{at // 2}.g0123456789abcdef{at // 2:03d}"}
        metrics = {"wall_time": {"unit": "s"}}
        run = records.record("run", session=session, variant=variant, version=version, metrics=metrics)
        for value in [1, 2, 3]:
            records.instance(run, {"id": "f.py::test_x[1]"}, {"wall_time": value})
    (page,) = (records.report() / "benchmark").glob("*.html")
    return page


def texts_of(page, chart):
    """What is written in a chart, with the left, right, top and bottom of each line of it, and the chart's width."""
    page.wait_for_selector(f"[data-chart={chart}] canvas")
    return page.evaluate(
        f"""() => {{
          const plot = document.querySelector('[data-chart={chart}] .plot');
          const list = echarts.getInstanceByDom(plot).getZr().storage.getDisplayList(true);
          const texts = list.filter((it) => it.type === 'tspan' && it.style.text && !it.ignore).map((it) => {{
            const box = it.getBoundingRect().clone();
            if (it.transform) box.applyTransform(it.transform);
            return {{ text: it.style.text, left: box.x, right: box.x + box.width, top: box.y, bottom: box.y + box.height }};
          }});
          return [texts, plot.clientWidth];
        }}"""
    )


@pytest.mark.parametrize("width", [390, 1280])
def test_labels_of_a_distribution_lie_apart_and_tell_runs_apart(visit, long_history, width):
    page = visit(long_history, width=width)
    texts, whole = texts_of(page, "distribution")
    labels = sorted((it for it in texts if any(part in it["text"] for part in ["2026", "baseline", "shuffle"])), key=lambda it: it["top"])
    # The latest run of each variant and the one before it; a run has two lines, on a phone three.
    assert len(labels) == 4 * (3 if width == 390 else 2)
    for above, below in zip(labels, labels[1:]):
        assert above["bottom"] <= below["top"] + 2, (above, below)
    assert all(it["left"] >= 0 and it["right"] <= whole for it in texts)
    lines = len(labels) // 4
    names = [" ".join(line["text"] for line in labels[at : at + lines]) for at in range(0, len(labels), lines)]
    assert len(set(names)) == 4
    for name in names:
        assert name.startswith("2026-01-10 ") and ("baseline" in name) != ("shuffle" in name), name


def test_labels_of_a_long_history_are_whole(visit, long_history):
    page = visit(long_history)
    # Which place has the last label depends on the width.
    for width in [390, *range(1100, 1300, 20)]:
        page.set_viewport_size({"width": width, "height": 900})
        page.reload()
        texts, whole = texts_of(page, "history")
        times = [it for it in texts if it["text"].startswith("2026-01-")]
        assert len(times) > 1
        assert all(it["left"] >= 0 and it["right"] <= whole for it in times), (times, whole)


def test_labels_of_a_history_that_are_equal_are_not_repeated(visit, new_records):
    records = new_records()
    for day in range(1, 13):
        session = records.record("session", suite="s", tool="t", started=f"2026-05-{day:02}T10:00:00Z", name=f"n{day}")
        # Three sessions measure each version.
        version = {"name": f"1.{(day - 1) // 3}"}
        run = records.record("run", session=session, version=version, metrics={"wall_time": {"unit": "s"}})
        records.instance(run, {"id": "x"}, {"wall_time": 1})
    (path,) = (records.report() / "benchmark").glob("*.html")
    texts, _ = texts_of(visit(path), "history")
    labels = [it["text"] for it in texts if it["text"].startswith(("1.", "2026-"))]
    assert len(labels) > 1 and all(one != other for one, other in zip(labels, labels[1:])), labels


def test_older_runs_come_a_hundred_at_a_time_or_all_at_once(visit, long_history):
    page = visit(long_history)
    rows = page.locator("#runs tbody tr")
    buttons = page.locator("#runs .buttons")
    page.wait_for_function("document.querySelectorAll('#runs tbody tr').length === 12")
    assert buttons.locator("button").all_inner_texts() == ["Show 100 older runs", "Show all 240 runs"]
    buttons.get_by_text("Show 100 older runs").click()
    page.wait_for_function("document.querySelectorAll('#runs tbody tr').length === 112")
    buttons.get_by_text("Show all 240 runs").click()
    page.wait_for_function("document.querySelectorAll('#runs tbody tr').length === 240")
    assert rows.last.locator("button").first.inner_text() == "2026-01-01 00:00"
    assert buttons.locator("button").count() == 0
