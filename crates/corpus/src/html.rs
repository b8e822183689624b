//! Text of an HTML page as a browser shows it.
//!
//! The tokenizer is that of lol_html, which reports text alone. The source between two texts (tags, comments) is
//! examined here: a block-level tag breaks the words around it. There is no tree and no stack of open elements, so a
//! page nested a million deep costs no more than a flat one, and the time is linear in the page's length.
//!
//! The reading of a word (`rt` in `ruby`) is no part of its line: readings follow on a line of their own, that of one
//! `ruby` as one word.
//!
//! Dropped: `script`, `style`, `noscript`, `template`, `rp`, comments. Entities are decoded.

use lol_html::html_content::{TextChunk, TextType};
use lol_html::{HtmlRewriter, MemorySettings, Settings, doc_text};
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use web::page::without_possible_breaks;

/// Memory limit for one token, in bytes; a longer token (a tag of many megabytes) makes a page unreadable.
const TOKEN_BYTES_MAX: usize = 32 << 20;

/// Inline tags, which break neither a word nor a sentence.
const INLINE_TAGS: [&str; 41] = [
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "blink", "cite", "code", "data", "del",
    "dfn", "em", "font", "i", "ins", "kbd", "label", "mark", "nobr", "q", "rb", "s", "samp",
    "slot", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
    "output", "meter", "meta", "link",
];

/// Title and text of a page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Page {
    pub(crate) title: String,
    pub(crate) text: String,
}

/// Reads a page. Every string is a page; the only error is a token beyond the memory limit.
pub(crate) fn read_page(html: &str) -> Result<Page, lol_html::errors::RewritingError> {
    let texts = Rc::new(RefCell::new(Vec::<Text>::new()));
    let sink = texts.clone();
    let settings = Settings::new()
        .append_document_content_handler(doc_text!(move |chunk| {
            note(&mut sink.borrow_mut(), chunk);
            Ok(())
        }))
        // Malformed HTML is the rule; its worst effect is a wrong word.
        .with_strict(false)
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(TOKEN_BYTES_MAX));
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| ());
    rewriter.write(html.as_bytes())?;
    rewriter.end()?;
    let texts = texts.take();
    Ok(assemble(html, &texts))
}

/// A run of text, as a byte range of the source.
struct Text {
    start: usize,
    end: usize,
    kind: TextType,
}

fn note(texts: &mut Vec<Text>, chunk: &TextChunk<'_>) {
    let place = chunk.source_location().bytes();
    let kind = chunk.text_type();
    match texts.last_mut() {
        // An entity may be split between chunks, so neighbours are joined before decoding.
        Some(last) if last.end == place.start && last.kind == kind => last.end = place.end,
        _ if place.is_empty() => {}
        _ => texts.push(Text {
            start: place.start,
            end: place.end,
            kind,
        }),
    }
}

/// Assembles the visible texts, with breaks where the tags between them break.
fn assemble(html: &str, texts: &[Text]) -> Page {
    let mut page = Page::default();
    let mut state = Gap::default();
    let mut last_end = 0;
    for text in texts {
        state.pass(html.get(last_end..text.start).unwrap_or(""), &mut page.text);
        last_end = text.end;
        let raw = html.get(text.start..text.end).unwrap_or("");
        if state.template_depth > 0 {
            continue;
        }
        match text.kind {
            TextType::RCData if state.in_title => {
                if page.title.is_empty() {
                    append_words(&mut page.title, &html_escape::decode_html_entities(raw));
                    page.title.truncate(page.title.trim_end().len());
                }
            }
            TextType::RCData | TextType::Data => {
                let words = html_escape::decode_html_entities(raw);
                match state.ruby {
                    Ruby::Base => append_words(&mut page.text, &words),
                    Ruby::Reading => append_words(&mut state.readings, &words),
                    Ruby::Parenthesis => {}
                }
            }
            TextType::PlainText | TextType::CDataSection => append_words(&mut page.text, raw),
            // Scripts, styles, and text shown only where scripts are disabled.
            TextType::ScriptData | TextType::RawText => {}
        }
    }
    state.append_readings(&mut page.text);
    page.text.truncate(page.text.trim_end().len());
    if let Cow::Owned(text) = without_possible_breaks(&page.text) {
        page.text = text;
    }
    page
}

