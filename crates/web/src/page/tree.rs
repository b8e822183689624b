//! Tree of a page: containers, the blocks of text in them, and links.
//!
//! Blocks are in document order, and the blocks of a container are one range, so sums over any container
//! are differences of prefix sums. Bounded: depth by `DEPTH_MAX`, containers by `NODES_MAX`; what goes
//! beyond is read as part of its parent.

use super::element::element_hints;
use super::hints::Hints;
use super::json_ld::is_discussion;
use super::link::{Link, Rel};
use super::possible_breaks::without_possible_breaks;
use super::ruby::Readings;
use super::tags::{TAGS_COUNT, Tag};
use super::text::{clean, decoded, push_collapsed};
use super::tokens::Tokens;

/// Open elements, at most; elements within these are read as text of the deepest.
const DEPTH_MAX: usize = 256;
/// Containers of a page, at most.
const NODES_MAX: usize = 1 << 17;
/// Characters of the text of a link.
const ANCHOR_CHARS_MAX: usize = 100;

/// Container of blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Node {
    pub(super) parent: u32,
    pub(super) tag: Tag,
    pub(super) hints: Hints,
    /// Blocks `first..end` are within.
    pub(super) first: u32,
    pub(super) end: u32,
}

/// Run of text without a line break between elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawBlock {
    pub(super) node: u32,
    pub(super) start: u32,
    pub(super) end: u32,
    /// Bytes of it within links.
    pub(super) link_bytes: u32,
}

struct Open {
    tag: Tag,
    node: u32,
    owns_node: bool,
    skips: bool,
}

/// Builder of the tree from tokens.
pub(super) struct Tree {
    pub(super) text: String,
    pub(super) nodes: Vec<Node>,
    pub(super) blocks: Vec<RawBlock>,
    pub(super) links: Vec<Link>,
    pub(super) links_dropped_count: usize,
    /// Whether the page is a discussion by its microdata.
    pub(super) is_discussion: bool,
    links_max: usize,
    stack: Vec<Open>,
    open_counts: [u32; TAGS_COUNT],
    overflow_depth: usize,
    skipping_count: usize,
    pre_count: usize,
    link: Option<(u32, usize)>,
    block: Option<RawBlock>,
    readings: Readings,
}

impl Tree {
    pub(super) fn new(links_max: usize) -> Self {
        let root = Node {
            parent: 0,
            tag: Tag::Body,
            hints: Hints::default(),
            first: 0,
            end: 0,
        };
        Self {
            text: String::new(),
            nodes: vec![root],
            blocks: Vec::new(),
            links: Vec::new(),
            links_dropped_count: 0,
            is_discussion: false,
            links_max,
            stack: Vec::new(),
            open_counts: [0; TAGS_COUNT],
            overflow_depth: 0,
            skipping_count: 0,
            pre_count: 0,
            link: None,
            block: None,
            readings: Readings::default(),
        }
    }

    /// Takes a start tag.
    pub(super) fn start(&mut self, tag: Tag, tokens: &Tokens<'_>) {
        match tag {
            Tag::Br => return self.line_break(),
            Tag::A => return self.open_link(tokens),
            Tag::Area => return self.void_link(tokens, "href"),
            Tag::Frame | Tag::Iframe => return self.void_link(tokens, "src"),
            Tag::Img => return self.image(tokens),
            Tag::Rb | Tag::Rp | Tag::Rt | Tag::Rtc | Tag::Ruby => self.readings.tag(tag, true),
            _ => {}
        }
        if tag.is_block() {
            self.end_block();
            self.close_implied(tag);
            let kind = tokens.attribute("itemtype");
            let kind = kind.and_then(|kind| kind.trim_end_matches('/').rsplit('/').next());
            self.is_discussion |= kind.is_some_and(is_discussion);
        }
        if !tag.is_stacked() {
            return;
        }
        if self.stack.len() == DEPTH_MAX {
            self.overflow_depth += 1;
            return;
        }
        let parent = self.node();
        // Classes within code name its syntax.
        let in_code = self.pre_count > 0 && !tag.is_block();
        let hints = if in_code {
            Hints::default()
        } else {
            element_hints(tag, tokens)
        };
        // What unfolds is a box, not a part of a line.
        let hints = if tag.is_block() {
            hints
        } else {
            hints.without(Hints::UNFOLDS)
        };
        let owns_node =
            self.nodes.len() < NODES_MAX && (tag.is_block() || hints != Hints::default());
        if owns_node && !tag.is_block() {
            self.end_inline_run(hints);
        }
        let node = if owns_node {
            let first = self.blocks.len() as u32;
            self.nodes.push(Node {
                parent,
                tag,
                hints,
                first,
                end: first,
            });
            (self.nodes.len() - 1) as u32
        } else {
            parent
        };
        let skips = matches!(
            tag,
            Tag::Noframes | Tag::Noscript | Tag::Template | Tag::Svg | Tag::Select | Tag::Object
        );
        self.skipping_count += usize::from(skips);
        self.pre_count += usize::from(tag == Tag::Pre);
        self.open_counts[tag as usize] += 1;
        self.stack.push(Open {
            tag,
            node,
            owns_node,
            skips,
        });
    }

