"""`lapwing mcp` with the client of the protocol's own Python package."""

import asyncio
import json
import subprocess
import time

import pytest
from conftest import PROGRAM, variables
from mcp import Client, StdioServerParameters

TOOLS = ["doctor", "measure", "judge", "compare", "detect", "explain", "history"]


def with_client(folder, home, work, *options):
    async def run():
        server = StdioServerParameters(command=str(PROGRAM), args=["mcp", *options], cwd=str(folder), env=variables(home))
        async with Client(server) as client:
            return await asyncio.wait_for(work(client), 300)

    return asyncio.run(run())


def test_tools_say_what_they_do(repository, tmp_path):
    async def work(client):
        return (await client.list_tools()).tools

    tools = with_client(repository, tmp_path, work)
    assert [it.name for it in tools] == TOOLS
    for tool in tools:
        executes = "EXECUTES PROGRAMS" in tool.description
        assert executes == (tool.name in ("measure", "judge"))
        assert tool.annotations.read_only_hint != executes
        assert all(it.get("description") for it in tool.input_schema["properties"].values()), tool


def test_an_agent_measures_judges_and_reads(repository, tmp_path):
    async def work(client):
        answers, told = {}, []

        async def progress(_progress, _total, message):
            told.append(message)

        async def call(name, arguments, key=None):
            done = await client.call_tool(name, arguments, progress_callback=progress)
            assert not done.is_error, done
            answers[key or name] = done.structured_content
            assert done.content[0].text.startswith(done.structured_content["headline"])

        await call("doctor", {})
        commands = ["python3 work.py 20", "python3 work.py 2000"]
        await call("measure", {"commands": commands, "instances": 4, "iterations": 1, "name": "both"})
        await call("compare", {"baseline": commands[0], "candidates": [commands[1]], "metric": "wall_time"})
        await call("judge", {"baseline": "HEAD", "command": commands[0], "iterations": 1, "instances": 5})
        await call("history", {"what": "session", "name": "both"})
        await call("history", {"what": "sessions"}, "sessions")
        await call("detect", {})
        return answers, told

    answers, told = with_client(repository, tmp_path, work)
    [row] = answers["compare"]["comparisons"]
    assert row["verdict"] == "regression" and row["ratio"] > 1.5
    assert answers["judge"]["verdict"] in ("not_slower", "slower", "faster", "undecided")
    assert answers["judge"]["exit_code"] in (0, 1, 125)
    assert answers["sessions"]["count"] == 2
    assert any("work.py" in it for it in told), told


def test_what_is_wrong_is_said_and_nothing_outside_is_touched(repository, tmp_path):
    async def work(client):
        said = []
        for name, arguments in [
            ("judge", {"baseline": "nothing", "command": "true"}),
            ("judge", {"base": "main"}),
            ("measure", {"commands": ["touch ../outside"], "folder": ".."}),
            ("measure", {"commands": ["true"], "folder": "nowhere"}),
            ("compare", {"baseline": "--store=/etc/passwd", "candidates": ["x"]}),
        ]:
            done = await client.call_tool(name, arguments)
            assert done.is_error, (name, arguments, done)
            said.append(done.content[0].text)
        return said

    said = with_client(repository, tmp_path, work)
    assert "unknown field `base`" in said[1]
    assert "outside of the folder" in said[2] and not (repository.parent / "outside").exists()
    assert "cannot be used" in said[3]

    async def permitted(client):
        arguments = {"commands": ["true"], "folder": "..", "instances": 3, "iterations": 1}
        return await client.call_tool("measure", arguments)

    assert not with_client(repository, tmp_path, permitted, "--allow-outside").is_error


def test_a_long_measurement_can_be_cancelled(repository, tmp_path):
    async def work(client):
        begun = time.monotonic()
        long = {"commands": ["sleep 0.3"], "instances": 200, "iterations": 1, "name": "long"}
        # A client that gives up says so.
        with pytest.raises(Exception, match="(?i)time"):
            await client.call_tool("measure", long, read_timeout_seconds=4)
        while time.monotonic() - begun < 30:
            await asyncio.sleep(0.5)
            done = await client.call_tool("history", {"what": "session", "name": "long"})
            again = await client.call_tool("history", {"what": "session", "name": "long"})
            if done.structured_content == again.structured_content and not done.is_error:
                return done.structured_content
        raise AssertionError("it goes on")

    answer = with_client(repository, tmp_path, work)
    row = next(it for it in answer["results"] if it["metric"] == "wall_time")
    assert 0 < row["instances"] < 200, answer


@pytest.mark.parametrize("end", [lambda it: it.stdin.close(), lambda it: it.terminate()])
def test_what_is_measured_when_the_server_ends_is_interrupted_and_stored(repository, tmp_path, end):
    server = subprocess.Popen([PROGRAM, "mcp"], cwd=repository, env=variables(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    long = {"commands": ["sleep 0.3"], "instances": 200, "iterations": 1, "name": "long"}
    for message in [
        {"id": 1, "method": "initialize", "params": about},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "measure", "arguments": long}},
    ]:
        server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        server.stdin.flush()
    time.sleep(4)
    end(server)
    server.wait(10)
    shown = subprocess.run([PROGRAM, "show", "long", "--format", "json"], cwd=repository, capture_output=True, text=True)
    assert shown.returncode == 0 and "recovered" not in shown.stderr, shown
    row = next(it for it in json.loads(shown.stdout)["results"] if it["metric"] == "wall_time")
    assert 0 < row["instances"] < 200
    # No process of it is left that measures.
    again = subprocess.run([PROGRAM, "show", "long", "--format", "json"], cwd=repository, capture_output=True, text=True)
    assert again.stdout == shown.stdout
