#!/usr/bin/env python3
"""Stands in for `kubectl` and a cluster: checks manifests as an API server does, and runs pods as processes.

Objects are files in the folder KUBECTL_STATE. It knows the commands and options of `examples/kubernetes/kubernetes-job`
and refuses everything else. Logs have both streams, as those of `kubectl logs`.
"""

import contextlib
import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import yaml

STATE = Path(os.environ["KUBECTL_STATE"])
NODES = ["worker-1", "worker-2", "worker-3"]
DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
QUANTITY = re.compile(r"[0-9]+(\.[0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?")

# The fields that this manifest may have, by their path, and the types of the leaves.
FIELDS = {
    "apiVersion": str,
    "kind": str,
    "metadata": {"name": str, "labels": dict},
    "spec": {
        "backoffLimit": int,
        "ttlSecondsAfterFinished": int,
        "template": {
            "metadata": {"labels": dict},
            "spec": {
                "restartPolicy": str,
                "activeDeadlineSeconds": int,
                "automountServiceAccountToken": bool,
                "nodeSelector": dict,
                "affinity": {
                    "podAntiAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": [
                            {"topologyKey": str, "labelSelector": {"matchLabels": dict}}
                        ]
                    }
                },
                "containers": [
                    {
                        "name": str,
                        "image": str,
                        "command": list,
                        "env": [{"name": str, "value": str, "valueFrom": {"fieldRef": {"fieldPath": str}}}],
                        "resources": {"requests": {"cpu": str, "memory": str}, "limits": {"cpu": str, "memory": str}},
                        "volumeMounts": [{"name": str, "mountPath": str, "readOnly": bool}],
                    }
                ],
                "volumes": [{"name": str, "secret": {"secretName": str, "defaultMode": int}}],
            },
        },
    },
}


def fail(reason):
    sys.exit(f"Error from server (BadRequest): {reason}")


def check_fields(value, fields, path):
    if isinstance(fields, dict):
        if not isinstance(value, dict):
            fail(f"{path} must be an object")
        for key, inner in value.items():
            if key not in fields:
                fail(f'strict decoding error: unknown field "{path}.{key}"')
            check_fields(inner, fields[key], f"{path}.{key}")
    elif isinstance(fields, list):
        if not isinstance(value, list) or not value:
            fail(f"{path} must be a list")
        for at, inner in enumerate(value):
            check_fields(inner, fields[0], f"{path}[{at}]")
    elif type(value) is not fields:
        fail(f"{path} must be of type {fields.__name__}, not {value!r}")


def check_job(job):
    check_fields(job, FIELDS, "")
    if (job["apiVersion"], job["kind"]) != ("batch/v1", "Job"):
        fail(f"no matches for kind {job['kind']} in version {job['apiVersion']}")
    pod = job["spec"]["template"]["spec"]
    names = [job["metadata"]["name"], *(it["name"] for it in pod["containers"] + pod["volumes"])]
    names += [it["secret"]["secretName"] for it in pod["volumes"]]
    for name in names:
        if not DNS_LABEL.fullmatch(name):
            fail(f"metadata.name: Invalid value: {name!r}: must be a DNS label")
    # A pod has a suffix of six characters, and its name is a label as well.
    if len(job["metadata"]["name"]) > 63 - 6:
        fail("metadata.name: too long for the names of pods")
    if pod["restartPolicy"] != "Never" or job["spec"]["backoffLimit"] != 0:
        fail("an instance must not be started again by the cluster")
    volumes = {it["name"] for it in pod["volumes"]}
    for container in pod["containers"]:
        if not container["image"] or not container["command"]:
            fail("spec.containers[0]: Required value: image and command")
        resources = container["resources"]
        if resources["requests"] != resources["limits"]:
            fail("requests must be the limits")
        for quantity in resources["limits"].values():
            if not QUANTITY.fullmatch(quantity):
                fail(f"quantities must match the regular expression: {quantity!r}")
        if not {it["name"] for it in container["volumeMounts"]} <= volumes:
            fail("spec.containers[0].volumeMounts: Not found")
    labels = job["spec"]["template"]["metadata"]["labels"]
    for value in [*labels.values(), *job["metadata"]["labels"].values()]:
        if not re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?", value):
            fail(f"label {value!r} is not valid")


def path_of(kind, name):
    return STATE / kind / f"{name}.json"


def load(kind, name):
    with contextlib.suppress(FileNotFoundError):
        return json.loads(path_of(kind, name).read_text())
    return None


