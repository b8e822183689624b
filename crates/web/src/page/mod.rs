//! Reading of pages: main text, boilerplate, links and stated facts, in one pass over the tokens.
//!
//! ```text
//! html ─► tokens ─► tree of containers and blocks ─► classes of blocks ─► Page
//!            └────► metadata, JSON-LD
//! ```
//!
//! Time is linear in the page, depth and counts are bounded, nothing recurses. What is cut is counted.
//! Boilerplate is kept apart, not dropped: a field of low weight may index it.

mod block;
mod classify;
mod discard;
mod element;
mod hints;
mod json_ld;
mod link;
mod measure;
mod metadata;
mod names;
mod possible_breaks;
mod ruby;
mod tags;
mod templates;
#[cfg(test)]
mod tests;
mod text;
mod tokens;
mod tree;

use xxhash_rust::xxh3::xxh3_64;

pub use block::{Block, BlockKind};
pub use link::{Link, Rel};
pub use possible_breaks::without_possible_breaks;
pub use templates::{HostTemplates, TemplateOptions};

use metadata::Metadata;
use tags::Tag;
use tokens::{Token, Tokens};
use tree::Tree;

/// Limits of reading.
#[derive(Clone, Debug)]
pub struct PageOptions {
    /// Bytes of HTML read; the rest is cut.
    pub html_bytes_max: usize,
    /// Links kept; more are counted.
    pub links_max: usize,
}

impl Default for PageOptions {
    fn default() -> Self {
        Self {
            html_bytes_max: 32 << 20,
            links_max: 20_000,
        }
    }
}

/// Heading of the main text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    /// Level 1 to 6.
    pub level: u8,
    /// Text.
    pub text: String,
}

/// Page that was read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// Title: of the `title` element, else `og:title`, else the first heading of level 1.
    pub title: Option<String>,
    /// Title for social media, often without the name of the site.
    pub og_title: Option<String>,
    /// Text of all blocks, a line break between them.
    pub text: String,
    /// Blocks of the text in the order of the page.
    pub blocks: Vec<Block>,
    /// Links of the body in the order of the page.
    pub links: Vec<Link>,
    /// Links beyond the limit, not kept.
    pub links_dropped_count: usize,
    /// Date of publication as written: RFC 3339 where the page follows its standards.
    pub published: Option<String>,
    /// Author as written.
    pub author: Option<String>,
    /// Language as declared, a BCP 47 tag where the page follows its standards.
    pub language: Option<String>,
    /// Description for results and previews.
    pub description: Option<String>,
    /// Canonical address as written.
    pub canonical: Option<String>,
    /// Further canonical addresses that are written otherwise.
    pub other_canonicals: Vec<String>,
    /// Names of the ancestors of the page, from the root.
    pub breadcrumbs: Vec<String>,
    /// Directives of `meta` elements for robots: name in lower case, content as written.
    pub robots: Vec<(String, String)>,
    /// Base address as written, against which links resolve.
    pub base: Option<String>,
    /// Addresses of feeds as written.
    pub feeds: Vec<String>,
    /// Address of the next page of a series, as written in the head.
    pub next: Option<String>,
    /// Target of a `meta` refresh as written.
    pub refresh: Option<String>,
    /// Whether the page was longer than `html_bytes_max`.
    pub is_cut: bool,
}

impl Page {
    /// Returns the main text, a line break between blocks.
    pub fn main_text(&self) -> String {
        self.joined(true)
    }

    /// Returns the boilerplate, a line break between blocks.
    pub fn boilerplate_text(&self) -> String {
        self.joined(false)
    }

    /// Returns the headings of the main text.
    pub fn headings(&self) -> Vec<Heading> {
        let heading = |block: &Block| match block.kind {
            BlockKind::Heading(level) if block.is_main => Some(Heading {
                level,
                text: self.text[block.range.clone()].to_owned(),
            }),
            _ => None,
        };
        self.blocks.iter().filter_map(heading).collect()
    }

