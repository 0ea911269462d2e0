"""Three hosts of ssh that are this machine: an `sshd` on loopback, by the names of a configuration of `ssh`.

It runs as the user of the tests, on a port of its own, with keys that are made for it and nothing of the user's. Each
host has its own port, so that one of them can be stopped alone.
"""

import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import time
from pathlib import Path

NAMES = ["n1", "n2", "n3"]

DAEMON = """\
Port {port}
ListenAddress 127.0.0.1
HostKey {folder}/host_key
PidFile {folder}/{name}.pid
AuthorizedKeysFile {folder}/user_key.pub
StrictModes no
UsePAM no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
PermitUserRC no
# What a login on this host prints, whatever it is asked to do.
ForceCommand {folder}/login-{name} "$SSH_ORIGINAL_COMMAND"
"""

CLIENT = """\
Host {name}
  HostName 127.0.0.1
  Port {port}
"""

CLIENT_OF_ALL = """\
Host *
  User {user}
  IdentityFile {folder}/user_key
  IdentitiesOnly yes
  IdentityAgent none
  UserKnownHostsFile {folder}/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking accept-new
"""


def missing():
    """Returns the programs that are not installed."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    return [it for it in ["sshd", "ssh", "ssh-keygen"] if shutil.which(it, path=path) is None]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


class SmallHosts:
    """Hosts with their files in a folder of their own."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.daemons = {}
        self.ports = {name: free_port() for name in NAMES}

    def start(self):
        self.folder.mkdir(parents=True)
        for key in ["host_key", "user_key"]:
            command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(self.folder / key)]
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
        config = "".join(CLIENT.format(name=name, port=port) for name, port in self.ports.items())
        config += CLIENT_OF_ALL.format(folder=self.folder, user=getpass.getuser())
        self.config.write_text(config)
        for name in NAMES:
            self.set_login(name, "")
            self.start_host(name)
        return self

    @property
    def config(self):
        return self.folder / "config"

    def set_login(self, name, lines):
        """Says what a login shell does before it does what it is asked to."""
        script = self.folder / f"login-{name}"
        script.write_text(f'#!/bin/bash\n{lines}\nexec /bin/bash -c "$1"\n')
        script.chmod(0o755)

    def start_host(self, name):
        file = self.folder / f"sshd-{name}"
        file.write_text(DAEMON.format(folder=self.folder, port=self.ports[name], name=name))
        # The folder of its unprivileged child, where it runs as root.
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", mode=0o755, exist_ok=True)
        daemon = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin:/sbin")
        with open(self.folder / f"{name}.log", "ab") as log:
            process = subprocess.Popen(
                [daemon, "-D", "-e", "-f", file], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        self.daemons[name] = process
        wait_for(lambda: self.answers(name))

    def answers(self, name):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.ports[name]), timeout=1):
            return True
        assert self.daemons[name].poll() is None, (self.folder / f"{name}.log").read_text()
        return False

    def stop_host(self, name):
        """Ends the daemon of a host and its connections, as when the machine goes down."""
        process = self.daemons.pop(name, None)
        if process is None:
            return
        for child in descendants(process.pid):
            # Sessions of the daemon; what these have started goes on, as if it were not known that they are gone.
            if "sshd" in command_of(child):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(child, signal.SIGKILL)
        process.kill()
        process.wait()

    def stop(self):
        for name in list(self.daemons):
            self.stop_host(name)


def descendants(pid):
    """Returns the processes below one."""
    found = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for child in (task / "children").read_text().split():
                found += [int(child), *descendants(int(child))]
    return found


def command_of(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    return ""


def running(text):
    """Returns the processes whose command contains a text."""
    own = os.getpid()
    pids = [int(it.name) for it in Path("/proc").iterdir() if it.name.isdigit()]
    return [pid for pid in pids if pid != own and text in command_of(pid)]


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it never came true"
        time.sleep(0.1)
