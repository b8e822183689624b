"""Instructions of whole answers: a server under `valgrind --tool=callgrind`, asked by a client outside.

The server is the program that people run, with a handler and without sharing of queries, whose decisions rest on the clock. All
of an answer is counted: HTTP, parsing, planning, search, details, summaries, rendering. As with searches, a few passes are
subtracted from more of them; what remains is a warm server's work for an answer.
"""

import os
import re
import socket
import subprocess
import sys
import time
import urllib.parse

from processes import callgrind, collected, output

QUERIES = 1_000

SERVER_STARTS_SECONDS_MAX = 120
ANSWER_SECONDS_MAX = 60
# Paths of each kind of answer: JSON of documents with all words, not corrected where there are none; and pages, which have documents
# with some words, and corrections, too.
PATHS = {"json": "/search?q={}&k=10&words=all&correct=0", "page": "/?q={}"}


class Client:
    """A connection that is kept, one request after another."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=ANSWER_SECONDS_MAX)

    def get(self, path):
        """Returns the body of an answer, which must be one of success."""
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        received = b""
        while b"\r\n\r\n" not in received:
            received += self.more()
        head, _, body = received.partition(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 200"):
            sys.exit(f"{path}: {head.decode(errors='replace')}")
        length = int(re.search(rb"content-length: (\d+)", head.lower()).group(1))
        while len(body) < length:
            body += self.more()
        return body

    def more(self):
        data = self.socket.recv(1 << 20)
        if not data:
            sys.exit("the server closed the connection")
        return data


def connected(server, port):
    """Connects as soon as the server listens."""
    deadline = time.monotonic() + SERVER_STARTS_SECONDS_MAX
    while time.monotonic() < deadline and server.poll() is None:
        try:
            return Client(port)
        except ConnectionRefusedError:
            time.sleep(0.05)
    sys.exit("the server did not start")


def free_port():
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return unused.getsockname()[1]


def prepare(program, collection, folder):
    """Indexes the documents of the collection, with their texts."""
    documents = folder / "documents.jsonl"
    lines = [line for line in collection.splitlines() if line.startswith(b"{")]
    documents.write_bytes(b"\n".join(lines) + b"\n")
    output([program, "index", folder / "answers", documents, "--threads", "1"])


def served(program, index, kind, queries, passes):
    """Counts the instructions of a server that answers each query `passes` times, after one that warms up."""
    port = free_port()
    command = [program, "serve", index, "--listen", f"127.0.0.1:{port}", "--admin", "off", "--handlers", "1",
               "--policy", "fifo"]
    server = subprocess.Popen(callgrind(command), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, env=os.environ | {"SHORTTAIL_KERNELS": "newest"})
    try:
        client = connected(server, port)
        for _ in range(passes + 1):
            for query in queries:
                client.get(PATHS[kind].format(urllib.parse.quote(query)))
    finally:
        server.terminate()
        log = server.communicate()[1].decode(errors="replace")
    return collected(log)


def count(program, folder, kind, queries):
    """Returns the mean number of instructions of an answer."""
    few, many = (served(program, folder / "answers", kind, queries, passes) for passes in (0, 1))
    return round((many - few) / len(queries))
