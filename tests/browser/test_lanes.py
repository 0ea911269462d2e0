"""The timeline of `lapwing trace export`, in a real browser."""

import json
import re
import subprocess

import pytest
from axe_playwright_python.sync_playwright import Axe
from conftest import REPOSITORY

FIXTURE = REPOSITORY / "tests/fixtures/earthkit-0.19/trace_2x1.log"
GRAPH = REPOSITORY / "tests/fixtures/earthkit-0.19/graph.json"


@pytest.fixture(scope="module")
def lanes(program, tmp_path_factory):
    """The page of a real trace."""
    page = tmp_path_factory.mktemp("lanes") / "lanes.html"
    subprocess.run([program, "trace", "export", FIXTURE, "-o", page], check=True, capture_output=True)
    return page


@pytest.fixture(scope="module")
def lanes_with_graph(program, tmp_path_factory):
    """The page of the same trace with its graph."""
    page = tmp_path_factory.mktemp("lanes") / "graph.html"
    subprocess.run([program, "trace", "export", FIXTURE, "--graph", GRAPH, "-o", page], check=True, capture_output=True)
    return page


PAUSE = 400_000_000


@pytest.fixture(scope="module")
def two_runs(program, tmp_path_factory):
    """The page of a real trace and of the same run with a pause of 400 ms while `regrid:1` computes, and the answer."""
    folder = tmp_path_factory.mktemp("two")
    text = FIXTURE.read_text()
    moment = int(re.search(r"task=regrid:1;action=task_computed;at=(\d+)", text)[1])
    paused = re.sub(r"at=(\d+)", lambda at: f"at={int(at[1]) + PAUSE * (int(at[1]) >= moment)}", text)
    (folder / "paused.log").write_text(paused)
    page = folder / "two.html"
    command = [program, "trace", "export", FIXTURE, folder / "paused.log", "--graph", GRAPH, "-o", page, "--format", "json"]
    done = subprocess.run(command, check=True, capture_output=True)
    return page, json.loads(done.stdout)


@pytest.fixture
def opened(open_lanes, lanes):
    """The page in a window."""
    return open_lanes(lanes)


@pytest.fixture
def open_lanes(chromium):
    """Opens a page in a window; notes what it complains of and asks for."""
    contexts = []

    def open_page(lanes):
        context, page = opened_page(chromium, lanes)
        contexts.append(context)
        return page

    yield open_page
    for context in contexts:
        context.close()


def opened_page(chromium, lanes):
    context = chromium.new_context(viewport={"width": 1200, "height": 700}, color_scheme="light")
    page = context.new_page()
    page.said, page.asked = [], []
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(lanes.as_uri())
    page.wait_for_function("window.lapwingLanes && window.lapwingLanes.frames > 0")
    return context, page


def tasks(program, *arguments):
    done = subprocess.run([program, "trace", *arguments, FIXTURE, "--format", "json"], check=True, capture_output=True)
    return json.loads(done.stdout)


