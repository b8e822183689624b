"""Costs of indexing a corpus with each engine: seconds, CPU seconds, memory, bytes."""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from compare.places import WORK

# Segments of an index: forced into one, or as the engine makes them by default.
ONE, OWN = "one", "own"


def index(engine, corpus, segments, threads, ram_mb, again, report):
    """Indexes, or finds the index that the same program built before. Returns (folder, cost)."""
    tag = f"{engine.name}-{segments}-t{threads}-{ram_mb}mb"
    folder = WORK / "indexes" / corpus.stem / tag
    record = folder.with_suffix(".json")
    if not again and folder.exists() and record.exists():
        cost = json.loads(record.read_text())
        if cost["fingerprint"] == engine.fingerprint():
            report(f"{engine.title}: index of {corpus.stem} is there ({segments}, "
                   f"{threads} thread{'s' * (threads > 1)})")
            return folder, cost
    record.unlink(missing_ok=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    command = [*engine.index_command(), str(corpus), str(folder),
               "--threads", str(threads), "--ram-mb", str(ram_mb)]
    command += ["--force-merge"] if segments == ONE else []
    cost = measured(command, one_core=threads == 1)
    cost |= {"engine": engine.title, "segments_asked": segments, "threads": threads,
             "ram_mb": ram_mb, "fingerprint": engine.fingerprint()}
    record.write_text(json.dumps(cost, indent=1))
    report(f"{engine.title}: indexed {corpus.stem} ({segments}, {threads} "
           f"thread{'s' * (threads > 1)}) in {cost['wall_s']:.1f} s, load {cost['load']}")
    return folder, cost


def measured(command, one_core):
    """Runs a program; returns its report, with CPU seconds and peak memory as the kernel measured them."""
    def pin():
        # One thread is one core: threads that merge, collect garbage or compile get no second core.
        if one_core:
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

    load = round(os.getloadavg()[0], 2)
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as errors:
        process = subprocess.Popen(command, stdout=out, stderr=errors, preexec_fn=pin)
        # Not `Popen.wait`, because `wait4` also returns the resource usage of this process alone.
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        errors.seek(0)
        lines = [line for line in out if line.startswith("{")]
        if process.returncode != 0 or not lines:
            sys.exit(f"{' '.join(command)}\nfailed ({process.returncode}):\n{errors.read()[-3000:]}")
    return json.loads(lines[-1]) | {
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 3),
        "peak_memory_bytes": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        "load": load,
    }