/// Part of a ruby annotation that the following text belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Ruby {
    /// The line itself.
    #[default]
    Base,
    /// The reading that stands above a word.
    Reading,
    /// Parentheses around a reading, for browsers that do not know ruby.
    Parenthesis,
}

/// State of the tags so far that affects the following text.
#[derive(Default)]
struct Gap {
    template_depth: usize,
    in_title: bool,
    ruby: Ruby,
    /// Readings of the line.
    readings: String,
}

impl Gap {
    /// Processes the source between two texts.
    fn pass(&mut self, source: &str, text: &mut String) {
        let mut rest = source;
        while let Some(open) = rest.find('<') {
            rest = &rest[open + 1..];
            if let Some(comment) = rest.strip_prefix("!--") {
                rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
                continue;
            }
            let closes = rest.starts_with('/');
            let name_start = &rest[usize::from(closes)..];
            let name_end = name_start
                .find(|c: char| c.is_ascii_whitespace() || c == '/' || c == '>')
                .unwrap_or(name_start.len());
            let name = name_start[..name_end].to_ascii_lowercase();
            rest = after_tag(&name_start[name_end..]);
            self.tag(&name, closes, text);
        }
    }

    fn tag(&mut self, name: &str, closes: bool, text: &mut String) {
        self.in_title = name == "title" && !closes;
        match (name, closes) {
            ("template", false) => self.template_depth += 1,
            ("template", true) => self.template_depth = self.template_depth.saturating_sub(1),
            ("td" | "th" | "img" | "input" | "button", _) => {
                self.ruby = Ruby::Base;
                break_with(text, ' ');
            }
            // End tags of readings may be left out: another one, or the end of the whole, ends them.
            ("rt", false) | ("rtc", false) => self.ruby = Ruby::Reading,
            ("rp", false) => self.ruby = Ruby::Parenthesis,
            ("rb" | "rt" | "rp" | "rtc", _) => self.ruby = Ruby::Base,
            ("ruby", _) => {
                self.ruby = Ruby::Base;
                break_with(&mut self.readings, ' ');
            }
            // `<!doctype>`, `<?xml?>`, `<![CDATA[`: not elements.
            _ if name.starts_with(['!', '?']) => {}
            _ if !INLINE_TAGS.contains(&name) => {
                self.ruby = Ruby::Base;
                self.append_readings(text);
                break_with(text, '\n');
            }
            _ => {}
        }
    }

    /// Appends the readings of a line that ends.
    fn append_readings(&mut self, text: &mut String) {
        let readings = std::mem::take(&mut self.readings);
        if !readings.trim_end().is_empty() {
            break_with(text, '\n');
            text.push_str(readings.trim_end());
        }
    }
}

/// Returns the source after a tag's `>`. A `>` inside a quoted attribute does not end the tag.
fn after_tag(attributes: &str) -> &str {
    let mut quote = None;
    for (at, byte) in attributes.bytes().enumerate() {
        match (quote, byte) {
            (None, b'>') => return &attributes[at + 1..],
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(open), byte) if byte == open => quote = None,
            _ => {}
        }
    }
    ""
}

/// Ends the word or the line, unless it has ended already.
fn break_with(text: &mut String, with: char) {
    match text.pop() {
        None => {}
        Some('\n') => text.push('\n'),
        Some(' ') => text.push(with),
        Some(last) => {
            text.push(last);
            text.push(with);
        }
    }
}

