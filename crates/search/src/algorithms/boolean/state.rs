//! Documents that hold all that is required, words and phrases, and nothing that is excluded; what is optional
//! adds to their scores.
//!
//! All required words, those of required phrases too, are one conjunction, and its shortest list leads, a block
//! at a time. Where hits alone are wanted: a block that cannot hold one, by what all other clauses add at most,
//! is left undecoded; matches are scored by their words first, and of those that can still enter the phrases
//! are checked by their positions, then what else is required, what is excluded, and what is optional (optional
//! words already before phrases, whose positions are dear), each asked about fewer documents than the one before. An optional word without which nothing can enter any more
//! becomes a required one, and may lead from then on. Where matches are counted, all are found before any is
//! scored.
//!
//! Exact: documents, scores, order and counts are those of [`crate::exhaustive`], since sums are exact.

mod matching;

use crate::TopK;
use crate::algorithm::Wanted;
use crate::batch::Batch;
use crate::condition::Condition;
use crate::conjunction::Conjunction;
use crate::list::{List, Lists};
use crate::phrase::Pattern;
use crate::plan::{Node, Plan};
use crate::probe::{Answer, Probe, damage_of};
use crate::required::Required;
use crate::scratch::Lent;
use crate::stop::{self, StopRef};
use index::{DocId, IndexError, Segment};
use std::ops::Range;

/// Such a combination being searched on one segment.
pub(crate) struct Mixed<'a> {
    words: Conjunction<'a>,
    /// By list: whether it adds to the score, and how much at most. Others only filter, or are of phrases.
    adds: Vec<Option<f32>>,
    phrases: Vec<Bounded<Pattern<'a>>>,
    /// The phrase that the leader has the scorer of: its scores bound the phrase's, and add nothing.
    led: Option<usize>,
    /// What else is required.
    others: Vec<Bounded<Probe<'a>>>,
    optional: Vec<Bounded<Probe<'a>>>,
    condition: Option<Condition<'a>>,
    /// What each kind of clause adds at most; not known before it is asked for.
    most: Option<Most>,
    /// The threshold at which optional words were last looked at.
    looked_at: f32,
    batch: Lent<Batch>,
    answer: Lent<Answer>,
}

/// A clause, and the most that it adds.
struct Bounded<T> {
    clause: T,
    most: f32,
}

/// The most that the clauses of each kind add together.
#[derive(Debug, Clone, Copy)]
struct Most {
    words: f32,
    phrases: f32,
    others: f32,
    optional: f32,
}

impl Most {
    /// What nothing is known of: anything may enter.
    const UNKNOWN: Most = Most {
        words: f32::INFINITY,
        phrases: f32::INFINITY,
        others: f32::INFINITY,
        optional: f32::INFINITY,
    };

    fn all(&self) -> f32 {
        self.words + self.phrases + self.others + self.optional
    }
}

