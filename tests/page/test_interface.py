"""Interface for programs: JSON, health check, metrics, and clear refusals."""

import http.client
import json
import urllib.parse

import dom
import pytest
from prometheus_client.parser import text_string_to_metric_families


def get(server, target, origin=None):
    """Status, headers and body of a request whose target is sent byte by byte as given."""
    netloc = urllib.parse.urlsplit(origin or server.origin).netloc
    connection = http.client.HTTPConnection(netloc, timeout=10)
    connection.putrequest("GET", target, skip_accept_encoding=True)
    connection.endheaders()
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, {k.lower(): v for k, v in response.getheaders()}, body


def test_health(server):
    for origin in (server.origin, server.admin):
        status, _, _ = get(server, "/healthz", origin)
        assert status == 200


def test_only_the_admin_address_administers(server):
    for target in ("/metrics", "/reload"):
        status, _, body = get(server, target)
        assert status == 404 and b"admin address" in body


def samples(server):
    status, headers, body = get(server, "/metrics", server.admin)
    assert status == 200 and headers["content-type"].startswith("text/plain")
    families = list(text_string_to_metric_families(body.decode()))
    assert families
    return {(s.name, *sorted(s.labels.items())): s.value for f in families for s in f.samples}


def test_metrics_count_searches(server):
    get(server, "/search?q=lighthouse")
    before = samples(server)
    for _ in range(3):
        get(server, "/search?q=lighthouse")
    grown = [name[0] for name, value in samples(server).items() if value == before.get(name, 0) + 3]
    assert grown, "no metric counts searches"


def test_json_and_page_agree(open_page, server):
    page = open_page()
    status, headers, body = get(server, "/search?q=lighthouse+keeper&k=20&start=5")
    assert status == 200 and headers["content-type"].startswith("application/json")
    answer = json.loads(body)
    assert {"query", "total", "hits", "phases_us", "warnings", "coverage", "timed_out"} <= set(answer)
    assert answer["query"] == "lighthouse keeper"
    assert answer["coverage"] == 1.0 and answer["timed_out"] is False
    keys = {"id", "url", "title", "site", "score", "summary", "more_from_site"}
    assert all(keys <= set(hit) for hit in answer["hits"])
    page.goto(server.url(q="lighthouse keeper", k=20, start=5))
    assert [h["link"] for h in dom.hits(page)] == [h["url"] for h in answer["hits"]]


@pytest.mark.parametrize(
    "target",
    [
        *("/?q=%ff%fe", "/?q=%", "/?q=%zz", "/?q=%00", "/?q", "/?", "/?q=a&q=b", "/?q=+&k=", "/?=&&"),
        *("/?q=lighthouse&k=-1", "/?q=lighthouse&k=abc", "/?q=lighthouse&k=99999999999999999999"),
        *("/?q=lighthouse&start=-1", "/?q=lighthouse&start=18446744073709551615&k=10"),
        *("/?q=lighthouse&k=0", "/?q=lighthouse&k=1000000", "/?q=lighthouse&per_site=x"),
        *("/?q=lighthouse&per_site=4294967296", "/?q=" + "(" * 5000, "/?q=" + "a+OR+" * 1500 + "a"),
        *("/?q=" + "-" * 5000, "/?q=" + "%22" * 2000, "/?q=*", "/?q=a*", "/?q=title:", "/?q=%22%22~9"),
        *("/nosuchpage", "/..%2f..%2fetc/passwd", "/search/../metrics", "//", "/search%00"),
    ],
    ids=lambda target: target[:40],
)
def test_odd_requests_get_an_answer(server, target):
    for path in (target, target.replace("/?", "/search?", 1)):
        status, headers, body = get(server, path)
        assert status < 500, f"{path[:80]}: {status} {body[:200]!r}"
        if "text/html" in headers.get("content-type", ""):
            assert "content-security-policy" in headers, path[:80]
        elif status == 200 and path.startswith("/search?"):
            json.loads(body)
        elif status >= 400 and path.startswith(("/?", "/search?")):
            assert body.strip(), f"{path[:80]}: {status} says nothing"
