"""How an execution ended, read from what it raised."""

from __future__ import annotations

import traceback
import unittest

import pytest

LONGEST_MESSAGE = 500
LONGEST_TRACEBACK = 8 * 1024


def skip_reason(error: BaseException | None) -> str | None:
    """Returns why something was skipped or not run; None if it was run."""
    if isinstance(error, (pytest.skip.Exception, unittest.SkipTest)):
        return str(error) or "skipped"
    if isinstance(error, pytest.xfail.Exception) and str(error).startswith("[NOTRUN]"):
        return f"xfail: {error}"
    return None


def one_line(error: BaseException) -> str:
    """Returns the kind of an error and the first line of its message."""
    text = _said(error).strip().splitlines()
    kind = type(error).__name__
    return f"{kind}: {text[0]}"[:LONGEST_MESSAGE] if text else kind


def _said(error: BaseException) -> str:
    """Returns the message of an error, if available."""
    try:
        return str(error)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as other:
        return f"<str() of it raised {type(other).__name__}>"


def traceback_text(error: BaseException) -> str:
    """Returns the traceback without the frames of pytest and of this plugin around the test."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        module = trace.tb_frame.f_globals.get("__name__", "")
        if not module.startswith(("_pytest.", "pluggy.", "pytest_lapwing.", "unittest.")):
            break
        trace = trace.tb_next
    lines = traceback.format_exception(type(error), error, trace, chain=False)
    return "".join(lines)[-LONGEST_TRACEBACK:]
