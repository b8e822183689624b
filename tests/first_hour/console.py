"""Runner of the ```console blocks of a document: each command is run, its output compared with the lines below it.

A line `$ COMMAND` is a command, `> ` continues it (here documents), other lines are its output. In output `…` stands for
any text, or, alone on its line, for any lines; a number stands for any number, and a size or time for any other. A command
that begins with `shorttail serve` stays running until the next one, at ports of its own.
"""

import os
import re
import signal
import socket
import subprocess
import threading

RUN_SECONDS_MAX = 120
BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)
# The ports of documents, in the order of `free_ports`.
PORTS = ["7700", "7701"]


def steps(document):
    """The commands of a document with their expected lines: `[(command, [line])]`."""
    found = []
    for block in BLOCK.findall(document):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.startswith("> ") or line == ">":
                command, expected = found[-1]
                assert not expected, f"{line!r} follows output"
                found[-1] = (f"{command}\n{line[2:]}", expected)
            else:
                found[-1][1].append(line)
    return found


def shape(line):
    """A line without what differs from run to run: numbers, units of sizes and times, bars."""
    line = re.sub(r"[▏▎▍▌▋▊▉█]+", "", line)
    line = re.sub(r"\d[\d,.]*", "0", line)
    line = re.sub(r"\b0 (?:k|M|G)?B\b", "0 B", line)
    line = re.sub(r"\b0 (?:µs|ms|s)\b", "0 s", line)
    return re.sub(r"\s+", " ", line).strip()


def matches(expected, actual):
    """Whether lines of output are as expected. Empty lines do not count."""
    expected = [shape(line) for line in expected if line.strip()]
    actual = [shape(line) for line in actual if line.strip()]
    pattern = ""
    for line in expected:
        text = ".*".join(re.escape(part) for part in line.split("…"))
        pattern += "(?:.*\n)*" if line == "…" else f"{text}\n"
    return re.fullmatch(pattern, "".join(f"{line}\n" for line in actual)) is not None


def free_ports():
    listeners = [socket.socket() for _ in PORTS]
    for listener in listeners:
        listener.bind(("127.0.0.1", 0))
    ports = [str(listener.getsockname()[1]) for listener in listeners]
    for listener in listeners:
        listener.close()
    return ports


class Session:
    """A folder in which commands are run, with `shorttail` in the path and at most one server."""

    def __init__(self, folder, program, other_ports):
        """`other_ports`: those of other servers, by their ports in documents."""
        self.folder, self.server = folder, None
        self.ports = dict(zip(PORTS, free_ports(), strict=True)) | other_ports
        programs = folder / ".programs"
        programs.mkdir()
        # Where the command names no address, the default ports are replaced too.
        listen = [f"127.0.0.1:{self.ports[port]}" for port in PORTS]
        (programs / "shorttail").write_text(
            "#!/bin/sh\n"
            f'case "$1 $*" in *--listen*) ;; "serve "*) set -- "$@" --listen {listen[0]} --admin {listen[1]};; esac\n'
            f'case "$1 $2" in "top "|"top --"*) shift; set -- top {listen[1]} "$@";; esac\n'
            f'exec "{program}" "$@"\n'
        )
        (programs / "shorttail").chmod(0o755)
        self.environment = os.environ | {"PATH": f"{programs}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}

    def moved(self, text, back=False):
        """Replaces the ports of documents by those of this session, or back."""
        for port, own in self.ports.items():
            text = text.replace(f":{own}", f":{port}") if back else text.replace(f":{port}", f":{own}")
        return text

    def start(self, command):
        return subprocess.Popen(
            ["bash", "-c", self.moved(command)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def run(self, command, expected):
        """Runs a command; fails where its output is not as expected, or where it fails."""
        if command.startswith("shorttail serve "):
            self.serve(command, expected)
            return
        process = self.start(command)
        try:
            output, _ = process.communicate(timeout=RUN_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise
        said = self.moved(output, back=True)
        assert process.returncode == 0, f"$ {command}\n{said}"
        assert matches(expected, said.splitlines()), f"$ {command}\n{said}\nexpected:\n" + "\n".join(expected)

    def serve(self, command, expected):
        """Starts a server in place of the one that runs, and waits for its address."""
        self.end()
        self.server = self.start(command)
        killer = threading.Timer(RUN_SECONDS_MAX, self.server.kill)
        killer.start()
        lines = []
        for line in self.server.stdout:
            lines.append(self.moved(line.rstrip("\n"), back=True))
            if line.startswith("listening on"):
                break
        killer.cancel()
        assert matches(expected, lines), f"$ {command}\n" + "\n".join(lines)

    def end(self):
        """Ends the server as Ctrl-C does; fails where it does not end well."""
        if self.server:
            os.killpg(self.server.pid, signal.SIGINT)
            self.server.stdout.read()
            assert self.server.wait(RUN_SECONDS_MAX) == 0
            self.server = None
