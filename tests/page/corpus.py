"""Documents of the index of the page tests.

`lighthouse` finds the ordinary documents, `hostile` the others; `needle(7)` is a word that finds
hostile document 7 alone.
"""

import json

from payloads import ADDRESSES, TEXTS

ORDINARY_SITES = 20
ORDINARY_PER_SITE = 3

SENTENCES = [
    "The lighthouse on the northern rock was lit for the first time in the winter of 1811.",
    "Its keeper wrote down the weather, the passing ships and the oil that every night burned.",
    "A lens of glass rings gathers the flame into one beam that carries for twenty miles.",
    "Fog hides the beam, so a bell was hung, and later a horn driven by compressed air.",
    "Letters came by boat once a fortnight, if the sea allowed a landing at the steps.",
    "The tower stands on granite blocks, each cut to lock into the ones beside and below it.",
    "Visitors climb 162 steps to the gallery and see the harbour, the shoals and the far coast.",
    "Since the lamp became electric nobody lives there; a computer ashore watches the light.",
]


def needle(number):
    """The word of a hostile document: letters alone, so that it is no compound, which `needle 7` would find too."""
    return "needle" + "".join("bcdfghjkmp"[int(digit)] for digit in str(number))


def ordinary():
    """Documents as people write them, three a site."""
    for number in range(ORDINARY_SITES * ORDINARY_PER_SITE):
        site, page = divmod(number, ORDINARY_PER_SITE)
        body = " ".join(SENTENCES[(number + i) % len(SENTENCES)] for i in range(4 + number % 5))
        yield {
            "url": f"https://coast{site}.example.test/lighthouse/{page}.html",
            "title": f"The lighthouse of cape {number}, its keeper and its lamp",
            "body": f"{body} A lighthouse is listed as number {number}.",
        }


def hostile():
    """Every payload as title and body, then every payload as address. Each on a site of its own."""
    for number, text in enumerate(TEXTS):
        yield {
            "url": f"http://h{number}.hostile.test/{number}",
            "title": f"{text} {needle(number)}",
            "body": f"{text} hostile {text} {needle(number)} {text}",
        }
    for number, address in enumerate(ADDRESSES, len(TEXTS)):
        yield {
            "url": address,
            "title": f"address {needle(number)}",
            "body": f"hostile address, {needle(number)} by name",
        }


def refused(document):
    """Documents with NUL are refused with a reason: no honest text has it."""
    return any("\0" in text for text in document.values())


def others():
    """Documents with other difficult text."""
    yield {"url": "http://untitled.test/a", "title": "", "body": "A document untitled by its author."}
    yield {"url": "file:///usr/share/doc/x.txt", "title": "Unlinked", "body": "Unlinked by address."}
    yield {"url": "http://empty.test/b", "title": "Bodiless", "body": ""}
    yield {
        "url": "http://long.test/c",
        "title": "Longwinded " + "very " * 200 + "long title",
        "body": "filler " * 20_000 + "longwinded " + "filler " * 20_000,
    }


def write(path):
    """Writes the corpus as JSON Lines; returns the numbers of the lines that must be refused."""
    documents = [*ordinary(), *hostile(), *others()]
    with open(path, "w", encoding="utf-8") as file:
        for document in documents:
            file.write(json.dumps(document) + "\n")
    return {line for line, document in enumerate(documents, 1) if refused(document)}
