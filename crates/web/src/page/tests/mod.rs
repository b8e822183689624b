//! Tests of reading pages: text and classes, facts, links, templates, hostile markup, published scores.

use proptest::prelude::*;

use super::*;

mod parts;

#[allow(dead_code)]
#[path = "../../../examples/extraction/score.rs"]
mod score;

/// Sentence that counts as prose.
const PROSE: &str = "The quick brown fox, which had slept all day, jumps over the lazy dog; nobody saw it, and nobody cared.";

fn page(html: &str) -> Page {
    read(html, &PageOptions::default())
}

/// Asserts main text and boilerplate.
#[track_caller]
fn check(html: &str, main: &str, boilerplate: &str) {
    let page = page(html);
    assert_eq!(
        (page.main_text().as_str(), page.boilerplate_text().as_str()),
        (main, boilerplate)
    );
}

#[test]
fn navigation_and_footers_are_boilerplate() {
    let html = format!(
        "<title>T</title><body><nav><a href=/>Home</a> <a href=/b>News</a></nav><div class=post><h2>Part</h2><p>{PROSE}\
         <p>{PROSE}<div class=share-buttons>Share it, please.</div></div><footer>© 2026, all rights.</footer>"
    );
    check(
        &html,
        &format!("Part\n{PROSE}\n{PROSE}"),
        "Home News\nShare it, please.\n© 2026, all rights.",
    );
}

#[test]
fn documentation_keeps_code_tables_and_captions() {
    let html = format!(
        "<main><h1>f</h1><pre class=item>fn <span class=comment>f</span>()\n  -> u8</pre><p>{PROSE}\
         <table><tr><td><a href=a>a</a><td>one</table><figcaption>Figure 1</figcaption></main><nav>Next</nav>"
    );
    check(
        &html,
        &format!("f\nfn f()\n  -> u8\n{PROSE}\na\none\nFigure 1"),
        "Next",
    );
}

#[test]
fn an_index_of_links_is_main_text() {
    check(
        "<nav>Top</nav><main><a href=a>Alpha</a><br><a href=b>Beta</a></main>",
        "Alpha\nBeta",
        "Top",
    );
    // Also where a footer is long enough to be a text.
    check(
        &format!(
            "<main role=main><h1>All</h1><ul><li><a href=a>{0}</a><li><a href=b>{0}</a></ul></main><div class=foot>{PROSE} {PROSE}</div>",
            "The modules of this chapter, and what they are for, in the order of their names"
        ),
        "All\nThe modules of this chapter, and what they are for, in the order of their names\nThe modules of this chapter, and what they are for, in the order of their names",
        &format!("{PROSE} {PROSE}"),
    );
    // A notice of copyright is no text that a page is about.
    let about = "A template that gives the greatest of its arguments, which are compared by the order of their type \
                 or by one that is given";
    check(
        &format!(
            "<div><h1>max</h1><p>{about}</p></div><div><p>Copyright © 2005 {PROSE} {PROSE}</p></div>"
        ),
        &format!("max\n{about}"),
        &format!("Copyright © 2005 {PROSE} {PROSE}"),
    );
}

#[test]
fn text_is_decoded_and_collapsed() {
    check(
        &format!(
            "<p>a&amp;b&nbsp;c &lt;d&gt; &#x41;&#66; &unknown; & {PROSE}  \n x<b>y</b> z<br>w"
        ),
        &format!("a&b c <d> AB &unknown; & {PROSE} xy z\nw"),
        "",
    );
    check(
        &format!(
            "<p>{PROSE}<script>if (a < b) '</p>'</script> <!-- no --> 1 < 2 <style>p{{}}</style>"
        ),
        &format!("{PROSE} 1 < 2"),
        "",
    );
}

#[test]
fn marks_that_link_to_their_heading_are_no_text() {
    check(
        &format!(
            "<h2>Part<a class=headerlink href=#part title=Link>¶</a></h2><p>{PROSE} § 3 <a href=#s>§</a></p>"
        ),
        &format!("Part\n{PROSE} § 3"),
        "",
    );
}

