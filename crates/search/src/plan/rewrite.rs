//! Rewriting of nested combinations to equal ones that are flat.
//!
//! ```text
//! +(+a +b c -d) e      =  +a +b c e -d         a required combination brings its clauses along
//! (a b) c              =  a b c                alternatives of an alternative, without required or excluded ones
//! a -(b c)             =  a -b -c              any of them excludes
//! +(a b -c) +d         =  +(a b) +d -c
//! +(a b -c) -d         =  a b -c -d
//! +a                   =  a                    alone
//! +* +a b              =  +a b                 all documents add nothing to other required clauses
//! * b                  =  +* b
//! ```
//!
//! Exact: the same documents match, and the same clauses add to their scores. Flat combinations have algorithms of
//! their own; those that stay nested are probed or evaluated exhaustively.

use crate::plan::node::Node;

/// Required, optional and excluded clauses.
#[derive(Default)]
struct Clauses {
    required: Vec<Node>,
    optional: Vec<Node>,
    excluded: Vec<Node>,
}

/// Makes a combination, flat, without the clauses that cannot match; `Nothing` if no document can match then.
pub(crate) fn boolean(
    required: Vec<Node>,
    mut optional: Vec<Node>,
    mut excluded: Vec<Node>,
) -> Node {
    let can_match = |node: &Node| !matches!(node, Node::Nothing);
    if !required.iter().all(can_match) {
        return Node::Nothing;
    }
    optional.retain(can_match);
    excluded.retain(can_match);
    if required.is_empty() && optional.is_empty() || excluded.iter().any(is_all) {
        return Node::Nothing;
    }
    combined(required, optional, excluded)
}

/// Makes the demand that a number of clauses match, without the clauses that cannot.
pub(crate) fn at_least(least: u32, mut clauses: Vec<Node>) -> Node {
    clauses.retain(|node| !matches!(node, Node::Nothing));
    match (least.max(1) as usize, clauses.len()) {
        (least, count) if least > count => Node::Nothing,
        (1, _) => boolean(Vec::new(), clauses, Vec::new()),
        (least, count) if least == count => boolean(clauses, Vec::new(), Vec::new()),
        (least, _) => Node::AtLeast { least, clauses },
    }
}

/// Makes the best of some clauses, without those that cannot match. With a tie breaker of 1 it is their sum.
pub(crate) fn best_of(tie_breaker: f32, mut clauses: Vec<Node>) -> Node {
    clauses.retain(|node| !matches!(node, Node::Nothing));
    match clauses.len() {
        0 | 1 => clauses.pop().unwrap_or(Node::Nothing),
        _ if tie_breaker >= 1.0 => boolean(Vec::new(), clauses, Vec::new()),
        _ => Node::BestOf {
            tie_breaker,
            clauses,
        },
    }
}

/// Makes a combination of clauses that can match and are flat themselves; `Nothing` if it has neither required nor
/// optional clauses.
fn combined(required: Vec<Node>, optional: Vec<Node>, excluded: Vec<Node>) -> Node {
    let mut clauses = required.iter().chain(&optional).chain(&excluded);
    let mut all = match clauses.any(|node| matches!(node, Node::Boolean { .. })) {
        true => put_together(required, optional, excluded),
        false => as_they_are(required, optional, excluded),
    };
    all.simplify_everything();
    if all.required.is_empty() {
        // Phrases and conjunctions are searched apart and stand first.
        let is_apart = |node: &Node| matches!(node, Node::Phrase(_) | Node::Boolean { .. });
        all.optional.sort_by_key(|node| !is_apart(node));
    }
    let is_alone = all.optional.is_empty() && all.excluded.is_empty();
    match (all.required.len(), is_alone) {
        (0, true) => Node::Nothing,
        (1, true) => all.required.pop().unwrap_or(Node::Nothing),
        _ => Node::Boolean {
            required: all.required,
            optional: all.optional,
            excluded: all.excluded,
        },
    }
}

/// Keeps clauses of which none is a combination, as in most queries.
fn as_they_are(required: Vec<Node>, optional: Vec<Node>, excluded: Vec<Node>) -> Clauses {
    if required.is_empty() && optional.len() == 1 {
        // A single alternative is required.
        return Clauses {
            required: optional,
            optional: required,
            excluded,
        };
    }
    Clauses {
        required,
        optional,
        excluded,
    }
}

/// Merges the clauses of nested combinations where the meaning allows it.
fn put_together(required: Vec<Node>, optional: Vec<Node>, excluded: Vec<Node>) -> Clauses {
    let mut all = Clauses::default();
    optional.into_iter().for_each(|node| all.offer(node));
    if required.is_empty() && all.optional.len() == 1 {
        // A single alternative is required.
        let only = std::mem::take(&mut all.optional);
        only.into_iter().for_each(|node| all.require(node));
    }
    required.into_iter().for_each(|node| all.require(node));
    excluded.into_iter().for_each(|node| all.exclude(node));
    if let ([Node::Boolean { .. }], []) = (all.required.as_slice(), all.optional.as_slice())
        && let Some(Node::Boolean {
            required,
            optional,
            excluded,
        }) = all.required.pop()
    {
        // Alternatives are the only positive clause.
        all.required = required;
        all.optional = optional;
        all.excluded.extend(excluded);
    }
    all
}

fn is_all(node: &Node) -> bool {
    matches!(node, Node::All)
}

impl Clauses {
    /// Leaves out the clauses of all documents, but one that is required alone.
    fn simplify_everything(&mut self) {
        if !self.required.iter().chain(&self.optional).any(is_all) {
            return;
        }
        self.required.retain(|node| !is_all(node));
        self.optional.retain(|node| !is_all(node));
        if self.required.is_empty() {
            self.required.push(Node::All);
        }
    }

    fn require(&mut self, node: Node) {
        match node {
            Node::Boolean {
                required,
                optional,
                excluded,
            } => {
                self.excluded.extend(excluded);
                match required.is_empty() {
                    true => self.required.push(alternatives(optional)),
                    false => {
                        self.required.extend(required);
                        self.optional.extend(optional);
                    }
                }
            }
            node => self.required.push(node),
        }
    }

    fn offer(&mut self, node: Node) {
        match node {
            Node::Boolean {
                required,
                optional,
                excluded,
            } if required.is_empty() && excluded.is_empty() => self.optional.extend(optional),
            node => self.optional.push(node),
        }
    }

    fn exclude(&mut self, node: Node) {
        match node {
            Node::Boolean {
                required,
                optional,
                excluded,
            } if required.is_empty() && excluded.is_empty() => self.excluded.extend(optional),
            node => self.excluded.push(node),
        }
    }
}

fn alternatives(optional: Vec<Node>) -> Node {
    Node::Boolean {
        required: Vec::new(),
        optional,
        excluded: Vec::new(),
    }
}
