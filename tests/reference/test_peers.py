"""What Lapwing exports is read by the programs whose formats it writes."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LAPWING = os.environ.get("LAPWING", str(ROOT / "target/debug/lapwing"))
FIXTURE = ROOT / "tests/fixtures/pytest-benchmark-5.3.1/data.json"


def test_pytest_benchmark_compares_an_export(tmp_path):
    def run(*command):
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run(LAPWING, "import", FIXTURE)
    run(LAPWING, "export", "--to", "pytest-benchmark", "-o", "ours.json")
    compare = [str(Path(sys.executable).with_name("pytest-benchmark")), "compare"]
    columns = "--columns=min,max,mean,stddev,median,iqr,ops,outliers,rounds"
    (tmp_path / "theirs.json").write_bytes(FIXTURE.read_bytes())
    tables = {}
    for name in ("ours", "theirs"):
        run(*compare, f"--csv={name}", columns, "--sort=name", f"./{name}.json")
        lines = (tmp_path / f"{name}.csv").read_text().splitlines()
        tables[name] = lines[:1] + sorted(lines[1:])
    assert len(tables["ours"]) == len(tables["theirs"]) > 5
    assert tables["ours"][0] == tables["theirs"][0]
    for ours, theirs in zip(tables["ours"][1:], tables["theirs"][1:], strict=True):
        for one, other in zip(ours.split(","), theirs.split(","), strict=True):
            try:
                assert abs(float(one) - float(other)) <= 1e-12 * abs(float(other)), (ours, theirs)
            except ValueError:
                assert one == other
