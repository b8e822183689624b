"""Reference scores of BM25 on judged collections, by independent code.

Nothing here depends on Shorttail: tokens by a regular expression, scores by bm25s, measures by ir-measures.
"""

import io
import json
import os
import pathlib
import re
from dataclasses import dataclass

import bm25s
import ir_measures
import numpy
import zstandard

NDCG = ir_measures.nDCG @ 10
MAP = ir_measures.AP(rel=1)
HITS_MAX = 1000

# A word is a maximal run of letters and digits; `\w` without the underscore is just that.
WORD = re.compile(r"[^\W_]+")


def words(text):
    """The terms of a text, in order, as the analyzer `plain` promises them."""
    return [word.lower() for word in WORD.findall(text)]


# Fields beside title and body, whose words are searched as those of every string are.
FURTHER = {"cacm": ["author", "keywords"]}


@dataclass
class Collection:
    """A judged collection: documents, queries and relevance judgements."""

    name: str
    corpus: pathlib.Path
    documents: list
    queries: dict
    qrels: list


def data_folder():
    """The shared data folder: `SHORTTAIL_DATA` (empty for none), or `shared/data` beside the checkout, if it is there."""
    beside = pathlib.Path(__file__).resolve().parents[2].parent / "shared" / "data"
    named = os.environ.get("SHORTTAIL_DATA")
    if named is None:
        return beside if beside.is_dir() else None
    if named and not os.path.isdir(named):
        raise NotADirectoryError(f"SHORTTAIL_DATA names {named}, which is no folder; unset it to skip what needs it")
    return pathlib.Path(named) if named else None


def load(name):
    """Reads a collection, or returns None if the data folder lacks it."""
    data = data_folder()
    if data is None:
        return None
    folder = data / "collections" / name
    corpus = folder / "corpus.jsonl.zst"
    if not corpus.is_file():
        return None
    with open(corpus, "rb") as raw:
        # Corpora are compressed with long windows, which the decoder refuses by default.
        lines = zstandard.ZstdDecompressor(max_window_size=2**27).stream_reader(raw)
        documents = [json.loads(line) for line in io.TextIOWrapper(lines, encoding="utf-8")]
    with open(folder / "queries.tsv", encoding="utf-8") as file:
        queries = dict(line.rstrip("\n").split("\t", 1) for line in file if line.strip())
    qrels = list(ir_measures.read_trec_qrels(str(folder / "qrels.txt")))
    return Collection(name, corpus, documents, queries, qrels)


def reference_run(collection):
    """The run of bm25s over the same tokens, best `HITS_MAX` documents a query."""
    index = bm25s.BM25(method="lucene", k1=1.2, b=0.75)
    fields = ["title", "body", *FURTHER.get(collection.name, [])]
    tokens = [words("\n".join(document[field] for field in fields)) for document in collection.documents]
    index.index(tokens, show_progress=False)
    run = []
    for query_id, text in collection.queries.items():
        known = [word for word in words(text) if word in index.vocab_dict]
        if not known:
            continue
        scores = index.get_scores(known)
        for position in numpy.argsort(-scores, kind="stable")[:HITS_MAX]:
            if scores[position] > 0:
                document_id = collection.documents[position]["id"]
                run.append(ir_measures.ScoredDoc(query_id, document_id, float(scores[position])))
    return run


def measure(collection, run):
    """nDCG@10 and mean average precision over the judged queries."""
    aggregate = ir_measures.calc_aggregate([NDCG, MAP], collection.qrels, run)
    return {"nDCG@10": aggregate[NDCG], "MAP": aggregate[MAP]}
