"""The program under test: its path and its runs."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[1]
RUN_SECONDS_MAX = 120


@pytest.fixture(scope="session")
def root():
    """The root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def binary():
    """The program under test; `./test` names it in SHORTTAIL_BINARY."""
    path = pathlib.Path(os.environ.get("SHORTTAIL_BINARY") or ROOT / "target/release/shorttail")
    if not path.is_file():
        pytest.fail(f"no program at {path}: run `cargo build --release` first", pytrace=False)
    return path


@pytest.fixture(scope="session")
def shorttail(binary):
    """Runs the program with arguments and returns its output; fails the test if the program fails."""

    def run(*arguments, input=None):
        done = subprocess.run(
            [binary, *map(str, arguments)],
            input=input,
            stdin=None if input is not None else subprocess.DEVNULL,
            capture_output=True,
            timeout=RUN_SECONDS_MAX,
        )
        output = done.stdout.decode(errors="replace")
        errors = done.stderr.decode(errors="replace")
        command = " ".join(map(str, arguments))
        assert "panicked" not in errors, f"shorttail {command} panicked:\n{errors}"
        assert done.returncode == 0, f"shorttail {command}: {done.returncode}\n{output}\n{errors}"
        return output + errors

    return run
