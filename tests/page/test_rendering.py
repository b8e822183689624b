"""Crawls of pages whose text scripts write: what the browser shows is in the index, and what a script may not ask for is
not asked for."""

import http.server
import json
import os
import shutil
import subprocess
import threading
import time

import pytest

RUN_SECONDS_MAX = 120
SCRIPT = """
fetch("/data.json").then(answer => answer.json()).then(data => {
    document.title = data.title;
    document.getElementById("root").innerHTML = `<h1>${data.title}</h1><p>${data.text}</p><a href="/later">later</a>`;
});
for (const url of ["/private/secret", "http://127.0.0.2:PORT/elsewhere", "http://169.254.169.254/latest/"])
    fetch(url).catch(() => {});
fetch("/written", {method: "POST", body: "x"}).catch(() => {});
new WebSocket("ws://127.0.0.2:PORT/socket").onerror = () => {};
new Image().src = "/pixel.png";
"""
SHELL = '<!doctype html><title>Loading</title><div id="root"></div><script src="/app.js"></script>'
TEXT = "The marmot sleeps through the winter, and wakes when the snow melts in the high valleys of the mountains."
PAGES = {
    "/robots.txt": ("text/plain", "User-agent: *\nDisallow: /private/\n"),
    "/": ("text/html", SHELL),
    "/app.js": ("text/javascript", SCRIPT),
    "/data.json": ("application/json", json.dumps({"title": "Marmots", "text": TEXT})),
    "/later": ("text/html", "<!doctype html><title>Later</title><p>A page that only a script links to, of badgers and other animals."),
}


class Site:
    """A server that notes each request with its time."""

    def __init__(self, address, pages):
        self.requests = []
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                site.requests.append((time.monotonic(), self.command, self.path))
                kind, text = pages.get(self.path, ("text/html", "<!doctype html><title>404</title>None"))
                body = text.encode()
                self.send_response(200 if self.path in pages else 404)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer((address, 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def paths(self):
        return [path for _, _, path in self.requests]


@pytest.fixture
def sites():
    elsewhere = Site("127.0.0.2", {})
    script = SCRIPT.replace("PORT", str(elsewhere.port))
    site = Site("127.0.0.1", PAGES | {"/app.js": ("text/javascript", script)})
    yield site, elsewhere
    for server in (site.server, elsewhere.server):
        server.shutdown()


def crawled(binary, folder, site, settings):
    chromium = os.environ.get("SHORTTAIL_CHROMIUM") or shutil.which("chromium")
    assert chromium, "no chromium; ./test installs it"
    (folder / "crawl.toml").write_text(
        f'allow_addresses = ["127.0.0.0/8"]\nchromium = "{chromium}"\nchromium_arguments = ["--no-sandbox"]\n{settings}\n'
        f'[[site]]\nseeds = ["http://127.0.0.1:{site.port}/"]\nrender = true\nowned = {str("gap_s" not in settings).lower()}\n'
    )
    command = [binary, "crawl", folder / "index", folder / "crawl.toml", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def found(binary, index, query):
    command = [binary, "search", index, query, "--json"]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return [hit["url"].rsplit("/", 1)[1] for hit in answer["hits"]]


def test_what_scripts_write_is_found_and_nothing_else_is_reached(binary, sites, tmp_path):
    site, elsewhere = sites
    progress = crawled(binary, tmp_path, site, "")
    assert progress["rendered"] >= 2 and progress["failed"] == 0, progress
    assert found(binary, tmp_path / "index", "marmot winter") == [""]
    assert found(binary, tmp_path / "index", "badgers") == ["later"]
    assert {"/", "/app.js", "/data.json", "/later"} <= set(site.paths()), site.paths()
    assert {command for _, command, _ in site.requests} == {"GET"}
    assert not {"/private/secret", "/written"} & set(site.paths())
    assert elsewhere.requests == []
    # Fetched once for all pages.
    assert site.paths().count("/app.js") == 1

    command = [binary, "crawl", "replay", tmp_path / "index", "--into", tmp_path / "replayed"]
    subprocess.run(command, check=True, capture_output=True)
    assert found(binary, tmp_path / "replayed", "marmot winter") == [""]
    files = sorted((tmp_path / "index/crawl").glob("*.warc.gz"))
    subprocess.run([binary, "index", tmp_path / "indexed", *files], check=True, capture_output=True)
    assert found(binary, tmp_path / "indexed", "marmot winter") == [""]


def test_resources_keep_the_pauses_of_the_host(binary, sites, tmp_path):
    site, _ = sites
    gap_s = 0.4
    progress = crawled(binary, tmp_path, site, f"gap_s = {gap_s}")
    assert progress["rendered"] >= 2, progress
    times = [at for at, _, _ in site.requests]
    gaps = [after - before for before, after in zip(times, times[1:])]
    assert min(gaps) >= gap_s, (gaps, site.paths())


def test_a_page_that_cannot_be_rendered_is_taken_as_it_was_fetched(binary, sites, tmp_path):
    site, _ = sites
    broken = tmp_path / "broken"
    broken.write_text("#!/bin/sh\necho no display >&2\nexit 3\n")
    broken.chmod(0o755)
    (tmp_path / "crawl.toml").write_text(
        f'allow_addresses = ["127.0.0.0/8"]\nchromium = "{broken}"\n'
        f'[[site]]\nseeds = ["http://127.0.0.1:{site.port}/later"]\nrender = true\nowned = true\n'
    )
    command = [binary, "crawl", tmp_path / "index", tmp_path / "crawl.toml"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=RUN_SECONDS_MAX)
    assert done.returncode == 0 and "no display" in done.stderr, done.stderr
    assert found(binary, tmp_path / "index", "badgers") == ["later"]
