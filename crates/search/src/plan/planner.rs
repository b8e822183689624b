//! Plan of a query: the clauses with the statistics of one snapshot, everything that scoring needs but the postings.
//!
//! Weights come from statistics of the whole index, so a score depends on no segment, chunk or partition. Scores of clauses lie
//! on a grid ([`crate::plan::ranking`]), so their sums in f32 are exact: the same bits in any order.
use crate::plan::as_written::find_written;
use crate::plan::best::Best;
use crate::plan::node::{
    ClauseName, ConstantNode, Node, PhraseNode, Scoring, TermNode, Word, each_word, urls_node,
    value_node,
};
use crate::plan::pattern_terms::PatternTerms;
use crate::plan::pinned::PinnedDocument;
use crate::plan::priors::PlannedPriors;
use crate::plan::ranking::{Ranking, TermCounts, TermWeight, on_grid};
use crate::plan::rewrite::{at_least, best_of, boolean};
use crate::plan::scales::Scales;
use crate::plan::telling::Telling;
use crate::plan::unscored::{named, unscored, unscored_all};
use crate::query::parse::{BOOST_MAX, BOOST_MIN};
use crate::query::tree::{Pinned, Query, Ruling};
use fields::TextFields;
use index::{Field, IndexError, LookUpStep, Statistics, TermHash, TermStatistics};
use smallvec::SmallVec;
use std::sync::Arc;
use text::Pattern;

/// Query planned for one snapshot. It is cheap to share; all segments of all partitions use it.
#[derive(Debug)]
pub struct Plan {
    pub(crate) root: Node,
    pub(crate) ranking: Ranking,
    /// The grid on which scores are rounded ([`Ranking::grid`]).
    pub(crate) grid: f32,
    pub(crate) scales: Scales,
    pub(crate) priors: PlannedPriors,
    /// What stands before all hits by rules.
    pub(crate) pinned_by: Option<Pinned>,
    /// The documents that do, of all segments ([`Plan::pin`]).
    pub(crate) pinned: Vec<PinnedDocument>,
    pub(super) telling: Telling,
    /// Upper bound on the score of a document that lacks a telling word and holds another, priors included.
    incomplete_most: Option<f32>,
    /// Patterns that stand as the terms of their words, whose words summaries mark.
    pub(super) patterns: Vec<Pattern>,
    pub(crate) documents_count: u64,
    pub(crate) text_fields: Arc<TextFields>,
}

impl Plan {
    /// Looks up statistics and fixes weights.
    pub fn new(
        query: &Query,
        ranking: Ranking,
        statistics: &Statistics,
    ) -> Result<Plan, IndexError> {
        let ranking = ranking.sanitized();
        let mut planner = Planner {
            ranking,
            statistics,
            documents_count: statistics.documents_count(),
            counts_occurrences: ranking.counts_occurrences(),
            scales: Scales::default(),
            beyond_text: Vec::new(),
            most: 0.0,
            boost: 1.0,
            name: None,
            telling: Telling::default(),
            patterns: Vec::new(),
            of_pattern: None,
            marks_terms: true,
            ruling: None,
        };
        let root = planner.scored(query)?;
        let mut root = planner.with_beyond_text(root, 0);
        find_written(&mut root, statistics)?;
        let Ruling { priors, pinned } = planner.ruling.take().unwrap_or_default();
        let priors = PlannedPriors::new(statistics.priors(), priors);
        let most_with_priors = planner.most + priors.most_off_grid();
        let grid = Ranking::grid(most_with_priors);
        Ok(Plan {
            root,
            ranking,
            grid,
            priors: priors.on_grid(grid),
            pinned_by: pinned,
            pinned: Vec::new(),
            scales: planner.scales,
            documents_count: planner.documents_count,
            incomplete_most: planner.telling.incomplete_most(most_with_priors),
            telling: planner.telling,
            patterns: planner.patterns,
            text_fields: Arc::clone(statistics.text_fields()),
        })
    }

    /// Returns the prefix by which a query names a field: `title:`; empty for the text.
    pub(crate) fn label(&self, field: Field) -> String {
        match field {
            Field::Text => String::new(),
            Field::Title => "title:".to_owned(),
            Field::Site => "site:".to_owned(),
            Field::Further(number) => {
                format!("{}:", self.text_fields.name_of(number).unwrap_or_default())
            }
        }
    }

    /// Returns the telling words of [`Query::AnyTelling`] and [`Query::AllTelling`] clauses, as terms, those that no document
    /// holds included.
    pub fn telling_words(&self) -> &[String] {
        &self.telling.words
    }

