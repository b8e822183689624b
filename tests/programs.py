"""Runs the Rust test programs that cargo has built: several at once, those that judge times by themselves.

    tests/programs.py BUILT --times FILE [--crate NAME]

BUILT is what `cargo build --tests --message-format=json` prints. Tests of servers, timers and processes wait half of
their time and judge how long something takes, so they run one after another. The other programs only compute: beside
those they get the time that nothing else wants, and nothing in them depends on it. A program runs in the folder of its
crate, as under `cargo test`, and its output is printed whole when it has ended.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

# Crates whose tests judge times or wait for timers, sockets and processes; any other is taken to compute.
TIMED = {
    "cli", "crawl", "engine", "extract", "ingest", "lab", "load", "reliability", "schedule", "serve", "shorttail",
    "vfs",
}
# Programs of those crates that compute all the same.
COMPUTING = {"engine history", "engine languages", "engine unmapped"}
# Longest first, so that none is left over at the end.
LONG = ["index", "search", "model", "engine", "corpus"]
IDLE = ["chrt", "--idle", "0"]


class Program(collections.namedtuple("Program", "crate path folder")):
    @property
    def name(self):
        return f"{self.crate} {pathlib.Path(self.path).name.rpartition('-')[0]}"

    @property
    def is_timed(self):
        return self.crate in TIMED and self.name not in COMPUTING



def built_programs(lines):
    """The test programs of cargo's messages, in the order in which they are built."""
    found = []
    for line in lines:
        message = json.loads(line) if line.startswith("{") else {}
        if message.get("executable") and message["profile"]["test"]:
            folder = pathlib.Path(message["manifest_path"]).parent
            found.append(Program(folder.name, message["executable"], folder))
    return found


def lanes(programs):
    """The programs that run one after another, and those that run beside them, each in the order of their start."""
    timed = [one for one in programs if one.is_timed]
    computing = [one for one in programs if not one.is_timed]
    computing.sort(key=lambda one: LONG.index(one.crate) if one.crate in LONG else len(LONG))
    return timed, computing


def idle_command():
    """What begins a command that gets the time that nothing else wants."""
    can_be_idle = subprocess.run([*IDLE, "true"], capture_output=True).returncode == 0
    return IDLE if can_be_idle else ["nice", "-n", "19"]


class Runner:
    """Runs programs of the lanes, and keeps what failed and how long each took."""

    def __init__(self, timed, computing):
        self.timed, self.computing = collections.deque(timed), collections.deque(computing)
        self.failed, self.seconds = [], []
        self.lock = threading.Lock()

    def run(self, program, before=()):
        begun = time.monotonic()
        done = subprocess.run(
            [*before, program.path],
            cwd=program.folder,
            env={**os.environ, "CARGO_MANIFEST_DIR": str(program.folder)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        took = time.monotonic() - begun
        name = program.name
        with self.lock:
            print(f"     Ran {name} in {took:.1f} s", flush=True)
            sys.stdout.buffer.write(done.stdout)
            sys.stdout.flush()
            self.seconds.append((name, took))
            if done.returncode != 0:
                self.failed.append(f"{name} ended with {done.returncode}")

    def run_timed(self):
        while self.timed:
            self.run(self.timed.popleft())
        self.run_computing()

    def run_computing(self, before=()):
        while True:
            try:
                program = self.computing.popleft()
            except IndexError:
                return
            self.run(program, before)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("built", type=argparse.FileType())
    parser.add_argument("--times", type=pathlib.Path, help="a file that gets a line for each program")
    parser.add_argument("--crate", help="only the programs of this crate")
    arguments = parser.parse_args()
    programs = [one for one in built_programs(arguments.built) if arguments.crate in (None, one.crate)]
    if not programs:
        sys.exit("no test programs are built")
    runner = Runner(*lanes(programs))
    threads = [
        threading.Thread(target=runner.run_timed),
        threading.Thread(target=runner.run_computing, args=[idle_command()]),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if arguments.times:
        longest_first = sorted(runner.seconds, key=lambda one: -one[1])
        arguments.times.write_text("".join(f"{took:8.1f} s  {name}\n" for name, took in longest_first))
    if len(runner.seconds) != len(programs):
        runner.failed.append(f"{len(programs) - len(runner.seconds)} programs did not run")
    sys.exit("\n".join(runner.failed) or 0)


if __name__ == "__main__":
    main()
