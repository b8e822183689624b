//! State of a search of required, optional and excluded clauses on one segment, with the upper bounds of the clauses.
//!
//! All required words, those of required phrases too, are one conjunction, and its shortest list leads. An optional
//! word without which nothing can enter any more becomes a required one, and may lead from then on.

use crate::algorithms::boolean::early::Early;
use crate::block::term_scorer::{List, Lists};
use crate::collect::context::Context;
use crate::context::cancel::StopRef;
use crate::join::conjunction::Conjunction;
use crate::join::phrase::pattern::Pattern;
use crate::join::required_lists::Required;
use crate::plan::node::Node;
use crate::plan::planner::Plan;
use crate::verify::filter::Condition;
use crate::verify::probe::{Probe, damage_of};
use index::{DocId, IndexError, Segment};

/// A combination of clauses that is searched on one segment.
pub(crate) struct Mixed<'a> {
    pub(super) words: Conjunction<'a>,
    /// Upper bound on the addition of each list to the score. `None` for a filter or a part of a phrase, which adds
    /// nothing.
    pub(super) adds: Vec<Option<f32>>,
    pub(super) phrases: Vec<Bounded<Pattern<'a>>>,
    /// The phrase whose scorer the leader has. The leader's scores are upper bounds on the phrase's and are not added.
    pub(super) led: Option<usize>,
    /// Tests of values that few documents pass: they add nothing to the score, and come right after the leader.
    pub(super) early: Early<'a>,
    /// The other required clauses that are neither words nor phrases.
    pub(super) others: Vec<Bounded<Probe<'a>>>,
    pub(super) optional: Vec<Bounded<Probe<'a>>>,
    pub(super) condition: Option<Condition<'a>>,
    /// Upper bounds by kind of clause; `None` before they are first needed.
    pub(super) most: Option<Most>,
    /// The threshold at which optional words were last tested for being required.
    pub(super) looked_at: f32,
}

/// A clause, and the upper bound on its score.
pub(crate) struct Bounded<T> {
    pub(crate) clause: T,
    pub(crate) most: f32,
}

/// Upper bounds on the sums of scores, by kind of clause.
#[derive(Debug, Clone, Copy)]
pub(super) struct Most {
    pub(super) words: f32,
    pub(super) phrases: f32,
    pub(super) others: f32,
    pub(super) optional: f32,
}

impl Most {
    /// Bounds without information: any document may enter.
    const UNKNOWN: Most = Most {
        words: f32::INFINITY,
        phrases: f32::INFINITY,
        others: f32::INFINITY,
        optional: f32::INFINITY,
    };

    pub(super) fn all(&self) -> f32 {
        self.words + self.phrases + self.others + self.optional
    }
}

impl<'a> Mixed<'a> {
    /// Opens a combination that requires at least one word or phrase; `None` where the segment lacks a required
    /// clause.
    pub(crate) fn open(
        plan: &'a Plan,
        [required, optional]: [&'a [Node]; 2],
        condition: Option<Condition<'a>>,
        segment: &'a Segment,
        stop: StopRef<'a>,
    ) -> Result<Option<Mixed<'a>>, IndexError> {
        let Some(found) = Required::open(plan, required, segment)? else {
            return Ok(None);
        };
        let mut others = Vec::new();
        for node in required {
            if node.word().is_some() || matches!(node, Node::Phrase(_)) {
                continue;
            }
            match Probe::open(plan, node, segment, stop)? {
                Some(probe) => others.push(probe),
                None => return Ok(None),
            }
        }
        let optional = Probe::open_each(plan, optional, segment, stop)?;
        let words = Conjunction::new(found.lists);
        let early = Early::take(&mut others, words.lists.get(1).map(List::cost));
        Ok(Some(Mixed {
            words,
            early,
            adds: found.adds.iter().map(|adds| adds.then_some(0.0)).collect(),
            phrases: found.phrases.into_iter().map(bounded).collect(),
            led: found.led,
            others: others.into_iter().map(bounded).collect(),
            optional: optional.into_iter().map(bounded).collect(),
            condition,
            most: None,
            looked_at: 0.0,
        }))
    }

