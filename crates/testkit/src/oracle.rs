//! Oracle of search results, which tries every document.
//!
//! Written to be checked by reading, not to be fast: it keeps the words of every document and
//! evaluates a query on each by its definition. Scores are made with the same operations in the
//! same order as the search's, so they must be equal to the bit.
use crate::lengths::length_in_a_byte;
use crate::values::values_of;
use corpus::{Document, site_of, url_hash};
use fields::Value;
use index::Field;
use search::parse::{BOOST_MAX, BOOST_MIN};
use search::plan::TELLING_SHARE;
use search::{Query, Ranking};
use text::Analyzer;

/// A hit of the oracle.
#[derive(Debug, Clone, PartialEq)]
pub struct OracleHit {
    /// URL.
    pub url: String,
    /// Hash of the URL.
    pub url_hash: u64,
    /// Score.
    pub score: f32,
}

#[derive(Debug)]
struct OracleDocument {
    url: String,
    site: String,
    text: Vec<Place>,
    title: Vec<Place>,
    /// Values of its fields.
    values: Vec<(String, Value)>,
}

/// Terms of one place: one, but for words that are indexed in several ways.
type Place = Vec<String>;

/// Parameters of scores.
#[derive(Debug, Clone, Copy)]
struct Scale {
    ranking: Ranking,
    grid: f32,
    /// Product of the boosts around the clause.
    boost: f32,
    /// Whether the clause is within a filter or an excluded one.
    only_filters: bool,
}

impl Default for Scale {
    fn default() -> Scale {
        Scale {
            ranking: Ranking::default(),
            grid: 0.0,
            boost: 1.0,
            only_filters: false,
        }
    }
}

/// Returns the boost of a boosted clause within another.
fn product(outer: f32, inner: f32) -> f32 {
    (outer * inner).clamp(BOOST_MIN, BOOST_MAX)
}

/// All live documents, as words.
#[derive(Debug)]
pub struct Oracle {
    documents: Vec<OracleDocument>,
}

/// Splits text into runs of letters and digits, each in lower case.
fn words(text: &str) -> Vec<Place> {
    text.split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| vec![word.chars().flat_map(char::to_lowercase).collect()])
        .collect()
}

/// Splits text into the places of an analyzer; those of `plain` by its definition.
fn places(text: &str, analyzer: Analyzer) -> Vec<Place> {
    if analyzer == Analyzer::Plain {
        return words(text);
    }
    let mut places: Vec<Place> = Vec::new();
    analyzer.each_token(text, &mut String::new(), |token| {
        places.resize_with(token.position as usize + 1, Vec::new);
        places[token.position as usize].push(token.term.to_owned());
    });
    places
}

impl Oracle {
    /// Makes an oracle of documents in the order in which they were added; later ones replace earlier ones.
    pub fn new(batches: &[Vec<Document>], analyzer: Analyzer) -> Oracle {
        let mut documents: Vec<OracleDocument> = Vec::new();
        for document in batches.iter().flatten() {
            documents.retain(|earlier| earlier.url != document.url);
            let title = places(&document.title, analyzer);
            let mut text = title.clone();
            text.extend(places(&document.body, analyzer));
            documents.push(OracleDocument {
                url: document.url.clone(),
                site: site_of(&document.url),
                text,
                title,
                values: values_of(document),
            });
        }
        Oracle { documents }
    }

    /// Returns the number of live documents.
    pub fn documents_count(&self) -> usize {
        self.documents.len()
    }

    /// Returns every matching document, best first, ties by the hash of the URL.
    pub fn rank(&self, query: &Query, ranking: Ranking) -> Vec<OracleHit> {
        let grid = self.grid(query, ranking);
        let mut hits: Vec<OracleHit> = self
            .documents
            .iter()
            .filter_map(|document| {
                let scale = Scale {
                    ranking,
                    grid,
                    ..Scale::default()
                };
                let score = self.score(query, scale, document)?;
                Some(OracleHit {
                    url: document.url.clone(),
                    url_hash: url_hash(&document.url),
                    score,
                })
            })
            .collect();
        hits.sort_by(|a, b| {
            let by_score = b.score.total_cmp(&a.score);
            by_score.then_with(|| a.url_hash.cmp(&b.url_hash))
        });
        hits
    }

    /// Counts the matching documents of a site.
    pub fn count_site(&self, query: &Query, site: &str) -> u64 {
        let matching = self.documents.iter().filter(|document| {
            document.site == site && self.score(query, Scale::default(), document).is_some()
        });
        matching.count() as u64
    }

