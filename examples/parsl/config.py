"""The configuration of Parsl that is measured: each factor of the study is an environment variable."""

import os

from parsl.config import Config
from parsl.executors import HighThroughputExecutor
from parsl.providers import LocalProvider


def is_on(name: str) -> bool:
    return os.environ.get(name) == "1"


def fresh_config() -> Config:
    executor = HighThroughputExecutor(
        label="htex",
        address="127.0.0.1",
        encrypted=is_on("ENCRYPTED"),
        worker_debug=is_on("WORKER_DEBUG"),
        max_workers_per_node=int(os.environ.get("WORKERS", "1")),
        prefetch_capacity=int(os.environ.get("PREFETCH", "0")),
        provider=LocalProvider(init_blocks=1, min_blocks=1, max_blocks=1),
    )
    return Config(
        initialize_logging=not is_on("NO_INIT_LOGGING"),
        run_dir=os.environ.get("RUN_DIR", "runinfo"),
        executors=[executor],
    )
