"""Questions that should fill a page: whether the default of `shorttail search` (words=auto) does where it can.

    python tests/quality/full_pages.py SHORTTAIL INDEX QUESTIONS [--count 1000]

QUESTIONS is a file of id<TAB>question lines. Of each question of plain words, the documents of every word are counted first, by a
query of its own. A word is telling by the law of docs/queries.md, and ten documents with a telling word fill a page of ten. Prints
the figures as JSON; fails if a question has fewer hits than the law says.
"""

import argparse
import contextlib
import json
import math
import re
import subprocess
import sys
import urllib.parse
import urllib.request

PAGE = 10
TELLING_SHARE = 0.2


@contextlib.contextmanager
def served(shorttail, index):
    """The address of a server of the index, while it runs."""
    command = [shorttail, "serve", index, "--listen", "127.0.0.1:0", "--admin", "off"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        for line in server.stdout:
            if found := re.search(r"listening on (http://\S+)", line):
                yield found.group(1)
                break
        else:
            raise RuntimeError("the server did not start")
    finally:
        server.terminate()
        server.wait()


def ask(address, query, **parameters):
    """The answer to a query as it is typed, without a limit of hits a site."""
    parameters = {"q": query, "per_site": 0, "correct": 0, **parameters}
    with urllib.request.urlopen(f"{address}/search?{urllib.parse.urlencode(parameters)}") as reply:
        return json.load(reply)


def plain_words(question):
    """The words of a question of plain words; none of another."""
    words = question.lower().rstrip(" ?.").split()
    return words if all(re.fullmatch("[a-z]+", word) for word in words) else []


def documents_of(shorttail, index):
    """The number of documents of an index."""
    told = subprocess.run([shorttail, "check", index], capture_output=True, text=True, check=True).stdout
    return int(re.search(r"^documents +([\d,]+)", told, re.MULTILINE).group(1).replace(",", ""))


def qualifies(frequencies, documents):
    """Whether ten documents hold a telling word, or all words, as far as the frequencies of the words tell."""
    held = [df for df in frequencies if df]
    idf = {df: math.log(1 + (documents - df + 0.5) / (df + 0.5)) for df in held}
    least = TELLING_SHARE * max(idf.values(), default=0.0)
    return any(idf[df] >= least and df >= PAGE for df in held)


def measure(address, documents, questions):
    """Counts of questions, by what they find."""
    known = {}

    def frequency(word):
        if word not in known:
            known[word] = ask(address, word, words="all", k=1)["total"]["value"]
        return known[word]

    counts = dict.fromkeys(["questions", "with a known word", "should be full", "full", "full of all words"], 0)
    short = []
    for question in questions:
        words = list(dict.fromkeys(plain_words(question)))
        if not words:
            continue
        answer = ask(address, " ".join(words), words="auto", k=PAGE)
        frequencies = [frequency(word) for word in words]
        hits = len(answer["hits"])
        should = qualifies(frequencies, documents)
        counts["questions"] += 1
        counts["with a known word"] += any(frequencies)
        counts["should be full"] += should
        counts["full"] += hits == PAGE
        counts["full of all words"] += answer["total"]["value"] >= PAGE
        if should and hits < PAGE:
            short.append({"question": question, "hits": hits, "documents of each word": frequencies})
    return counts | {"short": short}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("shorttail")
    parser.add_argument("index")
    parser.add_argument("questions")
    parser.add_argument("--count", type=int, default=1000)
    arguments = parser.parse_args()
    with open(arguments.questions, encoding="utf-8") as lines:
        questions = [line.rstrip("\n").split("\t")[-1] for line in lines]
    with served(arguments.shorttail, arguments.index) as address:
        counts = measure(address, documents_of(arguments.shorttail, arguments.index), questions[: arguments.count])
    print(json.dumps(counts, indent=1))
    return 1 if counts["short"] else 0


if __name__ == "__main__":
    sys.exit(main())