    /// Returns the score of a document; `None` if it does not match.
    fn score(&self, query: &Query, scale: Scale, document: &OracleDocument) -> Option<f32> {
        let Scale {
            ranking,
            grid,
            boost,
            ..
        } = scale;
        let on_grid = |score: f32| (score + grid) - grid;
        match query {
            Query::Nothing => None,
            Query::Term {
                field: Field::Site,
                term,
                ..
            } => (document.site == *term).then_some(0.0),
            Query::Term {
                field,
                term,
                weight,
            } => {
                let frequency = document
                    .field(*field)
                    .iter()
                    .filter(|w| w.contains(term))
                    .count();
                if frequency == 0 {
                    return None;
                }
                let idf = self.idf(*field, term, ranking);
                Some(on_grid(self.leaf(
                    (ranking, boost),
                    *weight,
                    idf,
                    frequency,
                    *field,
                    document,
                )))
            }
            Query::Pattern { field, pattern } => document
                .field(*field)
                .iter()
                .flatten()
                .any(|word| pattern.matches(word))
                .then_some(on_grid(boost)),
            Query::Phrase { field, terms, slop } => {
                let frequency = phrase_frequency(document.field(*field), terms, *slop);
                if frequency == 0 {
                    return None;
                }
                let mut idf = 0.0f32;
                for term in terms {
                    idf += self.idf(*field, term, ranking);
                }
                Some(on_grid(self.leaf(
                    (ranking, boost),
                    1,
                    idf,
                    frequency,
                    *field,
                    document,
                )))
            }
            Query::Boolean {
                required,
                optional,
                excluded,
            } => {
                let mut sum = 0.0f32;
                for clause in required {
                    sum += self.score(clause, scale, document)?;
                }
                let mut any = !required.is_empty();
                for clause in optional {
                    if let Some(score) = self.score(clause, scale, document) {
                        any = true;
                        sum += score;
                    }
                }
                let unscored = Scale {
                    only_filters: true,
                    ..scale
                };
                let is_excluded = excluded
                    .iter()
                    .any(|clause| self.score(clause, unscored, document).is_some());
                (any && !is_excluded).then_some(sum)
            }
            Query::Value { field, test } => {
                let own = document.values.iter().filter(|(name, _)| name == field);
                own.map(|(_, value)| value)
                    .any(|value| test.passes(value))
                    .then_some(0.0)
            }
            Query::AnyTelling(words) => {
                let most = words.iter().filter_map(|word| self.word_idf(word, ranking));
                let least = TELLING_SHARE * most.fold(0.0, f32::max);
                let (mut sum, mut is_found) = (0.0f32, false);
                for word in words {
                    if let Some(score) = self.score(word, scale, document) {
                        sum += score;
                        let idf = self.word_idf(word, ranking);
                        is_found |= scale.only_filters || idf.is_none_or(|idf| idf >= least);
                    }
                }
                is_found.then_some(sum)
            }
            Query::AtLeast { least, clauses } => {
                let scores = clauses
                    .iter()
                    .filter_map(|c| self.score(c, scale, document));
                let scores: Vec<f32> = scores.collect();
                let is_enough = scores.len() >= (*least).max(1) as usize;
                is_enough.then(|| scores.iter().sum())
            }
            Query::Filter(clause) => {
                let only_filters = true;
                let scale = Scale {
                    only_filters,
                    ..scale
                };
                self.score(clause, scale, document).map(|_| 0.0)
            }
            Query::Boosted { boost, clause } => {
                let boost = product(scale.boost, *boost);
                self.score(clause, Scale { boost, ..scale }, document)
            }
            Query::Named { clause, .. } => self.score(clause, scale, document),
        }
    }

    /// Returns the score of a word or phrase of a frequency in a document.
    fn leaf(
        &self,
        (ranking, boost): (Ranking, f32),
        said: u32,
        idf: f32,
        frequency: usize,
        field: Field,
        document: &OracleDocument,
    ) -> f32 {
        let frequency = frequency as f32;
        let length = length_in_a_byte(document.field(field).len() as u32) as f32;
        match ranking {
            Ranking::Bm25 { k1, b } => {
                let average = self.average_length(field) as f32;
                let inverse = 1.0 / (k1 * (1.0 - b + b * length / average));
                let weight = said as f32 * idf * boost;
                weight - weight / (1.0 + frequency * inverse)
            }
            Ranking::TfIdf => {
                let weight = said as f32 * idf * idf * boost;
                weight * frequency.sqrt() * (1.0 / length.sqrt())
            }
        }
    }

    /// Returns the grid of the scores of a query, from the upper bound on their sum.
    fn grid(&self, query: &Query, ranking: Ranking) -> f32 {
        Ranking::grid(self.most(query, ranking, 1.0))
    }

    fn most(&self, query: &Query, ranking: Ranking, boost: f32) -> f64 {
        let weigh = |said: u32, field: Field, terms: &[&String]| {
            let known = |term: &&String| self.documents.iter().any(|d| d.holds(field, term));
            if field == Field::Site || terms.is_empty() || !terms.iter().all(known) {
                return 0.0;
            }
            let idf = terms
                .iter()
                .fold(0.0, |sum, term| sum + self.idf(field, term, ranking));
            ranking.most(ranking.weight(said, idf) * boost)
        };
        match query {
            Query::Nothing => 0.0,
            Query::Term {
                field,
                term,
                weight,
            } => weigh(*weight, *field, &[term]),
            Query::Pattern { .. } => boost.into(),
            Query::Phrase { field, terms, .. } => {
                weigh(1, *field, &terms.iter().collect::<Vec<_>>())
            }
            Query::Boolean {
                required, optional, ..
            } => {
                let clauses = required.iter().chain(optional);
                let each = clauses.map(|clause| self.most(clause, ranking, boost));
                each.sum()
            }
            Query::AnyTelling(clauses) | Query::AtLeast { clauses, .. } => {
                let each = clauses.iter();
                let each = each.map(|clause| self.most(clause, ranking, boost));
                each.sum()
            }
            Query::Filter(_) | Query::Value { .. } => 0.0,
            Query::Boosted { boost: own, clause } => {
                self.most(clause, ranking, product(boost, *own))
            }
            Query::Named { clause, .. } => self.most(clause, ranking, boost),
        }
    }

