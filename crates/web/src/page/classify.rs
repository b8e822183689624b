//! Classes of blocks: main text or boilerplate.
//!
//! 1. Containers whose hints say boilerplate are discarded, unless they hold much of the page's prose.
//! 2. Prose scores its containers (after Readability: near ones fully, farther ones less), and the best
//!    container grows to ancestors while these add prose.
//! 3. Within it, blocks stay by their kind, link density, punctuation and neighbours.

use super::block::BlockKind;
use super::discard::discarded;
use super::hints::Hints;
use super::measure::{KIND_LEVELS_MAX, Measured, Sums, measure, sums};
use super::tags::Tag;
use super::tree::{Node, Tree};

/// Class of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    pub(super) kind: BlockKind,
    pub(super) is_main: bool,
}

/// Bytes of main text below which weaker rules are tried.
const MAIN_BYTES_MIN: u32 = 120;
/// Share of the page's prose above which an article is whole; one with less is a part, as a post of a thread.
const WHOLE_SHARE_MIN: f32 = 0.2;

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
    let bytes = |main: &[bool]| bytes(&measured, main);
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
        if let Some(main) = passed_over(tree, &measured, &found, kept) {
            // What stands outside of a stated main part, such as a long footer, is not what the page is about.
            found = main;
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

/// Returns the kept blocks of the stated main part of a page if none of them was chosen, although they have half as much
/// text as those that were.
fn passed_over(
    tree: &Tree,
    measured: &[Measured],
    chosen: &[bool],
    kept: impl Fn(usize) -> bool,
) -> Option<Vec<bool>> {
    let main = tree.nodes.iter().find(|node| node.hints.any(Hints::MAIN))?;
    let range = main.first as usize..main.end as usize;
    if chosen[range.clone()].contains(&true) {
        return None;
    }
    let within: Vec<bool> = (0..chosen.len())
        .map(|i| range.contains(&i) && kept(i))
        .collect();
    let bytes = |blocks: &[bool]| bytes(measured, blocks);
    (2 * bytes(&within) >= bytes(chosen).max(1)).then_some(within)
}

/// Returns the bytes of some blocks.
fn bytes(measured: &[Measured], blocks: &[bool]) -> u32 {
    let blocks = measured.iter().zip(blocks);
    let blocks = blocks.filter(|(_, is_one)| **is_one);
    blocks.map(|(found, _)| found.bytes).sum()
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
        let hints = match (node.hints.any(Hints::BODY), node.hints.any(Hints::CONTENT)) {
            (true, _) => 1.7,
            (false, true) => 1.2,
            (false, false) => 1.0,
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
        // An article is whole; what stands beside it is another. One of little of the page's prose, and a post of a
        // discussion, are parts.
        let is_whole = matches!(tree.nodes[at].tag, Tag::Article | Tag::Main)
            || tree.nodes[at].hints.any(Hints::BODY);
        let is_most = sums.prose(tree, at) > WHOLE_SHARE_MIN * sums.prose(tree, 0);
        if is_whole && is_most && !tree.is_discussion {
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
            BlockKind::Cell => {
                let around = list_link_share(tree, sums, i);
                around < 0.7 && (found.link_share() < 0.8 || around < 0.5)
            }
            BlockKind::Item => list_link_share(tree, sums, i).min(found.link_share()) < 0.5,
            BlockKind::Caption => technical,
            BlockKind::Paragraph if before_prose && !technical => {
                (found.marks > 0 || found.bytes >= 60) && found.link_share() < 0.3
            }
            BlockKind::Paragraph => found.link_share() < 0.7 || technical && found.marks > 0,
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

/// Returns whether a heading repeats the title of the page, or a part of it.
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
