"""Queries as programs write them: questions joined to each other, and whole sentences of documents, 15 to 60 words each.

No log of such queries is public. These are made of what real people wrote: questions of MS MARCO and of the Million
Query track, and sentences of the corpora. Which ones is settled by counting, so that each run has the same.
"""

import itertools
import json
import re

from compare.places import DATA

WORDS_MIN, WORDS_MAX = 15, 60
QUESTIONS = ["msmarco-passage-dev-6980.tsv", "trec-mq-2007-10k.tsv"]
# Sentences are of these corpora, taken in turns: one in which comparisons search, and one of another kind of text. Of so many
# documents, one gives its first sentence that is long enough.
STEPS = {"blogs-a": 37, "wikinews-a": 7}
COUNT = 1000
SENTENCE = re.compile(r"[^.!?\n]+[.!?]")


def queries(words_of, corpus):
    """Returns `COUNT` queries: joined questions, a sentence, and a question before a sentence, in turns.

    `words_of` returns the words of a text, and `corpus` the path of an unpacked corpus.
    """
    joined, questions = joined_questions(words_of), itertools.cycle(all_questions())
    sentences = [sentences_of(corpus(name), step, words_of) for name, step in STEPS.items()]
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


def sentences_of(path, step, words_of):
    """Returns sentences of 15 to 60 words, at most one a document."""
    with open(path, encoding="utf-8") as lines:
        for line in itertools.islice(lines, 0, None, step):
            found = (" ".join(words_of(found)) for found in SENTENCE.findall(json.loads(line)["body"]))
            sentence = next((one for one in found if WORDS_MIN <= len(one.split()) <= WORDS_MAX), None)
            if sentence:
                yield sentence