    /// Returns an upper bound on the scores of documents that match a query but for some of the telling words that it requires
    /// ([`Query::AllTelling`]); `None` where none is known.
    pub fn incomplete_most(&self) -> Option<f32> {
        self.incomplete_most
    }

    /// Upper bound on the score of a clause, without priors.
    pub(crate) fn most(&self, node: &Node) -> f32 {
        let on_grid = |most: f32| on_grid(most, self.grid);
        match node {
            Node::Nothing | Node::All | Node::Filter(_) | Node::Value(_) | Node::Urls(_) => 0.0,
            Node::Term(TermNode {
                weight,
                scoring: Scoring::Constant,
                ..
            }) => on_grid(weight.weight),
            Node::Term(TermNode {
                word: Word { field, .. },
                weight,
                ..
            })
            | Node::Phrase(PhraseNode { field, weight, .. }) => {
                on_grid(self.ranking_of(*field).most(*weight) as f32)
            }
            Node::Pattern(pattern) => on_grid(pattern.weight),
            Node::TitleStart(node) => on_grid(node.most()),
            Node::Boolean {
                required, optional, ..
            } => {
                let scored = required.iter().chain(optional);
                scored.map(|node| self.most(node)).sum()
            }
            Node::AtLeast { clauses, .. } => clauses.iter().map(|node| self.most(node)).sum(),
            Node::BestOf {
                tie_breaker,
                clauses,
            } => {
                let each = clauses.iter().map(|node| self.most(node));
                Best::new(*tie_breaker, self.grid).of_all(each)
            }
            Node::Constant(constant) => on_grid(constant.weight),
        }
    }

    /// Returns the ranking of a field.
    pub(crate) fn ranking_of(&self, field: Field) -> Ranking {
        let scale = self.scales.get(field);
        scale.map_or(self.ranking, |scale| scale.ranking)
    }

    /// Calls `each` for every word whose postings a search reads from the start.
    pub(crate) fn each_word<'a>(&'a self, mut each: impl FnMut(&'a Word)) {
        each_word(&self.root, &mut each);
    }

    /// Returns whether the statistics alone show that no document matches, so that no segment need be searched.
    pub fn matches_nothing(&self) -> bool {
        matches!(self.root, Node::Nothing)
    }
}

/// Planner of the clauses of one query.
pub(super) struct Planner<'a> {
    ranking: Ranking,
    pub(super) statistics: &'a Statistics,
    documents_count: u64,
    /// Whether the model, that of all fields, counts occurrences.
    counts_occurrences: bool,
    scales: Scales,
    /// Scored clauses beside those of the text: its words and phrases in the fields that weigh more. They change no match.
    pub(super) beyond_text: Vec<Node>,
    /// Upper bound on the sum of the scores of all clauses, whether they can match or not.
    pub(super) most: f64,
    /// The product of the boosts around the clause being planned.
    pub(super) boost: f32,
    /// The names around it, joined.
    pub(super) name: ClauseName,
    /// Telling words so far.
    pub(super) telling: Telling,
    /// Patterns so far that stand as the terms of their words.
    pub(super) patterns: Vec<Pattern>,
    /// The pattern whose terms are being planned.
    pub(super) of_pattern: Option<Box<PatternTerms>>,
    /// Whether summaries mark the terms being planned.
    pub(super) marks_terms: bool,
    /// What rules say of the hits.
    ruling: Option<Ruling>,
}

