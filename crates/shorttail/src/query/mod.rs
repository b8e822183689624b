//! Typed query: a tree of clauses, which an index reads with its analyzer and its fields.

mod form;
mod lower;
mod values;

pub(crate) use lower::{Lowered, lowered};
pub use values::FieldValue;

use search::nested;
use serde::{Deserialize, Serialize};
use std::ops::{Bound, RangeBounds};
use values::ValueTest;

/// Query: a text in the language of queries, or clauses that a program makes.
///
/// Words, phrases and patterns are of the whole text (title, body and further texts), or of one
/// [field](Query::in_field). Clauses on values and sites select documents, and add nothing to scores.
///
/// ```
/// use shorttail::{Document, Index, Query};
/// # let directory = tempfile::tempdir()?;
/// # let index = Index::create(directory.path())?;
/// # let mut writer = index.writer()?;
/// # for (number, body) in ["a short tail", "a long tail", "a short story"].into_iter().enumerate() {
/// #     writer.add(Document::new(format!("https://a.example/{number}")).body(body).field("price", number))?;
/// # }
/// # writer.commit()?;
/// let query = Query::all_of([Query::words("tail"), Query::range("price", ..1)]);
/// assert_eq!(index.search(query)?.total.value, 1);
///
/// let query = Query::any_of([Query::phrase("short tail").boost(3.0), Query::prefix("stor")]);
/// assert_eq!(index.search(query)?.total.value, 2);
///
/// // As a value: a text, or an object of one key.
/// let read: Query = serde_json::from_str(r#"{"boolean":{"required":["tail"],"excluded":[{"words":{"text":"long"}}]}}"#)?;
/// assert_eq!(index.search(read)?.total.value, 1);
///
/// // The same as a text and as clauses.
/// let typed = Query::words("tail").and_not(Query::words("long"));
/// assert_eq!(index.search(typed)?.hits, index.search("tail -long")?.hits);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Query(Node);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Node {
    Text(String),
    All {},
    Words(Words),
    Value {
        field: String,
        test: ValueTest,
    },
    Site {
        name: String,
        #[serde(default = "yes")]
        with_subdomains: bool,
    },
    Urls(Vec<String>),
    Boolean {
        #[serde(
            default,
            deserialize_with = "nested",
            skip_serializing_if = "Vec::is_empty"
        )]
        required: Vec<Query>,
        #[serde(
            default,
            deserialize_with = "nested",
            skip_serializing_if = "Vec::is_empty"
        )]
        optional: Vec<Query>,
        #[serde(
            default,
            deserialize_with = "nested",
            skip_serializing_if = "Vec::is_empty"
        )]
        excluded: Vec<Query>,
    },
    AtLeast {
        least: u32,
        #[serde(deserialize_with = "nested")]
        clauses: Vec<Query>,
    },
    BestOf {
        #[serde(deserialize_with = "nested")]
        clauses: Vec<Query>,
        #[serde(default)]
        tie_breaker: f32,
    },
    Constant {
        score: f32,
        #[serde(deserialize_with = "nested")]
        clause: Box<Query>,
    },
    Filter(#[serde(deserialize_with = "nested")] Box<Query>),
    Boosted {
        boost: f32,
        #[serde(deserialize_with = "nested")]
        clause: Box<Query>,
    },
    Named {
        name: String,
        #[serde(deserialize_with = "nested")]
        clause: Box<Query>,
    },
}

/// Words of a text, before they are analysed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// `None` is the whole text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    field: Option<String>,
    text: String,
    #[serde(default, rename = "as")]
    form: Form,
}

#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Form {
    #[default]
    All,
    Any,
    AtLeast(u16),
    Phrase {
        #[serde(default)]
        slop: u32,
    },
    Prefix,
    Wildcard,
    Regex,
    /// Edits; `None` for as many as the length of the word allows.
    Near(Option<u8>),
}

fn yes() -> bool {
    true
}

impl Query {
    /// Returns the query that a text is in the language of queries, which users type: `short "long tail" -story
    /// price:<3`. Any text is a query; what was not understood is among the warnings of the answer.
    pub fn text(text: impl Into<String>) -> Query {
        Query(Node::Text(text.into()))
    }

    /// Returns the query for documents with all words of a text, which has no syntax.
    pub fn words(text: impl Into<String>) -> Query {
        Query::of_words(text, Form::All)
    }

    /// Returns the query for documents with any word of a text, which has no syntax.
    pub fn any_word(text: impl Into<String>) -> Query {
        Query::of_words(text, Form::Any)
    }

    /// Returns the query for documents with at least `least` of the words of a text, which has no syntax.
    pub fn some_words(least: u16, text: impl Into<String>) -> Query {
        Query::of_words(text, Form::AtLeast(least.max(1)))
    }

    /// Returns the query for documents with words one after another.
    pub fn phrase(text: impl Into<String>) -> Query {
        Query::near_phrase(text, 0)
    }

    /// Returns the query for documents with the words of a phrase after up to `slop` moves of a word, 64 at most.
    pub fn near_phrase(text: impl Into<String>, slop: u32) -> Query {
        Query::of_words(text, Form::Phrase { slop })
    }

