"""Measurement of the time of each query in each engine.

Model: one process an engine, all of a comparison alive at once, one thread of queries, warm. Passes
over all queries are taken in turn (A B C, B C A, …), so that whatever disturbs the machine meets all
engines alike. A query's time is its median over the passes; mean and percentiles are over queries. Beside it stand
those of each query's fastest pass, which tell more where other machines share the processor.
Limits: no queueing, no network, no second query at the same time. With several threads, an engine may share each query
among them; the throughput of many clients is then taken too, in turn again, as the median over the passes.
"""

import contextlib
import math
import os
import statistics
import subprocess
import sys
import time

WARM_S_MAX = 40.0
# Clients of a saturated engine, for each thread of the largest number.
CLIENTS = 2
# Warm: within this time, passes got faster by no more than this share, compared with the same time before.
SETTLED_S = 3.0
SETTLED_SHARE = 0.03


class Server:
    """An engine that serves one mode of one index, with a number of threads that may share a query."""

    def __init__(self, engine, folder, mode, query_file, log, threads=1):
        self.engine = engine
        self.passes_ns = []
        self.saturated_qps = []
        self.log = log
        command = [*engine.serve_command(), str(folder), mode, str(query_file)]
        if threads > 1:
            command += ["--threads", str(threads)]
        with open(log, "w") as errors:
            self.process = subprocess.Popen(command, stdin=subprocess.PIPE, text=True,
                                            stdout=subprocess.PIPE, stderr=errors)
        self.line("READY")

    def line(self, start):
        """Returns the next line with this start. Engines may print others."""
        for line in self.process.stdout:
            if line.startswith(start):
                return line.rstrip("\n")
        sys.exit(f"{self.engine.title} ended without an answer:\n{self.log.read_text()[-2000:]}")

    def ask(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()

    def one_pass(self):
        """Runs a pass; returns the nanoseconds of every query."""
        self.ask("pass")
        return [int(time_ns) for time_ns in self.line("P ").split()[1:]]

    def saturate(self, ms, clients):
        """Answers a second of clients that send queries without a pause; None if the engine has one client only."""
        self.ask(f"saturate {ms} {clients}")
        answers, elapsed_ms = self.line("S ").split()[1:]
        return float(answers) / float(elapsed_ms) * 1e3 if float(answers) else None

    def warm(self):
        """Runs warm-up passes, which are not measured, until their times no longer fall."""
        started, passes = time.monotonic(), []  # of each: seconds since the start, mean time
        while True:
            mean_ns = statistics.fmean(self.one_pass())
            elapsed_s = time.monotonic() - started
            passes.append((elapsed_s, mean_ns))
            enough = len(passes) >= self.engine.warm_passes and elapsed_s >= self.engine.warm_s
            if enough and (not self.engine.warm_s or settled(passes, elapsed_s)):
                return
            if len(passes) >= 3 and elapsed_s >= WARM_S_MAX:
                return

    def results(self):
        """(count, URL of the best hit) of every query."""
        self.ask("results")
        results = []
        while (line := self.line(("R\t", "END"))) != "END":
            _, count, _, url = line.split("\t", 3)
            results.append((int(count), url))
        return results

    def close(self):
        if self.process.poll() is None:
            self.process.stdin.close()  # the process ends at the end of its input, as after `quit`
            self.process.wait()


def settled(passes, now_s):
    """Whether the latest passes are about as fast as those before them."""
    latest = [mean for at_s, mean in passes if at_s > now_s - SETTLED_S]
    before = [mean for at_s, mean in passes if now_s - 2 * SETTLED_S < at_s <= now_s - SETTLED_S]
    if not before:
        return True  # a pass takes longer than that: there are few, and each is a long run
    return statistics.median(latest) > (1 - SETTLED_SHARE) * statistics.median(before)


@contextlib.contextmanager
def serving(engines, folders, mode, queries, logs, threads=1):
    """Warm servers of the engines, with which passes are measured in turn; they end with the block."""
    logs.mkdir(parents=True, exist_ok=True)
    servers = []
    try:
        for engine in engines:
            log = logs / f"{engine.name}-{mode}-t{threads}.log"
            servers.append(Server(engine, folders[engine.name], mode, queries.file, log, threads))
        for server in servers:
            server.warm()
        yield servers
    finally:
        for server in servers:
            server.close()


def measure_passes(servers, passes, then=lambda server: None):
    """Measures a pass of each server in turn, another one first each time; calls `then` after each."""
    for turn in range(passes):
        first = turn % len(servers)
        for server in servers[first:] + servers[:first]:
            server.passes_ns.append(server.one_pass())
            then(server)


def measure(engines, folders, mode, queries, passes, logs):
    """Times and results of one mode, by engine."""
    load_before = os.getloadavg()[0]
    with serving(engines, folders, mode, queries, logs) as servers:
        measure_passes(servers, passes)
        measured = {server.engine.name: summary(server) for server in servers}
        remarks = [server.engine.remark(server.log.read_text(errors="replace"))
                   for server in servers]
    return {"load": [round(load_before, 2), round(os.getloadavg()[0], 2)],
            "remarks": [remark for remark in remarks if remark], "engines": measured}


def measure_threads(engines, folders, mode, queries, asked, logs):
    """Times of single queries and throughput of many clients, by number of threads and engine."""
    clients = CLIENTS * max(asked.threads)

    def saturate(server):
        qps = server.saturate(asked.saturate_ms, clients)
        server.saturated_qps += [] if qps is None else [qps]

    found = {}
    for threads in asked.threads:
        with serving(engines, folders, mode, queries, logs, threads) as servers:
            measure_passes(servers, asked.passes, saturate)
            found[threads] = {server.engine.name: of_threads(server) for server in servers}
    return found


def of_threads(server):
    medians_ns = [statistics.median(times) for times in zip(*server.passes_ns)]
    every_us = sorted(time_ns / 1e3 for times in server.passes_ns for time_ns in times)
    rates = server.saturated_qps
    counts, urls = zip(*server.results())
    return {**over_queries(medians_ns),
            # Of all passes: the tail of one query as well as that of the queries.
            "every_p99_us": round(every_us[max(math.ceil(0.99 * len(every_us)), 1) - 1], 2),
            "saturated_qps": round(statistics.median(rates), 1) if rates else None,
            "saturated_qps_of_passes": [round(rate, 1) for rate in rates],
            "medians_ns": [int(time_ns) for time_ns in medians_ns],
            "counts": list(counts), "best_urls": list(urls)}


def summary(server):
    medians_ns = [statistics.median(times) for times in zip(*server.passes_ns)]
    minima_ns = [min(times) for times in zip(*server.passes_ns)]
    counts, urls = zip(*server.results())
    return {
        **over_queries(medians_ns),
        # Times of each pass: a trend shows a process that was not warm, or noise.
        "pass_means_us": [round(statistics.fmean(times) / 1e3, 2) for times in server.passes_ns],
        "medians_ns": [int(time_ns) for time_ns in medians_ns],
        "minima_ns": minima_ns,
        "fastest": over_queries(minima_ns),
        "counts": list(counts),
        "best_urls": list(urls),
    }


def over_queries(times_ns):
    """Mean and percentiles (nearest rank), in microseconds."""
    times_us = sorted(time_ns / 1e3 for time_ns in times_ns)
    rank = lambda share: times_us[max(math.ceil(share * len(times_us)), 1) - 1]
    figures = {"mean_us": statistics.fmean(times_us), "p50_us": rank(0.5), "p90_us": rank(0.9),
               "p99_us": rank(0.99), "max_us": times_us[-1]}
    return {name: round(figure, 2) for name, figure in figures.items()}