    /// Returns the inverse document frequency of a clause that is one word of some document.
    fn word_idf(&self, query: &Query, ranking: Ranking) -> Option<f32> {
        match query {
            Query::Boosted { clause, .. } | Query::Named { clause, .. } => {
                self.word_idf(clause, ranking)
            }
            Query::Term { field, term, .. } if *field != Field::Site => {
                let mut documents = self.documents.iter();
                let is_known = documents.any(|one| one.holds(*field, term));
                is_known.then(|| self.idf(*field, term, ranking))
            }
            _ => None,
        }
    }

    fn idf(&self, field: Field, term: &String, ranking: Ranking) -> f32 {
        let holding = |document: &&OracleDocument| document.holds(field, term);
        let df = self.documents.iter().filter(holding).count() as f64;
        let n = self.documents.len() as f64;
        match ranking {
            Ranking::Bm25 { .. } => (1.0 + (n - df + 0.5) / (df + 0.5)).ln() as f32,
            Ranking::TfIdf => (1.0 + (n / (df + 1.0)).ln()) as f32,
        }
    }

    fn average_length(&self, field: Field) -> f64 {
        let lengths = self.documents.iter().map(|d| d.field(field).len() as f64);
        lengths.sum::<f64>() / self.documents.len() as f64
    }
}

impl OracleDocument {
    fn holds(&self, field: Field, term: &String) -> bool {
        self.field(field).iter().any(|place| place.contains(term))
    }

    fn field(&self, field: Field) -> &[Place] {
        match field {
            Field::Text => &self.text,
            Field::Title => &self.title,
            Field::Site => &[],
        }
    }
}

/// Counts the occurrences of the first word around which the others can be placed, each at its own position, with
/// adjusted positions (position − offset in the phrase) within `slop` of each other.
fn phrase_frequency(text: &[Place], terms: &[String], slop: u32) -> usize {
    (0..text.len())
        .filter(|&place| text[place].contains(&terms[0]))
        .filter(|&place| can_complete(text, terms, i64::from(slop), &mut vec![place]))
        .count()
}

/// Tries every place for the next word.
fn can_complete(text: &[Place], terms: &[String], slop: i64, chosen: &mut Vec<usize>) -> bool {
    let adjusted = |(offset, &place): (usize, &usize)| place as i64 - offset as i64;
    let least = chosen.iter().enumerate().map(adjusted).min().unwrap_or(0);
    let most = chosen.iter().enumerate().map(adjusted).max().unwrap_or(0);
    if most - least > slop {
        return false;
    }
    let next = chosen.len();
    if next == terms.len() {
        return true;
    }
    for place in 0..text.len() {
        // Different words may share a place; one occurrence stands for one word of the phrase.
        let mut so_far = chosen.iter().zip(terms);
        let is_taken = so_far.any(|(&taken, term)| taken == place && *term == terms[next]);
        if !text[place].contains(&terms[next]) || is_taken {
            continue;
        }
        chosen.push(place);
        let found = can_complete(text, terms, slop, chosen);
        chosen.pop();
        if found {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_lose_their_low_bits() {
        for (length, kept) in [
            (0, 0),
            (23, 23),
            (40, 40),
            (41, 40),
            (42, 42),
            (57, 56),
            (200, 200),
        ] {
            assert_eq!(length_in_a_byte(length), kept, "{length}");
        }
    }

    #[test]
    fn later_documents_replace_earlier_ones() {
        let document = |url: &str, body: &str| Document {
            url: url.to_owned(),
            body: body.to_owned(),
            ..Document::default()
        };
        let batches = [
            vec![document("u", "old"), document("v", "old words")],
            vec![document("u", "new")],
        ];
        let oracle = Oracle::new(&batches, Analyzer::Plain);
        let term = |term: &str| Query::Term {
            field: Field::Text,
            term: term.to_owned(),
            weight: 1,
        };
        let urls = |query| {
            let hits = oracle.rank(&query, Ranking::default());
            hits.into_iter().map(|hit| hit.url).collect::<Vec<_>>()
        };
        assert_eq!(oracle.documents_count(), 2);
        assert_eq!(urls(term("old")), ["v"]);
        assert_eq!(urls(term("new")), ["u"]);
    }

    #[test]
    fn slop_counts_the_first_word() {
        let text = words("a x b, b a");
        let terms = ["a", "b"].map(str::to_owned);
        let frequency = |slop| phrase_frequency(&text, &terms, slop);
        assert_eq!([frequency(0), frequency(1), frequency(2)], [0, 1, 2]);
    }
}
