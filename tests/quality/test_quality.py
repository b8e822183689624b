"""Ranking quality of Shorttail, compared with an independent implementation of the same formula.

Queries are bare words, so that both sides have the same tokens. `test_queries_as_written` measures the effect
of brackets, quotes and dashes in the query language separately.
"""

import ir_measures
import pytest
import reference

DIFFERENCE_MAX = 0.005
COLLECTIONS = ["cranfield", "cacm"]


class Subject:
    """One collection, its reference scores, and Shorttail's runs over it."""

    def __init__(self, collection, shorttail, folder):
        self.collection = collection
        self.shorttail = shorttail
        self.folder = folder
        self.reference = reference.measure(collection, reference.reference_run(collection))
        self.bare = folder / "bare.tsv"
        self.bare.write_text(
            "".join(f"{id}\t{' '.join(reference.words(q))}\n" for id, q in collection.queries.items())
        )
        self.indexed = {}

    def index(self, *options):
        """The folder of an index built with `options`, built on first use."""
        if options not in self.indexed:
            into = self.folder / f"index-{len(self.indexed)}"
            self.shorttail("index", into, self.collection.corpus, *options)
            self.indexed[options] = into
        return self.indexed[options]

    def plain(self, *options):
        """The options of an index of words in lower case, which the reference has too."""
        return options if "--analyzer" in options else ("--analyzer", "plain", *options)

    def run_file(self, index_options=(), search_options=("--any",), topics=None):
        """The bytes of the run file for the queries."""
        out = self.folder / "run.txt"
        out.unlink(missing_ok=True)
        self.shorttail(
            *("search", self.index(*self.plain(*index_options)), "--topics", topics or self.bare),
            *("--run", out, "-k", reference.HITS_MAX, *search_options),
        )
        return out.read_bytes()

    def measures(self, run):
        """nDCG@10 and MAP of a run file's bytes."""
        scored = list(ir_measures.read_trec_run(run.decode()))
        assert scored, "the run file is empty"
        return reference.measure(self.collection, scored)


@pytest.fixture(scope="session", params=COLLECTIONS)
def subject(request, shorttail, tmp_path_factory):
    collection = reference.load(request.param)
    if collection is None:
        pytest.skip(f"no collection {request.param} in {reference.data_folder() or 'shared data, which is not here'} (SHORTTAIL_DATA)")
    return Subject(collection, shorttail, tmp_path_factory.mktemp(request.param))


def show(subject, what, measures):
    """Records figures in the log of the run, for comparisons of versions."""
    figures = "  ".join(f"{name} {value:.4f}" for name, value in measures.items())
    print(f"\n{subject.collection.name:10} {what:22} {figures}")


def test_scores_as_the_reference(subject, capsys):
    measures = subject.measures(subject.run_file())
    with capsys.disabled():
        show(subject, "reference (bm25s)", subject.reference)
        show(subject, "bm25", measures)
    for name, expected in subject.reference.items():
        assert measures[name] == pytest.approx(expected, abs=DIFFERENCE_MAX), name


def test_run_file_is_well_formed(subject):
    known = {document["id"] for document in subject.collection.documents}
    by_query = {}
    for line in subject.run_file().decode().splitlines():
        query_id, q0, document_id, rank, score, _tag = line.split()
        assert q0 == "Q0" and document_id in known, line
        by_query.setdefault(query_id, []).append((document_id, int(rank), float(score)))
    assert list(by_query) == list(subject.collection.queries), "every query answers, in file order"
    for query_id, rows in by_query.items():
        ids, ranks, scores = zip(*rows)
        assert len(set(ids)) == len(ids) <= reference.HITS_MAX, query_id
        first = ranks[0]
        assert first in (0, 1) and list(ranks) == list(range(first, first + len(rows))), query_id
        assert list(scores) == sorted(scores, reverse=True), query_id


@pytest.mark.parametrize(
    "options",
    [("--codec", "vint"), ("--chunks", "1"), ("--chunks", "8"), ("--threads", "1")],
    ids=" ".join,
)
def test_layout_does_not_change_answers(subject, options):
    assert subject.run_file(index_options=options) == subject.run_file()


def test_all_words_are_a_subset_of_any_word(subject):
    def pairs(run):
        return {tuple(line.split()[i] for i in (0, 2, 4)) for line in run.decode().splitlines()}

    all_words = pairs(subject.run_file(search_options=("--all",)))
    # Pages of the union end at HITS_MAX, so only hits above its last score can be expected.
    any_word = pairs(subject.run_file())
    lowest = {}
    for query_id, _, score in any_word:
        lowest[query_id] = min(lowest.get(query_id, float("inf")), float(score))
    assert 0 < len(all_words) < len(any_word), "topics are searched with any words whatever is asked for"
    missing = {p for p in all_words - any_word if float(p[2]) > lowest[p[0]]}
    assert not missing, f"{len(missing)} hits of AND are absent from OR: {sorted(missing)[:3]}"


def test_stemming_finds_more(subject, capsys):
    measures = subject.measures(subject.run_file(index_options=("--analyzer", "english")))
    with capsys.disabled():
        show(subject, "bm25, english", measures)
    assert measures["MAP"] > subject.reference["MAP"]


def test_standard_stems_as_well_as_english(subject, capsys):
    topics = reference.data_folder() / "collections" / subject.collection.name / "queries.tsv"
    ndcg = {}
    for analyzer in ("english", "standard"):
        options = ("--analyzer", analyzer)
        measures = subject.measures(subject.run_file(index_options=options, topics=topics))
        with capsys.disabled():
            show(subject, f"bm25, {analyzer}, as written", measures)
        ndcg[analyzer] = measures["nDCG@10"]
    assert ndcg["standard"] >= ndcg["english"]


def test_classic_ranking_runs(subject, capsys):
    measures = subject.measures(subject.run_file(search_options=("--any", "--ranking", "tfidf")))
    with capsys.disabled():
        show(subject, "tfidf", measures)
    assert measures["MAP"] > 0.1


def test_queries_as_written(subject, capsys):
    topics = reference.data_folder() / "collections" / subject.collection.name / "queries.tsv"
    measures = subject.measures(subject.run_file(topics=topics))
    with capsys.disabled():
        show(subject, "bm25, as written", measures)
    assert measures["MAP"] > 0.75 * subject.reference["MAP"]
