//! Oracle of search results, which tries every document.
//!
//! Written to be checked by reading, not to be fast: it keeps the words of every document and
//! evaluates a query on each by its definition. Scores are made with the same operations in the
//! same order as the search's, so they must be equal to the bit.
mod most;
mod patterns;
mod rule_priors;
mod sums;
mod telling;
mod titles;
mod values;
mod written;

use crate::lengths::length_in_a_byte;
use crate::places::{Place, phrase_frequency, places};
use crate::values::values_of;
use document::{Document, PartNames, site_of, url_hash};
use fields::{Priors, Schema, TextFields, Value, each_leaf};
use index::Field;
use search::{Query, Ranking};
use std::collections::BTreeMap;
use sums::{best_of, product};
use text::Analyzer;
use titles::title_start;
use values::{append, words_of};
use written::WrittenWords;

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
    /// Title as given.
    whole_title: String,
    /// Words of further fields, by number.
    further: BTreeMap<u8, Vec<Place>>,
    /// Words as written, with their terms.
    written: WrittenWords,
    /// Values of its fields.
    values: Vec<(String, Value)>,
}

/// Parameters of scores.
#[derive(Debug, Clone, Copy)]
struct Scale<'a> {
    ranking: Ranking,
    grid: f32,
    /// Product of the boosts around the clause.
    boost: f32,
    /// Whether the clause is within a filter or an excluded one.
    only_filters: bool,
    /// Terms that are all as rare as the commonest of them.
    alike: &'a [String],
}

impl Default for Scale<'_> {
    fn default() -> Self {
        Scale {
            ranking: Ranking::default(),
            grid: 0.0,
            boost: 1.0,
            only_filters: false,
            alike: &[],
        }
    }
}

/// All live documents, as words.
#[derive(Debug)]
pub struct Oracle {
    documents: Vec<OracleDocument>,
    /// Those of all documents.
    written: WrittenWords,
    text_fields: TextFields,
    priors: Priors,
}

