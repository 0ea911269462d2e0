#!/usr/bin/env python3
"""Writes tests/fixtures/changepoint: the change points that Apache Otava finds in made-up series.

Run it in crates/stats; the README beside the fixture has the commands and the versions.
"""

import json
import pathlib
import random

FOLDER = pathlib.Path(__file__).parent / "fixtures" / "changepoint"

SETTINGS = [
    {"window_len": 50, "max_pvalue": 0.001, "min_magnitude": 0.0},
    {"window_len": 30, "max_pvalue": 0.01, "min_magnitude": 0.05},
    {"window_len": 7, "max_pvalue": 0.1, "min_magnitude": 0.0},
    {"window_len": 200, "max_pvalue": 0.5, "min_magnitude": 0.02},
]


def series():
    chance = random.Random(7)

    def levels(*segments, spread=1.0):
        return [round(chance.gauss(level, spread), 3) for level, count in segments for _ in range(count)]

    spikes = [value * (1.5 if chance.random() < 0.05 else 1) for value in levels((20, 60), (21, 60), spread=0.4)]
    gaps = levels((50, 25), (54, 25))
    for at in [0, 1, 10, 24, 25, 26, 49]:
        gaps[at] = None
    walk = [100.0]
    for step in levels((0, 119)):
        walk.append(round(walk[-1] + step, 3))
    return {
        "noise": levels((10, 120)),
        "step": levels((10, 40), (12, 40)),
        "steps": levels((100, 30), (103, 12), (99, 45), (101, 20), (106, 33), (104, 20)),
        "spikes": [round(value, 3) for value in spikes],
        "walk": walk,
        "ticks": [round(value) for value in levels((30, 35), (33, 35))],
        "around zero": levels((-1, 30), (1, 30), (0, 30)),
        "last outlier": levels((5, 26)) + [30.0],
        "constant segments": [7.1] * 9 + [7.3] * 6 + [7.1] * 20,
        "constant": [0.3] * 12,
        "three": [1.0, 2.0, 9.0],
        "two": [1.0, 2.0],
        "one": [1.0],
        "gaps": gaps,
    }


def otava():
    from otava.analysis import compute_change_points, fill_missing

    for name, values in series().items():
        filled = list(values)
        fill_missing(filled)
        results = []
        for setting in SETTINGS:
            points, _ = compute_change_points(list(filled), **setting)
            rows = [
                [int(it.index)]
                + [float(it.stats.pvalue), float(it.stats.mean_1), float(it.stats.mean_2)]
                + [float(it.stats.std_1), float(it.stats.std_2)]
                for it in points
            ]
            results.append({**setting, "points": rows})
        yield {"name": name, "series": values, "filled": filled, "results": results}


if __name__ == "__main__":
    rows = ",\n".join(json.dumps(row) for row in otava())
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / "otava.json").write_text(f"[\n{rows}\n]\n", encoding="utf-8")
