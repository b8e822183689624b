"""Corpora and query sets of the comparison."""

import dataclasses
import pathlib
import shutil
import subprocess
import sys

from compare import agents
from compare.places import DATA, WORK

WHOLE = "blogs-a+arxiv-a+wikinews-a+wikipedia-a"

# File, and the step between selected queries, because the first 1,000 would be one hour of a log.
QUERY_SETS = {
    "terabyte": ("trec-terabyte05-efficiency-50k.tsv", 42),
    "game": ("search-benchmark-game-plain.tsv", 1),
}
# Long queries, made of questions and sentences.
AGENTS = "agents"
NAMES = [*QUERY_SETS, AGENTS]


@dataclasses.dataclass
class QuerySet:
    name: str
    queries: list
    file: pathlib.Path  # one query a line, as the engines read it

    def words_counts(self):
        return [len(words_of(query)) for query in self.queries]


def words_of(query):
    return "".join(c if c.isalnum() else " " for c in query).split()


def corpus(name):
    """Unpacks the corpora of `a+b+c` into one file, once. Returns its path."""
    path = WORK / "corpora" / f"{name}.jsonl"
    if path.exists():
        return path
    if shutil.which("zstd") is None:
        sys.exit("needs `zstd`, which is not installed")
    path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = path.with_suffix(".unfinished")
    with open(unfinished, "wb") as out:
        for part in name.split("+"):
            packed = DATA / f"corpus-{part}.jsonl.zst"
            if not packed.exists():
                sys.exit(f"{packed}: no such file; name the data folder in SHORTTAIL_DATA")
            subprocess.run(["zstd", "-dc", "--long=27", packed], stdout=out, check=True)
    unfinished.rename(path)
    return path


def query_set(name, limit):
    """Returns `limit` distinct queries, spread evenly over the set; `name` may also be the path of a file."""
    stem, queries = (AGENTS, agents.queries(words_of, corpus)) if name == AGENTS else read_queries(name)
    if limit and len(queries) > limit:
        queries = queries[::len(queries) // limit][:limit]
    copied = WORK / "queries" / f"{stem}-{len(queries)}.txt"
    copied.parent.mkdir(parents=True, exist_ok=True)
    copied.write_text("\n".join(queries) + "\n", encoding="utf-8")
    return QuerySet(name if name in NAMES else stem, queries, copied)


def read_queries(name):
    """Returns the stem of the file of a query set and its distinct queries."""
    if name in QUERY_SETS:
        file, stride = QUERY_SETS[name]
        path = DATA / "queries" / file
    else:
        path, stride = pathlib.Path(name).resolve(), 1
    if not path.exists():
        sys.exit(f"{path}: no such file; the query sets are {', '.join(NAMES)}, or a path")
    lines = path.read_text(encoding="utf-8").split("\n")
    queries = dict.fromkeys(line.rstrip("\r").split("\t", 1)[-1] for line in lines)
    return path.stem, [query for query in queries if words_of(query)][::stride]