def frame(page):
    """Waits for the frame that shows the newest view."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_the_page_works_offline_and_shows_everything(opened, lanes, program):
    assert opened.said == []
    assert opened.asked == [lanes.as_uri()]
    assert opened.inner_text(".about") == "Trace trace_2x1.log"
    assert opened.inner_text("h1").startswith("Class regrid takes most of the path to the end")
    legend = opened.inner_text("#legend")
    assert "regrid" in legend and "waiting" in legend and "copying" in legend
    opened.click("#class")
    legend = opened.inner_text("#legend")
    assert "regrid" not in legend
    assert "computing" in legend and "copying" in legend and "controller: wait" in legend
    from_, to = opened.evaluate("window.lapwingLanes.range()")
    assert from_ == 0
    # The controller's last phases end after the last task.
    assert to >= tasks(program, "findings")["makespan"]


def test_a_click_on_a_task_shows_its_events(opened):
    box = opened.locator("#canvas").bounding_box()
    # The first worker is the second lane; it computes most of the time.
    top = opened.evaluate("window.lapwingLanes.top")
    opened.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + top + 20 + 10)
    details = opened.locator("#details")
    assert "on l0.w0" in details.inner_text()
    events = details.locator("table").first.locator("tbody tr td:first-child").all_inner_texts()
    assert set(events) == {"planned", "enqueued", "started", "loaded", "computed", "published", "completed"}
    # They stand beside the lanes.
    beside = details.bounding_box()
    assert beside["x"] > box["x"] + box["width"] - 1 and beside["y"] < 700
    opened.mouse.click(box["x"] + 5, box["y"] + top + 30)
    assert details.inner_text() == ""


def test_search_finds_tasks_and_goes_to_the_first(opened):
    opened.fill("#search", "regrid:1")
    assert opened.inner_text("#found").startswith("1 task, 0 transfers")
    opened.press("#search", "Enter")
    assert opened.inner_text("#details h2") == "regrid:1"
    begin, end = opened.evaluate("window.lapwingLanes.range()")
    assert end - begin < opened.evaluate("window.lapwingLanes.length")
    opened.fill("#search", "nothing like it")
    assert opened.inner_text("#found").startswith("0 tasks, 0 transfers")


def test_the_wheel_zooms_at_the_pointer_and_a_drag_moves(opened):
    box = opened.locator("#canvas").bounding_box()
    whole = opened.evaluate("window.lapwingLanes.range()")
    # The lanes begin at 130 pixels.
    share = 0.25
    at = 130 + share * (box["width"] - 130)
    opened.mouse.move(box["x"] + at, box["y"] + 150)
    opened.mouse.wheel(0, -200)
    opened.mouse.wheel(0, -200)
    frame(opened)
    begin, end = opened.evaluate("window.lapwingLanes.range()")
    moment = share * whole[1]
    assert end - begin < 0.5 * whole[1]
    assert begin + share * (end - begin) == pytest.approx(moment, rel=0.01)
    opened.mouse.down()
    opened.mouse.move(box["x"] + at - 50, box["y"] + 150)
    opened.mouse.up()
    moved = opened.evaluate("window.lapwingLanes.range()")
    assert moved[0] > begin and moved[1] - moved[0] == pytest.approx(end - begin)
    opened.click("#fit")
    assert opened.evaluate("window.lapwingLanes.range()") == whole


def test_colours_are_those_of_the_parts(opened):
    opened.click("#class")
    frame(opened)
    pixels = """() => {
        const canvas = document.getElementById("canvas"), ratio = canvas.width / canvas.clientWidth;
        const row = canvas.getContext("2d").getImageData(0, Math.round((window.lapwingLanes.top + 24) * ratio), canvas.width, 1).data;
        let green = 0;
        for (let k = 0; k < row.length; k += 4) green += row[k] === 0x2a && row[k + 1] === 0x9d && row[k + 2] === 0x5c;
        return green / canvas.width;
    }"""
    # The worker computes more than half of the time.
    assert 0.4 < opened.evaluate(pixels) < 0.95
    opened.evaluate("window.lapwingLanes.show(0, 1000000)")
    frame(opened)
    assert opened.evaluate(pixels) == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_a_phone(chromium, lanes, scheme):
    context = chromium.new_context(viewport={"width": 360, "height": 700}, color_scheme=scheme, has_touch=True)
    page = context.new_page()
    page.goto(lanes.as_uri())
    page.wait_for_function("window.lapwingLanes && window.lapwingLanes.frames > 0")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    corner = "[...document.getElementById('canvas').getContext('2d').getImageData(1, 1, 1, 1).data].slice(0, 3)"
    dark = page.evaluate(corner)
    assert (max(dark) < 60) == (scheme == "dark")
    context.close()


def test_a_picture_of_a_range_has_its_lanes(program, tmp_path):
    picture = tmp_path / "lanes.svg"
    command = [program, "trace", "export", FIXTURE, "-o", picture, "--range", "0.1..0.2"]
    subprocess.run(command, check=True, capture_output=True)
    text = picture.read_text()
    for part in ("controller", "l0.w0", "l1.w0", "100 ms", "180 ms", "waiting"):
        assert f">{part}<" in text
    assert "regrid:" in text, "tasks have their names"
    subprocess.run(command[:-2], check=True, capture_output=True)
    text = picture.read_text()
    classes = tasks(program, "profile")["classes"]
    assert all(f">{row['class']}<" in text for row in classes), "the legend has all classes"


def findings_with_graph(program):
    done = subprocess.run(
        [program, "trace", "findings", FIXTURE, "--graph", GRAPH, "--format", "json"], check=True, capture_output=True
    )
    return json.loads(done.stdout)


def test_sums_over_the_whole_trace_are_those_of_the_answers(open_lanes, lanes_with_graph, program):
    page = open_lanes(lanes_with_graph)
    sums = page.evaluate("window.lapwingLanes.sums()")
    findings = findings_with_graph(program)
    titles = {"compute": "computing", "publish": "publishing results", "load": "loading inputs",
              "queue": "in the queue of the worker", "to_worker": "on the way to the worker",
              "to_controller": "until the controller notices"}
    times = {titles[row["part"]]: row["time"] for row in findings["worker_time"]["parts"] if row["part"] in titles}
    assert sums["phases"] == {title: time for title, time in times.items() if time > 0}
    profile = tasks(program, "profile")["classes"]
    assert {name: number for name, (number, _) in sums["classes"].items()} == {row["class"]: row["tasks"] for row in profile}
    assert sum(sums["waits"].values()) == findings["wait"]
    assert sums["tasks"] == findings["tasks"]
    assert page.inner_text("#sums h2") == "Shown range"


def test_a_selected_range_counts_what_the_option_range_counts(opened, program):
    opened.evaluate("window.lapwingLanes.select(100e6, 200e6)")
    counted = tasks(program, "tasks", "--range", "100ms..200ms", "--by", "task")
    assert opened.evaluate("window.lapwingLanes.sums().tasks") == counted["tasks"]
    opened.wait_for_function("document.querySelector('#sums h2').textContent === 'Selected range'")
    assert "100 ms to 200 ms" in opened.inner_text("#sums")
    opened.press("#canvas", "Escape")
    assert opened.evaluate("window.lapwingLanes.selected()") is None


def test_a_drag_along_the_axis_selects_a_range(opened):
    box = opened.locator("#canvas").bounding_box()
    opened.mouse.move(box["x"] + 200, box["y"] + 10)
    opened.mouse.down()
    opened.mouse.move(box["x"] + 400, box["y"] + 10)
    opened.mouse.up()
    begin, end = opened.evaluate("window.lapwingLanes.selected()")
    share = (end - begin) / opened.evaluate("window.lapwingLanes.length")
    assert share == pytest.approx(200 / (box["width"] - 130), rel=0.02)


def test_the_map_moves_the_view(opened):
    whole = opened.evaluate("window.lapwingLanes.length")
    opened.evaluate(f"window.lapwingLanes.show(0, {whole / 10})")
    box = opened.locator("#map").bounding_box()
    opened.mouse.click(box["x"] + 130 + 0.7 * (box["width"] - 130), box["y"] + 10)
    begin, end = opened.evaluate("window.lapwingLanes.range()")
    assert (begin + end) / 2 == pytest.approx(0.7 * whole, rel=0.01)


def test_paths_are_those_of_the_answer(open_lanes, lanes_with_graph, program):
    page = open_lanes(lanes_with_graph)
    notes = {note["code"]: note["text"] for note in findings_with_graph(program)["notes"]}
    for code in ("path", "critical_path"):
        page.click(f"#{code}")
        assert page.get_attribute(f"#{code}", "aria-pressed") == "true"
        assert page.inner_text("#found").replace("\u00a0", " ") == notes[code]
    assert page.get_attribute("#path", "aria-pressed") == "false"
    page.click("#critical_path")
    assert page.inner_text("#found") == ""


def test_keys_choose_tasks_and_their_inputs_are_links(open_lanes, lanes_with_graph):
    page = open_lanes(lanes_with_graph)
    graph = json.loads(GRAPH.read_text())
    seen = []
    for _ in range(40):
        page.press("#canvas", "n")
        name = page.inner_text("#details h2")
        if seen and name == seen[-1]:
            break
        seen.append(name)
        if graph.get(name):
            break
    assert graph[name], "a task with inputs is reached"
    links = page.locator("#details button")
    first = links.first.inner_text()
    assert first in graph[name]
    links.first.click()
    assert page.inner_text("#details h2") == first
    # The other way, too.
    assert name in page.locator("#details button").all_inner_texts()
    assert page.said == []


def test_arrows_are_drawn_to_the_chosen_task(open_lanes, lanes_with_graph):
    page = open_lanes(lanes_with_graph)
    accent = """() => {
        const canvas = document.getElementById("canvas"), top = Math.round(window.lapwingLanes.top * canvas.width / canvas.clientWidth);
        const data = canvas.getContext("2d").getImageData(0, top, canvas.width, canvas.height - top).data;
        let found = 0;
        for (let k = 0; k < data.length; k += 4) found += data[k] === 0x0a && data[k + 1] === 0x5f && data[k + 2] === 0xb4;
        return found;
    }"""
    frame(page)
    assert page.evaluate(accent) == 0
    page.fill("#search", "regrid:1")
    page.press("#search", "Enter")
    page.click("#fit")
    frame(page)
    assert page.evaluate(accent) > 20


def test_flows_lead_from_inputs_to_the_tasks_that_need_them(program):
    done = subprocess.run([program, "trace", "export", FIXTURE, "--graph", GRAPH], check=True, capture_output=True)
    events = json.loads(done.stdout)["traceEvents"]
    slices = [it for it in events if it["ph"] == "X" and it["cat"] == "task"]

    def slice_at(event):
        found = [it for it in slices if it["tid"] == event["tid"] and it["ts"] <= event["ts"] < it["ts"] + it["dur"]]
        return found[0]["name"]

    starts = {it["id"]: slice_at(it) for it in events if it["ph"] == "s"}
    ends = {it["id"]: slice_at(it) for it in events if it["ph"] == "f"}
    graph = json.loads(GRAPH.read_text())
    expected = {(input_, task) for task, inputs in graph.items() for input_ in inputs}
    assert {(starts[id_], ends[id_]) for id_ in starts} == expected
    assert starts.keys() == ends.keys()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(chromium, lanes_with_graph, scheme):
    context = chromium.new_context(viewport={"width": 1200, "height": 700}, color_scheme=scheme)
    page = context.new_page()
    page.goto(lanes_with_graph.as_uri())
    page.wait_for_function("window.lapwingLanes && window.lapwingLanes.frames > 0")
    page.press("#canvas", "n")
    found = Axe().run(page).response["violations"]
    serious = [(it["id"], [node["html"] for node in it["nodes"]]) for it in found if it["impact"] in ("serious", "critical")]
    context.close()
    assert serious == []


def test_two_runs_stand_above_each_other_and_say_where_they_diverge(open_lanes, two_runs):
    lanes, answer = two_runs
    page = open_lanes(lanes)
    (note,) = [it for it in answer["notes"] if it["code"] == "divergence"]
    assert note["kind"] == "duration" and note["task"].startswith("regrid:")
    said = page.inner_text("h1").replace("\u00a0", " ")
    assert said.lower() == note["text"].replace("`", "")
    assert page.evaluate("window.lapwingLanes.divergence()") == pytest.approx(note["at"], abs=1)
    assert page.evaluate("window.lapwingLanes.rowOf('trace_2x1', 0)") == 0
    rows = page.evaluate("[0, 1].map((run) => window.lapwingLanes.rowOf('l0.w0', run))")
    assert 0 < rows[0] < rows[1]
    page.click("#divergence")
    assert page.inner_text("#details h2") == note["task"]
    table = page.locator("#details table").first.inner_text()
    assert "+400 ms" in table and "trace_2x1" in table and "paused" in table
    page.click("#counterpart")
    assert page.inner_text("#details h2") == note["task"]
    assert page.inner_text("#counterpart") == "Show in trace_2x1"
    # Each run has its sums.
    sums = page.evaluate("window.lapwingLanes.show(0, window.lapwingLanes.length), [0, 1].map((run) => window.lapwingLanes.sums(run).classes.regrid)")
    assert [number for number, _ in sums] == [4, 4]
    assert sums[1][1] - sums[0][1] >= PAUSE
    assert page.said == [] and page.asked == [lanes.as_uri()]


def test_the_pointer_marks_a_task_in_both_runs(open_lanes, two_runs):
    page = open_lanes(two_runs[0])
    box = page.locator("#canvas").bounding_box()
    y = page.evaluate("window.lapwingLanes.top + 20 * window.lapwingLanes.rowOf('l0.w0', 0) + 10")
    page.mouse.move(box["x"] + 0.4 * box["width"], box["y"] + y)
    frame(page)
    names = page.evaluate("window.lapwingLanes.hovered()")
    assert len(names) == 2 and names[0] == names[1]
    page.mouse.move(box["x"] + 5, box["y"] - 50)
    assert page.evaluate("window.lapwingLanes.hovered()") is None


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_two_runs_fit_a_phone(chromium, two_runs, scheme):
    context = chromium.new_context(viewport={"width": 360, "height": 700}, color_scheme=scheme, has_touch=True)
    page = context.new_page()
    page.goto(two_runs[0].as_uri())
    page.wait_for_function("window.lapwingLanes && window.lapwingLanes.frames > 0")
    page.click("#divergence")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    found = Axe().run(page).response["violations"]
    assert [it["id"] for it in found if it["impact"] in ("serious", "critical")] == []
    context.close()
