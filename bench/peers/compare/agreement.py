"""Do all engines find the same? Fast answers to another question would prove nothing."""

from compare.engines import REFERENCES, SHORTTAIL

EXAMPLES_MAX = 5


def compare(modes, queries):
    """Every engine's hit counts and best hits against the reference's, over all modes."""
    names = list(next(iter(modes.values()))["engines"])
    reference = next((name for name in REFERENCES if name in names), None)
    if reference is None or len(names) < 2:
        return {"reference": None, "engines": {}}
    engines = {}
    for name in names:
        if name == reference:
            continue
        compared = counts_equal = with_best = best_equal = 0
        examples = []
        for mode, measured in modes.items():
            own, theirs = measured["engines"][name], measured["engines"][reference]
            for at, (count, expected) in enumerate(zip(own["counts"], theirs["counts"])):
                compared += 1
                counts_equal += count == expected
                if count != expected and len(examples) < EXAMPLES_MAX:
                    examples.append({"mode": mode, "query": queries.queries[at],
                                     "count": count, "expected": expected})
            for url, expected in zip(own["best_urls"], theirs["best_urls"]):
                with_best += bool(url and expected)
                best_equal += bool(url and url == expected)
        engines[name] = {"compared": compared, "counts_equal": counts_equal,
                         "with_best": with_best, "best_equal": best_equal, "examples": examples}
    return {"reference": reference, "engines": engines}


def sentences(agreement, titles):
    """The same for a person."""
    if agreement["reference"] is None:
        yield "Hit counts were not compared: there is neither Lucene nor Tantivy to hold them against."
        return
    reference = titles[agreement["reference"]]
    for name, found in agreement["engines"].items():
        compared, equal = found["compared"], found["counts_equal"]
        best = 100 * found["best_equal"] / found["with_best"] if found["with_best"] else 100
        verdict = (f"equal to {reference}'s on all {compared:,} searches" if equal == compared else
                   f"DIFFER from {reference}'s on {compared - equal:,} of {compared:,} searches")
        yield (f"{titles[name]}: hit counts {verdict}; "
               f"the best hit is the same on {best:.1f} % of those with one.")
        for example in found["examples"]:
            yield (f"    {example['mode']} `{example['query']}`: {example['count']:,}, "
                   f"{reference} {example['expected']:,}")


def shorttail_agrees(agreement):
    """Whether Shorttail finds what the reference finds, or nobody can tell."""
    found = agreement["engines"].get(SHORTTAIL)
    return found is None or found["counts_equal"] == found["compared"]
