"""What runs are simulated from: graphs of five shapes and of some causes, random times, workers, a setting."""

import math
from dataclasses import dataclass, replace

from simulator import Setting, Task, Worker, simulate

SMALL = Setting(planning=0.001, to_worker=0.002, load=0.002, publish=0.002, notice=0.002)


@dataclass(frozen=True)
class Scene:
    """All that a run is simulated from."""

    tasks: tuple
    workers: tuple
    setting: Setting = SMALL

    def run(self):
        return simulate(self.tasks, self.workers, self.setting)

    def set(self, **changes):
        return replace(self, setting=replace(self.setting, **changes))

    def each(self, change):
        """Returns the scene with every task changed."""
        return replace(self, tasks=tuple(change(task) for task in self.tasks))

    def each_worker(self, change):
        return replace(self, workers=tuple(change(worker) for worker in self.workers))


def as_planned(scene, run):
    """Returns the scene with its tasks submitted in the order in which a run first planned them.

    A trace does not tell in which order tasks were submitted: where this gives another makespan, it cannot be known.
    """
    planned = {}
    for it in run.attempts:
        planned.setdefault(it.task.name, len(planned))
    return replace(scene, tasks=tuple(sorted(scene.tasks, key=lambda task: planned[task.name])))


def pool(hosts, per_host):
    return tuple(Worker(f"h{host}:w{worker}") for host in range(hosts) for worker in range(per_host))


# The shapes of graphs: classes of about one second, whose means differ by at most 2.


def independent(rng, size):
    return [Task(f"regrid:{at}", 1.5) if at % 3 == 2 else Task(f"retrieve:{at}", 1.0) for at in range(size)]


def map_reduce(rng, size):
    maps = [Task(f"map:{at}", 1.0) for at in range(size * 8 // 9)]
    names = [task.name for task in maps]
    groups = [tuple(names[at : at + 8]) for at in range(0, len(names), 8)]
    return maps + [Task(f"reduce:{at}", 1.5, group) for at, group in enumerate(groups)]


def chains(rng, size):
    stages = (("read", 0.8), ("solve", 1.4), ("write", 1.0))
    tasks, length = [], 6
    for step in range(length):
        group, seconds = stages[step * 3 // length]
        for at in range(size // length):
            number = step * (size // length) + at
            tasks.append(Task(f"{group}:{number}", seconds, (tasks[number - size // length].name,) if step else ()))
    return tasks


def tree(rng, size):
    level = tasks = [Task(f"leaf:{at}", 1.0) for at in range(2 ** round(math.log2(size) - 1))]
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=True)
        level = [Task(f"add:{len(tasks) + at}", 0.8, (one.name, other.name)) for at, (one, other) in enumerate(pairs)]
        tasks = tasks + level
    return tasks


def layered(rng, size):
    tasks, before, number = [], [], 0
    while len(tasks) < size:
        group, seconds = (("load", 1.0), ("filter", 0.9), ("join", 1.5))[number % 3]
        layer = []
        for _ in range(rng.randint(10, 20)):
            inputs = rng.sample(before, min(len(before), rng.randint(1, 3)))
            names = tuple(sorted(task.name for task in inputs))
            layer.append(Task(f"{group}:{len(tasks) + len(layer)}", seconds, names))
        tasks, before, number = tasks + layer, layer, number + 1
    return tasks


SHAPES = {shape.__name__: shape for shape in (independent, map_reduce, chains, tree, layered)}
NOISE = {
    "none": lambda rng: 1.0,
    "uniform": lambda rng: rng.uniform(0.9, 1.1),
    # Mean 1, standard deviation 0.25.
    "lognormal": lambda rng: lognormal(rng, 0.25),
}


def lognormal(rng, sd):
    variance = math.log1p(sd * sd)
    return rng.lognormvariate(-variance / 2, math.sqrt(variance))


# Graphs of one cause each.


def serial_chain(rng, size):
    """A chain of a third of the tasks, and others on the side."""
    chain = [Task(f"step:{at}", 1.0, (f"step:{at - 1}",) if at else ()) for at in range(size // 3)]
    return chain + [Task(f"side:{at}", 0.6) for at in range(size - len(chain))]


def serial_tail(rng, size):
    """Pairs that a third of the tasks, one after the other, add up."""
    maps = [Task(f"map:{at}", 1.0) for at in range(size * 2 // 3)]
    folds = []
    for at in range(size // 3):
        inputs = (maps[2 * at].name, maps[2 * at + 1].name, *(it.name for it in folds[-1:]))
        folds.append(Task(f"fold:{at}", 1.2, inputs))
    return maps + folds


def stages_of(width, seconds=(1.0, 1.5, 1.2)):
    def stages(rng, size):
        names = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        return [
            Task(
                f"stage{names[at // width]}:{at % width}",
                seconds[at // width % len(seconds)],
                (f"stage{names[at // width - 1]}:{at % width}",) if at >= width else (),
            )
            for at in range(size - size % width)
        ]

    return stages


def wide_and_narrow(rng, size):
    """Layers of very different widths, so that the number of tasks at once varies."""
    tasks, before, number = [], [], 0
    while len(tasks) < size:
        group, seconds = (("load", 1.0), ("filter", 1.4))[number % 2]
        layer = []
        for _ in range(rng.choice((1, 2, 3, 4, 6, 8, 12))):
            inputs = rng.sample(before, min(len(before), 2))
            names = tuple(sorted(task.name for task in inputs))
            layer.append(Task(f"{group}:{len(tasks) + len(layer)}", seconds, names))
        tasks, before, number = tasks + layer, layer, number + 1
    return tasks


def shared_inputs(rng, size):
    """Data that many tasks read, in an order of their own each."""
    reads = [Task(f"read:{at}", 1.0) for at in range(size // 8)]
    uses = [Task(f"use:{at}", 1.2, (reads[at % len(reads)].name,)) for at in range(size - len(reads))]
    rng.shuffle(uses)
    return reads + uses


def few_after_many(rng, size):
    """A task for each worker to begin with, and then fewer tasks than workers."""
    prepare = [Task(f"prepare:{at}", 1.0) for at in range(size - 3)]
    names = tuple(task.name for task in prepare)
    return prepare + [Task(f"simulate:{at}", 2.0, names[at::3]) for at in range(3)]
