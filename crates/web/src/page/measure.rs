//! Measures of blocks and of containers: bytes, links, prose.

use super::block::BlockKind;
use super::tree::{RawBlock, Tree};

/// Ancestors that are asked for the kind of a block.
pub(super) const KIND_LEVELS_MAX: usize = 6;
/// Bytes of a paragraph that may be all of a cell.
const CELL_BYTES_MAX: usize = 60;
/// Bytes of the shortest block that scores.
const PROSE_BYTES_MIN: usize = 25;

/// Measures of one block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured {
    pub(super) kind: BlockKind,
    /// Container that says the kind.
    pub(super) kind_node: usize,
    pub(super) bytes: u32,
    pub(super) link_bytes: u32,
    /// Marks that end or part clauses.
    pub(super) marks: u32,
    /// Score as prose, 0 where it is none.
    pub(super) prose: f32,
}

impl Measured {
    pub(super) fn link_share(&self) -> f32 {
        self.link_bytes as f32 / self.bytes.max(1) as f32
    }
}

/// Prefix sums over blocks.
pub(super) struct Sums {
    pub(super) bytes: Vec<u32>,
    pub(super) link_bytes: Vec<u32>,
    pub(super) prose: Vec<f32>,
}

/// Measures one block.
pub(super) fn measure(tree: &Tree, block: &RawBlock) -> Measured {
    let text = &tree.text[block.start as usize..block.end as usize];
    let mut kind = None;
    let mut node = block.node as usize;
    for _ in 0..KIND_LEVELS_MAX {
        let found = BlockKind::of_tag(tree.nodes[node].tag);
        // A short paragraph may be all of a cell; a long one is prose wherever it stands.
        let is_cell = found == Some(BlockKind::Cell) && text.len() < CELL_BYTES_MAX;
        if kind.is_none() || kind == Some(BlockKind::Paragraph) && is_cell {
            kind = found;
        }
        let open = kind.is_none() || kind == Some(BlockKind::Paragraph);
        if !open || node == 0 {
            break;
        }
        node = tree.nodes[node].parent as usize;
    }
    let kind = kind.unwrap_or(BlockKind::Paragraph);
    let bytes = (block.end - block.start).max(1);
    let marks = marks(text);
    let link_share = block.link_bytes as f32 / bytes as f32;
    let scores = text.len() >= PROSE_BYTES_MIN
        && link_share < 0.5
        && !matches!(kind, BlockKind::Heading(_))
        && !is_notice(text);
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

/// Returns whether a block begins as a notice of copyright, which is no prose of the page.
fn is_notice(text: &str) -> bool {
    let begins =
        |word: &str| (text.get(..word.len())).is_some_and(|s| s.eq_ignore_ascii_case(word));
    begins("©") || begins("copyright ©") || begins("copyright (c)")
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

/// Returns the sums over the blocks that `counts` names by their index.
pub(super) fn sums(measured: &[Measured], counts: impl Fn(usize) -> bool) -> Sums {
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
    pub(super) fn prose(&self, tree: &Tree, node: usize) -> f32 {
        let node = &tree.nodes[node];
        self.prose[node.end as usize] - self.prose[node.first as usize]
    }

    pub(super) fn bytes(&self, tree: &Tree, node: usize) -> u32 {
        let node = &tree.nodes[node];
        self.bytes[node.end as usize] - self.bytes[node.first as usize]
    }

    pub(super) fn link_share(&self, tree: &Tree, node: usize) -> f32 {
        let found = &tree.nodes[node];
        let links = self.link_bytes[found.end as usize] - self.link_bytes[found.first as usize];
        links as f32 / self.bytes(tree, node).max(1) as f32
    }
}