impl Oracle {
    /// Makes an oracle of documents in the order in which they were added; later ones replace earlier ones. `schema` says
    /// which further fields are searched, and which fields have priors.
    pub fn new(batches: &[Vec<Document>], analyzer: Analyzer, schema: &Schema) -> Oracle {
        let text_fields = schema.text_fields();
        let mut documents: Vec<OracleDocument> = Vec::new();
        for document in batches.iter().flatten() {
            documents.retain(|earlier| earlier.url != document.url);
            let title = places(&document.title, analyzer);
            let mut text = title.clone();
            text.extend(places(&document.body, analyzer));
            let mut further: BTreeMap<u8, Vec<Place>> = BTreeMap::new();
            let mut written = WrittenWords::default();
            written.add(Field::Text, &document.title, analyzer);
            written.add(Field::Text, &document.body, analyzer);
            let parts = PartNames::of(&document.fields);
            each_leaf(&document.fields, &mut |path, value| {
                let Some((kind, value)) = words_of(schema, path, value) else {
                    return;
                };
                let own = schema.searched(path);
                let of_field = own.and_then(|own| own.analyzer).unwrap_or(analyzer);
                // Title and body are in the text already, whatever their names.
                if own.is_none_or(|own| own.weight > 0.0) && !parts.has(path) {
                    append(&mut text, kind, places(&value, analyzer));
                    written.add(Field::Text, &value, analyzer);
                }
                if let Some(own) = own {
                    let field = further.entry(own.number).or_default();
                    append(field, kind, places(&value, of_field));
                    written.add(Field::Further(own.number), &value, of_field);
                }
            });
            documents.push(OracleDocument {
                url: document.url.clone(),
                site: site_of(&document.url),
                text,
                title,
                whole_title: document.title.clone(),
                further,
                written,
                values: values_of(document),
            });
        }
        let mut written = WrittenWords::default();
        documents.iter().for_each(|of| written.join(&of.written));
        Oracle {
            documents,
            written,
            text_fields,
            priors: schema.priors(),
        }
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
                let score = self.score(query, scale, document)?
                    + self.prior(document, grid)
                    + self.rule_prior(query, document, grid);
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
    fn score(&self, query: &Query, scale: Scale<'_>, document: &OracleDocument) -> Option<f32> {
        let Scale {
            ranking,
            grid,
            boost,
            alike,
            ..
        } = scale;
        let on_grid = |score: f32| (score + grid) - grid;
        match query {
            Query::Nothing => None,
            Query::All => Some(0.0),
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
                let idf = self.idf(*field, term, ranking, alike);
                let own =
                    on_grid(self.leaf((ranking, boost), *weight, idf, frequency, *field, document));
                let beyond = self.beyond_text(*field, boost, |field, boost| {
                    let (term, weight) = (term.clone(), *weight);
                    let query = Query::Term {
                        field,
                        term,
                        weight,
                    };
                    self.score(&query, Scale { boost, ..scale }, document)
                });
                Some(own + beyond.into_iter().flatten().sum::<f32>())
            }
            Query::Pattern { field, pattern } => match self.best_of_pattern(*field, pattern) {
                Some(best) => {
                    let alike = &best.alike;
                    self.score(&best.query, Scale { alike, ..scale }, document)
                }
                None => (document.field(*field).iter().flatten())
                    .any(|term| self.is_of_pattern(*field, pattern, term))
                    .then_some(on_grid(boost)),
            },
            Query::TitleStart { start, edits } => {
                let score = title_start(&document.whole_title, start, *edits)?;
                Some(on_grid(score * boost))
            }
            Query::Phrase { field, terms, slop } => {
                let frequency = phrase_frequency(document.field(*field), terms, *slop);
                if frequency == 0 {
                    return None;
                }
                let mut idf = 0.0f32;
                for term in terms {
                    idf += self.idf(*field, term, ranking, &[]);
                }
                let own = on_grid(self.leaf((ranking, boost), 1, idf, frequency, *field, document));
                let beyond = self.beyond_text(*field, boost, |field, boost| {
                    let (terms, slop) = (terms.clone(), *slop);
                    let query = Query::Phrase { field, terms, slop };
                    self.score(&query, Scale { boost, ..scale }, document)
                });
                Some(own + beyond.into_iter().flatten().sum::<f32>())
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
            Query::AnyTelling(words) => self.telling(words, false, scale, document),
            Query::AllTelling(words) => self.telling(words, true, scale, document),
            Query::AtLeast { least, clauses } => {
                let scores = clauses
                    .iter()
                    .filter_map(|c| self.score(c, scale, document));
                let scores: Vec<f32> = scores.collect();
                let is_enough = scores.len() >= (*least).max(1) as usize;
                is_enough.then(|| scores.iter().sum())
            }
            Query::BestOf {
                clauses,
                tie_breaker,
            } => {
                let scores = clauses
                    .iter()
                    .filter_map(|c| self.score(c, scale, document));
                let scores: Vec<f32> = scores.collect();
                (!scores.is_empty()).then(|| best_of(&scores, *tie_breaker, grid))
            }
            Query::Constant { score, clause } => {
                let unscored = Scale {
                    only_filters: true,
                    ..scale
                };
                let is_found = self.score(clause, unscored, document).is_some();
                is_found.then(|| on_grid(score * boost))
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
            Query::Urls(urls) => urls.contains(&document.url).then_some(0.0),
            Query::Ruled { clause, .. } | Query::Named { clause, .. } => {
                self.score(clause, scale, document)
            }
        }
    }

    /// Returns what `each` returns for every field that weighs more than the text, given the boost of a clause there;
    /// nothing for clauses of other fields than the text.
    fn beyond_text<R>(&self, field: Field, boost: f32, each: impl Fn(Field, f32) -> R) -> Vec<R> {
        if field != Field::Text {
            return Vec::new();
        }
        let weighted = self.text_fields.weighted();
        weighted
            .map(|settings| {
                let field = Field::of_number(settings.number);
                each(field, product(boost, settings.weight - 1.0))
            })
            .collect()
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
        let length = length_in_a_byte(document.words_count(field) as u32) as f32;
        match ranking {
            Ranking::Bm25 { k1, b } => {
                let own_b = self.text_fields.get(field.number()).and_then(|one| one.b);
                let b = own_b.unwrap_or(b);
                let average = self.average_length(field) as f32;
                let inverse = 1.0 / (k1 * (1.0 - b + b * length / average));
                let weight = said as f32 * idf * boost;
                weight - weight / (1.0 + frequency * inverse)
            }
            Ranking::TfIdf => {
                let weight = said as f32 * idf * idf * boost;
                weight * frequency.sqrt() * (1.0 / length.sqrt())
            }
            Ranking::Dirichlet { mu } => {
                let scale = (f64::from(idf).exp() / f64::from(mu)).min(1e28) as f32;
                let likelihood = (1.0 + frequency * scale) * (mu / (mu + length));
                said as f32 * boost * f64::from(likelihood.max(1.0)).ln() as f32
            }
        }
    }

    /// Returns the addition of a document's values to its score, whatever the query.
    fn prior(&self, document: &OracleDocument, grid: f32) -> f32 {
        let of_field = |name: &str| {
            let own = document.values.iter().filter(|(field, _)| field == name);
            let numbers = own.filter_map(|(_, value)| match value {
                Value::Integer(number) => Some(*number as f64),
                Value::Float(number) => Some(*number),
                _ => None,
            });
            numbers.fold(0.0, f64::max)
        };
        let priors = self.priors.iter().map(|(name, prior)| {
            let value = of_field(name);
            let added = f64::from(prior.weight) * (value / (value + prior.pivot));
            (added as f32 + grid) - grid
        });
        priors.sum()
    }

    /// Returns the inverse document frequency of a term, or that of the commonest of those that are `alike`.
    fn idf(&self, field: Field, term: &String, ranking: Ranking, alike: &[String]) -> f32 {
        let term = self.commonest(field, alike).unwrap_or(term);
        let holding = |document: &&OracleDocument| document.holds(field, term);
        let df = self.documents.iter().filter(holding).count() as f64;
        let n = self.documents.len() as f64;
        match ranking {
            Ranking::Bm25 { .. } => (1.0 + (n - df + 0.5) / (df + 0.5)).ln() as f32,
            Ranking::TfIdf => (1.0 + (n / (df + 1.0)).ln()) as f32,
            Ranking::Dirichlet { .. } => {
                let places = self.documents.iter().flat_map(|one| one.field(field));
                let occurrences = places.filter(|place| place.contains(term)).count() as f64;
                let words = self.documents.iter().map(|one| one.words_count(field));
                ((words.sum::<usize>() as f64 + 1.0) / (occurrences + 1.0)).ln() as f32
            }
        }
    }

    fn average_length(&self, field: Field) -> f64 {
        let lengths = self.documents.iter().map(|d| d.words_count(field) as f64);
        lengths.sum::<f64>() / self.documents.len() as f64
    }
}

impl OracleDocument {
    fn holds(&self, field: Field, term: &String) -> bool {
        self.field(field).iter().any(|place| place.contains(term))
    }

    fn words_count(&self, field: Field) -> usize {
        values::words_count(field, self.field(field))
    }

    fn field(&self, field: Field) -> &[Place] {
        match field {
            Field::Text => &self.text,
            Field::Title => &self.title,
            Field::Site => &[],
            Field::Further(number) => self.further.get(&number).map_or(&[], Vec::as_slice),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        let oracle = Oracle::new(&batches, Analyzer::Plain, &Schema::default());
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
}
