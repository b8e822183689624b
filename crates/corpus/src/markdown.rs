//! Text of Markdown, without its marks: what a reader of the page would see.

use pulldown_cmark::{Event, Options, Parser, TagEnd};

/// Returns the text of CommonMark with tables, footnotes, strike-through and task lists. Blocks end with a line break.
/// Addresses of links and pictures are left out, and so are tags of HTML.
pub(crate) fn plain_text(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS;
    let mut text = String::with_capacity(markdown.len());
    let mut html = String::new();
    for event in Parser::new_ext(markdown, options) {
        if let Event::Html(part) | Event::InlineHtml(part) = &event {
            html.push_str(part);
            continue;
        }
        push_html(&mut html, &mut text);
        match event {
            Event::Text(part)
            | Event::Code(part)
            | Event::InlineMath(part)
            | Event::DisplayMath(part) => text.push_str(&part),
            Event::SoftBreak | Event::HardBreak => text.push('\n'),
            Event::End(TagEnd::TableCell) => text.push(' '),
            Event::End(
                TagEnd::Paragraph
                | TagEnd::Heading(_)
                | TagEnd::CodeBlock
                | TagEnd::HtmlBlock
                | TagEnd::Item
                | TagEnd::TableHead
                | TagEnd::TableRow
                | TagEnd::FootnoteDefinition,
            )
            | Event::Rule => end_line(&mut text),
            _ => {}
        }
    }
    push_html(&mut html, &mut text);
    text.truncate(text.trim_end().len());
    text
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// Adds the text of collected HTML, and empties it.
#[cfg_attr(not(feature = "html"), allow(unused_variables, clippy::ptr_arg))]
fn push_html(html: &mut String, text: &mut String) {
    if html.is_empty() {
        return;
    }
    #[cfg(feature = "html")]
    if let Ok(page) = crate::html::read_page(html) {
        let words = page.text.trim();
        if !words.is_empty() {
            text.push_str(words);
            end_line(text);
        }
    }
    html.clear();
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn marks_are_left_out() {
        for (markdown, text) in [
            (
                "# The `title` #\n\nA *b* **c** ~~d~~.",
                "The title\nA b c d.",
            ),
            ("one\ntwo  \nthree", "one\ntwo\nthree"),
            (
                "- [x] done\n- see [the page](http://x.test/y \"z\")\n",
                "done\nsee the page",
            ),
            ("![a picture](x.png) here", "a picture here"),
            ("| a | b |\n|---|---|\n| 1 | 2 |\n", "a b \n1 2"),
            ("```rust\nlet a = 1;\n```\nafter", "let a = 1;\nafter"),
            ("a &amp; b &mdash; 1 \\* 2", "a & b — 1 * 2"),
            (
                "> quoted\n\n---\n\nend[^1]\n\n[^1]: note",
                "quoted\nend\nnote",
            ),
            ("", ""),
        ] {
            assert_eq!(plain_text(markdown), text, "{markdown:?}");
        }
    }

    #[cfg(feature = "html")]
    #[test]
    fn tags_are_left_out() {
        let text = plain_text(
            "<p align=\"center\">Logo &copy;</p>\n\nsee <b>bold</b> text\n\n<!-- no -->\n\nend",
        );
        assert_eq!(text, "Logo ©\nsee bold text\nend");
    }

    proptest! {
        #[test]
        fn words_stay(words in prop::collection::vec("[a-z]{1,6}", 1..20)) {
            let markdown = format!("# {}\n\n{}\n", words[0], words[1..].join("\n\n"));
            let text = plain_text(&markdown);
            prop_assert_eq!(text.split_whitespace().collect::<Vec<_>>(), words);
        }

        #[test]
        fn any_text_has_a_text(markdown in "[ -~\n\t*_`\\[\\]()<>#|é-]{0,80}") {
            plain_text(&markdown);
        }
    }
}
