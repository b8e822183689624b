//! Containers of boilerplate by their hints.

use super::hints::Hints;
use super::measure::Sums;
use super::tags::Tag;
use super::tree::{Node, Tree};

/// Hints that discard a paragraph; others are chance on a single one.
const ON_PARAGRAPHS: Hints = Hints::CAPTION
    .with(Hints::BYLINE)
    .with(Hints::HIDDEN)
    .with(Hints::ADVERT)
    .with(Hints::DIALOG);
/// Share of the page's prose from which on hints do not discard a container.
const PROTECTED_SHARE: f32 = 0.25;

/// Says of each container whether it, or one around it, is discarded.
pub(super) fn discarded(tree: &Tree, sums: &Sums, strict: bool, technical: bool) -> Vec<bool> {
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
    if causes.any(Hints::UNFOLDS) {
        // Answers and sections that a click shows are text of the page.
        causes = causes.without(Hints::UNFOLDS.with(Hints::HIDDEN));
    }
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
        // Classes of rows and cells name what they tell of.
        Tag::Tr | Tag::Td | Tag::Th | Tag::Tbody | Tag::Thead | Tag::Dt | Tag::Dd => {
            let told = Hints::CAPTION
                .with(Hints::BYLINE)
                .with(Hints::HEADER)
                .with(Hints::DIALOG);
            causes = causes.without(told);
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
