#!/usr/bin/env python3
"""Measure suggestions: how often a title is among the first five for each of its beginnings, and the times.

    shorttail serve INDEX &
    bench/serve/suggest.py http://127.0.0.1:7700 TITLES.txt [--titles 300] [--seed 1] [--suggest-only] [--json]

TITLES has a title a line; some are drawn, and every beginning of each from four letters on is asked for at /suggest, once as it is
and once with one typing error: a letter after the first one of the beginning is replaced, left out, doubled by another, or swapped
with the next, at random. Beginnings that end in a blank are left out: nothing new was typed. The title counts as found where it is one
of the first five. Then the same beginnings are searched for with as_you_type=1. Times are those that the answers name, from the arrival
of the request at the server to the answer, one request after another.
"""
import argparse
import json
import random
import string
from urllib.parse import quote, urlsplit

from latency import Connection, percentile

BEGINNING_MIN = 4
FIRST = 5


def with_error(text, rng):
    """Returns the text with one typing error beyond its first letter."""
    letters = [at for at in range(1, len(text)) if text[at].isalnum()]
    at = rng.choice(letters or [len(text) - 1])
    other = rng.choice(string.ascii_lowercase.replace(text[at].lower(), ""))
    kind = rng.choice(["replace", "leave out", "insert", "swap"])
    if kind == "swap" and at + 1 < len(text) and text[at] != text[at + 1]:
        return text[:at] + text[at + 1] + text[at] + text[at + 2:]
    if kind == "leave out":
        return text[:at] + text[at + 1:]
    if kind == "insert":
        return text[:at] + other + text[at:]
    return text[:at] + other + text[at + 1:]


def suggested(connection, beginnings):
    """Returns the share of the titles found, and the times in microseconds."""
    found, times = [], []
    for title, typed in beginnings:
        answer = connection.json("/suggest?q=" + quote(typed))
        titles = [one["title"] for one in answer["titles"][:FIRST]]
        found.append(title in titles)
        times.append(answer["total_us"])
    return sum(found) / max(1, len(found)), times


def searched(connection, beginnings):
    path = "/search?as_you_type=1&k=5&count=none&q="
    answers = (connection.json(path + quote(typed)) for _, typed in beginnings)
    return [answer["phases_us"]["total"] for answer in answers]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("url")
    parser.add_argument("titles")
    parser.add_argument("--titles", dest="count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--suggest-only", action="store_true", help="without as_you_type=1")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    with open(arguments.titles, encoding="utf-8") as file:
        titles = sorted({line.strip() for line in file if len(line.strip()) >= BEGINNING_MIN})
    titles = rng.sample(titles, min(arguments.count, len(titles)))
    exact = [(title, title[:end]) for title in titles for end in range(BEGINNING_MIN, len(title) + 1)
             if title[end - 1] != " "]
    wrong = [(title, with_error(typed, rng)) for title, typed in exact]
    place = urlsplit(arguments.url)
    connection = Connection((place.hostname, place.port or 80))
    connection.json("/suggest?q=" + quote(titles[0]))
    report = {"titles": len(titles), "beginnings": len(exact)}
    for name, beginnings in (("as typed", exact), ("with an error", wrong)):
        share, times = suggested(connection, beginnings)
        report[name] = {"found": round(share, 4), "suggest": figures(times)}
        if not arguments.suggest_only:
            report[name]["search"] = figures(searched(connection, beginnings))
    if arguments.json:
        return print(json.dumps(report))
    print(f"{report['titles']} titles, {report['beginnings']} beginnings")
    for name in ("as typed", "with an error"):
        one = report[name]
        print(f"{name}: in the first {FIRST}: {one['found']:.1%}")
        for what in ("suggest", "search"):
            if what in one:
                times = "".join(f"  {key} {value} us" for key, value in one[what].items())
                print(f"    {what:8}{times}")


def figures(times):
    times = sorted(times)
    return {"p50": percentile(times, 0.5), "p99": percentile(times, 0.99), "max": times[-1]}


if __name__ == "__main__":
    main()
