//! Classes of blocks: main text or boilerplate.
//!
//! 1. Containers whose hints say boilerplate are discarded, unless they hold much of the page's prose.
//! 2. Prose scores its containers (after Readability: near ones fully, farther ones less), and the best
//!    container grows to ancestors while these add prose.
//! 3. Within it, blocks stay by their kind, link density, punctuation and neighbours.

use super::block::BlockKind;
use super::hints::Hints;
use super::tags::Tag;
use super::tree::{Node, RawBlock, Tree};

/// Class of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    pub(super) kind: BlockKind,
    pub(super) is_main: bool,
}

/// Ancestors that are asked for the kind of a block.
const KIND_LEVELS_MAX: usize = 6;
/// Bytes of the shortest block that scores.
const PROSE_BYTES_MIN: usize = 25;
/// Hints that discard a paragraph; others are chance on a single one.
const ON_PARAGRAPHS: Hints = Hints::CAPTION
    .with(Hints::BYLINE)
    .with(Hints::HIDDEN)
    .with(Hints::ADVERT)
    .with(Hints::DIALOG);
/// Bytes of main text below which weaker rules are tried.
const MAIN_BYTES_MIN: u32 = 120;
/// Share of the page's prose from which on hints do not discard a container.
const PROTECTED_SHARE: f32 = 0.35;

/// Measures of one block.
#[derive(Clone, Copy, Debug)]
struct Measured {
    kind: BlockKind,
    /// Container that says the kind.
    kind_node: usize,
    bytes: u32,
    link_bytes: u32,
    /// Marks that end or part clauses.
    marks: u32,
    /// Score as prose, 0 where it is none.
    prose: f32,
}

impl Measured {
    fn link_share(&self) -> f32 {
        self.link_bytes as f32 / self.bytes.max(1) as f32
    }
}

/// Prefix sums over blocks.
struct Sums {
    bytes: Vec<u32>,
    link_bytes: Vec<u32>,
    prose: Vec<f32>,
}

/// Classifies all blocks of a tree; `title` is that of the page.
pub(super) fn classify(tree: &Tree, title: &str) -> Vec<Class> {
    let measured: Vec<Measured> = tree
        .blocks
        .iter()
        .map(|block| measure(tree, block))
        .collect();
    let all = sums(&measured, |_| true);
    let code = code_container(tree, &measured);
    let mut is_main: Vec<bool> = Vec::new();
    let bytes = |main: &[bool]| -> u32 {
        measured
            .iter()
            .zip(main)
            .filter(|(_, is_main)| **is_main)
            .map(|(found, _)| found.bytes)
            .sum()
    };
    for strict in [true, false] {
        let discarded = discarded(tree, &all, strict, code.is_some());
        let kept = |i: usize| !discarded[tree.blocks[i].node as usize];
        let sums = sums(&measured, kept);
        let root = root(tree, &measured, &sums, kept, code);
        let mut found = choose(
            tree,
            &measured,
            &all,
            &discarded,
            root,
            title,
            code.is_some(),
        );
        if !strict && bytes(&found) < MAIN_BYTES_MIN {
            // An index of links has no prose: everything in its main part is what it is about.
            let main = tree
                .nodes
                .iter()
                .position(|node| node.hints.any(Hints::MAIN))
                .unwrap_or(0);
            let range = tree.nodes[main].first as usize..tree.nodes[main].end as usize;
            if main != 0 || !found.contains(&true) {
                range.for_each(|i| found[i] = kept(i));
            }
        }
        if is_main.is_empty() || bytes(&found) > 2 * bytes(&is_main) {
            is_main = found;
        }
        if bytes(&is_main) >= MAIN_BYTES_MIN {
            break;
        }
    }
    measured
        .iter()
        .zip(is_main)
        .map(|(found, is_main)| Class {
            kind: found.kind,
            is_main,
        })
        .collect()
}

