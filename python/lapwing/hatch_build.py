"""Puts the programs that Cargo built into the wheel of the package.

LAPWING_PROGRAMS     folder of the programs (default: target/release of the repository)
LAPWING_PLATFORM     platform tag of the wheel, such as manylinux_2_28_x86_64 (default: this machine)
"""

import os
import re
import sysconfig
from pathlib import Path

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

REPOSITORY = Path(__file__).resolve().parents[2]
PROGRAMS = ("lapwing", "lapwing-launcher")


class Version(MetadataHookInterface):
    """The version is that of the workspace of Cargo."""

    def update(self, metadata):
        text = (REPOSITORY / "Cargo.toml").read_text(encoding="utf-8")
        metadata["version"] = re.search(r'^version = "(.+)"$', text, re.MULTILINE).group(1)


class Programs(BuildHookInterface):
    """The programs are scripts of the wheel, which installers put into the folder of programs."""

    def initialize(self, version, build_data):
        folder = Path(os.environ.get("LAPWING_PROGRAMS", REPOSITORY / "target" / "release"))
        for name in PROGRAMS:
            program = folder / name
            if not program.is_file():
                raise SystemExit(f"{program} does not exist: run `cargo build --release` first")
            build_data["shared_scripts"][str(program)] = name
        platform = os.environ.get("LAPWING_PLATFORM") or sysconfig.get_platform()
        build_data["tag"] = "py3-none-" + re.sub("[-.]", "_", platform)
        build_data["pure_python"] = False