/// Appends words with every run of white space as one space, as a browser shows it.
fn append_words(text: &mut String, words: &str) {
    for piece in words.split_inclusive(|c: char| c.is_whitespace() || c == '\0') {
        let word = piece.trim_end_matches(|c: char| c.is_whitespace() || c == '\0');
        text.push_str(word);
        if word.len() < piece.len() {
            break_with(text, ' ');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(html: &str, title: &str, text: &str) {
        let page = read_page(html).unwrap();
        assert_eq!(
            (page.title.as_str(), page.text.as_str()),
            (title, text),
            "{html:?}"
        );
    }

    #[test]
    fn words_as_a_browser_shows_them() {
        check(
            "<title>A &amp; B</title><p>x  <b>y</b>z<p>w",
            "A & B",
            "x yz\nw",
        );
        check("<TITLE>\n T\n</TITLE><body><h1>H</h1>text", "T", "H\ntext");
        check(
            "<table><tr><td>a</td><td>b</td></tr><tr><td>c",
            "",
            "a b\nc",
        );
        check("a<br/>b<br>c<div>d</div>e", "", "a\nb\nc\nd\ne");
        check(
            "caf&eacute; &#955; &lt;b&gt; &unknown; &amp",
            "",
            "café λ <b> &unknown; &amp",
        );
        check("<a title='<p>'>x</a>y<!-- <p> <template> -->z", "", "xyz");
        check("plain words", "", "plain words");
        check("<textarea>x &lt; y</textarea>", "", "x < y");
        check("<svg><title>s</title></svg><p>p", "", "s\np");
        check("", "", "");
    }

    #[test]
    fn readings_stand_beside_their_words() {
        check(
            "<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rp>(</rp><rt>じ</rt><rp>)</rp></ruby>の本。<p>次",
            "",
            "漢字の本。\nかんじ\n次",
        );
        check(
            "<ruby>東京<rt>とうきょう</ruby>と<ruby>京都<rp>（<rt>きょうと<rp>）</ruby>へ",
            "",
            "東京と京都へ\nとうきょう きょうと",
        );
        check(
            "<ruby><rb>北</rb><rb>京</rb><rtc><rt>Běi</rt><rt>jīng</rt></rtc></ruby>市",
            "",
            "北京市\nBěijīng",
        );
        // Where nothing ends the reading, the next line does.
        check("a<ruby>b<rt>c<p>d", "", "ab\nc\nd");
        check("wo<wbr>rd wo<meta itemprop=x>rd", "", "word word");
        check(
            "wo&#8203;rd <b>wo</b>&ZeroWidthSpace;<i>rd</i>",
            "",
            "word word",
        );
    }

    #[test]
    fn what_is_not_shown_is_left_out() {
        check("a<script>var x = '<p>b</p>';</script>c", "", "a\nc");
        check("a<style>p{}</style><noscript>n</noscript>c", "", "a\nc");
        check(
            "a<template><p>t<template>u</template>v</template>c",
            "",
            "a\nc",
        );
        check("a<!-- b -->c<![CDATA[d]]>e", "", "ace");
    }

    #[test]
    fn bombs_cost_linear_time() {
        let depth = 300_000;
        let page = read_page(&("<b>".repeat(depth) + "x" + &"</i>".repeat(depth))).unwrap();
        assert_eq!(page.text, "x");
        let page = read_page(&("<div>".repeat(depth) + "x" + &"</div>".repeat(depth))).unwrap();
        assert_eq!(page.text, "x");
        assert!(read_page(&"<svg>".repeat(depth)).is_ok());
        assert!(read_page(&format!("<a href='{}'>x</a>", "y".repeat(1 << 20))).is_ok());
        assert!(read_page(&"<".repeat(depth)).is_ok());
        assert!(read_page(&"&".repeat(depth)).is_ok());
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_page(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = read_page(&String::from_utf8_lossy(&bytes));
        }

        #[test]
        fn any_tag_soup_is_a_page(
            parts in prop::collection::vec("</?[a-z!]{0,3}|template|title|script|<!--|-->|&[#x0-9a-z]{0,4};?|['\">=/ é]", 0..40)
        ) {
            let page = read_page(&parts.concat()).unwrap();
            prop_assert!(!page.text.contains("  "));
        }

        #[test]
        fn words_between_blocks_are_kept(words in prop::collection::vec("[a-zé]{1,5}", 1..10)) {
            let html: String = words.iter().map(|word| format!("<div class=x><i>{word}</i></div>")).collect();
            prop_assert_eq!(read_page(&html).unwrap().text, words.join("\n"));
        }
    }
}
