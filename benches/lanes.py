#!/usr/bin/env python3
"""Size of the page of `lapwing trace export`, and how fast a browser without a screen zooms and pans in it.

The trace is that of `trace.py`: of every ten tasks come two transfers and five phases of the controller. Every
frame shows another range and waits for the next one, for two seconds each; a browser shows at most 60 a second.

    cargo build --release
    target/venv/bin/python benches/lanes.py [--events 500000 5000000]
"""

import argparse
import pathlib
import subprocess
import tempfile
import time

from playwright.sync_api import sync_playwright
from trace import LAPWING, write_trace

MOVE = """async (what) => {
    const lanes = window.lapwingLanes, whole = lanes.length, begin = performance.now();
    let frames = 0, drawing = 0, worst = 0;
    while (performance.now() - begin < 2000) {
        const part = (performance.now() - begin) / 2000;
        const length = what === "zoom" ? whole * Math.exp(-10 * part) : whole / 20;
        const from = what === "zoom" ? 0.37 * (whole - length) : part * (whole - length);
        lanes.show(from, from + length);
        await new Promise((done) => requestAnimationFrame(done));
        const drawn = performance.now();
        lanes.draw();
        const took = performance.now() - drawn;
        drawing += took; worst = Math.max(worst, took); frames += 1;
    }
    return [frames / 2, drawing / frames, worst];
}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, nargs="*", default=[500_000, 5_000_000])
    parser.add_argument("--browser", default="/usr/bin/chromium")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chosen.browser, args=["--no-sandbox"])
        for events in chosen.events:
            trace, page = pathlib.Path(folder, "trace.jsonl"), pathlib.Path(folder, "lanes.html")
            write_trace(trace, events)
            begin = time.perf_counter()
            subprocess.run([LAPWING, "trace", "export", trace, "-o", page], check=True, capture_output=True)
            took = time.perf_counter() - begin
            tasks = events * 10 // 87
            spans = tasks + tasks // 5 + tasks // 2
            print(f"{events} events, {spans} spans: {page.stat().st_size / 1e6:.1f} MB, written in {took:.2f} s")
            view = browser.new_context(viewport={"width": 1280, "height": 900}).new_page()
            begin = time.perf_counter()
            view.goto(page.as_uri())
            view.wait_for_function("window.lapwingLanes && window.lapwingLanes.frames > 0", timeout=120_000)
            print(f"    first frame after {time.perf_counter() - begin:.2f} s")
            for what in ("zoom", "pan"):
                rate, mean, worst = view.evaluate(MOVE, what)
                print(f"    {what}: {rate:.0f} frames per second; a frame drawn in {mean:.1f} ms, at most {worst:.1f} ms")
            view.context.close()
        browser.close()


if __name__ == "__main__":
    main()
