"""Queries as programs write them: questions joined to each other, and whole sentences of documents, 15 to 60 words each.

No log of such queries is public. These are made of what real people wrote: questions of MS MARCO and of the Million
Query track, and sentences of the corpora. Which ones is settled by counting, so that each run has the same.
"""

import itertools
import json
import re
import subprocess

from compare.places import DATA

WORDS_MIN, WORDS_MAX = 15, 60
QUESTIONS = ["msmarco-passage-dev-6980.tsv", "trec-mq-2007-10k.tsv"]
# Sentences are of these corpora, taken in turns: one in which comparisons search, and one of another kind of text.
CORPORA = ["blogs-a", "wikinews-a"]
# Of so many documents, the first sentence long enough of one is taken.
STEP = 37
COUNT = 1000
SENTENCE = re.compile(r"[^.!?\n]+[.!?]")


def queries(words_of):
    """Returns `COUNT` queries: joined questions, a sentence, and a question before a sentence, in turns."""
    joined, questions = joined_questions(words_of), itertools.cycle(all_questions())
    sentences = [sentences_of(corpus, words_of) for corpus in CORPORA]
    made = []
    for number in range(COUNT):
        sentence = sentences[number % len(sentences)]
        kind = number % 3
        if kind == 0:
            made.append(next(joined))
        elif kind == 1:
            made.append(next(sentence))
        else:
            words = words_of(f"{next(questions)} {next(sentence)}")
            made.append(" ".join(words[:WORDS_MAX]))
    return made


def all_questions():
    """Returns all questions, of one file and the other in turns."""
    files = [(DATA / "queries" / name).read_text(encoding="utf-8").split("\n") for name in QUESTIONS]
    pairs = itertools.chain.from_iterable(zip(*files))
    return [line.split("\t", 1)[-1] for line in pairs if "\t" in line]


def joined_questions(words_of):
    """Joins questions that follow each other until there are enough words; how many are enough goes from 15 to 60."""
    enough = itertools.cycle(range(WORDS_MIN, WORDS_MAX - 10, 7))
    words, wanted = [], next(enough)
    for question in itertools.cycle(all_questions()):
        words += words_of(question)
        if len(words) >= wanted:
            yield " ".join(words[:WORDS_MAX])
            words, wanted = [], next(enough)


def sentences_of(corpus, words_of):
    """Returns sentences of 15 to 60 words, at most one a document."""
    command = ["zstd", "-dc", "--long=27", DATA / f"corpus-{corpus}.jsonl.zst"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8") as unpacked:
        for line in itertools.islice(unpacked.stdout, 0, None, STEP if corpus == CORPORA[0] else 7):
            found = (" ".join(words_of(found)) for found in SENTENCE.findall(json.loads(line)["body"]))
            sentence = next((one for one in found if WORDS_MIN <= len(one.split()) <= WORDS_MAX), None)
            if sentence:
                yield sentence
        unpacked.kill()
