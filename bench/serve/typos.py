#!/usr/bin/env python3
"""Measure corrections: how often the first one of a word with a typing error is that word, and the times.

    shorttail serve INDEX &
    bench/serve/typos.py http://127.0.0.1:7700 CORPUS.jsonl[.zst] [--typos 1000] [--seed 1] [--documents 30000] [--json]

CORPUS has the documents of the index, of which --documents says how many are read. Its words of 5 letters or more that at least
5 of these hold, as written but for capitals, are drawn at random, each as likely as another. Each gets one error, all kinds and
places equally likely: a letter left out, one more, the key beside the right one, two neighbours swapped, or a letter doubled. An
error that makes a word of the index is drawn again: what finds documents is in order. The answer is then that of
/search?q=TYPO&words=all&suggest=1, and its correction the one whose hits it shows, or the one that it offers. A correction that
finds the same documents as the word is another form of it. Times are those of the phase `spelling`, one request after another.
"""
import argparse
import collections
import json
import random
import re
import string
import subprocess
import unicodedata
from urllib.parse import quote, urlsplit

from latency import Connection, percentile

LETTERS_MIN = 5
DOCUMENTS_MIN = 5
ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
KINDS = ("left out", "one more", "key beside", "swapped", "doubled")
WORD = re.compile(r"[^\W\d_]+")


def lines_of(path):
    if not path.endswith(".zst"):
        with open(path, encoding="utf-8") as file:
            yield from file
        return
    with subprocess.Popen(["zstd", "-dc", "--long=27", path], stdout=subprocess.PIPE, text=True) as unpacked:
        yield from unpacked.stdout
        unpacked.stdout.close()


def folded(text):
    letters = unicodedata.normalize("NFKD", text.lower())
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def words_of(path, documents):
    counts = collections.Counter()
    for number, line in enumerate(lines_of(path)):
        if number == documents:
            break
        document = json.loads(line)
        text = f"{document.get('title', '')} {document.get('body', '')}"
        counts.update(set(WORD.findall(text.lower())))
    return sorted(word for word, count in counts.items() if count >= DOCUMENTS_MIN and len(word) >= LETTERS_MIN)


def beside(letter):
    for number, row in enumerate(ROWS):
        at = row.find(letter)
        if at < 0:
            continue
        keys = row[max(0, at - 1):at] + row[at + 1:at + 2]
        if number > 0:
            keys += ROWS[number - 1][at:at + 2]
        if number + 1 < len(ROWS):
            keys += ROWS[number + 1][max(0, at - 1):at + 1]
        return keys
    return ""


def with_error(word, kind, rng):
    """Returns the word with an error, or None where it cannot have one at the place drawn."""
    at = rng.randrange(len(word))
    if kind == "left out":
        return word[:at] + word[at + 1:]
    if kind == "one more":
        return word[:at] + rng.choice(string.ascii_lowercase) + word[at:]
    if kind == "doubled":
        return word[:at] + word[at] + word[at:]
    if kind == "swapped":
        return word[:at] + word[at + 1] + word[at] + word[at + 2:] if at + 1 < len(word) else None
    keys = beside(word[at])
    return word[:at] + rng.choice(keys) + word[at + 1:] if keys else None


def asked(connection, **parameters):
    parameters = "&".join(f"{name}={quote(str(value))}" for name, value in parameters.items())
    return connection.json(f"/search?{parameters}")


def total(connection, query):
    return asked(connection, q=query, k=0, words="all", correct=0)["total"]["value"]


def judged(connection, word, correction):
    if correction is None:
        return "none"
    if folded(correction) == folded(word):
        return "exact"
    both = {total(connection, text) for text in (word, correction, f"{word} {correction}")}
    return "form" if len(both) == 1 else "other"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("corpus")
    parser.add_argument("--typos", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--documents", type=int, default=30_000)
    parser.add_argument("--failures", action="store_true", help="print each typo whose correction is another word, or none")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    words = words_of(arguments.corpus, arguments.documents)
    place = urlsplit(arguments.url)
    connection = Connection((place.hostname, place.port or 80))
    outcomes, by_kind, times, skipped = collections.Counter(), collections.defaultdict(collections.Counter), [], 0
    while len(times) < arguments.typos:
        word, kind = rng.choice(words), rng.choice(KINDS)
        typo = with_error(word, kind, rng)
        if typo is None or typo == word:
            continue
        if total(connection, typo) > 0:
            skipped += 1
            continue
        answer = asked(connection, q=typo, k=1, words="all", suggest=1)
        correction = answer.get("corrected") or answer.get("did_you_mean", {}).get("query")
        outcome = judged(connection, word, correction)
        outcomes[outcome] += 1
        by_kind[kind][outcome] += 1
        times.append(answer["phases_us"]["spelling"])
        if arguments.failures and outcome != "exact":
            print(f"{word}: {typo} -> {correction} ({kind}, {outcome})")
    report = {"words": len(words), "typos": len(times), "words of the index, drawn again": skipped}
    report |= {name: outcomes[name] / len(times) for name in ("exact", "form", "other", "none")}
    report["by kind"] = {kind: by_kind[kind]["exact"] / max(1, sum(by_kind[kind].values())) for kind in KINDS}
    times.sort()
    report["spelling_us"] = {"p50": percentile(times, 0.5), "p99": percentile(times, 0.99), "max": times[-1]}
    if arguments.json:
        return print(json.dumps(report))
    print(f"{report['typos']} typos of {report['words']} words; {skipped} were words of the index and drawn again")
    for name, meaning in (("exact", "the word"), ("form", "another form of it"), ("other", "another word"), ("none", "none")):
        print(f"{meaning:20}{report[name]:7.1%}")
    print("the word, by kind:  " + "  ".join(f"{kind} {share:.1%}" for kind, share in report["by kind"].items()))
    print("spelling: " + "  ".join(f"{name} {us} us" for name, us in report["spelling_us"].items()))


if __name__ == "__main__":
    main()
