#!/usr/bin/env python3
"""Measure the response times of one client, for whole answers with summaries.

    shorttail serve INDEX &
    bench/serve/latency.py http://127.0.0.1:7700 QUERIES.tsv [--limit N] [--json]

One connection, one query after another, every query once after a warm-up. This is a closed loop with one
client, without queueing, so many clients would wait longer. The clock runs from before the request is
sent to after the last byte is read. Queries without a hit are faster, so those with hits are always
reported separately.
"""
import argparse
import json
import socket
import sys
import time
from urllib.parse import quote, urlsplit

PHASES = ["parse", "queueing", "index_search", "optimization_searches", "merge", "spelling", "details",
          "summaries", "render"]


class Connection:
    """A persistent connection that reads answers by their Content-Length."""

    def __init__(self, address):
        self.host = f"{address[0]}:{address[1]}"
        self.socket = socket.create_connection(address)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def get(self, path):
        """Returns (seconds, status, body)."""
        request = f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode()
        start = time.perf_counter()
        self.socket.sendall(request)
        data = self.socket.recv(1 << 20)
        while (end := data.find(b"\r\n\r\n")) < 0:
            data += self.more()
        head = data[:end].lower()
        at = head.index(b"content-length:") + len(b"content-length:")
        length = int(head[at:].split(b"\r\n", 1)[0])
        while len(data) < end + 4 + length:
            data += self.more()
        elapsed = time.perf_counter() - start
        return elapsed, int(data[9:12]), data[end + 4:]

    def json(self, path):
        """Returns the answer to a request, whose status must be 200."""
        _, status, body = self.get(path)
        answer = json.loads(body)
        if status != 200:
            sys.exit(f"{path}: {answer}")
        return answer

    def more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            sys.exit("the server closed the connection")
        return data


def read_queries(path, limit):
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = [line.rstrip("\n").split("\t", 1)[-1] for line in file]
    return [line for line in lines if line.strip()][:limit]


def percentile(values, share):
    """Nearest rank."""
    return values[max(0, -(-int(len(values) * share * 1000) // 1000) - 1)]


def summary(seconds):
    values = sorted(seconds)
    if not values:
        return {"queries": 0}
    ms = {name: round(percentile(values, share) * 1000, 3)
          for name, share in [("p50_ms", .5), ("p90_ms", .9), ("p99_ms", .99), ("p999_ms", .999)]}
    mean = round(sum(values) / len(values) * 1000, 3)
    return {"queries": len(values), "mean_ms": mean, **ms, "max_ms": round(values[-1] * 1000, 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("url")
    parser.add_argument("queries")
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--warm-up", type=int, default=2000)
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--slowest", type=int, default=0, help="print the slowest queries")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    target = urlsplit(options.url)
    connection = Connection((target.hostname, target.port or 80))
    queries = read_queries(options.queries, options.limit)
    path = lambda query: f"/search?q={quote(query)}&k={options.k}"
    for query in queries[:options.warm_up]:
        connection.get(path(query))
    samples, failed = [], 0
    for query in queries:
        seconds, status, body = connection.get(path(query))
        if status != 200:
            failed += 1
            continue
        answer = json.loads(body)
        samples.append((seconds, len(answer["hits"]), answer["phases_us"], query))
    answered = [sample for sample in samples if sample[1] > 0]
    searched_us = lambda phases: phases["index_search"] + phases["optimization_searches"]
    result = {
        "all": summary([sample[0] for sample in samples]),
        "answered": summary([sample[0] for sample in answered]),
        # What the way there and back, details and summaries add to the search itself.
        "added": summary([max(0.0, sample[0] - searched_us(sample[2]) / 1e6) for sample in samples]),
        "failed": failed,
        "answered_phases_mean_us": {
            phase: round(sum(sample[2][phase] for sample in answered) / max(1, len(answered)), 1)
            for phase in PHASES},
    }
    if options.json:
        print(json.dumps(result))
    else:
        for name in ["all", "answered", "added"]:
            print(f"{name:9}", "  ".join(f"{key} {value}" for key, value in result[name].items()))
        print("phases of the answered, mean µs:",
              "  ".join(f"{k} {v}" for k, v in result["answered_phases_mean_us"].items()))
        print("failed", failed)
    for sample in sorted(samples, key=lambda s: -s[0])[:options.slowest]:
        print(f"{sample[0] * 1000:8.3f} ms", sample[1], sample[3], sample[2])


if __name__ == "__main__":
    main()