#[test]
fn stated_facts_are_read() {
    let page = page(
        r#"<html lang="en-GB"><head><title>The &amp; Title</title><base href="/b/"><link rel=canonical href=/c?a=1&amp;b=2>
        <link rel="alternate" type="application/rss+xml" href="/feed"><link rel=next href=p2>
        <meta property=og:title content="OG"><meta name=Description content=" d  e "><meta name="Robots" content="noindex, NOFOLLOW">
        <meta name=googlebot content=none><meta http-equiv=refresh content="3; URL='/to'">
        <script type="application/ld+json">{"@graph":[{"@type":"BreadcrumbList","itemListElement":[{"name":"Home"},
        {"item":{"name":"Sub"}}]},{"datePublished":"2026-11-23T10:00:00Z","author":[{"@type":"Person","name":"A \"B\" C"}],
        "publisher":{"name":"P"}}]}</script></head><time datetime=2020-01-01>then</time>"#,
    );
    let text = |slot: &Option<String>| slot.clone().unwrap_or_default();
    assert_eq!(
        (text(&page.title), text(&page.og_title)),
        ("The & Title".into(), "OG".into())
    );
    assert_eq!(
        (text(&page.base), text(&page.canonical)),
        ("/b/".into(), "/c?a=1&b=2".into())
    );
    assert_eq!(
        (page.feeds.as_slice(), text(&page.next)),
        (&["/feed".to_owned()][..], "p2".into())
    );
    assert_eq!(
        (text(&page.language), text(&page.description)),
        ("en-GB".into(), "d e".into())
    );
    assert_eq!(
        page.robots,
        [
            ("robots".into(), "noindex, NOFOLLOW".into()),
            ("googlebot".into(), "none".into())
        ]
    );
    assert_eq!(
        (text(&page.refresh), text(&page.published)),
        ("/to".into(), "2026-11-23T10:00:00Z".into())
    );
    assert_eq!(
        (text(&page.author), page.breadcrumbs),
        ("A \"B\" C".into(), vec!["Home".to_owned(), "Sub".into()])
    );
}

#[test]
fn links_have_texts_relations_and_places() {
    let page = page(&format!(
        "<nav><a href=/n rel='NoFollow ugc'>N</a></nav><p>{PROSE} <a href=' /m?a&amp;b '>to <i>m</i></a> \
         <a href=i><img alt='an image'></a> <a name=x>no link</a> <a href=long>{}</a></p>",
        "é".repeat(300)
    ));
    let links: Vec<_> = page
        .links
        .iter()
        .map(|l| (l.href.as_str(), l.text.chars().count(), l.in_boilerplate))
        .collect();
    assert_eq!(
        links,
        [
            ("/n", 1, true),
            ("/m?a&b", 4, false),
            ("i", 8, false),
            ("long", 100, false)
        ]
    );
    assert!(page.links[0].rel.contains(Rel::NOFOLLOW) && page.links[0].rel.contains(Rel::UGC));
    assert_eq!(page.links[1].rel, Rel::default());
    let few = read(
        "<a href=1>1</a><a href=2>2</a>",
        &PageOptions {
            links_max: 1,
            ..PageOptions::default()
        },
    );
    assert_eq!((few.links.len(), few.links_dropped_count), (1, 1));
}

#[test]
fn frames_areas_and_what_stands_for_them_have_links() {
    let page = page(
        r#"<noscript><iframe src="toc.html">none</iframe></noscript><iframe></iframe><map><area href=part alt="A part"><area></map>
        <svg><a xlink:href="drawn"><text>x</text></a></svg><frameset><frame src="left"><noframes><a href="plain">text</a></noframes></frameset>"#,
    );
    let links: Vec<_> = page
        .links
        .iter()
        .map(|link| (&*link.href, &*link.text))
        .collect();
    assert_eq!(
        links,
        [
            ("toc.html", ""),
            ("part", "A part"),
            ("drawn", ""),
            ("left", ""),
            ("plain", "")
        ]
    );
    assert_eq!(page.text, "");
}

#[test]
fn what_a_host_repeats_becomes_boilerplate() {
    let read = |i: usize| {
        page(&format!(
            "<p>{PROSE} <a href=x>x</a></p><h2>Says</h2><p>Page {i} says: {PROSE}</p>\
             <h2>Ends</h2><p>{PROSE} Bye.</p>"
        ))
    };
    let mut templates = HostTemplates::new(TemplateOptions::default());
    for i in 0..5 {
        assert!(
            !templates.is_template(read(0).blocks[0].hash),
            "too early at {i}"
        );
        templates.add_page(read(i).blocks.iter().map(|block| block.hash));
    }
    let mut found = read(9);
    assert!(!found.links[0].in_boilerplate);
    assert_eq!(found.apply_templates(&templates), 3);
    assert_eq!(found.main_text(), format!("Says\nPage 9 says: {PROSE}"));
    assert!(found.links[0].in_boilerplate);
}

