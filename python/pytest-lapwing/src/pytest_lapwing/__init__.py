"""Benchmarks from pytest: every iteration is recorded for Lapwing.

Recording is asked for with ``--lapwing``. The plugin writes Lapwing's record format, version 1, and nothing
else; it needs no Lapwing to run.
"""

__version__ = "0.1.0"