    /// Returns the query for documents with words that begin with a text.
    pub fn prefix(text: impl Into<String>) -> Query {
        Query::of_words(text, Form::Prefix)
    }

    /// Returns the query for documents with words of a pattern: `?` is one character, `*` any number.
    pub fn wildcard(pattern: impl Into<String>) -> Query {
        Query::of_words(pattern, Form::Wildcard)
    }

    /// Returns the query for documents with words that a regular expression matches as a whole.
    pub fn regex(regex: impl Into<String>) -> Query {
        Query::of_words(regex, Form::Regex)
    }

    /// Returns the query for documents with a word, or one that differs in one letter, two in a word of six or more.
    pub fn near(word: impl Into<String>) -> Query {
        Query::of_words(word, Form::Near(None))
    }

    /// Returns the query for documents with a word, or one that differs in up to `edits` letters, two at most.
    pub fn near_within(edits: u8, word: impl Into<String>) -> Query {
        Query::of_words(word, Form::Near(Some(edits)))
    }

    /// Returns the query for all documents, as the text `*` does. It adds nothing to scores.
    pub fn all() -> Query {
        Query(Node::All {})
    }

    fn of_words(text: impl Into<String>, form: Form) -> Query {
        Query(Node::Words(Words {
            field: None,
            text: text.into(),
            form,
        }))
    }

    /// Returns the filter for documents with a value in a field. A date means its span: `2024` is the year.
    pub fn equals(field: impl Into<String>, value: impl Into<FieldValue>) -> Query {
        Query::of_value(field, ValueTest::Equals(value.into()))
    }

    /// Returns the filter for documents with a value of a field in a range.
    pub fn range<V>(field: impl Into<String>, range: impl RangeBounds<V>) -> Query
    where
        V: Clone + Into<FieldValue>,
    {
        let end = |bound: Bound<&V>| match bound {
            Bound::Included(value) => Some((value.clone().into(), true)),
            Bound::Excluded(value) => Some((value.clone().into(), false)),
            Bound::Unbounded => None,
        };
        let (low, high) = (end(range.start_bound()), end(range.end_bound()));
        Query::of_value(field, ValueTest::Range { low, high })
    }

    /// Returns the filter for documents with a keyword in a field that begins with a text.
    pub fn starts_with(field: impl Into<String>, start: impl Into<String>) -> Query {
        Query::of_value(field, ValueTest::Prefix(start.into()))
    }

    /// Returns the filter for documents with any value in a field.
    pub fn exists(field: impl Into<String>) -> Query {
        Query::of_value(field, ValueTest::Exists)
    }

    fn of_value(field: impl Into<String>, test: ValueTest) -> Query {
        let field = field.into();
        Query(Node::Value { field, test })
    }

    /// Returns the filter for documents of a site and of its subdomains.
    pub fn site(name: impl Into<String>) -> Query {
        Query(Node::Site {
            name: name.into(),
            with_subdomains: true,
        })
    }

    /// Returns the filter for documents of a site, without its subdomains.
    pub fn exact_site(name: impl Into<String>) -> Query {
        Query(Node::Site {
            name: name.into(),
            with_subdomains: false,
        })
    }

    /// Returns the filter for the documents of some URLs, 1,000 at most.
    pub fn urls(urls: impl IntoIterator<Item = impl Into<String>>) -> Query {
        Query(Node::Urls(urls.into_iter().map(Into::into).collect()))
    }

    /// Returns the query for documents that match all clauses.
    pub fn all_of(clauses: impl IntoIterator<Item = Query>) -> Query {
        Query::combined(clauses.into_iter().collect(), Vec::new(), Vec::new())
    }

    /// Returns the query for documents that match any of the clauses.
    pub fn any_of(clauses: impl IntoIterator<Item = Query>) -> Query {
        Query::combined(Vec::new(), clauses.into_iter().collect(), Vec::new())
    }

    /// Returns the query for documents that match at least `least` of the clauses.
    pub fn at_least(least: u32, clauses: impl IntoIterator<Item = Query>) -> Query {
        let clauses = clauses.into_iter().collect();
        Query(Node::AtLeast { least, clauses })
    }

