"""A small index, a server over it, and a browser that reports unwanted incidents."""

import os
import queue
import re
import shutil
import signal
import subprocess
import threading
import unicodedata
import urllib.parse

import corpus
import pytest
from playwright.sync_api import sync_playwright

START_SECONDS_MAX = 30
# Headless Chromium that connects only to the server under test.
LAUNCH = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
]


class Server:
    """A serving subcommand on a free port; keeps what it prints."""

    def __init__(self, binary, *arguments):
        self.process = subprocess.Popen(
            [binary, *map(str, arguments), "--listen", "127.0.0.1:0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        )
        self.lines = []
        self.address = queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()
        try:
            self.listens = self.address.get(timeout=START_SECONDS_MAX)
        except queue.Empty:
            self.listens = None
        if self.listens is None:
            self.process.kill()
            pytest.fail("the server gave no address:\n" + "".join(self.lines), pytrace=False)
        self.origin = f"http://{self.listens}"

    def listen(self):
        self.admin = None
        for line in self.process.stdout:
            self.lines.append(line)
            # Printed before the address that the tests wait for.
            if found := re.search(r"admin on (http://\S+)", line):
                self.admin = found[1].rstrip("/")
            if found := re.search(r"listening on (?:http://)?(\S+)", line):
                self.address.put(found[1].rstrip("/"))
        self.address.put(None)

    def url(self, path="/", **parameters):
        query = urllib.parse.urlencode(parameters, errors="surrogatepass")
        return self.origin + path + ("?" + query if query else "")

    def stop(self):
        """Asks it to end as Ctrl-C does; returns its exit status."""
        self.process.send_signal(signal.SIGINT)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return None


@pytest.fixture(scope="session")
def index(shorttail, tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    source = folder / "corpus.jsonl"
    refused = corpus.write(source)
    printed = shorttail("index", folder / "index", source, "--chunks", 3, "--partitions", 3)
    assert {int(line) for line in re.findall(r"corpus\.jsonl:(\d+): \S", printed)} == refused, printed
    return folder / "index"


@pytest.fixture(scope="session")
def server(binary, index):
    server = Server(binary, "serve", index)
    yield server
    running = server.process.poll() is None
    status = server.stop()
    output = "".join(server.lines)
    assert running, f"the server ended by itself:\n{output}"
    assert "panicked" not in output, output
    assert status == 0, f"asked to end, the server left with {status}:\n{output}"


@pytest.fixture(scope="session")
def browser():
    path = os.environ.get("SHORTTAIL_CHROMIUM") or shutil.which("chromium")
    if not path:
        if os.environ.get("SHORTTAIL_SKIP_PAGE") == "1":
            pytest.skip("no Chromium, and SHORTTAIL_SKIP_PAGE=1")
        pytest.fail("no Chromium: install it or name one in SHORTTAIL_CHROMIUM", pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=LAUNCH)
        yield browser
        browser.close()


class Incidents:
    """Incidents of a page that should not happen."""

    def __init__(self, context, origin):
        self.seen = []
        self.origin = origin
        context.expose_function("ran", lambda *a: self.seen.append("a script ran"))
        context.expose_function("violated", lambda what: self.seen.append(f"CSP: {what}"))
        context.add_init_script(
            "addEventListener('securitypolicyviolation',"
            " e => violated(e.violatedDirective + ' ' + e.blockedURI + ' ' + e.sample))"
        )

    def watch(self, page):
        page.on("dialog", self.dialog)
        page.on("pageerror", lambda error: self.seen.append(f"error: {error}"))
        page.on("console", self.console)
        page.on("request", self.request)
        page.on("popup", lambda popup: self.seen.append(f"popup: {popup.url}"))
        page.on("download", lambda download: self.seen.append(f"download: {download.url}"))

    def dialog(self, dialog):
        self.seen.append(f"dialog: {dialog.message}")
        dialog.dismiss()

    def console(self, message):
        if message.type in ("error", "warning"):
            self.seen.append(f"console: {message.text}")

    def request(self, request):
        url = urllib.parse.urlsplit(request.url)
        if f"{url.scheme}://{url.netloc}" != self.origin or "probe" in url.path:
            self.seen.append(f"request: {request.url[:200]}")


@pytest.fixture
def open_page(browser, server):
    """Opens pages with context options; no test may end with an incident it did not expect."""
    contexts = []

    def open_page(**options):
        context = browser.new_context(**options)
        context.set_default_timeout(10_000)
        incidents = Incidents(context, server.origin)
        contexts.append((context, incidents))
        page = context.new_page()
        incidents.watch(page)
        page.incidents = incidents.seen
        return page

    yield open_page
    seen = []
    for context, incidents in contexts:
        context.close()
        seen += incidents.seen
    assert seen == []


@pytest.fixture(scope="session")
def picture(root):
    """Where screenshots go: `target/page`."""
    folder = root / "target" / "page"
    folder.mkdir(parents=True, exist_ok=True)

    def picture(page, name, full_page=True):
        page.screenshot(path=folder / f"{name}.png", full_page=full_page)

    return picture


def plain(text):
    """Text as a reader sees it: no control, direction or replacement characters, single spaces."""
    kept = (
        " " if c in "\t\n\r" or unicodedata.category(c).startswith("Z") else c
        for c in text.replace("\ufffd", "")
        if c in "\t\n\r" or unicodedata.category(c) not in ("Cc", "Cf", "Cn", "Co")
    )
    return " ".join("".join(kept).split())