/// Returns the main part of a page of documentation: an explicit container with preformatted text.
///
/// There, short blocks, captions and signatures beside the prose belong to the text.
fn code_container(tree: &Tree, measured: &[Measured]) -> Option<usize> {
    let mut code = vec![0u32];
    let is_code = |found: &Measured| u32::from(found.kind == BlockKind::Preformatted);
    code.extend(measured.iter().scan(0, |sum, found| {
        *sum += is_code(found);
        Some(*sum)
    }));
    let within = |node: &Node| code[node.end as usize] - code[node.first as usize];
    let all = within(&tree.nodes[0]);
    let holds = |node: &&Node| all > 0 && 10 * within(node) >= 9 * all;
    // The innermost container that holds all code: nodes stand after those around them.
    let explicit = |node: &Node| node.tag == Tag::Article || node.hints.any(Hints::MAIN);
    tree.nodes
        .iter()
        .rposition(|node| explicit(node) && holds(&node))
}

fn measure(tree: &Tree, block: &RawBlock) -> Measured {
    let text = &tree.text[block.start as usize..block.end as usize];
    let mut kind = None;
    let mut node = block.node as usize;
    for _ in 0..KIND_LEVELS_MAX {
        kind = BlockKind::of_tag(tree.nodes[node].tag);
        if kind.is_some() || node == 0 {
            break;
        }
        node = tree.nodes[node].parent as usize;
    }
    // A paragraph within a cell or an item is prose like any other.
    let kind = kind.unwrap_or(BlockKind::Paragraph);
    let bytes = (block.end - block.start).max(1);
    let marks = marks(text);
    let link_share = block.link_bytes as f32 / bytes as f32;
    let scores =
        text.len() >= PROSE_BYTES_MIN && link_share < 0.5 && !matches!(kind, BlockKind::Heading(_));
    let prose = if scores {
        (1.0 + marks as f32 + (bytes as f32 / 100.0).min(3.0)) * (1.0 - link_share)
    } else {
        0.0
    };
    Measured {
        kind,
        kind_node: node,
        bytes,
        link_bytes: block.link_bytes,
        marks,
        prose,
    }
}

/// Counts marks that end or part clauses, those of Chinese and Japanese included.
fn marks(text: &str) -> u32 {
    let ascii = text
        .bytes()
        .filter(|b| matches!(b, b',' | b'.' | b'!' | b';' | b'?'))
        .count();
    let wide = memchr::memchr2_iter(0xe3, 0xef, text.as_bytes())
        .filter(|&at| {
            text.get(at..at + 3)
                .is_some_and(|c| matches!(c, "。" | "、" | "，" | "！" | "？"))
        })
        .count();
    (ascii + wide) as u32
}

fn sums(measured: &[Measured], counts: impl Fn(usize) -> bool) -> Sums {
    let mut out = Sums {
        bytes: vec![0],
        link_bytes: vec![0],
        prose: vec![0.0],
    };
    let (mut bytes, mut link_bytes, mut prose) = (0, 0, 0.0);
    for (i, found) in measured.iter().enumerate() {
        if counts(i) {
            bytes += found.bytes;
            link_bytes += found.link_bytes;
            prose += found.prose;
        }
        out.bytes.push(bytes);
        out.link_bytes.push(link_bytes);
        out.prose.push(prose);
    }
    out
}

impl Sums {
    fn prose(&self, tree: &Tree, node: usize) -> f32 {
        let node = &tree.nodes[node];
        self.prose[node.end as usize] - self.prose[node.first as usize]
    }

    fn bytes(&self, tree: &Tree, node: usize) -> u32 {
        let node = &tree.nodes[node];
        self.bytes[node.end as usize] - self.bytes[node.first as usize]
    }

    fn link_share(&self, tree: &Tree, node: usize) -> f32 {
        let found = &tree.nodes[node];
        let links = self.link_bytes[found.end as usize] - self.link_bytes[found.first as usize];
        links as f32 / self.bytes(tree, node).max(1) as f32
    }
}