impl<'a> Mixed<'a> {
    /// Opens a combination that requires a word or a phrase at least; `None` where the segment lacks what is
    /// required.
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
                Some(probe) => others.push(bounded(probe)),
                None => return Ok(None),
            }
        }
        let optional = Probe::open_each(plan, optional, segment, stop)?;
        Ok(Some(Mixed {
            words: Conjunction::new(found.lists),
            adds: found.adds.iter().map(|adds| adds.then_some(0.0)).collect(),
            phrases: found.phrases.into_iter().map(bounded).collect(),
            led: found.led,
            others,
            optional: optional.into_iter().map(bounded).collect(),
            condition,
            most: None,
            looked_at: 0.0,
            batch: Lent::take(),
            answer: Lent::take(),
        }))
    }

    /// The lists of required words, those of phrases too; the shortest first.
    pub(crate) fn lists(&self) -> &Lists<'a> {
        &self.words.lists
    }

    /// Whether something else that is required holds so few documents that it should lead.
    pub(crate) fn is_led_by_many(&self) -> bool {
        let leader = u64::from(self.words.lists[0].cost());
        self.others
            .iter()
            .any(|other| other.clause.cost() * 4 < leader)
    }

    /// Tells `top` what is known of its threshold before anything is read.
    pub(crate) fn raise(&self, segment: &Segment, top: &mut TopK<'a>) {
        let is_free = self.phrases.is_empty() && self.others.is_empty() && self.condition.is_none();
        if let [list] = self.words.lists.as_slice()
            && is_free
            && !segment.has_deletions()
        {
            top.raise(list.floor(top.k()));
        }
    }

    /// Keeps the best in `top`, among the documents of `range`, where hits are wanted; how many match, where
    /// that is.
    pub(crate) fn search(
        &mut self,
        mut range: Range<u32>,
        segment: &Segment,
        top: &mut TopK<'a>,
        wanted: Wanted,
    ) -> Result<u64, IndexError> {
        let counted = wanted.is_counted();
        let work = stop::clauses_work(self.words.lists.len())
            + match self.phrases.is_empty() {
                true => 0,
                false => stop::WINDOW - 1,
            };
        let mut count = 0;
        let mut block = self.words.lists[0].find(DocId(range.start));
        while self.words.is_in_range(block, &range)
            && !top.stop().ends_hits(self.words.start(block), work)
        {
            top.exchange();
            let start = self.words.start(block);
            if !counted && self.require_more(top.threshold()) {
                range.start = range.start.max(start);
                block = self.words.lists[0].find(DocId(range.start));
                continue;
            }
            let least = self.least_of_leader(top);
            let can_enter = wanted.has_hits() && self.can_enter(block, least, top);
            let mut live = 0;
            if counted {
                live = self.match_all(block, &range, can_enter, segment, top.stop());
                if can_enter {
                    let most = self.known_most(top);
                    self.score_words(0, top.threshold(), most.optional);
                }
            } else if can_enter {
                self.match_best(block, &range, least, top);
            }
            if can_enter {
                self.offer(segment, top, wanted);
            }
            if top.stop().is_aborted() {
                top.stop().stop_hits_at(start);
                break;
            }
            count += live;
            block += 1;
        }
        self.damage()?;
        Ok(count)
    }

    /// The most that a document of a range can score.
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

    /// Asks for what each clause adds at most. Those that add much come first among the optional ones.
    fn measure(&mut self) -> Most {
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

    /// What clauses add at most, where there is a threshold to compare it with.
    fn known_most(&mut self, top: &TopK<'_>) -> Most {
        match top.threshold() > 0.0 {
            true => self.measure(),
            false => Most::UNKNOWN,
        }
    }

    /// What a document must score in the leader to enter with the help of everything else; `None` where any
    /// will do.
    fn least_of_leader(&mut self, top: &TopK<'_>) -> Option<f32> {
        let threshold = top.threshold();
        if threshold <= 0.0 || top.k() == 0 {
            return None;
        }
        let most = self.measure();
        let of_leader = match (self.adds[0], self.led) {
            (Some(most), _) => most,
            (None, Some(led)) => self.phrases[led].most,
            (None, None) => 0.0,
        };
        let others = most.all() - of_leader;
        (threshold > others).then_some(threshold - others)
    }

    fn can_enter(&mut self, block: usize, least: Option<f32>, top: &TopK<'_>) -> bool {
        let leader = &mut self.words.lists[0];
        let reaches = |least| !leader.is_bounded() || leader.bound(block) >= least;
        top.k() > 0 && least.is_none_or(reaches)
    }

    /// Makes those optional words required without which nothing can enter any more; whether there are any.
    fn require_more(&mut self, threshold: f32) -> bool {
        // Not true of the threshold that nothing reaches.
        if threshold <= self.looked_at || threshold.is_infinite() {
            return false;
        }
        self.looked_at = threshold;
        let mut most = self.measure();
        let is_needed = |optional: &Bounded<Probe<'_>>| {
            matches!(optional.clause, Probe::List(_)) && threshold > most.all() - optional.most
        };
        let needed: Vec<_> = self.optional.extract_if(.., |one| is_needed(one)).collect();
        let is_any = !needed.is_empty();
        for Bounded {
            clause,
            most: added,
        } in needed
        {
            if let Probe::List(list) = clause {
                self.insert_word(*list, added);
                most.words += added;
                most.optional -= added;
            }
        }
        self.most = Some(most);
        is_any
    }

    fn insert_word(&mut self, list: List<'a>, most: f32) {
        let lists = &mut self.words.lists;
        let at = lists.partition_point(|other| other.cost() < list.cost());
        lists.insert(at, list);
        self.words.matches.reserve(lists.len());
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

    /// Damage met so far.
    fn damage(&mut self) -> Result<(), IndexError> {
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
