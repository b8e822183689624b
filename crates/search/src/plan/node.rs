//! Clauses of a plan: terms with their statistics and places, and combinations of them.

use crate::plan::ranking::{TermCounts, TermWeight};
use fields::Test;
use index::{
    CodeRange, Column, DocId, Field, IndexError, LookUpStep, Segment, TermHash, TermPlace,
    TermPlaces, TermRecord, TermStatistics, WrittenTerm,
};
use std::sync::Arc;
use text::Pattern;
use text::summary::Marked;

/// The score of every document of a pattern, whatever the words, before boosts.
pub(crate) const PATTERN_SCORE: f32 = 1.0;

/// One clause of a plan.
#[derive(Debug)]
pub(crate) enum Node {
    Nothing,
    /// All documents, which adds nothing to the score.
    All,
    Term(TermNode),
    /// Term that filters and adds nothing to the score.
    Filter(Word),
    Pattern(PatternNode),
    TitleStart(TitleStartNode),
    Value(ValueNode),
    Urls(UrlsNode),
    Phrase(PhraseNode),
    Boolean {
        required: Vec<Node>,
        optional: Vec<Node>,
        excluded: Vec<Node>,
    },
    /// At least `least` of the clauses. All of them can match; 2 <= `least` < their number.
    AtLeast {
        least: usize,
        clauses: Vec<Node>,
    },
    /// Any of the clauses, scored by the best ([`Best`](crate::plan::best::Best)). All of them can match; two or more.
    BestOf {
        tie_breaker: f32,
        clauses: Vec<Node>,
    },
    Constant(ConstantNode),
}

impl Node {
    /// Returns the word of a clause that is one term.
    pub(crate) fn word(&self) -> Option<&Word> {
        match self {
            Node::Term(term) => Some(&term.word),
            Node::Filter(word) => Some(word),
            _ => None,
        }
    }
}

/// Term, with the places of its postings where planning looked them up.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) field: Field,
    pub(crate) term: String,
    /// Inverse document frequency, where planning computed it.
    pub(crate) idf: f32,
    /// Name of the clause, for explanations.
    pub(crate) name: ClauseName,
    places: Places,
}

/// Postings of a word in the segments.
#[derive(Debug)]
enum Places {
    /// Planning looked them up.
    Found(TermPlaces),
    /// Planning did not look them up; each segment does, by this hash.
    Sought(TermHash),
}

/// Name of a clause, preceded by the names of the combinations around it.
pub(crate) type ClauseName = Option<Arc<str>>;

impl Word {
    pub(crate) fn new(field: Field, term: &str) -> Word {
        Word {
            field,
            term: term.to_owned(),
            idf: 0.0,
            name: None,
            places: Places::Sought(TermHash::of(field, term)),
        }
    }

    /// Makes a word whose postings planning found.
    pub(crate) fn found(
        field: Field,
        term: &str,
        idf: f32,
        name: &ClauseName,
        found: TermStatistics,
    ) -> Word {
        Word {
            field,
            term: term.to_owned(),
            idf,
            name: name.clone(),
            places: Places::Found(found.places),
        }
    }

    /// Returns the documents that hold the word, deleted ones included; `None` where planning did not look it up.
    pub(crate) fn documents_count(&self) -> Option<u64> {
        let Places::Found(places) = &self.places else {
            return None;
        };
        let counts = places
            .iter()
            .map(|place| u64::from(place.record.documents_count));
        Some(counts.sum())
    }

    /// Prefetches the dictionary entries that a look-up in a segment reads.
    #[inline]
    pub(crate) fn prefetch(&self, segment: &Segment, step: LookUpStep) {
        if let Places::Sought(hash) = self.places {
            segment.prefetch_term(hash, step);
        }
    }

    /// Returns the record in a segment, if the term occurs there.
    pub(crate) fn record(&self, segment: &Segment) -> Result<Option<TermRecord>, IndexError> {
        let Places::Found(places) = &self.places else {
            return segment.term(self.field, &self.term);
        };
        let number = segment.number();
        // Frequent words are in all segments.
        let is_it = |place: &&TermPlace| place.segment == number;
        let place = places.get(number as usize).filter(is_it).or_else(|| {
            let at = places.binary_search_by_key(&number, |place| place.segment);
            at.ok().map(|at| &places[at])
        });
        Ok(place.map(|place| place.record))
    }
}

/// The way in which a term scores its documents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Scoring {
    /// By the ranking.
    Ranked,
    /// Every document scores the weight.
    Constant,
}

#[derive(Debug)]
pub(crate) struct TermNode {
    pub(crate) word: Word,
    pub(crate) query_frequency: u32,
    pub(crate) counts: TermCounts,
    pub(crate) idf: f32,
    pub(crate) boost: f32,
    pub(crate) weight: TermWeight,
    /// Whether summaries mark the term.
    pub(crate) is_marked: bool,
    /// Word as written for which the term of a pattern stands, where it is not the term.
    pub(crate) written: Option<Box<str>>,
    pub(crate) scoring: Scoring,
}

