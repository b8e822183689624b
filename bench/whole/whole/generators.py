"""Open-loop generators of load: ours, and one that others wrote."""

import csv
import json
import math
import pathlib
import shutil
import subprocess
import tempfile
import urllib.parse

WARM_UP_S = 5
PERCENTILES = {"p50_ms": 0.5, "p99_ms": 0.99, "p999_ms": 0.999}


class Used:
    """What a service uses while it is measured: CPU time, memory, and the energy of the processor."""

    def __init__(self, process):
        self.process = process
        self.cpu_s, self.energy_uj = process.cpu_s(), energy_uj()

    def figures(self, queries_count):
        energy = energy_uj()
        # Counters of energy begin anew now and then.
        is_told = energy is not None and self.energy_uj is not None and energy >= self.energy_uj
        joules = (energy - self.energy_uj) / 1e6 if is_told else None
        return {"cpu_ms_query": (self.process.cpu_s() - self.cpu_s) * 1e3 / max(1, queries_count),
                "memory_bytes": self.process.memory_bytes(),
                "joules_query": joules and joules / max(1, queries_count)}


def energy_uj():
    """Returns the energy that the processors have used, in microjoules; `None` where the machine does not tell."""
    try:
        packages = pathlib.Path("/sys/class/powercap").glob("intel-rapl:?")
        read = [int((package / "energy_uj").read_text()) for package in packages]
    except OSError:
        return None
    return sum(read) if read else None


class Ours:
    """`shorttail load`: independent arrivals, response times from the instant at which a request was due."""

    def __init__(self, program):
        self.program = program

    def is_there(self):
        return True

    def run(self, service, queries, rate, seconds, seed):
        self.offer(service, queries, rate, WARM_UP_S, seed + 1000)
        used = Used(service.process)
        run = self.offer(service, queries, rate, seconds, seed)
        response, endings = run["response_of_all"], run["endings"]
        answered = endings.get("200", 0)
        return used.figures(sum(endings.values())) | {
            "p50_ms": response["p50_us"] / 1e3,
            "p99_ms": (response["p99_us"] or response["max_us"]) / 1e3,
            "p999_ms": (response["p99.9_us"] or response["max_us"]) / 1e3,
            "failed": sum(endings.values()) - answered,
        }

    def offer(self, service, queries, rate, seconds, seed):
        done = subprocess.run(
            [self.program, "load", service.template(), "--queries", queries, "--rate", str(rate), "--duration", f"{seconds}s",
             "--warm-up", "0s", "--order", "real", "--seed", str(seed), "--no-self-check", "--json"],
            capture_output=True, text=True, check=False)
        if not done.stdout.strip():
            raise SystemExit(f"{self.program} load: {done.stderr.strip()[-500:]}")
        return json.loads(done.stdout)["repetitions"][0]


class Vegeta:
    """vegeta (https://github.com/tsenart/vegeta): arrivals at equal intervals."""

    def __init__(self, _program):
        self.program = shutil.which("vegeta")

    def is_there(self):
        return self.program is not None

    def run(self, service, queries, rate, seconds, seed):
        with tempfile.NamedTemporaryFile("w", suffix=".targets") as targets:
            lines = pathlib.Path(queries).read_text(encoding="utf-8").splitlines()
            # Each run begins elsewhere.
            begin = seed * 7919 % len(lines)
            for query in lines[begin:] + lines[:begin]:
                targets.write(f"GET {service.template().replace('{query}', urllib.parse.quote(query, safe=''))}\n")
            targets.flush()
            self.offer(targets.name, rate, WARM_UP_S)
            used = Used(service.process)
            answers = self.offer(targets.name, rate, seconds)
        times = sorted(ms for _, ms in answers)
        failed = sum(status != "200" for status, _ in answers)
        return used.figures(len(times)) | {"failed": failed} | {
            name: times[max(0, math.ceil(len(times) * share) - 1)] for name, share in PERCENTILES.items()}

    def offer(self, targets, rate, seconds):
        """Returns the status and the response time in ms of each request."""
        attack = subprocess.run(
            [self.program, "attack", "-targets", targets, "-rate", str(rate), "-duration", f"{seconds}s", "-timeout", "30s"],
            stdout=subprocess.PIPE, check=True)
        rows = subprocess.run([self.program, "encode", "--to", "csv"], input=attack.stdout, stdout=subprocess.PIPE, check=True)
        rows = csv.reader(rows.stdout.decode().splitlines())
        return [(row[1], int(row[2]) / 1e6) for row in rows]


ALL = {"ours": Ours, "vegeta": Vegeta}
