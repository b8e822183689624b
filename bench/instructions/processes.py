"""Programs that are run and counted: their output, and the instructions that callgrind collected."""

import re
import subprocess
import sys


def output(command, **options):
    """Runs a command and returns its output and messages; ends the program if it fails."""
    done = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, **options)
    errors = done.stderr.decode(errors="replace")
    if done.returncode != 0:
        sys.exit(f"failed: {' '.join(map(str, command))}\n{errors[-2000:]}")
    return done.stdout, errors


def first_line(command):
    return output(command)[0].decode().splitlines()[0].strip()


def callgrind(command):
    """Returns a command that counts the instructions of another."""
    return ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", *map(str, command)]


def collected(log):
    """Returns the count that callgrind logged at the end of a program."""
    found = re.search(r"Collected : (\d+)", log)
    if not found:
        sys.exit(f"valgrind told no count:\n{log[-2000:]}")
    return int(found.group(1))
