"""The package `lapwing` from its sources, with the program of the build."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ROOT / "python" / "lapwing" / "src"

os.environ.setdefault("LAPWING", str(ROOT / "target" / "debug" / "lapwing"))
os.environ["PYTHONPATH"] = str(SOURCES)
sys.path.insert(0, str(SOURCES))