    /// Makes blocks boilerplate that the host repeats; links follow their blocks. Returns their count.
    ///
    /// A heading stays while the block behind it does: pages of a kind share headings such as "Examples".
    pub fn apply_templates(&mut self, templates: &HostTemplates) -> usize {
        let (mut changed, mut text_follows) = (0, false);
        for block in self.blocks.iter_mut().rev().filter(|block| block.is_main) {
            let is_heading = matches!(block.kind, BlockKind::Heading(_));
            if templates.is_template(block.hash) && !(is_heading && text_follows) {
                block.is_main = false;
                changed += 1;
            }
            text_follows = block.is_main && !is_heading;
        }
        self.mark_links();
        changed
    }

    /// Returns whether any text is main text.
    pub fn has_main_text(&self) -> bool {
        let mut main = self.blocks.iter().filter(|block| block.is_main);
        main.any(|block| !self.text[block.range.clone()].trim().is_empty())
    }

    /// Makes all blocks main text that the host does not repeat: for a page whose main text was of templates alone.
    pub fn choose_rest(&mut self, templates: &HostTemplates) {
        for block in &mut self.blocks {
            block.is_main = !templates.is_template(block.hash);
        }
        self.mark_links();
    }

    fn joined(&self, is_main: bool) -> String {
        let mut out = String::new();
        for block in self.blocks.iter().filter(|block| block.is_main == is_main) {
            if !out.is_empty() {
                out.push('\n');
            }
            out.push_str(&self.text[block.range.clone()]);
        }
        out
    }

    fn mark_links(&mut self) {
        for link in &mut self.links {
            let block = link.block.and_then(|block| self.blocks.get(block as usize));
            link.in_boilerplate = !block.is_some_and(|block| block.is_main);
        }
    }
}

/// Reads a page; any text is a page.
pub fn read(html: &str, options: &PageOptions) -> Page {
    let mut end = html
        .len()
        .min(options.html_bytes_max.min(u32::MAX as usize / 2));
    while !html.is_char_boundary(end) {
        end -= 1;
    }
    let (mut tree, mut metadata) = (Tree::new(options.links_max), Metadata::default());
    let mut tokens = Tokens::new(&html[..end]);
    while let Some(token) = tokens.next() {
        match token {
            Token::Text(text) => tree.text(text),
            Token::Start(tag) => {
                metadata.start(tag, &tokens);
                tree.start(tag, &tokens);
            }
            Token::End(tag) => tree.end(tag),
            Token::Raw(Tag::Xmp, text) => tree.text(text),
            Token::Raw(tag, text) => metadata.raw(tag, text, tree.is_skipping()),
        }
    }
    tree.finish();
    finished(tree, metadata, end < html.len())
}

/// Classifies the blocks and moves everything into a page.
fn finished(mut tree: Tree, metadata: Metadata, is_cut: bool) -> Page {
    let title = metadata.title.clone().or_else(|| metadata.og_title.clone());
    if tree.is_discussion || metadata.json_ld.is_discussion {
        tree.read_as_discussion();
    }
    let classes = classify::classify(&tree, title.as_deref().unwrap_or_default());
    let blocks: Vec<Block> = tree
        .blocks
        .iter()
        .zip(&classes)
        .map(|(block, class)| {
            let range = block.start as usize..block.end as usize;
            let hash = xxh3_64(tree.text[range.clone()].as_bytes());
            Block {
                range,
                kind: class.kind,
                is_main: class.is_main,
                hash,
            }
        })
        .collect();
    let first_heading = || {
        let block = blocks
            .iter()
            .find(|block| block.kind == BlockKind::Heading(1))?;
        Some(text::clean(&tree.text[block.range.clone()], 500))
    };
    let mut page = Page {
        title: title.or_else(first_heading).or(metadata.json_ld.headline),
        og_title: metadata.og_title,
        blocks,
        links: tree.links,
        links_dropped_count: tree.links_dropped_count,
        published: metadata
            .published
            .or(metadata.json_ld.published)
            .or(metadata.meta_date)
            .or(metadata.time),
        author: metadata.author.or(metadata.json_ld.author),
        language: metadata.language,
        description: metadata.description,
        canonical: metadata.canonical,
        other_canonicals: metadata.other_canonicals,
        breadcrumbs: metadata.json_ld.breadcrumbs,
        robots: metadata.robots,
        base: metadata.base,
        feeds: metadata.feeds,
        next: metadata.next,
        refresh: metadata.refresh,
        text: tree.text,
        is_cut,
    };
    page.mark_links();
    page
}
