"""The search kernel is compiled once, in its crate: the program has one copy of each algorithm for each use of it.

The algorithms are generic over what they collect. Where a function that a caller can instantiate leads to them, each
crate that calls it gets copies of its own, at the optimization of that crate.
"""

import os
import re
import subprocess
from collections import Counter

import pytest

# Best hits with the count, best hits, the count, the set of matches.
COLLECTIONS = 4
COPIES_MAX = {
    "search::exec::executor::Kind::run": COLLECTIONS,
    "search::exec::algorithm::Algorithm::run": COLLECTIONS,
    "search::exec::worker::Worker::visit": 1,
    "search::exec::worker::Worker::gather": 1,
    "search::exec::worker::Worker::collect": COLLECTIONS,
}


def test_the_program_has_one_copy_of_the_kernel():
    program = os.environ.get("SHORTTAIL_BINARY")
    if not program:
        pytest.skip("SHORTTAIL_BINARY names no program")
    listed = subprocess.run(["nm", "--demangle", program], capture_output=True, text=True, check=True)
    # address, kind of symbol, name
    names = (line.split(" ", 2)[-1] for line in listed.stdout.splitlines())
    copies = Counter(re.sub(r"::h[0-9a-f]{16}$", "", name) for name in names)
    assert copies["search::exec::executor::Kind::run"], "no symbols of the kernel: is the program stripped?"
    above = {name: copies[name] for name, most in COPIES_MAX.items() if copies[name] > most}
    assert not above, f"compiled in more than one crate: {above}"