/// Says of each container whether it, or one around it, is discarded.
fn discarded(tree: &Tree, sums: &Sums, strict: bool, technical: bool) -> Vec<bool> {
    let total = sums.prose(tree, 0).max(1.0);
    let mut causes = vec![Hints::default(); tree.nodes.len()];
    for (i, node) in tree.nodes.iter().enumerate().skip(1) {
        // Containers stand after those around them.
        let mut around = causes[node.parent as usize];
        if node.tag == Tag::Blockquote {
            // Quotations embedded from social media stand in containers named after these.
            around = around.without(Hints::SHARE.with(Hints::CAPTION).with(Hints::DIALOG));
        }
        let mut causes_here = causes_of(node, sums.prose(tree, i) / total, strict);
        if technical {
            causes_here =
                causes_here.without(Hints::CAPTION.with(Hints::BYLINE).with(Hints::HEADER));
        }
        causes[i] = around.with(causes_here);
    }
    causes
        .iter()
        .map(|&cause| cause != Hints::default())
        .collect()
}

/// Returns the hints that discard a container with this share of the page's prose.
fn causes_of(node: &Node, share: f32, strict: bool) -> Hints {
    let hints = node.hints;
    if hints.any(Hints::BODY) {
        return Hints::default();
    }
    let mut causes = hints.without(Hints::CONTENT.with(Hints::BODY).with(Hints::MAIN));
    if !strict {
        causes = causes.only(
            Hints::NAVIGATION
                .with(Hints::FOOTER)
                .with(Hints::COMMENTS)
                .with(Hints::HIDDEN),
        );
    }
    match node.tag {
        // Classes of articles name their categories, those of quotations their origin.
        Tag::Article | Tag::Main | Tag::Blockquote => {
            causes = causes.only(Hints::COMMENTS.with(Hints::RELATED).with(Hints::HIDDEN));
        }
        tag if tag.heading_level().is_some() => {
            causes = causes.only(
                Hints::COMMENTS
                    .with(Hints::RELATED)
                    .with(Hints::HIDDEN)
                    .with(Hints::SHARE),
            );
        }
        Tag::P => causes = causes.only(ON_PARAGRAPHS),
        _ => {}
    }
    if share >= 0.1 {
        causes = causes.without(Hints::HEADER.with(Hints::BYLINE).with(Hints::CAPTION));
    }
    if share >= PROTECTED_SHARE {
        let comments = if hints.any(Hints::CONTENT) || share > 0.95 {
            Hints::default()
        } else {
            Hints::COMMENTS
        };
        causes = causes.only(comments);
    }
    causes
}

/// Returns the container of the main text.
fn root(
    tree: &Tree,
    measured: &[Measured],
    sums: &Sums,
    kept: impl Fn(usize) -> bool,
    code: Option<usize>,
) -> usize {
    let mut scores = vec![0.0f32; tree.nodes.len()];
    for (i, found) in measured.iter().enumerate() {
        if found.prose == 0.0 || !kept(i) {
            continue;
        }
        let mut node = tree.blocks[i].node as usize;
        while node != 0 && is_leaf(tree.nodes[node].tag) {
            node = tree.nodes[node].parent as usize;
        }
        for weight in [1.0, 0.5, 0.25] {
            scores[node] += found.prose * weight;
            if node == 0 {
                break;
            }
            node = tree.nodes[node].parent as usize;
        }
    }
    let mut best = (0, 0.0);
    for (i, node) in tree.nodes.iter().enumerate() {
        let hints =
            1.0 + if node.hints.any(Hints::BODY) {
                0.5
            } else {
                0.0
            } + if node.hints.any(Hints::CONTENT) {
                0.2
            } else {
                0.0
            };
        let score = scores[i] * (1.0 - sums.link_share(tree, i)) * hints;
        if score > best.1 {
            best = (i, score);
        }
    }
    let root = grown(tree, sums, best.0);
    let inside = |&node: &usize| {
        let (node, root) = (&tree.nodes[node], &tree.nodes[root]);
        node.first <= root.first && root.end <= node.end
    };
    code.filter(inside).unwrap_or(root)
}

fn is_leaf(tag: Tag) -> bool {
    matches!(
        tag,
        Tag::P
            | Tag::Li
            | Tag::Dd
            | Tag::Dt
            | Tag::Td
            | Tag::Th
            | Tag::Tr
            | Tag::Tbody
            | Tag::Thead
            | Tag::Span
            | Tag::Pre
            | Tag::Caption
            | Tag::Figcaption
    )
}

