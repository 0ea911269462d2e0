#!/usr/bin/env python3
"""Frames per second of the map of a history while it is zoomed and moved, in headless Chromium.

The report is that of a small history; its map is replaced by one of 2,000 benchmarks × 1,000 nights of made-up cells,
because only their number matters.

    cargo build --release
    python3 benches/map.py [--rows 2000] [--nights 1000] [--lapwing target/release/lapwing]
"""

import argparse
import base64
import json
import os
import pathlib
import random
import re
import subprocess
import tempfile
import zlib

from pages import write_history
from playwright.sync_api import sync_playwright

FRAMES = """async (seconds) => {
  const map = document.getElementById("history-map");
  const box = map.getBoundingClientRect();
  const times = [];
  const begin = performance.now();
  await new Promise((done) => {
    function step(now) {
      times.push(now);
      const turn = times.length;
      const at = { clientX: box.left + box.width * 0.6, clientY: box.top + box.height * 0.4, bubbles: true, cancelable: true };
      map.dispatchEvent(new WheelEvent("wheel", { ...at, ctrlKey: true, deltaY: turn % 120 < 60 ? -25 : 25 }));
      if (now - begin < 1000 * seconds) requestAnimationFrame(step);
      else done();
    }
    requestAnimationFrame(step);
  });
  const gaps = times.slice(1).map((it, at) => it - times[at]).sort((a, b) => a - b);
  return { frames: (1000 * gaps.length) / (times.at(-1) - times[0]), slowest: gaps.at(-1), slow: gaps[Math.floor(gaps.length * 0.95)] };
}"""


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--rows", type=int, default=2000)
    options.add_argument("--nights", type=int, default=1000)
    options.add_argument("--lapwing", default="target/release/lapwing")
    given = options.parse_args()
    program = str(pathlib.Path(given.lapwing).resolve())
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        work = pathlib.Path(name)
        write_history(work / "history.jsonl", benchmarks=3, nights=20)
        for words in (["import", "history.jsonl"], ["report", "-o", "report"]):
            subprocess.run([program, "--store", "s.db", *words], cwd=work, check=True, stdout=subprocess.DEVNULL)
        file = work / "report/data/map.js"
        stem, content = re.fullmatch(r'lapwing\.register\("([^"]+)","([^"]+)"\);\n', file.read_text()).groups()
        entries = json.loads(zlib.decompress(base64.b64decode(content)))
        chance = random.Random(1)
        kinds = "@" * 60 + " !ABCDKW=;5(^"
        for key, entry in entries.items():
            if key == "map.nights":
                entry[:] = [{"moments": [{"label": f"v{at}", "date": f"2026-{at % 12 + 1:02}-01", "runs": {}}]} for at in range(given.nights)]
                continue
            count = range(given.rows)
            entry["rows"] = {"suite": ["s"] * given.rows, "id": [f"t/test_{at // 20}.py::test[{at}]" for at in count],
                             "slug": ["x"] * given.rows, "variant": [""] * given.rows, "setting": [""] * given.rows}
            entry["cells"] = ["".join(chance.choices(kinds, k=given.nights)) for _ in count]
            entry["changes"] = [[at, chance.randrange(given.nights), "regression", True, "slower"] for at in count if at % 10 == 0]
            entry.pop("places", None)
        packed = base64.b64encode(zlib.compress(json.dumps(entries).encode(), 3)).decode()
        file.write_text(f'lapwing.register("{stem}","{packed}");\n')
        browser = playwright.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        page.goto((work / "report/index.html").as_uri())
        page.wait_for_selector("#history-map[data-ready]", timeout=60000)
        page.wait_for_timeout(500)
        found = page.evaluate(FRAMES, 4)
        print(f"{given.rows:,} × {given.nights:,} cells: {found['frames']:.0f} frames a second while zooming, "
              f"95 % of them within {found['slow']:.0f} ms, the slowest {found['slowest']:.0f} ms")
        print(f"file of {given.rows * given.nights:,} made-up cells: {file.stat().st_size / 1e6:.1f} MB")
        browser.close()


if __name__ == "__main__":
    main()
