"""The wheel with the program: built, installed into a bare environment, and used."""

import os
import subprocess
import sys
import venv
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def run(*command, **options):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_wheel_installs_a_program_that_measures(tmp_path):
    programs = Path(os.environ["LAPWING"]).parent
    environment = {**os.environ, "LAPWING_PROGRAMS": str(programs)}
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check")
    wheels = tmp_path / "wheels"
    source = str(REPOSITORY / "python" / "lapwing")
    run(*pip, "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(wheels), source, env=environment)
    (wheel,) = wheels.iterdir()
    assert wheel.name.startswith("lapwing-") and "-py3-none-linux_" in wheel.name

    bare = tmp_path / "bare"
    venv.create(bare, with_pip=False)
    run(*pip, "--python", str(bare / "bin" / "python"), "install", "-q", "--no-index", str(wheel))
    lapwing = str(bare / "bin" / "lapwing")
    assert run(lapwing, "--version").startswith("lapwing 0.")
    # The launcher is found beside the program.
    assert (bare / "bin" / "lapwing-launcher").stat().st_mode & 0o111
    folder = tmp_path / "work"
    folder.mkdir()
    told = run(lapwing, "run", "-n", "3", "-i", "1", "--", "true", cwd=folder, env={"PATH": "/usr/bin:/bin"})
    assert "3 instances" in told

    # The package needs nothing but Python, and finds the program of its environment.
    asked = "import lapwing; answer = lapwing.show(); print(answer.session.instances, answer.table().rows()[0]['benchmark'])"
    environment = {"PATH": "/usr/bin:/bin"}
    assert run(str(bare / "bin" / "python"), "-c", asked, cwd=folder, env=environment) == "3 true\n"
    with_table = "import lapwing; lapwing.table().rows()"
    refused = subprocess.run([bare / "bin" / "python", "-c", with_table], cwd=folder, env=environment, capture_output=True, text=True)
    assert "hint: pip install pyarrow" in refused.stderr