/// Grows a container to ancestors that add prose of note.
fn grown(tree: &Tree, sums: &Sums, best: usize) -> usize {
    let (mut root, mut at) = (best, best);
    while at != 0 {
        // An article is whole; what stands beside it is another.
        if matches!(tree.nodes[at].tag, Tag::Article | Tag::Main)
            || tree.nodes[at].hints.any(Hints::BODY)
        {
            break;
        }
        at = tree.nodes[at].parent as usize;
        let adds = sums.prose(tree, at) > 1.2 * sums.prose(tree, root);
        if adds && sums.link_share(tree, at) < 0.4 {
            root = at;
        }
    }
    root
}

/// Chooses the main blocks among those of `root`.
fn choose(
    tree: &Tree,
    measured: &[Measured],
    sums: &Sums,
    discarded: &[bool],
    root: usize,
    title: &str,
    technical: bool,
) -> Vec<bool> {
    let range = tree.nodes[root].first as usize..tree.nodes[root].end as usize;
    let text = |i: usize| &tree.text[tree.blocks[i].start as usize..tree.blocks[i].end as usize];
    let mut is_main = vec![false; measured.len()];
    let mut before_prose = true;
    for i in range.clone() {
        let found = &measured[i];
        if discarded[tree.blocks[i].node as usize] {
            continue;
        }
        let long = found.bytes >= 80 && found.marks > 0 && found.link_share() < 0.4;
        before_prose &= !long;
        is_main[i] = match found.kind {
            BlockKind::Heading(level) => {
                !(level <= 2 && before_prose && same_title(text(i), title))
            }
            BlockKind::Preformatted => true,
            BlockKind::Cell => list_link_share(tree, sums, i) < 0.7,
            BlockKind::Item => list_link_share(tree, sums, i).min(found.link_share()) < 0.5,
            BlockKind::Caption => technical,
            BlockKind::Paragraph if before_prose && !technical => {
                (found.marks > 0 || found.bytes >= 60) && found.link_share() < 0.3
            }
            BlockKind::Paragraph => found.link_share() < 0.7,
        };
    }
    lonely_headings(measured, range, &mut is_main);
    is_main
}

/// Returns the share of links in the list or table around a block.
fn list_link_share(tree: &Tree, sums: &Sums, block: usize) -> f32 {
    let mut node = tree.blocks[block].node as usize;
    for _ in 0..KIND_LEVELS_MAX {
        if node == 0
            || matches!(
                tree.nodes[node].tag,
                Tag::Ul | Tag::Ol | Tag::Dl | Tag::Table
            )
        {
            break;
        }
        node = tree.nodes[node].parent as usize;
    }
    sums.link_share(tree, node)
}

/// Drops headings that no main block follows before the next heading of their level.
fn lonely_headings(measured: &[Measured], range: std::ops::Range<usize>, is_main: &mut [bool]) {
    // Highest level (least number) that main text behind may serve.
    let (mut served, end) = ([false; 7], range.end);
    for i in range.rev() {
        match measured[i].kind {
            BlockKind::Heading(level) => {
                // Lines of one heading stay together.
                if i + 1 < end && measured[i + 1].kind_node == measured[i].kind_node {
                    is_main[i] &= is_main[i + 1];
                    continue;
                }
                let level = usize::from(level.clamp(1, 6));
                is_main[i] &= served[level];
                // Text behind serves this heading and those above it, no longer its own level.
                let above = served[level];
                served[level..].fill(false);
                served[..level].iter_mut().for_each(|s| *s |= above);
            }
            _ if is_main[i] => served = [true; 7],
            _ => {}
        }
    }
}

/// Whether a heading repeats the title of the page, or a part of it.
fn same_title(heading: &str, title: &str) -> bool {
    let plain = |text: &str| -> String {
        text.chars()
            .filter(|c| c.is_alphanumeric())
            .take(300)
            .collect()
    };
    let heading = plain(heading);
    !heading.is_empty() && plain(title).contains(&heading)
}