    /// Takes an end tag.
    pub(super) fn end(&mut self, tag: Tag) {
        match tag {
            Tag::A => return self.close_link(),
            Tag::Br => return self.line_break(),
            Tag::Rb | Tag::Rp | Tag::Rt | Tag::Rtc | Tag::Ruby => self.readings.tag(tag, false),
            _ => {}
        }
        if tag.is_block() {
            self.end_block();
        }
        if self.overflow_depth > 0 && tag.is_stacked() {
            self.overflow_depth -= 1;
            return;
        }
        if self.open_counts[tag as usize] == 0 {
            return;
        }
        let boundary = |open: Tag| {
            if tag.is_block() {
                matches!(open, Tag::Td | Tag::Th | Tag::Table) && !is_table(tag)
            } else {
                open.is_block()
            }
        };
        let mut at = self.stack.len();
        while at > 0 {
            at -= 1;
            let open = self.stack[at].tag;
            if open == tag {
                return self.close_from(at);
            }
            if boundary(open) {
                return;
            }
        }
    }

    /// Takes text between tags.
    pub(super) fn text(&mut self, raw: &str) {
        if self.skipping_count > 0 {
            return;
        }
        let decoded = decoded(raw);
        let decoded = without_possible_breaks(&decoded);
        // White space that is not ASCII too: the end of a block is trimmed of it, and no block is empty.
        let blank = decoded.trim().is_empty();
        // The mark behind a heading that links to it.
        if self.link.is_some() && matches!(decoded.trim(), "¶" | "§") {
            return;
        }
        if self.block.is_none() {
            if blank {
                return;
            }
            if !self.text.is_empty() {
                self.text.push('\n');
            }
            let start = self.text.len() as u32;
            self.block = Some(RawBlock {
                node: self.node(),
                start,
                end: start,
                link_bytes: 0,
            });
        }
        if self.readings.take(&decoded) {
            return;
        }
        let Some(block) = &mut self.block else { return };
        let before = self.text.len();
        if self.pre_count > 0 {
            self.text.push_str(&decoded);
        } else {
            push_collapsed(&mut self.text, block.start as usize, &decoded);
        }
        if let Some((link, _)) = self.link {
            block.link_bytes += (self.text.len() - before) as u32;
            if let Some(link) = self.links.get_mut(link as usize) {
                if link.text.is_empty() || link.in_image {
                    link.block = Some(self.blocks.len() as u32);
                    link.in_image = false;
                }
                push_anchor(&mut link.text, &decoded);
            }
        }
    }

    /// Takes the page for a discussion: what comments say is its text.
    pub(super) fn read_as_discussion(&mut self) {
        self.is_discussion = true;
        for node in &mut self.nodes {
            node.hints = node.hints.without(Hints::COMMENTS);
        }
    }

    /// Ends the page: open elements are closed.
    pub(super) fn finish(&mut self) {
        self.close_from(0);
        self.end_block();
        self.nodes[0].end = self.blocks.len() as u32;
    }

    /// Returns whether text is skipped, as within `svg` or `noscript`.
    pub(super) fn is_skipping(&self) -> bool {
        self.skipping_count > 0
    }

    fn node(&self) -> u32 {
        self.stack.last().map_or(0, |open| open.node)
    }

    fn close_from(&mut self, at: usize) {
        while self.stack.len() > at {
            let Some(open) = self.stack.pop() else { return };
            if open.owns_node {
                self.end_block();
                self.nodes[open.node as usize].end = self.blocks.len() as u32;
            }
            self.open_counts[open.tag as usize] -= 1;
            self.skipping_count -= usize::from(open.skips);
            self.pre_count -= usize::from(open.tag == Tag::Pre);
        }
        if self.link.is_some_and(|(_, depth)| depth > self.stack.len()) {
            self.close_link();
        }
    }

