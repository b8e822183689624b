"""Stand-ins for the servers that documents move from: the calls of their exports, with three documents each."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

DOCUMENTS = [
    {"id": "1", "url": "https://example.org/1", "title": "Lynx", "text": "The lynx has a short tail."},
    {"id": "2", "title": "Comet", "text": "Dust and gas."},
    {"id": "3", "url": "https://example.org/3", "title": "Sun", "text": "It shines."},
]
# A page of an export; documents need several.
PAGE = 2


class Elasticsearch(BaseHTTPRequestHandler):
    """`POST /articles/_search?scroll=` and `POST /_search/scroll`."""

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.path == "/articles/_search?scroll=5m" and asked["sort"] == ["_doc"] and asked["size"] >= 1:
            start = 0
        elif self.path == "/_search/scroll" and asked["scroll"] == "5m":
            start = int(asked["scroll_id"])
        else:
            return self.send_error(400)
        hits = [
            {"_index": "articles", "_id": one["id"], "_source": {**one, "content": one["text"]}}
            for one in DOCUMENTS[start : start + PAGE]
        ]
        total = {"value": len(DOCUMENTS), "relation": "eq"}
        return reply(self, {"_scroll_id": str(start + PAGE), "hits": {"total": total, "hits": hits}})

    def log_message(self, *_):
        pass


class Meilisearch(BaseHTTPRequestHandler):
    """`GET /indexes/articles/documents?offset=&limit=`, with a key."""

    def do_GET(self):
        path, _, parameters = self.path.partition("?")
        asked = dict(one.split("=") for one in parameters.split("&"))
        if path != "/indexes/articles/documents" or self.headers["Authorization"] != "Bearer KEY":
            return self.send_error(403)
        start, limit = int(asked["offset"]), int(asked["limit"])
        results = DOCUMENTS[start : start + limit]
        return reply(self, {"results": results, "offset": start, "limit": limit, "total": len(DOCUMENTS)})

    def log_message(self, *_):
        pass


class Typesense(BaseHTTPRequestHandler):
    """`GET /collections/articles/documents/export`, with a key."""

    def do_GET(self):
        if self.path != "/collections/articles/documents/export" or self.headers["X-TYPESENSE-API-KEY"] != "KEY":
            return self.send_error(401)
        return reply(self, "\n".join(json.dumps(one) for one in DOCUMENTS))

    def log_message(self, *_):
        pass


def reply(handler, content):
    body = (content if isinstance(content, str) else json.dumps(content)).encode()
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    handler.wfile.write(body)


# By the port that documents give them.
PEERS = {"9200": Elasticsearch, "7600": Meilisearch, "8108": Typesense}


@contextmanager
def running():
    """The stand-ins, running: the port of each, by its port in documents."""
    servers = {port: ThreadingHTTPServer(("127.0.0.1", 0), peer) for port, peer in PEERS.items()}
    for server in servers.values():
        threading.Thread(target=server.serve_forever, daemon=True).start()
    yield {port: str(server.server_address[1]) for port, server in servers.items()}
    for server in servers.values():
        server.shutdown()
        server.server_close()