def save(kind, name, value):
    path = path_of(kind, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(f".{os.getpid()}")
    new.write_text(json.dumps(value))
    new.rename(path)


@contextlib.contextmanager
def locked():
    STATE.mkdir(parents=True, exist_ok=True)
    with open(STATE / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def lookup(value, path):
    """Returns the values at a path of JSONPath, such as `.a.b[0].c` or `.a[*].b`; missing keys are none."""
    values = [value]
    for key, index in re.findall(r"\.([\w-]+)|\[(\d+|\*)\]", path):
        found = []
        for it in values:
            if key and isinstance(it, dict) and key in it:
                found.append(it[key])
            elif index == "*" and isinstance(it, list):
                found += it
            elif index and index != "*" and isinstance(it, list):
                if int(index) >= len(it):
                    sys.exit(f"error: array index out of bounds: index {index}, length {len(it)}")
                found.append(it[int(index)])
        values = found
    return values


def print_jsonpath(template, value):
    def text(template, value):
        parts = []
        for literal, code in re.findall(r"([^{]+)|\{([^}]*)\}", template):
            if literal:
                parts.append(literal)
            elif code.startswith('"'):
                parts.append(json.loads(code))
            else:
                parts.append(" ".join(map(str, lookup(value, code))))
        return "".join(parts)

    ranged = re.fullmatch(r"\{range (\.[^}]*)\}(.*)\{end\}", template, re.DOTALL)
    if ranged:
        for item in lookup(value, ranged[1]):
            sys.stdout.write(text(ranged[2], item))
    else:
        sys.stdout.write(text(template, value))


def create_job(arguments):
    job = yaml.safe_load(sys.stdin.read())
    check_job(job)
    name = job["metadata"]["name"]
    with locked():
        if load("jobs", name):
            sys.exit(f'Error from server (AlreadyExists): jobs.batch "{name}" already exists')
        job["metadata"]["uid"] = str(uuid.uuid4())
        job["status"] = {}
        save("jobs", name, job)
        labels = {**job["spec"]["template"]["metadata"]["labels"], "job-name": name}
        pod = {
            "kind": "Pod",
            "metadata": {"name": f"{name}-{uuid.uuid4().hex[:5]}", "labels": labels},
            "spec": job["spec"]["template"]["spec"],
            "status": {"phase": "Pending"},
        }
        save("pods", name, pod)
    command = [sys.executable, __file__, "run-pod", name]
    null = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.Popen(command, start_new_session=True, **null)
    print_jsonpath(arguments["output"].removeprefix("jsonpath="), job)


def run_pod(name):
    """Waits for a node and the secret, runs the container, and says how it ended."""
    while True:
        with locked():
            pod = load("pods", name)
            if pod is None:
                return
            others = [json.loads(it.read_text()) for it in (STATE / "pods").glob("*.json")]
            busy = {it["spec"].get("nodeName") for it in others if it["status"]["phase"] == "Running"}
            free = [it for it in NODES if it not in busy]
            secret = load("secrets", pod["spec"]["volumes"][0]["secret"]["secretName"])
            if free and secret:
                pod["spec"]["nodeName"] = free[0]
                pod["status"]["phase"] = "Running"
                save("pods", name, pod)
                break
        time.sleep(0.05)
    (container,) = pod["spec"]["containers"]
    (mount,) = container["volumeMounts"]
    folder = STATE / "mounts" / name
    folder.mkdir(parents=True)
    for key, text in secret["data"].items():
        (folder / key).write_text(text)
        (folder / key).chmod(pod["spec"]["volumes"][0]["secret"]["defaultMode"])
    environment = {"PATH": os.environ["PATH"], "HOME": "/tmp"}
    for it in container["env"]:
        node = it.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath") == "spec.nodeName"
        environment[it["name"]] = free[0] if node else it["value"]
    command = [it.replace(mount["mountPath"], str(folder)) for it in container["command"]]
    (STATE / "logs").mkdir(exist_ok=True)
    with open(STATE / "logs" / name, "wb") as log:
        process = subprocess.Popen(
            ["sh", "-c", 'POD_PID=$$ exec "$@"', "sh", *command],
            cwd="/",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    (STATE / "logs" / f"{name}.pid").write_text(str(process.pid))
    reason = None
    try:
        process.wait(pod["spec"]["activeDeadlineSeconds"])
    except subprocess.TimeoutExpired:
        reason = "DeadlineExceeded"
    end(process.pid)
    code = process.wait()
    with locked():
        pod = load("pods", name)
        if pod is None:
            return
        terminated = {"exitCode": code if code >= 0 else 128 - code}
        # What a kernel does to a container without memory.
        terminated["reason"] = "Completed" if code == 0 else "OOMKilled" if code == -9 and not reason else "Error"
        pod["status"] = {"phase": "Succeeded" if code == 0 else "Failed"}
        pod["status"]["containerStatuses"] = [{"name": container["name"], "state": {"terminated": terminated}}]
        if reason:
            pod["status"]["reason"] = reason
        save("pods", name, pod)
        job = load("jobs", name)
        job["status"] = {"conditions": [{"type": "Complete" if code == 0 else "Failed"}]}
        save("jobs", name, job)


def end(group):
    """Ends the processes of a container, in all of their groups, as a container that is removed."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGTERM)
    time.sleep(0.3)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def delete_jobs(names):
    for name in names:
        with locked():
            job = load("jobs", name)
            for kind in ["jobs", "pods"]:
                path_of(kind, name).unlink(missing_ok=True)
            # What belongs to the Job goes with it.
            secret = load("secrets", name)
            owners = (secret or {}).get("metadata", {}).get("ownerReferences", [])
            if job and any(it["uid"] == job["metadata"]["uid"] for it in owners):
                path_of("secrets", name).unlink()
        with contextlib.suppress(FileNotFoundError):
            end(int((STATE / "logs" / f"{name}.pid").read_text()))
            (STATE / "logs" / name).unlink()


def parsed(words, known):
    """Returns the words that are no options, and the options."""
    plain, options = [], {}
    words = list(words)
    while words:
        word = words.pop(0)
        name, equals, value = word.partition("=")
        if not word.startswith("--"):
            plain.append(word)
        elif name.removeprefix("--") not in known:
            sys.exit(f"error: unknown flag: {name}")
        elif name in ("--ignore-not-found", "--wait"):
            options[name.removeprefix("--")] = value or "true"
        else:
            options[name.removeprefix("--")] = value if equals else words.pop(0)
    return plain, options


def main():
    known = ["namespace", "from-file", "filename", "output", "patch", "selector", "ignore-not-found", "wait"]
    with open(os.environ.get("KUBECTL_CALLS", os.devnull), "a") as calls:
        calls.write(" ".join(sys.argv[1:3]) + "\n")
    match parsed(sys.argv[1:], known):
        case ["run-pod", name], _:
            run_pod(name)
        case ["create"], options:
            create_job(options)
        case ["create", "secret", "generic", name], options:
            if not DNS_LABEL.fullmatch(name) or load("secrets", name):
                fail(f"secret {name}")
            key, file = options["from-file"].split("=", 1)
            if len(Path(file).read_bytes()) > 1 << 20:
                fail("Too long: must have at most 1048576 bytes")
            save("secrets", name, {"kind": "Secret", "metadata": {"name": name}, "data": {key: Path(file).read_text()}})
            print(f"secret/{name} created")
        case ["patch", "secret", name], options:
            secret = load("secrets", name)
            (owner,) = json.loads(options["patch"])["metadata"]["ownerReferences"]
            if set(owner) != {"apiVersion", "kind", "name", "uid"}:
                fail("metadata.ownerReferences")
            secret["metadata"]["ownerReferences"] = [owner]
            save("secrets", name, secret)
            print(f"secret/{name} patched")
        case ["delete", "secret", name], _:
            path_of("secrets", name).unlink(missing_ok=True)
        case ["get", "jobs,pods"], options:
            key, value = options["selector"].split("=")
            files = [it for kind in ["jobs", "pods"] for it in sorted((STATE / kind).glob("*.json"))]
            items = [json.loads(it.read_text()) for it in files]
            items = [it for it in items if it["metadata"]["labels"].get(key) == value]
            print_jsonpath(options["output"].removeprefix("jsonpath="), {"items": items})
        case ["logs", name], _:
            log = STATE / "logs" / name.removeprefix("job/")
            if not log.exists():
                sys.exit(f'error: error from server (NotFound): pods for "{name}" not found')
            sys.stdout.flush()
            with log.open("rb") as file:
                shutil.copyfileobj(file, sys.stdout.buffer)
        case ["delete", "job", *names], options:
            if "ignore-not-found" not in options:
                fail("a job may be gone already")
            delete_jobs(names)
        case words, _:
            sys.exit(f"error: unknown command {words}")


main()