    /// Returns the lists of required words, those of phrases included; the shortest first.
    pub(crate) fn lists(&self) -> &Lists<'a> {
        &self.words.lists
    }

    /// Returns whether another required clause matches less than a quarter of the documents of the leader, and should
    /// lead.
    pub(crate) fn is_led_by_many(&self) -> bool {
        let leader = u64::from(self.words.lists[0].cost());
        self.others
            .iter()
            .any(|other| other.clause.cost() * 4 < leader)
    }

    /// Raises the threshold of `context` by the bound of the k-th score in the only list, before any posting is read.
    pub(crate) fn raise(&self, segment: &Segment, context: &mut Context<'a>) {
        let is_free = self.phrases.is_empty()
            && self.others.is_empty()
            && self.early.is_empty()
            && self.condition.is_none();
        if let [list] = self.words.lists.as_slice()
            && is_free
        {
            let floor = list.floor(context.k(), segment);
            context.raise_first(floor);
        }
    }

    /// Upper bound on the scores of a range.
    pub(crate) fn bound_in(&mut self, base: DocId, end: DocId) -> f32 {
        let most = self.measure();
        let mut sum = most.phrases + most.others;
        for (list, adds) in self.words.lists.iter_mut().zip(&self.adds) {
            if adds.is_some() {
                sum += list.bound_in(base, end);
            }
        }
        if let Some(led) = self.led {
            sum += self.words.lists[0].bound_in(base, end) - self.phrases[led].most;
        }
        for optional in &mut self.optional {
            sum += optional.clause.bound_in(base, end);
        }
        sum
    }

    /// Computes the upper bounds, once. Sorts the optional clauses by theirs, highest first.
    pub(super) fn measure(&mut self) -> Most {
        if let Some(most) = self.most {
            return most;
        }
        for (list, adds) in self.words.lists.iter_mut().zip(&mut self.adds) {
            *adds = adds.map(|_| list.most_unread());
        }
        for phrase in &mut self.phrases {
            phrase.most = phrase.clause.most(&mut self.words);
        }
        for probe in self.others.iter_mut().chain(&mut self.optional) {
            probe.most = probe.clause.most();
        }
        self.optional.sort_by(|a, b| b.most.total_cmp(&a.most));
        let most = Most {
            words: self.adds.iter().flatten().sum(),
            phrases: self.phrases.iter().map(|phrase| phrase.most).sum(),
            others: self.others.iter().map(|other| other.most).sum(),
            optional: self.optional.iter().map(|optional| optional.most).sum(),
        };
        self.most = Some(most);
        most
    }

    /// Returns the upper bounds, or [`Most::UNKNOWN`] while there is no threshold to compare them with.
    pub(super) fn known_most(&mut self, threshold: f32) -> Most {
        match threshold > 0.0 {
            true => self.measure(),
            false => Most::UNKNOWN,
        }
    }

    pub(super) fn insert_word(&mut self, list: List<'a>, most: f32) {
        let lists = &mut self.words.lists;
        let at = lists.partition_point(|other| other.cost() < list.cost());
        lists.insert(at, list);
        self.words.candidates.reserve(lists.len());
        self.adds.insert(at, Some(most));
        for phrase in &mut self.phrases {
            for number in &mut phrase.clause.lists {
                *number += usize::from(*number >= at);
            }
        }
        if at == 0 {
            self.led = None;
        }
    }

    /// Returns the first damage found so far.
    pub(super) fn damage(&mut self) -> Result<(), IndexError> {
        self.words.take_error().map_or(Ok(()), Err)?;
        for probe in self.others.iter_mut().chain(&mut self.optional) {
            damage_of(std::slice::from_mut(&mut probe.clause))?;
        }
        self.condition.as_mut().map_or(Ok(()), Condition::damage)
    }
}

fn bounded<T>(clause: T) -> Bounded<T> {
    Bounded { clause, most: 0.0 }
}
