"""Words of HTML pages and of wikitext: readings, soft hyphens, breaks that are possible, and what ends a word."""

import pytest


def page(body):
    return f'<!doctype html><meta charset="utf-8"><title>A page</title>{body}'


@pytest.mark.parametrize("ruby", [
    "<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rp>(</rp><rt>じ</rt><rp>)</rp></ruby>",
    "<ruby>漢字<rt>かんじ</rt></ruby>",
    "<ruby>漢<rt>かん</ruby><ruby>字<rt>じ</ruby>",
    "<ruby><rb>漢</rb><rb>字</rb><rtc><rt>かん</rt><rt>じ</rt></rtc></ruby>",
    "<RUBY>漢<RT class=x>かん</RT>字<RT>じ</RT></RUBY>",
    "<ruby>漢<rp>（<rt>かん<rp>）</rp>字</ruby>",
])
def test_readings_do_not_part_the_word(index, ruby):
    index.add_bytes("a.html", page(f"<p>この{ruby}の本</p><p>次の行</p>"))
    for word in ["漢字", "漢字の本", "次の行"]:
        assert index.count(word) == 1, word
    # Nor are they glued to it.
    for word in ["漢かん", "かん字", "じの本"]:
        assert index.count(f'"{word}"') == 0, word


def test_readings_are_found_as_one_word(index):
    index.add_bytes("a.html", page("<ul><li><ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>の本<li><ruby>北<rt>běi</rt>京<rt>jīng</rt></ruby></ul>"))
    for word in ["かんじ", "běijīng", "漢字", "北京"]:
        assert index.count(word) == 1, word


@pytest.mark.parametrize("within", ["<wbr>", "&shy;", "\u00ad", "<b></b>", "<!-- x -->", "&#x2060;", "&#8203;", "\u200b", "\u200c", "\ufeff",
                                    "<meta itemprop=x>"])
def test_what_is_not_seen_does_not_part_a_word(index, within):
    index.add_bytes("a.html", page(f"<p>The water{within}fall is high."))
    assert index.count("waterfall") == 1
    assert index.count('"the waterfall is"') == 1


@pytest.mark.parametrize("between", [
    "<br>", "<br/>", "<p>", "</p><p>", "<div>", "<li>", "<hr>", "<td>", "</td><td>", "<th>", "<dd>", "<h2>", "<option>", "<img src=x>",
    "<section>", "<blockquote>", "<figcaption>", "<caption>", "<summary>", "<legend>", "&nbsp;", "&ensp;", "&#8203;\u2003",
])
def test_what_is_seen_parts_words(index, between):
    index.add_bytes("a.html", page(f"<div>oxbow{between}lagoon</div>"))
    assert index.count("oxbow") == 1
    assert index.count("lagoon") == 1


# ---- Wikitext ----------------------------------------------------------------------------------


def dump(*texts):
    pages = "".join(
        f"<page><title>P{n}</title><ns>0</ns><id>{n}</id><revision><id>{n}</id><text>{text.replace('&', '&amp;').replace('<', '&lt;')}</text>"
        "</revision></page>" for n, text in enumerate(texts, 1))
    return f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/"><siteinfo><base>http://w.test/wiki/M</base></siteinfo>{pages}</mediawiki>'


def test_markup_within_nowiki_is_text(index):
    index.add_bytes("wiki.xml", dump(
        "Write <nowiki>{{citation|author}}</nowiki> and <nowiki>[[fjord|inlet]]</nowiki> there {{gone}}",
        "<pre>{| delta\n| estuary\n|}</pre> and <syntaxhighlight lang=c>int reef[3] = {{4}};</syntaxhighlight>",
        "<nowiki>never closed {{lost}} atoll",
    ))
    for word in ["citation", "author", "fjord", "inlet", "delta", "estuary", "reef", "atoll"]:
        assert index.count(word) == 1, word
    for word in ["gone", "lost", "nowiki", "syntaxhighlight"]:
        assert index.count(word) == 0, word


def test_what_is_left_out_parts_words(index):
    index.add_bytes("wiki.xml", dump(
        "isthmus<ref>x</ref>strait tarn<!-- x -->s geyser{{note}}spring mesa[[File:a.jpg|thumb|x]]butte",
        "<table><tr><td>dune</td><td>ridge</td></tr></table> canyon<ul><li>gorge<li>ravine</ul>",
        "<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字</ruby>の本",
    ))
    for word in ["isthmus", "strait", "tarns", "geyser", "spring", "mesa", "butte", "dune", "ridge", "canyon", "gorge", "ravine", "漢字"]:
        assert index.count(word) == 1, word
