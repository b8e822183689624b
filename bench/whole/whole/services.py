"""Search services: how each is filled and asked, and what its process has used."""

import json
import os
import pathlib
import subprocess
import time
import urllib.parse
import urllib.request

HITS = 10


def called(url, body=None, method=None, kind="application/json"):
    """Calls a service; returns the JSON of its answer. An error names the URL and what the service said."""
    headers = {"Content-Type": kind} if body is not None else {}
    request = urllib.request.Request(url, data=body, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=600) as answer:
            return json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{method or 'GET'} {url}: {error.code} {error.read()[:500].decode(errors='replace')}") from None
    except OSError as error:
        raise SystemExit(f"{url}: {error}; is the service running?") from None


class Process:
    """What a process has used, as the kernel counts it."""

    def __init__(self, pid):
        self.folder = pathlib.Path(f"/proc/{pid}")

    def cpu_s(self):
        after_name = (self.folder / "stat").read_text().rpartition(")")[2].split()
        return (int(after_name[11]) + int(after_name[12])) / os.sysconf("SC_CLK_TCK")

    def memory_bytes(self):
        """Resident memory of its own: pages of mapped files, which the kernel may take back, are not among it."""
        lines = (self.folder / "status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon:"))


def listener(port):
    """Returns the process that listens on a port of this machine."""
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in pathlib.Path(table).read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and int(fields[1].rpartition(":")[2], 16) == port:
                inodes.add(f"socket:[{fields[9]}]")
    for folder in pathlib.Path("/proc").glob("[0-9]*/fd"):
        try:
            if any(os.readlink(one) in inodes for one in folder.iterdir()):
                return Process(int(folder.parent.name))
        except OSError:
            continue
    raise SystemExit(f"no process of this user listens on port {port}: figures need a service on this machine")


class Shorttail:
    """Shorttail, which is started here."""

    def __init__(self, name, program, folder):
        self.name, self.program, self.folder = name, program, folder

    def start(self, corpus):
        self.folder.mkdir(parents=True, exist_ok=True)
        index = self.folder / f"{self.name}-index"
        subprocess.run(["rm", "-rf", index], check=True)
        begun = time.monotonic()
        subprocess.run([self.program, "index", "--index", index, corpus], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.indexing_s = time.monotonic() - begun
        self.server = subprocess.Popen(
            [self.program, "serve", index, "--listen", "127.0.0.1:0", "--admin", "off", "--cache", "0"],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.server.stdout:
            if "listening on " in line:
                self.url = line.split("listening on ", 1)[1].split()[0]
                break
        else:
            raise SystemExit(f"{self.program} serve: ended before it listened")
        self.process = Process(self.server.pid)

    def stop(self):
        if hasattr(self, "server"):
            self.server.terminate()
            self.server.wait()

    def template(self):
        """URL of a query: any word is enough, as in the other services, and sites are not limited."""
        return f"{self.url}/search?q={{query}}&words=any&k={HITS}&per_site=0&correct=false"

    def facts(self):
        return {"indexing_s": round(self.indexing_s, 1), "program": str(self.program)}


class OpenSearch:
    """OpenSearch, or what speaks its API, which runs already."""

    INDEX = "shorttail-whole"
    BATCH_BYTES = 5 << 20

    def __init__(self, name, url):
        self.name, self.url = name, url

    def start(self, corpus):
        self.process = listener(urllib.parse.urlsplit(self.url).port or 80)
        self.version = called(self.url)["version"]["number"]
        index = f"{self.url}/{self.INDEX}"
        called(f"{index}?ignore_unavailable=true", method="DELETE")
        text = {"type": "text", "analyzer": "english"}
        called(index, method="PUT", body=json.dumps({
            # One shard: the machine is one. Offsets make highlights fast.
            "settings": {"number_of_shards": 1, "number_of_replicas": 0, "refresh_interval": "-1"},
            "mappings": {"properties": {"url": {"type": "keyword"},
                                        "title": text | {"index_options": "offsets"},
                                        "body": text | {"index_options": "offsets"}}}}).encode())
        begun = time.monotonic()
        batch = bytearray()
        with open(corpus, "rb") as lines:
            for line in lines:
                batch += b'{"index":{}}\n' + line
                if len(batch) > self.BATCH_BYTES:
                    self.put(batch)
        self.put(batch)
        called(f"{index}/_forcemerge?max_num_segments=1", method="POST")
        called(f"{index}/_refresh", method="POST")
        self.indexing_s = time.monotonic() - begun

    def put(self, batch):
        if batch:
            done = called(f"{self.url}/{self.INDEX}/_bulk", bytes(batch), kind="application/x-ndjson")
            if done["errors"]:
                raise SystemExit(f"{self.url}: {json.dumps(done['items'][0])[:500]}")
            batch.clear()

    def stop(self):
        pass

    def template(self):
        body = json.dumps({
            "size": HITS, "_source": ["url", "title"],
            "query": {"multi_match": {"query": "QUERY", "fields": ["title", "body"], "type": "most_fields"}},
            "highlight": {"fields": {"title": {"number_of_fragments": 0},
                                     "body": {"number_of_fragments": 2, "fragment_size": 150}}}},
            separators=(",", ":"))
        source = urllib.parse.quote(body).replace("QUERY", "{query}")
        return f"{self.url}/{self.INDEX}/_search?request_cache=false&source_content_type=application/json&source={source}"

    def facts(self):
        return {"indexing_s": round(self.indexing_s, 1), "version": self.version}
