"""Traces with one planted cause whose cost is known, and traces without any.

The cost is the makespan of a run less that of the same run without the cause, both simulated.

    python tests/reference/traces/planted.py FOLDER [COUNT]

writes all planted traces, COUNT balanced ones and COUNT settings with questions to `what-if` (20 each) into FOLDER,
and what is true of them: `truth.json` and `settings.json`. Seconds are those between the first and the last event
that the format has.
"""

import json
import math
import random
import sys
from dataclasses import dataclass, replace
from pathlib import Path

from scenes import (
    NOISE,
    SHAPES,
    Scene,
    few_after_many,
    lognormal,
    pool,
    serial_chain,
    serial_tail,
    shared_inputs,
    stages_of,
    wide_and_narrow,
)
from settings import settings
from simulator import Setting, Worker, simulate
from writers import EVENTS, write

# The causes: each returns the scene with it, the scene without it, and its subject.


def slow_worker(scene, rng, factor=5):
    slow = rng.choice(scene.workers)
    return scene.each_worker(lambda it: replace(it, slowness=factor) if it == slow else it), scene, slow.name


def slow_host(scene, rng, factor=3):
    return scene.each_worker(lambda it: replace(it, slowness=factor) if it.host == "h1" else it), scene, "h1"


def slow_task(scene, rng, factor=15):
    slow = scene.tasks[len(scene.tasks) * 3 // 5 + rng.randrange(5)]
    return scene.each(lambda it: replace(it, seconds=it.seconds * factor) if it == slow else it), scene, slow.name


def long_class(scene, rng, group, factor=12):
    def times(number):
        return scene.each(lambda it: replace(it, seconds=it.seconds * number) if it.group == group else it)

    return times(factor), times(0), group


def copies(scene, rng, seconds=2.0, **setting):
    copied = scene.each(lambda it: replace(it, copy=seconds * rng.uniform(0.9, 1.1)))
    return copied.set(**setting), scene, None


def redundant_copies(scene, rng, seconds=2.0):
    careful = scene.each(lambda it: replace(it, copy=seconds * rng.uniform(0.9, 1.1)))
    return careful.set(memory="careless"), careful, None


def late_workers(scene, rng, share=0.5, at_once=2):
    late = scene.run().makespan() * share
    early = scene.workers[:at_once]
    return scene.each_worker(lambda it: it if it in early else replace(it, begin=late)), scene, None


def stall(scene, rng, freeze):
    makespan = scene.run().makespan()
    return scene.set(stall=(makespan * 0.4, makespan * 0.7), freeze=freeze), scene, None


def barrier(scene, rng):
    """The scene has stages in which each task waits for its predecessor only."""
    stages = {}
    for task in scene.tasks:
        stages.setdefault(task.group, []).append(task.name)
    groups = list(stages)
    before = dict(zip(groups[1:], groups, strict=False))

    def behind(task):
        return replace(task, inputs=tuple(stages[before[task.group]])) if task.group in before else task

    return scene.each(behind), scene, None


def overhead(scene, rng, **seconds):
    return scene.set(**seconds), scene.set(**dict.fromkeys((it for it in seconds if it != "serial"), 0.0)), None


def imbalance(scene, rng, share=3):
    unfair = scene.set(placement="static", shares=(share, *[1] * (len(scene.workers) - 1)))
    return unfair, scene, scene.workers[0].name


def contention(scene, rng, slope=0.4):
    return scene.set(contention=slope), scene, None


def retries(scene, rng, deaths, replaced, detection=4.0):
    """Workers die at parts of the makespan, and are replaced at once or not at all."""
    makespan = scene.run().makespan()
    workers = list(scene.workers)
    for at, part in enumerate(deaths):
        workers[at] = replace(workers[at], end=makespan * part)
        if replaced:
            workers.append(Worker(f"{workers[at].host}:w{len(workers)}", begin=makespan * part))
    dead = [it.name for it in workers if it.end < math.inf]
    return replace(scene, workers=tuple(workers)).set(detection=detection), scene, dead[0] if len(dead) == 1 else None


def small_tasks(scene, rng):
    small = scene.each(lambda it: replace(it, seconds=it.seconds / 1000))
    idle = Setting()
    return replace(small, setting=Setting(0.001, 0.003, 0.002, 0.001, 0.003)), replace(small, setting=idle), None


def as_it_is(scene, rng):
    return scene, None, None


CAUSES = {
    **{it.__name__: it for it in (slow_worker, slow_host, slow_task, long_class, copies, redundant_copies)},
    **{it.__name__: it for it in (late_workers, stall, barrier, imbalance, contention, retries, small_tasks)},
    **dict.fromkeys(("controller_notice", "controller_planning", "publish", "load", "to_worker"), overhead),
    **dict.fromkeys(("critical_path", "few_tasks"), as_it_is),
}


@dataclass(frozen=True)
class Plant:
    """A cause in a graph, and how large all is."""

    kind: str
    shape: object
    noise: str = "none"
    form: str = "earthkit"
    hosts: int = 2
    per_host: int = 4
    size: int = 120
    options: tuple = ()

    @property
    def name(self):
        return self.shape if isinstance(self.shape, str) else self.shape.__name__

    def scene(self, rng):
        graph = (SHAPES.get(self.shape) or self.shape)(rng, self.size)
        tasks = tuple(replace(it, seconds=it.seconds * NOISE[self.noise](rng)) for it in graph)
        return Scene(tasks, pool(self.hosts, self.per_host))


@dataclass(frozen=True)
class Planted:
    """A simulated run and the truth of it; the cost is in seconds of its makespan."""

    plant: Plant
    run: object
    subject: str | None
    cost: float | None
    makespan: float

    @property
    def kind(self):
        return self.plant.kind


def plant(kind, shape, noise="none", form="earthkit", hosts=2, per_host=4, size=120, **options):
    return Plant(kind, shape, noise, form, hosts, per_host, size, tuple(options.items()))


PLANTS = (
    plant("slow_worker", "independent", factor=5, hosts=1),
    plant("slow_worker", "layered", "lognormal", "record", factor=4),
    plant("slow_worker", "chains", "uniform", "otlp", factor=6, size=240),
    plant("slow_host", "map_reduce", "uniform", factor=3, size=180),
    plant("slow_host", "independent", "lognormal", "otlp", factor=3),
    plant("slow_task", "independent", "uniform", factor=15),
    plant("slow_task", "tree", "lognormal", "record", factor=12, size=128),
    plant("slow_task", "map_reduce", "none", factor=20, size=90),
    plant("long_class", "tree", "uniform", group="add", size=64),
    plant("long_class", "map_reduce", "none", "otlp", group="reduce", size=54),
    plant("long_class", "chains", "lognormal", "record", group="solve", size=48),
    plant("critical_path", serial_chain, "uniform", size=90),
    plant("critical_path", serial_tail, "none", "otlp", size=90),
    plant("copies", "layered", "uniform", seconds=4.0),
    plant("copies", "map_reduce", "none", seconds=6.0, size=72),
    plant("copies", "tree", "lognormal", "record", seconds=3.0, memory="worker", size=128),
    plant("redundant_copies", shared_inputs, "uniform", seconds=4.0),
    plant("redundant_copies", shared_inputs, "none", seconds=3.0, size=180),
    plant("late_workers", "independent", "uniform", "record"),
    plant("late_workers", "map_reduce", "lognormal", "otlp", size=180),
    plant("late_workers", "chains"),
    plant("stall", "independent", "lognormal", freeze=False),
    plant("stall", "layered", "uniform", "record", freeze=True),
    plant("stall", "chains", "none", "otlp", freeze=False),
    plant("barrier", stages_of(9), size=54),
    plant("barrier", stages_of(10), "lognormal", "record", size=100),
    plant("controller_notice", "independent", "uniform", notice=0.8),
    plant("controller_notice", "chains", "lognormal", "record", notice=0.5),
    plant("controller_planning", "layered", "uniform", planning=0.6),
    plant("controller_planning", "independent", "lognormal", "record", planning=0.3, serial=True),
    plant("publish", "tree", "uniform", publish=1.5, size=128),
    plant("publish", "independent", "none", publish=2.0),
    plant("load", "map_reduce", "lognormal", "record", load=1.2, size=90),
    plant("to_worker", "chains", "uniform", to_worker=0.8),
    plant("to_worker", "independent", "none", "record", to_worker=1.2),
    plant("imbalance", "independent", "uniform", "otlp"),
    plant("imbalance", "map_reduce", "lognormal", "record", size=180),
    plant("contention", wide_and_narrow, "uniform", size=160, hosts=1),
    plant("contention", "tree", "none", slope=0.5, size=256),
    plant("retries", "chains", "uniform", "record", size=48, deaths=(0.45,), replaced=True),
    plant("retries", "layered", "lognormal", deaths=(0.3, 0.5), replaced=False, hosts=1),
    plant("small_tasks", "independent", "lognormal", size=300),
    plant("small_tasks", "chains", "uniform", "record", size=240),
    plant("few_tasks", few_after_many, "uniform", size=11),
    plant("few_tasks", few_after_many, "none", "record", size=11, hosts=1, per_host=8),
    plant("barrier", stages_of(8), "lognormal", "otlp", size=64),
    plant("copies", "layered", "lognormal", "record", seconds=3.0, memory="worker", hosts=3, per_host=2),
    plant("load", "independent", "uniform", load=1.0, hosts=1),
    plant("copies", "chains", "uniform", seconds=5.0, copies_first=True),
)


def with_and_without(seed):
    """Returns the plant of a seed, its scenes with and without the cause (None if no cost is known), and its subject.

    Seeds beyond the list take its plants in turn, with other random times.
    """
    chosen = PLANTS[seed % len(PLANTS)]
    rng = random.Random(seed)
    return chosen, *CAUSES[chosen.kind](chosen.scene(rng), rng, **dict(chosen.options))


def planted(seed):
    """Returns a run with one cause and the truth of it."""
    chosen, with_cause, without, subject = with_and_without(seed)
    events = EVENTS[chosen.form]
    run = with_cause.run()
    makespan = run.makespan(events)
    cost = makespan - without.run().makespan(events) if without else None
    return Planted(chosen, run, subject, cost, makespan)


def without_cause(seed):
    """Returns a run on good workers of tasks with random times, and the format to write it in."""
    rng = random.Random(f"balanced {seed}")
    graph = SHAPES[list(SHAPES)[seed % len(SHAPES)]](rng, rng.randint(40, 300))
    spread = rng.uniform(0.1, 0.5)
    time = rng.choice(
        (lambda: rng.uniform(1 - spread, 1 + spread), lambda: lognormal(rng, spread), lambda: rng.expovariate(1))
    )
    scale = 10 ** rng.uniform(-1, 1)
    tasks = tuple(replace(it, seconds=it.seconds * scale * time()) for it in graph)
    small = {name: scale * rng.uniform(0, 0.004) for name in ("planning", "to_worker", "load", "publish", "notice")}
    workers = pool(*rng.choice(((2, 4), (1, 4), (1, 8), (2, 2), (3, 2))))
    return Scene(tasks, workers, Setting(**small)).run(), rng.choice(("earthkit", "record", "otlp"))


def alternatives(run, form):
    """Returns a makespan that no placement can do without, and that of taking the longest chains first.

    If the latter is much shorter than the run's, it is true that another placement ends sooner.
    """
    seconds = {task.name: task.seconds for task in run.tasks}
    chain = dict(seconds)
    for task in reversed(run.tasks):
        for name in task.inputs:
            chain[name] = max(chain[name], seconds[name] + chain[task.name])
    work = sum(task.seconds for task in run.tasks) / len(run.workers)
    by_chain = sorted(run.tasks, key=lambda task: -chain[task.name])
    return {
        "bound": max(work, *chain.values()),
        "longest_first": simulate(by_chain, run.workers, run.setting).makespan(EVENTS[form]),
    }


def write_all(folder, count=20):
    """Writes all planted traces, and a number of balanced ones and of settings, into a folder, and their truth."""
    folder.mkdir(parents=True, exist_ok=True)
    truth, questions = [], []

    def add(run, form, kind, shape, **more):
        file, graph = write(run, folder, f"{len(truth):02}-{kind}-{shape}-{form}", form)
        row = {"file": file, "graph": graph, "format": form, "kind": kind, "subject": None, "cost": None}
        truth.append({**row, "makespan": run.makespan(EVENTS[form]), **more})

    for number, chosen in enumerate(PLANTS):
        it = planted(number)
        add(it.run, chosen.form, it.kind, chosen.name, subject=it.subject, cost=it.cost, noise=chosen.noise)
    for number in range(count):
        run, form = without_cause(number)
        add(run, form, "none", list(SHAPES)[number % len(SHAPES)], **alternatives(run, form))
    for number in range(count):
        run, form, asked = settings(number)
        file, graph = write(run, folder, f"setting-{number:02}-{form}", form)
        row = {"file": file, "graph": graph, "format": form, "makespan": run.makespan()}
        questions += [{**row, "options": it.options, "predicted": it.makespan} for it in asked]
    (folder / "truth.json").write_text(json.dumps(truth, indent=1) + "\n")
    (folder / "settings.json").write_text(json.dumps(questions, indent=1) + "\n")
    return truth


if __name__ == "__main__":
    for row in write_all(Path(sys.argv[1]), *map(int, sys.argv[2:])):
        share = "" if row["cost"] is None else f"{row['cost'] / row['makespan']:6.1%}"
        print(f"{row['file']:60} {row['makespan']:9.3f} s {share:>7} {row['subject'] or ''}")