    /// Returns the query for documents that match any of the clauses, scored by the best of those that they match instead of their
    /// sum, as for a word that may be in one of several fields. [`tie_breaker`](Query::tie_breaker) adds a share of the others.
    ///
    /// ```
    /// use shorttail::{Document, Index, Query};
    /// # let directory = tempfile::tempdir()?;
    /// # let index = Index::create(directory.path())?;
    /// # let mut writer = index.writer()?;
    /// # for (number, (title, body)) in [("short", "tails"), ("tails", "short"), ("none", "other")].into_iter().enumerate() {
    /// #     writer.add(Document::new(format!("https://a.example/{number}")).title(title).body(body))?;
    /// # }
    /// # writer.commit()?;
    /// let clauses = || [Query::words("short").in_field("title").boost(2.0), Query::words("short")];
    /// let (best, sum) = (Query::best_of(clauses()), Query::any_of(clauses()));
    /// let [first, _] = &index.search(best.clone())?.hits[..] else { panic!("two documents match") };
    /// assert!(first.score < index.search(sum)?.hits[0].score);
    /// assert!(first.score < index.search(best.tie_breaker(0.3))?.hits[0].score);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn best_of(clauses: impl IntoIterator<Item = Query>) -> Query {
        let clauses = clauses.into_iter().collect();
        let tie_breaker = 0.0;
        Query(Node::BestOf {
            clauses,
            tie_breaker,
        })
    }

    /// Returns the query with the share of the scores of the clauses beside the best that counts: from 0, the best clause alone,
    /// to 1, the sum of all. It changes a [`best_of`](Query::best_of), boosted or named perhaps, and no other query.
    #[must_use]
    pub fn tie_breaker(mut self, share: f32) -> Query {
        self.set_tie_breaker(share);
        self
    }

    fn set_tie_breaker(&mut self, share: f32) {
        match &mut self.0 {
            Node::BestOf { tie_breaker, .. } => *tie_breaker = share,
            Node::Boosted { clause, .. } | Node::Named { clause, .. } => {
                clause.set_tie_breaker(share);
            }
            _ => {}
        }
    }

    fn combined(required: Vec<Query>, optional: Vec<Query>, excluded: Vec<Query>) -> Query {
        Query(Node::Boolean {
            required,
            optional,
            excluded,
        })
    }

    /// Returns the query for documents that match this one and another.
    #[must_use]
    pub fn and(self, other: Query) -> Query {
        Query::combined(vec![self, other], Vec::new(), Vec::new())
    }

    /// Returns the query for documents that match this one, better where they match another too.
    #[must_use]
    pub fn and_better(self, other: Query) -> Query {
        Query::combined(vec![self], vec![other], Vec::new())
    }

    /// Returns the query for documents that match this one, and not another.
    #[must_use]
    pub fn and_not(self, other: Query) -> Query {
        Query::combined(vec![self], Vec::new(), vec![other])
    }

    /// Returns the query that selects the same documents and adds nothing to their scores.
    #[must_use]
    pub fn filter(self) -> Query {
        Query(Node::Filter(Box::new(self)))
    }

    /// Returns the query that selects the same documents and scores each `score`, 0.000001 to 1,000,000, whatever it matches. A
    /// boost multiplies that.
    ///
    /// ```
    /// use shorttail::{Document, Index, Query};
    /// # let directory = tempfile::tempdir()?;
    /// # let index = Index::create(directory.path())?;
    /// # let mut writer = index.writer()?;
    /// # for (number, body) in ["short tail", "short short short"].into_iter().enumerate() {
    /// #     writer.add(Document::new(format!("https://a.example/{number}")).body(body).field("year", 2000 + number))?;
    /// # }
    /// # writer.commit()?;
    /// let recent = Query::range("year", 2001..).constant_score(1.5);
    /// let hits = index.search(Query::words("short").constant_score(1.0).and_better(recent))?.hits;
    /// assert_eq!(hits.iter().map(|hit| hit.score).collect::<Vec<_>>(), [2.5, 1.0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn constant_score(self, score: f32) -> Query {
        let clause = Box::new(self);
        Query(Node::Constant { score, clause })
    }

    /// Returns the query with its scores multiplied, by 0.000001 to 1,000,000.
    #[must_use]
    pub fn boost(self, boost: f32) -> Query {
        Query(Node::Boosted {
            boost,
            clause: Box::new(self),
        })
    }

    /// Returns the query with a name, which explanations repeat.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Query {
        Query(Node::Named {
            name: name.into(),
            clause: Box::new(self),
        })
    }

    /// Returns the query for words of a field alone: `title`, or a further field of text. It changes words, phrases and
    /// patterns, within combinations too, that have no field yet.
    #[must_use]
    pub fn in_field(mut self, name: impl Into<String>) -> Query {
        self.set_field(&name.into());
        self
    }

    fn set_field(&mut self, name: &str) {
        match &mut self.0 {
            Node::Words(words) => {
                words.field.get_or_insert_with(|| name.to_owned());
            }
            Node::Boolean {
                required,
                optional,
                excluded,
            } => {
                let all = required.iter_mut().chain(optional).chain(excluded);
                all.for_each(|clause| clause.set_field(name));
            }
            Node::AtLeast { clauses, .. } | Node::BestOf { clauses, .. } => {
                clauses.iter_mut().for_each(|clause| clause.set_field(name));
            }
            Node::Constant { clause, .. }
            | Node::Filter(clause)
            | Node::Boosted { clause, .. }
            | Node::Named { clause, .. } => clause.set_field(name),
            Node::Text(_)
            | Node::All {}
            | Node::Value { .. }
            | Node::Site { .. }
            | Node::Urls(_) => {}
        }
    }

    /// Returns the text of a query that is one.
    pub(crate) fn as_text(&self) -> Option<&str> {
        match &self.0 {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl From<&str> for Query {
    fn from(text: &str) -> Query {
        Query::text(text)
    }
}

impl From<String> for Query {
    fn from(text: String) -> Query {
        Query::text(text)
    }
}