impl Planner<'_> {
    /// Plans a clause that counts for the score.
    pub(super) fn scored(&mut self, query: &Query) -> Result<Node, IndexError> {
        match query {
            Query::Nothing => Ok(Node::Nothing),
            Query::All => Ok(Node::All),
            Query::Term {
                field: Field::Site,
                term,
                ..
            } => self.filter(Field::Site, term),
            Query::Term {
                field,
                term,
                weight,
            } => self.term(*field, term, *weight),
            Query::Pattern { field, pattern } => self.pattern(*field, pattern),
            Query::TitleStart { start, edits } => Ok(self.title_start(start, *edits)),
            Query::Value { field, test } => Ok(value_node(field, test, self.name.clone())),
            Query::Urls(urls) => Ok(urls_node(urls, self.name.clone())),
            Query::Phrase { field, terms, slop } => self.phrase(*field, terms, *slop),
            Query::Boolean {
                required,
                optional,
                excluded,
            } => {
                let before = self.beyond_text.len();
                let required = self.all(required)?;
                let optional = self.alternatives(optional)?;
                let node = boolean(required, optional, unscored_all(excluded));
                if matches!(node, Node::Nothing) {
                    self.beyond_text.truncate(before);
                }
                Ok(node)
            }
            Query::AnyTelling(words) => self.any_telling(words),
            Query::AllTelling(words) => self.all_telling(words),
            Query::AtLeast { least, clauses } => {
                let clauses = self.alternatives(clauses)?;
                Ok(at_least(*least, clauses))
            }
            Query::BestOf {
                clauses,
                tie_breaker,
            } => {
                let clauses = self.each_apart(clauses)?;
                Ok(best_of(*tie_breaker, clauses))
            }
            Query::Constant { score, clause } => self.constant(*score, clause),
            Query::Filter(clause) => self.filtered(clause),
            Query::Boosted { boost, clause } => {
                let before = self.boost;
                self.boost = (before * boost).clamp(BOOST_MIN, BOOST_MAX);
                let node = self.scored(clause);
                self.boost = before;
                node
            }
            Query::Ruled { by, clause } => {
                self.ruling = Some((**by).clone());
                self.scored(clause)
            }
            Query::Named { name, clause } => {
                let before = self.enter_name(name);
                let node = self.scored(clause);
                self.name = before;
                node
            }
        }
    }

    /// Plans a clause that must match and adds nothing to the score.
    fn filtered(&mut self, query: &Query) -> Result<Node, IndexError> {
        match query {
            Query::Term { field, term, .. } => self.filter(*field, term),
            Query::Constant { clause, .. }
            | Query::Filter(clause)
            | Query::Boosted { clause, .. }
            | Query::Ruled { clause, .. } => self.filtered(clause),
            Query::Named { name, clause } => {
                let before = self.enter_name(name);
                let node = self.filtered(clause);
                self.name = before;
                node
            }
            Query::Nothing
            | Query::All
            | Query::Pattern { .. }
            | Query::TitleStart { .. }
            | Query::Value { .. }
            | Query::Urls(_)
            | Query::Phrase { .. } => Ok(named(unscored(query), &self.name)),
            Query::AnyTelling(clauses) | Query::BestOf { clauses, .. } => {
                let clauses = self.filtered_all(clauses)?;
                Ok(boolean(Vec::new(), clauses, Vec::new()))
            }
            Query::AllTelling(clauses) => {
                let clauses = self.filtered_all(clauses)?;
                Ok(boolean(clauses, Vec::new(), Vec::new()))
            }
            Query::AtLeast { least, clauses } => {
                let clauses = self.filtered_all(clauses)?;
                Ok(at_least(*least, clauses))
            }
            Query::Boolean {
                required,
                optional,
                excluded,
            } => {
                let required = self.filtered_all(required)?;
                let optional = self.filtered_all(optional)?;
                Ok(boolean(required, optional, unscored_all(excluded)))
            }
        }
    }

    /// Plans a clause whose matches score alike.
    fn constant(&mut self, score: f32, query: &Query) -> Result<Node, IndexError> {
        let weight = score * self.boost;
        self.most += f64::from(weight);
        let marked = query.marked_words();
        Ok(match self.filtered(query)? {
            Node::Nothing => Node::Nothing,
            Node::Filter(word) => {
                let counts = TermCounts {
                    documents_count: self.documents_count,
                    document_frequency: word.documents_count().unwrap_or(0),
                    ..TermCounts::default()
                };
                let is_marked = !marked.is_empty();
                Node::Term(TermNode {
                    word,
                    query_frequency: 1,
                    counts,
                    idf: 0.0,
                    boost: self.boost,
                    weight: TermWeight { weight, scale: 0.0 },
                    is_marked,
                    written: None,
                    scoring: Scoring::Constant,
                })
            }
            clause => Node::Constant(ConstantNode {
                weight,
                clause: Box::new(clause),
                marked,
                name: self.name.clone(),
            }),
        })
    }

    fn filtered_all(&mut self, queries: &[Query]) -> Result<Vec<Node>, IndexError> {
        queries.iter().map(|query| self.filtered(query)).collect()
    }

    /// Adds a name to those around a clause; returns the names before.
    fn enter_name(&mut self, name: &str) -> ClauseName {
        let entered: Arc<str> = match &self.name {
            Some(outer) => format!("{outer}/{name}").into(),
            None => name.into(),
        };
        self.name.replace(entered)
    }

    /// Prefetches the statistics of some terms, all at once.
    fn prefetch(&self, terms: impl Iterator<Item = TermHash>) {
        let terms: SmallVec<[TermHash; 8]> = terms.collect();
        for step in LookUpStep::ALL {
            terms
                .iter()
                .for_each(|&hash| self.statistics.prefetch(hash, step));
        }
    }

    pub(super) fn prefetch_all(&self, queries: &[Query]) {
        if queries.len() > 1 {
            self.prefetch(queries.iter().filter_map(|query| match query {
                Query::Term { field, term, .. } => Some(TermHash::of(*field, term)),
                _ => None,
            }));
        }
    }

    pub(super) fn all(&mut self, queries: &[Query]) -> Result<Vec<Node>, IndexError> {
        self.prefetch_all(queries);
        let mut nodes = Vec::with_capacity(queries.len());
        for query in queries {
            nodes.push(self.scored(query)?);
        }
        Ok(nodes)
    }

    fn term(&mut self, field: Field, term: &str, query_frequency: u32) -> Result<Node, IndexError> {
        let Some(found) = self.statistics.term(field, term)? else {
            return Ok(Node::Nothing);
        };
        let ranking = self.ranking_in(field);
        let counts = match self.counts_of_pattern(field)? {
            Some(counts) => counts,
            None => self.counts(field, &found)?,
        };
        let idf = ranking.rarity(&counts);
        let weight = self.weigh(ranking, query_frequency, idf);
        let node = Node::Term(TermNode {
            word: Word::found(field, term, idf, &self.name, found),
            query_frequency,
            counts,
            idf,
            boost: self.boost,
            weight,
            is_marked: self.marks_terms,
            written: self.written_as(term),
            scoring: Scoring::Ranked,
        });
        if field == Field::Text {
            self.add_beyond_text(|planner, field| planner.term(field, term, query_frequency))?;
        }
        Ok(node)
    }

    fn filter(&mut self, field: Field, term: &str) -> Result<Node, IndexError> {
        Ok(match self.statistics.term(field, term)? {
            Some(found) => Node::Filter(Word::found(field, term, 0.0, &self.name, found)),
            None => Node::Nothing,
        })
    }

    fn phrase(&mut self, field: Field, terms: &[String], slop: u32) -> Result<Node, IndexError> {
        match terms {
            [] => return Ok(Node::Nothing),
            [term] => return self.term(field, term, 1),
            _ => {}
        }
        self.prefetch(terms.iter().map(|term| TermHash::of(field, term)));
        let ranking = self.ranking_in(field);
        let mut idf = 0.0f32;
        let mut words: Vec<Word> = Vec::with_capacity(terms.len());
        for term in terms {
            let Some(found) = self.statistics.term(field, term)? else {
                return Ok(Node::Nothing);
            };
            let term_idf = ranking.rarity(&self.counts(field, &found)?);
            idf += term_idf;
            words.push(Word::found(field, term, term_idf, &None, found));
        }
        // Sites have no positions, so no phrase occurs there.
        if field == Field::Site {
            return Ok(Node::Nothing);
        }
        let weight = self.weigh(ranking, 1, idf);
        let node = Node::Phrase(PhraseNode {
            field,
            words,
            slop,
            idf,
            boost: self.boost,
            weight,
            name: self.name.clone(),
        });
        if field == Field::Text {
            self.add_beyond_text(|planner, field| planner.phrase(field, terms, slop))?;
        }
        Ok(node)
    }

    fn weigh(&mut self, ranking: Ranking, query_frequency: u32, rarity: f32) -> TermWeight {
        let weight = ranking.weigh(query_frequency, self.boost, rarity);
        self.most += ranking.most(weight);
        weight
    }

    pub(super) fn counts(
        &self,
        field: Field,
        found: &TermStatistics,
    ) -> Result<TermCounts, IndexError> {
        let mut counts = TermCounts {
            documents_count: self.documents_count,
            document_frequency: found.document_frequency,
            ..TermCounts::default()
        };
        if self.counts_occurrences {
            counts.occurrences = self.statistics.occurrences(found)?;
            counts.words = self.statistics.words_count(field);
        }
        Ok(counts)
    }

    /// Returns the ranking of a field in which a clause is scored, and makes its scale at the first.
    pub(super) fn ranking_in(&mut self, field: Field) -> Ranking {
        match self.scales.get(field) {
            Some(scale) => scale.ranking,
            None => self.scales.add(field, self.ranking, self.statistics),
        }
    }
}
