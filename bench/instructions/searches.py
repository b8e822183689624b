"""Instructions of searches alone: analysis, plan and search of the made-up queries, without opening the index.

One small program (crates/testkit/examples/search_made_up.rs) indexes and searches, so that a count needs no build of the whole
binary. Each mode runs with few passes and with more; the difference is searching alone, warm. Two modes search an index with
one of a thousand documents deleted.
"""

from processes import callgrind, collected, output

QUERIES = 64
PASSES = (1, 4)

# Index, mode, k, count.
MODES = {
    "and10": ["whole", "and", "10", "none"],
    "and10c": ["whole", "and", "10", "exact"],
    "andcount": ["whole", "and", "10", "only"],
    "or10": ["whole", "or", "10", "none"],
    "or100": ["whole", "or", "100", "none"],
    "or10c": ["whole", "or", "10", "exact"],
    "orcount": ["whole", "or", "10", "only"],
    "phrase10": ["whole", "phrase", "10", "none"],
    "phrasecount": ["whole", "phrase", "10", "only"],
    "or10d": ["deleted", "or", "10", "none"],
    "or100d": ["deleted", "or", "100", "none"],
}
# Arguments of each index: with N, one of N documents is deleted.
INDEXES = {"whole": [], "deleted": ["1000"]}


def prepare(program, folder):
    """Makes the indexes."""
    for name, arguments in INDEXES.items():
        output([program, "index", folder / name, *arguments])


def count(program, folder, mode):
    """Returns the mean number of instructions of a query."""
    index, *arguments = MODES[mode]
    searched = [program, "search", folder / index, *arguments]
    few, many = (collected(output(callgrind([*searched, passes]))[1]) for passes in PASSES)
    return round((many - few) / (PASSES[1] - PASSES[0]) / QUERIES)
