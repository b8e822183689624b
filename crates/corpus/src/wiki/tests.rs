//! Tests of dumps and of wikitext.

use super::markup::plain_text;
use super::*;
use proptest::prelude::*;

const DUMP: &str = r#"<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" xml:lang="en">
  <siteinfo><sitename>Wiki</sitename><base>https://en.wiki.test/wiki/Main_Page</base></siteinfo>
  <page><title>Barn owl</title><ns>0</ns><id>7</id>
    <revision><id>1</id><text>old</text></revision>
    <revision><id>2</id><timestamp>2024-05-01T12:00:00Z</timestamp>
      <contributor><username>Ann</username><id>9</id></contributor>
      <text bytes="9" xml:space="preserve">The '''barn owl''' &amp; {{convert|1|m}}its [[prey|mice]].&#10;x &lt;ref&gt;no&lt;/ref&gt;</text></revision></page>
  <page><title>Talk:Owl</title><ns>1</ns><id>8</id><revision><text>talk</text></revision></page>
  <page><title>Owls</title><ns>0</ns><id>10</id><redirect title="Owl" /><revision><text>#REDIRECT [[Owl]]</text></revision></page>
  <page><title>Ähre 100%?</title><ns>0</ns><id>11</id><revision><text>grain</text></revision></page>
</mediawiki>"#;

#[test]
fn articles_are_documents() {
    let found = read_all(DUMP.as_bytes());
    let owl = found[0].as_ref().unwrap();
    assert_eq!(owl.url, "https://en.wiki.test/wiki/Barn_owl");
    assert_eq!((owl.id.as_deref(), &*owl.title), (Some("7"), "Barn owl"));
    assert_eq!(owl.body, "The barn owl & its mice.\nx");
    assert_eq!(owl.fields["date"], "2024-05-01T12:00:00Z");
    assert_eq!(found[1], Err("pages of namespace 1".to_owned()));
    assert_eq!(found[2], Err("redirects".to_owned()));
    assert_eq!(
        found[3].as_ref().unwrap().url,
        "https://en.wiki.test/wiki/%C3%84hre_100%25%3F"
    );
    assert_eq!(found.len(), 4);
}

#[test]
fn damage_is_named_and_what_came_before_is_kept() {
    let end = DUMP.find("Talk").unwrap();
    let found = read_all(&DUMP.as_bytes()[..end]);
    assert!(found[0].is_ok());
    assert!(
        found[1]
            .as_ref()
            .unwrap_err()
            .contains("ends within a page"),
        "{found:?}"
    );
    // A text without an end is not held in memory.
    let start = b"<mediawiki><page><title>x</title><revision><text>";
    let endless = std::io::Cursor::new(start.to_vec()).chain(std::io::repeat(b'a'));
    let found = read_all(endless);
    assert!(
        found[0]
            .as_ref()
            .unwrap_err()
            .contains("a page is longer than"),
        "{found:?}"
    );
}

#[test]
fn markup_does_not_show() {
    for (wikitext, expected) in [
        ("'''b''' ''i'' ''''' both'''''", "b i both"),
        (
            "== A heading ==\n* one\n** two\n# three\n: four",
            "A heading\none\ntwo\nthree\nfour",
        ),
        ("a {{x|{{y}}|z}} b", "a b"),
        (
            "before\n{| class=x\n|-\n| cell {{t}}\n|}\nafter",
            "before\n\nafter",
        ),
        ("[[File:a.jpg|thumb|An [[owl]] in ''flight'']] text", "text"),
        ("[[Category:Owls]]\n[[de:Eule]]\nx", "x"),
        (
            "[[:Category:Owls|the owls]] [[owl]]s [[a|b]]",
            "the owls owls b",
        ),
        (
            "see [https://x.test the page] and [https://y.test]",
            "see the page and",
        ),
        (
            "a<ref name=x>{{cite}}</ref>b<ref name=y/>c<!-- no -->d<ref>x</ref>, e",
            "a b cd, e",
        ),
        ("x <math>a < b</math> y<br>z", "x y\nz"),
        (
            "<nowiki>kept</nowiki> 1 < 2 &nbsp;&amp;",
            "kept 1 < 2 \u{a0}&",
        ),
        (
            "<nowiki>{{x|y}} [[a|b]] ''c'' <b>d</b></nowiki> {{e}}f",
            "{{x|y}} [[a|b]] ''c'' <b>d</b> f",
        ),
        ("a <pre>{| b\n|}</pre>c", "a\n{| b\n\nc"),
        (
            "<syntaxhighlight lang=c>int a[2] = {{1}, {2}};</syntaxhighlight>",
            "int a[2] = {{1}, {2}};",
        ),
        ("<nowiki>never {{closed}} x", "never x"),
        ("10{{nbsp}}km a[[File:x.jpg|thumb|y]]b", "10 km a b"),
        (
            "<ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rt>じ</rt></ruby>の本\n次",
            "漢字の本\nかんじ\n次",
        ),
        ("a<td>b</td><td>c<li>d", "a\nb\n\nc\nd"),
        ("__NOTOC__x __y", "x __y"),
        (
            "Owls (''Strigiformes''; {{lang|x}}) fly",
            "Owls (Strigiformes; ) fly",
        ),
        ("a (){{x}} b", "a b"),
        (
            "[[unclosed\n\nnext [1] }} |} {{open",
            "unclosed\n\nnext [1] }} |}",
        ),
    ] {
        assert_eq!(plain_text(wikitext), expected, "{wikitext}");
    }
}

#[test]
fn deep_and_repeated_markup_takes_linear_time() {
    let started = std::time::Instant::now();
    for wikitext in [
        "{{".repeat(500_000),
        "[[".repeat(500_000),
        "<ref>".repeat(200_000),
        "<math".repeat(200_000),
        "<!--".repeat(250_000),
        "[http://".repeat(100_000),
        "[[a|".repeat(200_000) + &"]]".repeat(200_000),
    ] {
        plain_text(&wikitext);
    }
    // Seconds where the time is linear, in any build; hours where it is not.
    assert!(started.elapsed().as_secs() < 60);
}

proptest! {
    #[test]
    fn any_wikitext_is_read(text in r"([a-c ]{1,3}|[\[\]{}|'=*#<>/&;_-]{1,3}|ref|math|\n|é|http://|File:|!--){0,60}") {
        let plain = plain_text(&text);
        prop_assert!(!plain.ends_with('\n'));
    }

    #[test]
    fn any_bytes_are_a_dump_or_an_error(cut in 0..DUMP.len(), bytes in prop::collection::vec(any::<u8>(), 0..9), place in 0..DUMP.len()) {
        let mut dump = DUMP.as_bytes().to_vec();
        let end = (place + bytes.len()).min(dump.len());
        dump.splice(place..end, bytes);
        dump.truncate(cut.max(end));
        read_all(std::io::Cursor::new(dump));
    }
}
