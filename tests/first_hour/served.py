"""Servers of the tests, at ports of their own, and requests to them."""

import contextlib
import re
import subprocess
import urllib.error
import urllib.request


@contextlib.contextmanager
def served(binary, index, *options):
    """The public and the admin address of a server of an index, while it runs."""
    command = [binary, "serve", index, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", *options]
    server = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        found = {}
        for line in server.stdout:
            found |= dict(re.findall(r"(admin|listening) on (http://\S+)", line))
            if "listening" in found:
                yield found["listening"], found["admin"]
                break
        else:
            raise RuntimeError("the server did not start")
    finally:
        server.terminate()
        server.wait()


def ask(address, method="GET", body=None, **headers):
    """Status, headers and text of a reply."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    request = urllib.request.Request(address, method=method, data=body, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as reply:
            return reply.status, reply.headers, reply.read().decode()
    except urllib.error.HTTPError as refused:
        return refused.code, refused.headers, refused.read().decode()