    /// Closes elements whose end tags may be left out before `tag`.
    fn close_implied(&mut self, tag: Tag) {
        let closes: &[Tag] = match tag {
            Tag::Li => &[Tag::Li],
            Tag::Dd | Tag::Dt => &[Tag::Dd, Tag::Dt],
            Tag::Td | Tag::Th => &[Tag::Td, Tag::Th],
            Tag::Tr => &[Tag::Tr],
            Tag::Tbody | Tag::Tfoot | Tag::Thead => &[Tag::Tbody, Tag::Tfoot, Tag::Thead],
            Tag::Option | Tag::Optgroup => &[Tag::Option],
            _ => &[],
        };
        if self.open_counts[Tag::P as usize] > 0 {
            let inline = |open: &Open| !open.tag.is_block();
            let at = self.stack.iter().rposition(|open| !inline(open));
            if let Some(at) = at.filter(|&at| self.stack[at].tag == Tag::P) {
                self.close_from(at);
            }
        }
        if closes
            .iter()
            .all(|&tag| self.open_counts[tag as usize] == 0)
        {
            return;
        }
        let mut at = self.stack.len();
        while at > 0 {
            at -= 1;
            let open = self.stack[at].tag;
            if closes.contains(&open) {
                return self.close_from(at);
            }
            if matches!(
                open,
                Tag::Table | Tag::Ul | Tag::Ol | Tag::Dl | Tag::Menu | Tag::Select
            ) || !is_table(tag)
                && open.is_block()
                && !matches!(open, Tag::P | Tag::Div | Tag::Address)
            {
                return;
            }
        }
    }

    /// An inline element with hints of boilerplate has blocks of its own, others continue the block.
    fn end_inline_run(&mut self, hints: Hints) {
        if hints != Hints::CONTENT {
            self.end_block();
        }
    }

    fn end_block(&mut self) {
        let readings = self.readings.finish();
        let Some(mut block) = self.block.take() else {
            return;
        };
        self.text
            .truncate(self.text.trim_end().len().max(block.start as usize));
        if !readings.is_empty() {
            if self.text.len() > block.start as usize {
                self.text.push('\n');
            }
            self.text.push_str(&readings);
        }
        block.end = self.text.len() as u32;
        block.link_bytes = block.link_bytes.min(block.end - block.start);
        self.blocks.push(block);
    }

    fn line_break(&mut self) {
        if let Some(block) = &self.block {
            self.text.truncate(
                self.text
                    .trim_end_matches(' ')
                    .len()
                    .max(block.start as usize),
            );
            // An empty line cuts paragraphs.
            if self.text.ends_with('\n') {
                self.end_block();
            } else {
                self.text.push('\n');
            }
        }
    }

    fn open_link(&mut self, tokens: &Tokens<'_>) {
        self.close_link();
        // That of SVG before its second edition.
        let href = (tokens.attribute("href")).or_else(|| tokens.attribute("xlink:href"));
        if let Some(href) = href {
            let link = self.push_link(href, tokens);
            self.link = Some((link.unwrap_or(u32::MAX), self.stack.len()));
        }
    }

    /// Takes a link without content: an area of an image, a frame.
    fn void_link(&mut self, tokens: &Tokens<'_>, attribute: &str) {
        let Some(href) = tokens.attribute(attribute) else {
            return;
        };
        let alt = tokens.attribute("alt").unwrap_or_default();
        if let Some(link) = self.push_link(href, tokens) {
            self.links[link as usize].text = clean(alt, ANCHOR_CHARS_MAX);
        }
    }

    /// Keeps a link, or counts it where there are too many. Returns its index.
    fn push_link(&mut self, href: &str, tokens: &Tokens<'_>) -> Option<u32> {
        if self.links.len() == self.links_max {
            self.links_dropped_count += 1;
            return None;
        }
        self.links.push(Link {
            href: decoded(href.trim()).into_owned(),
            text: String::new(),
            rel: Rel::parse(tokens.attribute("rel").unwrap_or_default()),
            block: self.block.map(|_| self.blocks.len() as u32),
            in_boilerplate: true,
            in_image: false,
        });
        Some((self.links.len() - 1) as u32)
    }

    fn close_link(&mut self) {
        if let Some((link, _)) = self.link.take()
            && let Some(link) = self.links.get_mut(link as usize)
        {
            link.text.truncate(link.text.trim_end().len());
        }
    }

    /// The description of an image stands for the text of a link around it.
    fn image(&mut self, tokens: &Tokens<'_>) {
        let Some((link, _)) = self.link else { return };
        let Some(link) = self
            .links
            .get_mut(link as usize)
            .filter(|link| link.text.is_empty())
        else {
            return;
        };
        link.text = clean(
            tokens.attribute("alt").unwrap_or_default(),
            ANCHOR_CHARS_MAX,
        );
        link.in_image = true;
        link.block = Some(self.blocks.len() as u32);
    }
}

fn push_anchor(out: &mut String, text: &str) {
    if out.len() >= 4 * ANCHOR_CHARS_MAX {
        return;
    }
    let front = text
        .char_indices()
        .nth(2 * ANCHOR_CHARS_MAX)
        .map_or(text, |(end, _)| &text[..end]);
    push_collapsed(out, 0, front);
    if let Some((end, _)) = out.char_indices().nth(ANCHOR_CHARS_MAX) {
        out.truncate(end);
    }
}

fn is_table(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::Table | Tag::Tbody | Tag::Thead | Tag::Tfoot | Tag::Tr | Tag::Td | Tag::Th
    )
}