#[derive(Debug)]
pub(crate) struct PhraseNode {
    pub(crate) field: Field,
    pub(crate) words: Vec<Word>,
    pub(crate) slop: u32,
    pub(crate) idf: f32,
    pub(crate) boost: f32,
    /// 0 where it only filters.
    pub(crate) weight: TermWeight,
    pub(crate) name: ClauseName,
}

/// Test of the values of a field, which adds nothing to the score.
#[derive(Debug)]
pub(crate) struct ValueNode {
    pub(crate) field: String,
    pub(crate) test: Test,
    pub(crate) name: ClauseName,
}

impl ValueNode {
    /// Opens the column of the field and the codes that pass; `None` where no value of the segment does.
    pub(crate) fn open<'a>(
        &self,
        segment: &'a Segment,
    ) -> Result<Option<(Column<'a>, CodeRange)>, IndexError> {
        let column = segment.column(&self.field)?;
        Ok(column.and_then(|column| Some((column, column.range(&self.test)?))))
    }
}

/// Documents of some URLs, which adds nothing to the score.
#[derive(Debug)]
pub(crate) struct UrlsNode {
    pub(crate) urls: Vec<String>,
    /// Documents of each segment that has any, in increasing order, by the number of the segment.
    pub(crate) documents: Vec<(u32, Vec<DocId>)>,
    pub(crate) name: ClauseName,
}

impl UrlsNode {
    /// Returns the documents of a segment.
    pub(crate) fn documents_of(&self, segment: &Segment) -> &[DocId] {
        let number = segment.number();
        let found = self.documents.iter().find(|(of, _)| *of == number);
        found.map_or(&[], |(_, documents)| documents)
    }

    /// Returns the number of documents of all segments.
    pub(crate) fn documents_count(&self) -> u64 {
        let counts = self.documents.iter();
        counts.map(|(_, documents)| documents.len() as u64).sum()
    }
}

#[derive(Debug)]
pub(crate) struct PatternNode {
    pub(crate) field: Field,
    pub(crate) pattern: Pattern,
    /// Terms of words that match as written, of the whole index.
    pub(crate) as_written: Vec<WrittenTerm>,
    /// The score of every document that matches; 0 where it only filters.
    pub(crate) weight: f32,
    pub(crate) name: ClauseName,
}

/// Titles that begin with a text.
#[derive(Debug)]
pub(crate) struct TitleStartNode {
    pub(crate) start: String,
    pub(crate) edits: u8,
    /// Factor of the score; 0 where it only filters.
    pub(crate) weight: f32,
}

impl TitleStartNode {
    /// Upper bound on the score.
    pub(crate) fn most(&self) -> f32 {
        2.0 * self.weight
    }
}

/// Clause of more than one term whose matches score alike.
#[derive(Debug)]
pub(crate) struct ConstantNode {
    /// The score of every document that matches, before it is on a grid.
    pub(crate) weight: f32,
    /// The clause, which only filters.
    pub(crate) clause: Box<Node>,
    /// Words of the clause that summaries mark.
    pub(crate) marked: Vec<Marked>,
    pub(crate) name: ClauseName,
}

/// Makes the clause of a pattern.
pub(crate) fn pattern_node(field: Field, pattern: &Pattern, weight: f32, name: ClauseName) -> Node {
    Node::Pattern(PatternNode {
        field,
        pattern: pattern.clone(),
        as_written: Vec::new(),
        weight,
        name,
    })
}

/// Makes the clause of the documents of some URLs.
pub(crate) fn urls_node(urls: &[String], name: ClauseName) -> Node {
    Node::Urls(UrlsNode {
        urls: urls.to_vec(),
        documents: Vec::new(),
        name,
    })
}

/// Makes the clause of a test of values.
pub(crate) fn value_node(field: &str, test: &Test, name: ClauseName) -> Node {
    Node::Value(ValueNode {
        field: field.to_owned(),
        test: test.clone(),
        name,
    })
}

/// Calls `each` for every word below a clause whose postings a search reads from the start.
pub(crate) fn each_word<'a>(node: &'a Node, each: &mut impl FnMut(&'a Word)) {
    match node {
        Node::Nothing
        | Node::All
        | Node::Pattern(_)
        | Node::TitleStart(_)
        | Node::Value(_)
        | Node::Urls(_) => {}
        Node::Term(term) => each(&term.word),
        Node::Filter(word) => each(word),
        Node::Phrase(phrase) => phrase.words.iter().for_each(each),
        Node::Boolean {
            required,
            optional,
            excluded,
        } => {
            for clause in required.iter().chain(optional).chain(excluded) {
                each_word(clause, each);
            }
        }
        Node::AtLeast { clauses, .. } | Node::BestOf { clauses, .. } => {
            clauses.iter().for_each(|clause| each_word(clause, each));
        }
        Node::Constant(constant) => each_word(&constant.clause, each),
    }
}
