"""The timeline of `lapwing trace export`, in a real browser."""

import json
import subprocess

import pytest
from conftest import REPOSITORY

FIXTURE = REPOSITORY / "tests/fixtures/earthkit-0.19/trace_2x1.log"


@pytest.fixture(scope="module")
def lanes(program, tmp_path_factory):
    """The page of a real trace."""
    page = tmp_path_factory.mktemp("lanes") / "lanes.html"
    subprocess.run([program, "trace", "export", FIXTURE, "-o", page], check=True, capture_output=True)
    return page


@pytest.fixture
def opened(chromium, lanes):
    """The page in a window, and what it complains of and asks for."""
    context = chromium.new_context(viewport={"width": 1200, "height": 700}, color_scheme="light")
    page = context.new_page()
    page.said, page.asked = [], []
    page.on("pageerror", lambda error: page.said.append(str(error)))
    page.on("request", lambda request: page.asked.append(request.url))
    page.goto(lanes.as_uri())
    page.wait_for_function("window.lapwingLanes && window.lapwingLanes.frames > 0")
    yield page
    context.close()


def tasks(program, *arguments):
    done = subprocess.run([program, "trace", *arguments, FIXTURE, "--format", "json"], check=True, capture_output=True)
    return json.loads(done.stdout)


def frame(page):
    """Waits for the frame that shows the newest view."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def test_the_page_works_offline_and_shows_everything(opened, lanes, program):
    assert opened.said == []
    assert opened.asked == [lanes.as_uri()]
    assert opened.inner_text("h1") == "Trace trace_2x1.log"
    legend = opened.inner_text("#legend")
    assert "computing" in legend and "copying" in legend and "controller: wait" in legend
    from_, to = opened.evaluate("window.lapwingLanes.range()")
    assert from_ == 0
    # The controller's last phases end after the last task.
    assert to >= tasks(program, "findings")["makespan"]


def test_a_click_on_a_task_shows_its_events(opened):
    box = opened.locator("#canvas").bounding_box()
    # The first worker is the second lane; it computes most of the time.
    opened.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + 24 + 20 + 10)
    details = opened.locator("#details")
    assert "on l0.w0" in details.inner_text()
    events = details.locator("tbody tr td:first-child").all_inner_texts()
    assert set(events) == {"planned", "enqueued", "started", "loaded", "computed", "published", "completed"}
    opened.mouse.click(box["x"] + 5, box["y"] + 30)
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
    opened.mouse.move(box["x"] + at, box["y"] + 60)
    opened.mouse.wheel(0, -200)
    opened.mouse.wheel(0, -200)
    frame(opened)
    begin, end = opened.evaluate("window.lapwingLanes.range()")
    moment = share * whole[1]
    assert end - begin < 0.5 * whole[1]
    assert begin + share * (end - begin) == pytest.approx(moment, rel=0.01)
    opened.mouse.down()
    opened.mouse.move(box["x"] + at - 50, box["y"] + 60)
    opened.mouse.up()
    moved = opened.evaluate("window.lapwingLanes.range()")
    assert moved[0] > begin and moved[1] - moved[0] == pytest.approx(end - begin)
    opened.click("#fit")
    assert opened.evaluate("window.lapwingLanes.range()") == whole


def test_colours_are_those_of_the_parts(opened):
    pixels = """() => {
        const canvas = document.getElementById("canvas"), ratio = canvas.width / canvas.clientWidth;
        const row = canvas.getContext("2d").getImageData(0, Math.round(54 * ratio), canvas.width, 1).data;
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
    for part in ("controller", "l0.w0", "l1.w0", "100 ms", "200 ms", "computing"):
        assert part in text
