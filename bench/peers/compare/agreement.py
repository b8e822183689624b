"""Agreement of the engines on hit counts and best hits. Times of engines with different hits prove nothing.

An engine's count of a search is right where it is that of the majority of the other engines. Engines disagree on which
characters are letters (they follow different versions of Unicode), so a single engine that differs is the one in
question, whichever it is. Where the others have no majority the search is undecided. An earlier Shorttail is held against
the others, and judges only where there is no other.
"""

from collections import Counter

from compare.engines import BEFORE, REFERENCES, SHORTTAIL

EXAMPLES_MAX = 5
# Start of the modes in which an engine chooses which documents are found.
AUTO = "auto"


def majority(counts):
    """The count that more than half of `counts` are; None without one."""
    if not counts:
        return None
    count, times = Counter(counts).most_common(1)[0]
    return count if 2 * times > len(counts) else None


def compare(modes, queries):
    """Every engine's hit counts against the majority of the others, and its best hits against the reference's."""
    names = list(next(iter(modes.values()))["engines"])
    # What an engine finds in its own way cannot agree.
    modes = {mode: measured for mode, measured in modes.items() if not mode.startswith(AUTO)}
    reference = next((name for name in [*REFERENCES, BEFORE] if name in names), None)
    if reference is None or len(names) < 2:
        return {"reference": None, "engines": {}}
    return {"reference": reference,
            "engines": {name: compared(name, names, reference, modes, queries) for name in names}}


def judges(name, names):
    """The engines that an engine is held against."""
    others = [other for other in names if other != name]
    return [other for other in others if other != BEFORE] or others


def compared(name, names, reference, modes, queries):
    """The counts and best hits of one engine, compared with the others."""
    found = {"compared": 0, "counts_equal": 0, "undecided": 0, "with_best": 0, "best_equal": 0, "examples": []}
    for mode, measured in modes.items():
        own = measured["engines"][name]
        others = [measured["engines"][other]["counts"] for other in judges(name, names)]
        for at, count in enumerate(own["counts"]):
            found["compared"] += 1
            expected = majority([counts[at] for counts in others])
            found["undecided"] += expected is None
            found["counts_equal"] += count == expected
            if expected not in (None, count) and len(found["examples"]) < EXAMPLES_MAX:
                found["examples"].append({"mode": mode, "query": queries.queries[at],
                                          "count": count, "expected": expected})
        if name == reference:
            continue
        for url, expected in zip(own["best_urls"], measured["engines"][reference]["best_urls"]):
            found["with_best"] += bool(url and expected)
            found["best_equal"] += bool(url and url == expected)
    return found


def differing(found):
    """Searches whose count the majority of the other engines contradicts."""
    return found["compared"] - found["counts_equal"] - found["undecided"]


def sentences(agreement, titles):
    """Formats the comparison as text."""
    if agreement["reference"] is None:
        yield "Hit counts were not compared: there is neither Lucene nor Tantivy to hold them against."
        return
    reference = agreement["reference"]
    others = "the other engine" if len(agreement["engines"]) == 2 else "the majority of the other engines"
    for name, found in agreement["engines"].items():
        wrong = differing(found)
        verdict = (f"those of {others} on all {found['compared']:,} searches" if wrong == 0 else
                   f"DIFFER from {others} on {wrong:,} of {found['compared']:,} searches")
        if found["undecided"]:
            verdict += f" ({found['undecided']:,} undecided: the others have no majority)"
        best = 100 * found["best_equal"] / found["with_best"] if found["with_best"] else 100
        same_best = ("" if name == reference else
                     f" The best hit is {titles[reference]}'s on {best:.1f} % of those with one.")
        yield f"{titles[name]}: hit counts {verdict}.{same_best}"
        for example in found["examples"]:
            yield (f"    {example['mode']} `{example['query']}`: {example['count']:,}, "
                   f"{others} {example['expected']:,}")


def shorttail_agrees(agreement):
    """Whether no majority of the other engines contradicts Shorttail. True if it was not compared."""
    found = agreement["engines"].get(SHORTTAIL)
    return found is None or differing(found) == 0
