"""Questions fill a page wherever ten documents qualify (docs/queries.md)."""

import full_pages
import pytest
import reference


@pytest.mark.parametrize("name", ["cranfield", "cacm"])
def test_questions_fill_a_page(name, binary, shorttail, tmp_path):
    collection = reference.load(name)
    if collection is None:
        pytest.skip(f"no collection {name} in {reference.data_folder() or 'shared data, which is not here'} (SHORTTAIL_DATA)")
    index = tmp_path / "index"
    shorttail("index", index, collection.corpus)
    # Titles are queries, too; questions of more words than a page has rarely lack a known one.
    questions = [" ".join(reference.words(question)[:6]) for question in collection.queries.values()]
    with full_pages.served(binary, index) as address:
        counts = full_pages.measure(address, full_pages.documents_of(binary, index), questions)
    assert counts["short"] == []
    assert counts["should be full"] > 40
    assert counts["full"] >= 0.9 * counts["with a known word"]