#[test]
fn hostile_markup_costs_bounded_work() {
    for html in [
        "<div>".repeat(100_000) + "deep" + &"</div>".repeat(100_000),
        "<div><p><span><a href=x>".repeat(40_000),
        "<!--".repeat(100_000),
        "<title>".to_owned() + &"</a".repeat(100_000),
        "&".repeat(400_000) + &"&aaaaaaaaaaaaaaaaaaaaaaa".repeat(20_000),
        "<table><td>".repeat(50_000) + &"</div>".repeat(50_000),
        "<a b='".repeat(100_000),
        "<p class='".to_owned() + &"nav-".repeat(100_000) + "'>x",
        "<script type=application/ld+json>".to_owned() + &"[\"a\":".repeat(50_000),
        "</p>".repeat(100_000) + &"<li>".repeat(100_000),
    ] {
        let page = page(&html);
        // Everything kept is a constant times the page.
        assert!(
            page.text.len() <= html.len()
                && page.blocks.len() <= html.len()
                && page.links.len() <= 20_000
        );
    }
    let cut = read(
        "<p>abcdé",
        &PageOptions {
            html_bytes_max: 8,
            ..PageOptions::default()
        },
    );
    assert_eq!((cut.text.as_str(), cut.is_cut), ("abcd", true));
}

#[test]
fn readings_follow_the_block_of_their_words() {
    let text = |html: &str| page(html).text;
    for (html, expected) in [
        (
            "<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rp>(</rp><rt>じ</rt><rp>)</rp></ruby>の本。<p>次",
            "漢字の本。\nかんじ\n次",
        ),
        (
            "<p><ruby>東京<rt>とうきょう</ruby>と<ruby>京都<rt>きょうと</ruby>へ</p>",
            "東京と京都へ\nとうきょう きょうと",
        ),
        (
            "<ruby><rb>北</rb><rb>京</rb><rtc><rt>Běi</rt><rt>jīng</rt></rtc></ruby>市",
            "北京市\nBěijīng",
        ),
        // A reading that nothing ends is over with its block; one without a word is text.
        ("<p>a<ruby>b<rt>c<p>d", "ab\nc\nd"),
        ("<p><rt>c</rt><p>d", "c\nd"),
    ] {
        assert_eq!(text(html), expected, "{html}");
    }
}

#[test]
fn further_canonical_addresses_are_kept() {
    let page = page(
        "<link rel=canonical href=/a><link rel=canonical href=' /a '><link rel=canonical href=/b><p>x",
    );
    assert_eq!(page.canonical.as_deref(), Some("/a"));
    assert_eq!(page.other_canonicals, ["/b"]);
}

#[test]
fn published_articles_are_extracted() {
    let Some(path) = tier::shared_data("crawler/extraction-scrapinghub.tar.zst") else {
        return;
    };
    let mut decoder = zstd::stream::read::Decoder::new(std::fs::File::open(path).expect("archive"))
        .expect("zstd");
    decoder.window_log_max(27).expect("window");
    let (mut found, mut truth) = (std::collections::HashMap::new(), serde_json::Value::Null);
    for entry in tar::Archive::new(decoder).entries().expect("tar") {
        let mut entry = entry.expect("entry");
        let name = entry
            .path()
            .expect("path")
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut entry, &mut bytes).expect("readable");
        if name == "ground-truth.json" {
            truth = serde_json::from_slice(&bytes).expect("JSON");
        } else if let Some(id) = name.strip_suffix(".html") {
            let html = crate::charset::decode(&bytes, Some("utf-8"));
            found.insert(id.to_owned(), page(&html.text).main_text());
        }
    }
    let truth = truth.as_object().expect("rows");
    let score = |(id, row): (&String, &serde_json::Value)| {
        score::score(row["articleBody"].as_str().unwrap_or_default(), &found[id])
    };
    let mean = score::mean_score(&truth.iter().map(score).collect::<Vec<_>>());
    println!(
        "F1 {:.4}, precision {:.4}, recall {:.4}",
        mean.f1, mean.precision, mean.recall
    );
    assert!(
        truth.len() == 181 && mean.f1 >= 0.96,
        "F1 {:.4} of {}",
        mean.f1,
        truth.len()
    );
}

