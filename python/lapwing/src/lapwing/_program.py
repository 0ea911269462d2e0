"""Runs the program `lapwing`."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import warnings
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

PROGRESS = "\x1e"
"""How a line of progress begins on standard error."""

QUICK = 2.0
"""What takes fewer seconds shows no progress."""


class LapwingError(Exception):
    """The program could not answer: its words, its hint and its exit code."""

    def __init__(
        self, message: str, *, hint: str | None = None, exit_code: int = 2, answer: Mapping[str, Any] | None = None
    ) -> None:
        answer = answer or {}
        self.message = message
        self.hint = hint
        self.exit_code = exit_code
        self.consequence: str | None = answer.get("consequence")
        self.where: Mapping[str, Any] | None = answer.get("where")
        self.candidates: list[str] = answer.get("candidates") or []
        lines = [message, self.consequence, f"hint: {hint}" if hint else None]
        super().__init__("\n  ".join(line for line in lines if line))


def program() -> str:
    """Returns the path of the program: `$LAPWING`, that of this Python environment, or the first on the PATH."""
    if named := os.environ.get("LAPWING"):
        return named
    folders = [sysconfig.get_path("scripts"), str(Path(sys.executable).parent)]
    found = (shutil.which("lapwing", path=folder) for folder in folders)
    path = next((path for path in found if path), None) or shutil.which("lapwing")
    if path is None:
        raise LapwingError("the program `lapwing` is not installed", hint="pip install lapwing", exit_code=127)
    return path


def option_words(options: Mapping[str, Any]) -> list[str]:
    """Returns options as words: `smallest_effect="5%"` is `--smallest-effect=5%`, `full=True` is `--full`, `n=5` is `-n5`.

    A list repeats the option, a tuple gives it several words (`compare=("old", "new")`), a dict has entries `name=value`; None and
    False leave it out.
    """
    words = []
    for name, value in options.items():
        name = name.rstrip("_")
        flag = f"-{name}" if len(name) == 1 else "--" + name.replace("_", "-")
        if isinstance(value, tuple):
            words += [flag, *map(str, value)]
            continue
        if isinstance(value, Mapping):
            value = [f"{key}={entry}" for key, entry in value.items()]
        elif isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
            value = [value]
        for entry in value:
            if entry is True:
                words.append(flag)
            elif entry is not None and entry is not False:
                words.append(f"{flag}{entry}" if len(name) == 1 else f"{flag}={entry}")
    return words


def command_line(command: str, words: Iterable[Any], options: Mapping[str, Any]) -> list[str]:
    """Returns the words of a command; its options stand before `--`, which begins the words of a measured command."""
    texts = [os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in words]
    at = texts.index("--") if "--" in texts else len(texts)
    return [*command.split(), *texts[:at], *option_words(options), *texts[at:]]


def execute(line: list[str], internal: Iterable[str] = ()) -> tuple[bytes, list[str], int]:
    """Runs the program: what it wrote, the other lines of standard error, and its exit code. Ctrl-C interrupts it in
    its own way, which keeps what was measured."""
    at = line.index("--") if "--" in line else len(line)
    words = [program(), *line[:at], *internal, *line[at:]]
    try:
        # Of a group of its own: it gets Ctrl-C from here, once.
        process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )
    except OSError as error:
        raise LapwingError(f"cannot run {words[0]}: {error.strerror}", exit_code=127) from error
    written: list[bytes] = []
    reader = threading.Thread(target=lambda: written.append(process.stdout.read()), daemon=True)
    reader.start()
    talk: list[str] = []
    progress = Progress()
    interrupted = False
    try:
        while True:
            try:
                line_read = process.stderr.readline()
                if not line_read:
                    process.wait()
                    reader.join()
                    break
                text = line_read.decode("utf-8", "replace").rstrip("\n")
                progress.show(text[1:]) if text.startswith(PROGRESS) else talk.append(text)
            except KeyboardInterrupt:
                interrupted = True
                process.send_signal(signal.SIGINT)
    except BaseException:
        process.terminate()
        raise
    finally:
        progress.close()
        process.stdout.close()
        process.stderr.close()
    if interrupted:
        raise KeyboardInterrupt("`lapwing` has ended; `lapwing.show()` shows what was measured until then, if anything")
    return b"".join(written), talk, process.returncode


def answer_of(line: list[str]) -> tuple[dict[str, Any], int]:
    """Returns the answer of a command as JSON with its exit code; errors of the program are exceptions."""
    written, talk, code = execute(line, ["--format=json", "--for-notebook"])
    try:
        answer = json.loads(written)
    except ValueError:
        answer = {"answer": "error"}
    if answer.get("answer") == "error":
        raise error_of(written, talk, code)
    return answer, code


def error_of(written: bytes, talk: list[str], code: int) -> LapwingError:
    """Returns the error that the program answered with, or what it said."""
    try:
        answer = json.loads(written)
        return LapwingError(answer["error"], hint=answer.get("hint"), exit_code=answer["exit"], answer=answer)
    except (ValueError, KeyError):
        if code == 0 and written:
            words = "this writes a text or a file to standard output, which is no answer"
            return LapwingError(words, hint="name a file, such as `output=\"results.csv\"`", exit_code=0)
        return LapwingError("\n".join(talk) or f"`lapwing` ended with {code}", exit_code=code)


class Progress:
    """A bar in a notebook or a terminal, if `tqdm` is installed."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._bar: Any = None

    def show(self, text: str) -> None:
        """Shows a line of progress, such as `[■■□] 3/80  sort instance 2`, once it takes long."""
        if time.monotonic() - self._begin < QUICK or not _is_watched():
            return
        if self._bar is None:
            try:
                with warnings.catch_warnings():
                    # Without widgets it is drawn as text.
                    warnings.simplefilter("ignore")
                    from tqdm.auto import tqdm
            except ImportError:
                return
            # The program knows better than the bar when it ends.
            self._bar = tqdm(leave=False, bar_format="{percentage:3.0f}%|{bar}| {n_fmt}/{total_fmt} {desc}")
        if count := re.search(r"(\d+)/(\d+)", text):
            done, steps = map(int, count.groups())
            self._bar.total, self._bar.n = steps, done
            text = text[count.end() :]
        self._bar.set_description_str(" ".join(text.split()), refresh=False)
        self._bar.refresh()

    def close(self) -> None:
        """Removes the bar."""
        if self._bar is not None:
            self._bar.close()


def _is_watched() -> bool:
    """Returns whether progress can be seen: in a notebook, or at a terminal."""
    return "ipykernel" in sys.modules or sys.stderr.isatty()
