"""What a test needs besides the repository, and what happens when it is missing."""

import os

import pytest


def skip_or_fail(missing, remedy):
    """Skips what asks, or fails it where `LAPWING_REQUIRE_ALL=1` promises that everything is present.

    Works in a test, in a fixture and at the top of a module.
    """
    message = f"{missing}: {remedy}"
    if os.environ.get("LAPWING_REQUIRE_ALL") == "1":
        pytest.fail(message, pytrace=False)
    pytest.skip(message, allow_module_level=True)