/// Pieces of markup, well and badly formed.
fn markup() -> impl Strategy<Value = String> {
    let pieces = [
        "<div>",
        "</div>",
        "<p class=\"x nav",
        "\">",
        "</p>",
        "<a href=",
        "x",
        "</a>",
        "<!--",
        "-->",
        "<h1>",
        "</h2>",
        "<li>",
        "<td>",
        "<table>",
        "</table>",
        "<pre>",
        "<script>",
        "</script",
        ">",
        "<",
        "&",
        "&amp;",
        ";",
        "é",
        " \n",
        "text, more. ",
        "<br>",
        "<meta name=robots content='",
        "'",
        "<time datetime=2020-é1>",
        "<title>",
        "<svg>",
        "<blockquote>",
        "</blockquote>",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 0..80).prop_map(|all| all.concat())
}

#[test]
fn white_space_alone_is_no_block() {
    for html in [
        "\u{b}",
        "&nbsp;",
        "<p>\u{2003}</p><p>text</p>",
        "<pre>\u{a0}\n</pre>",
    ] {
        let page = page(html);
        let texts = page
            .blocks
            .iter()
            .map(|block| &page.text[block.range.clone()]);
        assert!(texts.into_iter().all(|text| text == "text"), "{html:?}");
    }
}

/// Slow twin of `push_collapsed`: one character after another.
fn push_collapsed_slowly(out: &mut String, from: usize, text: &str) {
    for letter in text.chars() {
        match letter {
            '\t' | '\n' | '\u{c}' | '\r' | ' ' => {
                if out.len() > from && !out.ends_with([' ', '\n']) {
                    out.push(' ');
                }
            }
            _ => out.push(letter),
        }
    }
}

proptest! {
    #[test]
    fn white_space_collapses(texts in prop::collection::vec("[a\u{e9}\u{a0} \n\t]{0,12}", 0..5), begun in "[b\n ]{0,3}") {
        let (mut fast, mut slow) = (begun.clone(), begun.clone());
        for text in texts {
            super::text::push_collapsed(&mut fast, begun.len(), &text);
            push_collapsed_slowly(&mut slow, begun.len(), &text);
            prop_assert_eq!(&fast, &slow);
        }
    }

    #[test]
    fn any_markup_is_a_page(html in markup(), other in ".{0,60}") {
        for html in [html, other] {
            let page = page(&html);
            let mut at = 0;
            for block in &page.blocks {
                prop_assert!(at <= block.range.start && block.range.start < block.range.end);
                at = block.range.end;
                prop_assert!(page.text.get(block.range.clone()).is_some());
            }
            prop_assert!(at <= page.text.len());
        }
    }

    #[test]
    fn templates_merge_in_any_order_while_they_fit(pages in prop::collection::vec(prop::collection::vec(0u64..20, 0..6), 0..12), cut in 0usize..12) {
        let count = |pages: &[Vec<u64>]| {
            let mut templates = HostTemplates::new(TemplateOptions::default());
            pages.iter().for_each(|page| templates.add_page(page.iter().copied()));
            templates
        };
        let (front, back) = pages.split_at(cut.min(pages.len()));
        let (mut a, mut b) = (count(front), count(back));
        let c = a.clone();
        a.merge(&b);
        b.merge(&c);
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(&a, &count(&pages));
    }

    #[test]
    fn templates_are_bounded_and_find_what_is_frequent(pages in prop::collection::vec(prop::collection::vec(1u64..1000, 0..8), 10..60)) {
        let options = TemplateOptions { hashes_max: 16, ..TemplateOptions::default() };
        let mut templates = HostTemplates::new(options);
        for page in &pages {
            templates.add_page(page.iter().copied().chain([0]));
            prop_assert!(templates.hashes_count() <= 16);
        }
        prop_assert!(templates.is_template(0));
        let json = serde_json::to_string(&templates).expect("serialises");
        prop_assert_eq!(serde_json::from_str::<HostTemplates>(&json).expect("reads"), templates);
    }
}
