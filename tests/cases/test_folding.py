"""Folding: letters typed as apostrophes, digits of other scripts, fractions, signs made of letters."""

import pytest


@pytest.mark.parametrize("written", ["м\u02bcята", "м'ята", "м\u2019ята", "м\u02bbята", "м\u00b4ята", "м\u2018ята", "м\uff07ята"])
def test_apostrophes_are_one(index, written):
    index.add_documents([{"body": f"свіжа {written} тут"}, {"body": "свіжа тут"}])
    for query in ("м'ята", "м\u02bcята", "м\u2019ята", "мята", '"свіжа м\'ята"', '"свіжа м\u02bcята тут"'):
        assert index.hits(query) == ["u:0"], query


@pytest.mark.parametrize(("text", "queries"), [
    ("Kaho\u02bbolawe", ["Kaho'olawe", "kahoolawe", "Kaho\u2018olawe"]),
    ("G\u02bbafur G\u02bbulom", ["G'afur", "gulom", '"G\'afur G\'ulom"']),
    ("t\u02bc\u00e1\u00e1", ["t'aa", "taa"]),
    ("Qur\u02be\u0101n", ["Qur'an", "quran"]),
    ("Sa\u02bfid", ["Sa'id", "said"]),
    ("Gor\u02b9ki\u012d", ["Gor'kii", "gorkii"]),
    ("don\u00b4t", ["don't", "dont"]),
    ("\u0149", ["'n", "n"]),
    ("tlatla\ua78cki", ["tlatla'ki", "tlatlaki"]),
])
def test_letters_that_are_apostrophes(index, text, queries):
    index.add_documents([{"body": f"see {text} here"}, {"body": "see here"}], options=("--languages", "none"))
    for query in [text, *queries]:
        assert index.hits(query) == ["u:0"], query
        excluded = query if query.startswith('"') else f"({query})"
        assert index.hits(f"see -{excluded}") == ["u:1"], query


NUMBERS = ["1947", "١٩٤٧", "۱۹۴۷", "१९४७", "১৯৪৭", "๑๙๔๗", "໑໙໔໗", "༡༩༤༧", "၁၉၄၇", "១៩៤៧", "१९४७", "𝟏𝟗𝟒𝟕", "𝟣𝟫𝟦𝟩", "１９４７", "𞥑𞥙𞥔𞥗"]


def test_digits_are_one_number(index):
    index.add_documents([{"body": f"year {number} end"} for number in NUMBERS] + [{"body": "year 1948 end"}])
    expected = sorted(f"u:{number}" for number in range(len(NUMBERS)))
    for query in NUMBERS:
        assert index.hits(query) == expected, query
        assert index.hits(f'"year {query} end"') == expected, query


@pytest.mark.parametrize(("text", "query"), [
    ("١٬٠٠٠", "1000"), ("١٬٠٠٠", "1,000"), ("٣٫١٤", "3.14"), ("３．１４", "3.14"), ("１，０００", "1000"),
    ("٥kg", "5kg"), ("ＩＭＧ＿２０１９", "IMG_2019"), ("२०२०-०७-१३", "2020-07-13"), ("२०२०-०७-१३", "20200713"), ("⑳", "20"), ("⑴", "1"),
    ("5㎏", "5kg"), ("№ 7", '"No 7"'), ("ｎｏｄｅ．ｊｓ", "node.js"), ("ｊｏ＠ｅｘａｍｐｌｅ．ｏｒｇ", "jo@example.org"),
    ("ｗｅｌｌ－ｋｎｏｗｎ", "well-known"), ("12㎡", "12m2"),
])
def test_signs_fold_before_words_are_cut(index, text, query):
    index.add_documents([{"body": f"see {text} here"}, {"body": "see here"}], options=("--languages", "none"))
    assert index.hits(query) == ["u:0"]
    assert index.hits(text.replace("№ 7", '"№ 7"')) == ["u:0"]


@pytest.mark.parametrize(("sign", "typed"), [
    ("½", "1/2"), ("¼", "1/4"), ("¾", "3/4"), ("⅓", "1/3"), ("⅔", "2/3"), ("⅛", "1/8"), ("⅞", "7/8"), ("⅒", "1/10"), ("↉", "0/3"), ("⅟9", "1/9"),
    ("1½", "1 1/2"), ("2⅜", "2 3/8"),
])
def test_fractions_are_what_they_are_typed_as(index, sign, typed):
    slash = typed.replace("/", "\u2044")
    index.add_documents([{"body": f"add {sign} cup"}, {"body": f"add {typed} cup"}, {"body": f"add {slash} cup"}, {"body": "add 12 cup"}])
    for query in (f"{typed} cup", f"{sign} cup", f'"{typed} cup"', f'"add {sign} cup"', f'"{slash} cup"', f'"add {typed}"'):
        assert index.hits(query) == ["u:0", "u:1", "u:2"], query
    assert "u:0" not in index.hits("12")


def test_summaries_mark_what_is_found(index):
    index.add_documents([{"body": "year ١٩٤٧, ½ cup of м\u02bcята"}])
    for query, marked in (("1947", "١٩٤٧"), ("1/2", "½"), ("м'ята", "м\u02bcята")):
        assert f"<mark>{marked}</mark>" in index.search(query)["hits"][0]["summary"], query


def test_indexes_of_the_first_edition_stay(index):
    index.add_documents([{"body": "call sys_get_temp_dir ½"}], options=("--analyzer", "standard-en"))
    assert index.hits("temp_dir") == []
    assert index.hits("temp") == ["u:0"]
    index.add_documents([{"url": "u:later", "body": "call sys_get_temp_dir"}])
    assert index.hits("temp_dir") == []
    index.done("check", index.path)
