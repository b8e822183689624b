"""Sites on loopback for crawls: pages, redirects, robots.txt and lists of URLs, by path."""

import contextlib
import gzip
import http.server
import threading

HTML = "text/html; charset=utf-8"


class Site:
    """What a server answers: for each path a status, headers and a body; `{base}` in headers and bodies is its address."""

    def __init__(self):
        self.answers = {}
        self.rules = []
        self.sitemaps = []
        self.base = ""

    def page(self, path, word, head="", links=(), words="first second third fourth fifth sixth"):
        """A page of six sentences about a word, which stand on no other page."""
        text = " ".join(f"Where {word} is told of, the {other} thing about {word} is {other}{word} alone." for other in words.split())
        link = "".join(f'<p><a href="{to}">further</a></p>' for to in links)
        self.put(path, f"<!doctype html><title>About {word}</title>{head}<p>{text}</p>{link}")

    def put(self, path, body, kind=HTML, status=200, headers=()):
        body = body.encode() if isinstance(body, str) else body
        self.answers[path] = (status, [("Content-Type", kind), *headers], body)

    def redirect(self, path, to):
        self.put(path, "", status=301, headers=[("Location", to)])

    def answer(self, path):
        base = self.base.encode()
        if path == "/robots.txt":
            rules = self.rules or ["Disallow:"]
            lines = ["User-agent: *", *rules, *(f"Sitemap: {self.base}{to}" for to in self.sitemaps)]
            return 200, [("Content-Type", "text/plain")], "\n".join(lines).encode()
        status, headers, body = self.answers.get(path, (404, [("Content-Type", HTML)], b"<title>None</title>none"))
        if body.startswith(b"\x1f\x8b"):
            body = gzip.compress(gzip.decompress(body).replace(b"{base}", base))
        return status, headers, body.replace(b"{base}", base)


@contextlib.contextmanager
def served(site):
    """Serves a site on a free port."""

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            status, headers, body = site.answer(self.path)
            self.send_response(status)
            for name, value in headers:
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    site.base = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def crawl(index, site):
    """Crawls a site into the index; the second value explains a path."""
    with served(site):
        index.done("crawl", index.path, site.base + "/", "--owned", "--allow-addresses", "127.0.0.0/8")
    return lambda path: index.done("crawl", "explain", index.path, site.base + path)
