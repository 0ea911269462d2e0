"""An ensemble forecast in miniature, run by earthkit-workflows on this machine and traced.

    python job.py HOSTS WORKERS FOLDER [MEMBERS]

Each member is a field that is retrieved, regridded and thresholded; the results are added up in a
tree. `trace.log` and the task graph, `graph.json`, are written into the folder.
"""

import json
import os
import pathlib
import sys
import tempfile

# One thread for each worker: otherwise every matrix product takes all cores, and no number of
# workers means anything.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ[f"{library}_NUM_THREADS"] = "1"

import numpy as np  # noqa: E402 - it reads the variables when it is imported
from cascade.low.builders import JobBuilder, TaskBuilder  # noqa: E402
from cascade.low.core import JobInstanceRich  # noqa: E402

SIZE = 600


def retrieve(seed: int, size: int) -> np.ndarray:
    import numpy

    return numpy.random.default_rng(seed).normal(size=(size, size))


def regrid(field: np.ndarray) -> np.ndarray:
    import numpy

    for _ in range(12):
        field = field @ field
        field /= numpy.abs(field).max()
    return field


def threshold(field: np.ndarray, above: float) -> np.ndarray:
    return (field > above).astype(float)


def add(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    return left + right


def ensemble(members: int):
    """Returns the job and, by task, the tasks that it waits for."""
    job = JobBuilder()
    graph = {}

    def task(name, function, inputs, **values):
        nonlocal job
        job = job.with_node(name, TaskBuilder.from_callable(function).with_values(**values))
        for place, source in enumerate(inputs):
            job = job.with_edge(source, name, place)
        graph[name] = inputs
        return name

    level = []
    for member in range(members):
        field = task(f"retrieve:{member}", retrieve, [], seed=member, size=SIZE)
        field = task(f"regrid:{member}", regrid, [field])
        level.append(task(f"threshold:{member}", threshold, [field], above=0.1))
    while len(level) > 1:
        pairs = list(zip(level[::2], level[1::2]))
        added = [task(f"add:{len(graph)}", add, list(pair)) for pair in pairs]
        level = added + level[2 * len(pairs) :]
    return job.build().get_or_raise(), graph


def main(hosts, workers, folder, members="16"):
    from cascade.deployment.logging import LoggingConfig
    from cascade.main import run_locally

    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    job, graph = ensemble(int(members))
    (folder / "graph.json").write_text(json.dumps(graph, indent=1) + "\n")
    with tempfile.TemporaryDirectory() as logs:
        run_locally(
            JobInstanceRich(jobInstance=job, checkpointSpec=None),
            int(hosts),
            int(workers),
            portBase=23450,
            loggingConfigSer=LoggingConfig(path_base=f"{logs}/").ser_cliparam(),
        )
        # Each process writes a log of its own; the lines of the trace are few.
        with open(folder / "trace.log", "w") as trace:
            for log in sorted(pathlib.Path(logs).glob("*.logs.txt")):
                trace.writelines(line for line in log.open() if ":cascade.low.tracing." in line)
    print(f"{len(graph)} tasks on {hosts} × {workers} workers: {folder / 'trace.log'}")


if __name__ == "__main__":
    if len(sys.argv) not in (4, 5):
        sys.exit(__doc__)
    main(*sys.argv[1:])
