//! Probe of a clause of any kind for documents that other clauses found.
//!
//! Terms, phrases, values, alternatives of them, the best of them and numbers of them are probed a block of candidates at a time.
//! All other clauses (prefixes, combinations within combinations) are walked with a cursor.

use crate::block::probed::{Clause, Demand, Probed};
use crate::block::term_scorer::List;
use crate::context::cancel;
use crate::context::cancel::StopRef;
use crate::context::scratch::Lent;
use crate::exhaustive::cursor::any::Cursor;
use crate::exhaustive::cursor::walk::{DocCursor, ScoredCursor};
use crate::join::best_lists::{BestLists, is_best_of_lists};
use crate::join::phrase::bigrams;
use crate::join::phrase::bigrams::Stored;
use crate::join::phrase::search::Phrase;
use crate::plan::best::Best;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::plan::ranking::on_grid;
use crate::plan::scorer::BLOCK;
use crate::verify::values::Values;
use index::{DocId, IndexError, Segment};

/// A clause opened on one segment.
pub(crate) enum Probe<'a> {
    List(Box<List<'a>>),
    Phrase(Box<Phrase<'a>>),
    /// Alternatives: the score is the sum over those that match.
    Any(Vec<Probe<'a>>, Lent<Probed>),
    /// At least a number of clauses: the score is the sum over those that match.
    AtLeast(usize, Vec<Probe<'a>>, Lent<Probed>),
    /// The best of many lists.
    Best(Box<BestLists<'a>>),
    /// Alternatives of which the best counts, of other kinds or with a tie breaker.
    BestOf(Best, Vec<Probe<'a>>, Lent<Probed>),
    /// A clause whose matches score alike: the score, on the grid.
    Constant(f32, Box<Probe<'a>>),
    /// Values of a column. They add nothing to the score.
    Value(Box<Values<'a>>),
    Walk(Box<Walk<'a>>),
}

impl<'a> Probe<'a> {
    /// Opens a clause; `None` where no document of the segment can match it.
    pub(crate) fn open(
        plan: &'a Plan,
        node: &'a Node,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Option<Probe<'a>>, IndexError> {
        Ok(match node {
            Node::Nothing => None,
            Node::Term(_) | Node::Filter(_) => {
                List::open(plan, node, segment)?.map(|list| Probe::List(Box::new(list)))
            }
            Node::Phrase(phrase) => match bigrams::stored(phrase, segment)? {
                Stored::Pair(pair) => {
                    let list = bigrams::list_of(plan, phrase, &pair, segment)?;
                    Some(Probe::List(Box::new(list)))
                }
                Stored::Nowhere => None,
                Stored::Unknown => Phrase::open(plan, phrase, segment)?
                    .map(|phrase| Probe::Phrase(Box::new(phrase))),
            },
            Node::Boolean {
                required,
                optional,
                excluded,
            } if required.is_empty() && excluded.is_empty() => {
                Probe::open_any(plan, optional, segment, stop)?
            }
            Node::Value(node) => {
                Values::open(node, segment)?.map(|values| Probe::Value(Box::new(values)))
            }
            Node::AtLeast { least, clauses } => {
                let probes = Probe::open_each(plan, clauses, segment, stop)?;
                let can_match = probes.len() >= *least;
                can_match.then(|| Probe::AtLeast(*least, probes, Lent::take()))
            }
            node @ Node::BestOf { .. } if is_best_of_lists(node) => {
                BestLists::open(plan, node, segment)?.map(|lists| Probe::Best(Box::new(lists)))
            }
            Node::BestOf {
                tie_breaker,
                clauses,
            } => {
                let mut probes = Probe::open_each(plan, clauses, segment, stop)?;
                let best = Best::new(*tie_breaker, plan.grid);
                match probes.len() {
                    0 | 1 => probes.pop(),
                    _ => Some(Probe::BestOf(best, probes, Lent::take())),
                }
            }
            Node::Constant(constant) => {
                let score = on_grid(constant.weight, plan.grid);
                Probe::open(plan, &constant.clause, segment, stop)?
                    .map(|probe| Probe::Constant(score, Box::new(probe)))
            }
            Node::All
            | Node::Pattern(_)
            | Node::TitleStart(_)
            | Node::Urls(_)
            | Node::Boolean { .. } => {
                Walk::open(plan, node, segment, stop)?.map(|walk| Probe::Walk(Box::new(walk)))
            }
        })
    }

    /// Opens alternatives; `None` where no document of the segment can match any of them.
    pub(crate) fn open_any(
        plan: &'a Plan,
        nodes: impl IntoIterator<Item = &'a Node>,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Option<Probe<'a>>, IndexError> {
        let mut probes = Probe::open_each(plan, nodes, segment, stop)?;
        Ok(match probes.len() {
            0 | 1 => probes.pop(),
            _ => Some(Probe::Any(probes, Lent::take())),
        })
    }

    /// Opens the clauses among `nodes` that documents of the segment can match.
    pub(crate) fn open_each(
        plan: &'a Plan,
        nodes: impl IntoIterator<Item = &'a Node>,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Vec<Probe<'a>>, IndexError> {
        let mut probes = Vec::new();
        for node in nodes {
            if stop.aborts(1) {
                break;
            }
            probes.extend(Probe::open(plan, node, segment, stop)?);
        }
        Ok(probes)
    }

    /// Returns whether the clause is a list.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Probe::List(_))
    }

    /// Returns the number of documents that pass a test of values, where they are listed.
    pub(crate) fn listed_count(&self) -> Option<u32> {
        match self {
            Probe::Value(values) => values.listed_count(),
            _ => None,
        }
    }

    /// Returns the list of a clause that is one.
    pub(crate) fn into_list(self) -> Option<Box<List<'a>>> {
        match self {
            Probe::List(list) => Some(list),
            _ => None,
        }
    }

    /// Upper bound on the scores of the clause.
    pub(crate) fn most(&mut self) -> f32 {
        match self {
            Probe::List(list) => list.most_unread(),
            Probe::Phrase(phrase) => phrase.pattern.most(&mut phrase.words),
            Probe::Any(probes, _) | Probe::AtLeast(_, probes, _) => {
                probes.iter_mut().map(Probe::most).sum()
            }
            Probe::Best(lists) => lists.most(),
            Probe::BestOf(best, probes, _) => best.of_all(probes.iter_mut().map(Probe::most)),
            Probe::Constant(score, _) => *score,
            Probe::Value(_) => 0.0,
            Probe::Walk(walk) => walk.most,
        }
    }

    /// Upper bound on the scores of a range.
    pub(crate) fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
        match self {
            Probe::List(list) => list.bound_in(base, end),
            Probe::Phrase(phrase) => {
                let most = phrase.pattern.most(&mut phrase.words);
                most.min(phrase.bound_in(base, end))
            }
            Probe::Any(probes, _) | Probe::AtLeast(_, probes, _) => {
                let bounds = probes.iter_mut().map(|probe| probe.bound_in(base, end));
                bounds.sum()
            }
            Probe::Best(lists) => lists.bound_in(base, end),
            Probe::BestOf(best, probes, _) => {
                let bounds = probes.iter_mut().map(|probe| probe.bound_in(base, end));
                best.of_all(bounds)
            }
            Probe::Constant(score, _) => *score,
            Probe::Value(_) => 0.0,
            Probe::Walk(walk) => walk.most,
        }
    }

    /// Estimate of the number of matching documents.
    pub(crate) fn cost(&self) -> u64 {
        match self {
            Probe::List(list) => list.cost().into(),
            Probe::Phrase(phrase) => phrase.words.lists[0].cost().into(),
            Probe::Any(probes, _) | Probe::BestOf(_, probes, _) => {
                probes.iter().map(Probe::cost).sum()
            }
            Probe::Best(lists) => lists.cost(),
            Probe::Constant(_, probe) => probe.cost(),
            Probe::AtLeast(least, probes, _) => {
                let mut costs: Vec<u64> = probes.iter().map(Probe::cost).collect();
                costs.sort_unstable();
                costs.iter().take(probes.len() + 1 - least).sum()
            }
            // A walk over the column tests all documents.
            Probe::Value(values) => values.documents_count().into(),
            Probe::Walk(walk) => walk.cursor.cost().into(),
        }
    }

    /// Takes the first damage found so far.
    pub(crate) fn take_error(&mut self) -> Option<IndexError> {
        match self {
            Probe::List(list) => list.blocks.take_error(),
            Probe::Phrase(phrase) => phrase.words.take_error(),
            Probe::Any(probes, _) | Probe::AtLeast(_, probes, _) | Probe::BestOf(_, probes, _) => {
                probes.iter_mut().find_map(Probe::take_error)
            }
            Probe::Best(lists) => lists.take_error(),
            Probe::Constant(_, probe) => probe.take_error(),
            Probe::Value(_) => None,
            Probe::Walk(walk) => walk.error.take().or_else(|| walk.cursor.take_error()),
        }
    }
}

impl Clause for Probe<'_> {
    fn probe_rows(
        &mut self,
        docs: &[u32],
        sums: &[f32],
        demand: Demand,
        stop: StopRef<'_>,
        probed: &mut Probed,
    ) {
        probed.found.count = 0;
        match self {
            Probe::List(list) => list.probe_rows(docs, sums, demand, stop, probed),
            Probe::Phrase(phrase) => probe_phrase(phrase, docs, stop, probed),
            Probe::Any(probes, one) => probe_some(1, probes, docs, demand, stop, one, probed),
            Probe::AtLeast(least, probes, one) => {
                probe_some(*least, probes, docs, demand, stop, one, probed);
            }
            Probe::Best(lists) => lists.probe(docs, demand, stop, probed),
            Probe::BestOf(best, probes, one) => {
                probe_best(*best, probes, docs, demand, stop, one, probed);
            }
            Probe::Constant(score, probe) => {
                probe.probe_rows(docs, &[], Demand::Rows, stop, probed);
                let count = probed.found.count;
                probed.scores[..count].fill(*score);
            }
            Probe::Value(values) => values.probe(docs, probed),
            Probe::Walk(walk) => walk.probe(docs, demand != Demand::Rows, probed),
        }
    }
}

/// Finds the rows of `docs` (increasing, 256 at most) that hold a phrase, and its scores there.
fn probe_phrase(phrase: &mut Phrase<'_>, docs: &[u32], stop: StopRef<'_>, probed: &mut Probed) {
    let Phrase { words, pattern, .. } = phrase;
    words.find_among(docs);
    words.candidates.clear_sums();
    pattern.check(words, f32::NEG_INFINITY, stop);
    let found = &words.candidates.probed;
    for (&row, &score) in found.rows().iter().zip(&found.scores) {
        probed.push(words.candidates.origins[row as usize], score);
    }
}

/// Finds the rows of `docs` that at least `least` of some clauses match, and the sums of their scores there; `one` is room
/// for the result of one clause.
fn probe_some(
    least: usize,
    probes: &mut [Probe<'_>],
    docs: &[u32],
    demand: Demand,
    stop: StopRef<'_>,
    one: &mut Probed,
    probed: &mut Probed,
) {
    let demand = demand.of_part();
    let mut counts = [0u16; BLOCK];
    let mut sums = [0.0; BLOCK];
    for probe in probes {
        if stop.aborts(1) {
            return;
        }
        probe.probe_rows(docs, &[], demand, stop, one);
        for (&row, score) in one.rows().iter().zip(&one.scores) {
            counts[row as usize] += 1;
            sums[row as usize] += score;
        }
    }
    for (row, sum) in sums[..docs.len()].iter().enumerate() {
        if usize::from(counts[row]) >= least {
            probed.push(row as u8, *sum);
        }
    }
}

/// Finds the rows of `docs` that any of some clauses match, and the best of their scores there; `one` is room for the result
/// of one clause.
fn probe_best(
    best: Best,
    probes: &mut [Probe<'_>],
    docs: &[u32],
    demand: Demand,
    stop: StopRef<'_>,
    one: &mut Probed,
    probed: &mut Probed,
) {
    let demand = demand.of_part();
    let mut is_found = [false; BLOCK];
    let (mut greatest, mut sums) = ([0.0f32; BLOCK], [0.0; BLOCK]);
    for probe in probes {
        if stop.aborts(1) {
            return;
        }
        probe.probe_rows(docs, &[], demand, stop, one);
        for (&row, &score) in one.rows().iter().zip(&one.scores) {
            let row = row as usize;
            is_found[row] = true;
            if demand != Demand::Rows {
                greatest[row] = greatest[row].max(score);
                sums[row] += score;
            }
        }
    }
    for row in 0..docs.len() {
        if is_found[row] {
            probed.push(row as u8, best.of(greatest[row], sums[row]));
        }
    }
}

/// Returns the first damage found in any of some clauses.
pub(crate) fn damage_of(probes: &mut [Probe<'_>]) -> Result<(), IndexError> {
    let damage = probes.iter_mut().find_map(Probe::take_error);
    damage.map_or(Ok(()), Err)
}

/// A clause walked with a cursor, document by document.
pub(crate) struct Walk<'a> {
    plan: &'a Plan,
    node: &'a Node,
    segment: &'a Segment,
    stop: StopRef<'a>,
    cursor: Cursor<'a>,
    /// The document that was probed last.
    asked: u32,
    most: f32,
    error: Option<IndexError>,
}

impl<'a> Walk<'a> {
    fn open(
        plan: &'a Plan,
        node: &'a Node,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Option<Walk<'a>>, IndexError> {
        let cursor = Cursor::open(plan, node, segment, stop)?;
        if cursor.is_empty() {
            return Ok(None);
        }
        Ok(Some(Walk {
            plan,
            node,
            segment,
            stop,
            cursor,
            asked: 0,
            most: plan.most(node),
            error: None,
        }))
    }

    fn probe(&mut self, docs: &[u32], scored: bool, probed: &mut Probed) {
        let Some((&first, &last)) = docs.first().zip(docs.last()) else {
            return;
        };
        if first < self.asked {
            // Cursors go forward only.
            self.cursor = match Cursor::open(self.plan, self.node, self.segment, self.stop) {
                Ok(cursor) => cursor,
                Err(error) => {
                    self.error.get_or_insert(error);
                    Cursor::Empty
                }
            };
        }
        self.asked = last;
        for (row, &doc) in docs.iter().enumerate() {
            if self.stop.aborts(cancel::DOCUMENT) {
                return;
            }
            if self.cursor.seek(DocId(doc)) == DocId(doc) {
                let score = match scored {
                    true => self.cursor.score(),
                    false => 0.0,
                };
                probed.push(row as u8, score);
            }
        }
    }
}
