"""Questions to `lapwing trace what-if` with the makespans that a simulation of the other setting has."""

import random
from dataclasses import dataclass, replace
from itertools import count

from scenes import NOISE, SHAPES, SMALL, Scene, as_planned, pool
from simulator import Setting

# The overheads of the measured run.
LARGER = Setting(planning=0.08, to_worker=0.05, load=0.02, publish=0.02, notice=0.15)


@dataclass(frozen=True)
class Question:
    """Options of `what-if` and the makespan that they are to predict."""

    options: tuple
    makespan: float


def settings(seed):
    """Returns a measured run, the format to write it in, and at least one question.

    Only what a trace can tell is asked: the order of submission is not in it, and whether a worker would have taken
    its tasks in another order neither.
    """
    for attempt in count():
        rng = random.Random(f"setting {seed} {attempt}")
        shape, noise = list(SHAPES)[seed // 2 % len(SHAPES)], list(NOISE)[seed // 3 % len(NOISE)]
        graph = SHAPES[shape](rng, rng.randint(40, 160))
        tasks = tuple(replace(it, seconds=it.seconds * NOISE[noise](rng)) for it in graph)
        form = rng.choice(("earthkit", "record"))
        scene = Scene(tasks, pool(1, rng.choice((2, 3, 4))), rng.choice((SMALL, LARGER)))
        if form == "record":
            # Dask's workers share no memory, and its traces do not tell publishing from the notice of it.
            scene = scene.set(memory="worker", publish=0.0)
        run, questions = (other_workers if seed % 2 else other_conditions)(scene, rng)
        if questions:
            return run, form, questions


def other_workers(scene, rng):
    """One host whose workers take what is ready, and other numbers of workers."""
    run = scene.run()
    questions = same_order(run, {("--instant-controller",): scene.set(planning=0.0, notice=0.0)})
    for number in (1, 2, 3, 4, 6, 8):
        makespans = [replace(it, workers=pool(1, number)).run().makespan() for it in (scene, as_planned(scene, run))]
        if number != len(scene.workers) and abs(makespans[1] / makespans[0] - 1) < 0.001:
            questions.append(Question(("--workers", str(number)), makespans[0]))
    return run, questions


def other_conditions(scene, rng):
    """Two hosts whose workers keep their tasks: free transfers, an instant controller, a faster class."""
    mean = rng.uniform(1.0, 3.0)
    copied = scene.each(lambda it: replace(it, copy=mean * rng.uniform(0.8, 1.2)))
    scene = replace(copied, workers=pool(2, 3)).set(placement="static")
    group, factor = rng.choice(sorted({task.group for task in scene.tasks})), rng.choice((1.5, 2, 4))
    others = {
        ("--free-transfers",): scene.each(lambda it: replace(it, copy=0.0)),
        ("--instant-controller",): scene.set(planning=0.0, notice=0.0),
        ("--faster", f"{group}={factor}"): scene.each(
            lambda it: replace(it, seconds=it.seconds / factor) if it.group == group else it
        ),
    }
    run = scene.run()
    return run, same_order(run, others)


def same_order(run, others):
    """Returns the questions that change the makespan, but not which tasks a worker takes one after another."""
    questions = []
    for options, other in others.items():
        changed = other.run()
        if order(changed) == order(run) and changed.makespan() < 0.98 * run.makespan():
            questions.append(Question(options, changed.makespan()))
    return questions


def order(run):
    """Returns the tasks of all workers in the order in which each began them."""
    began = sorted(run.attempts, key=lambda it: (it.worker.name, it.events["started"]))
    return [(it.worker.name, it.task.name) for it in began]
