//! Text to terms.

/// A word's term is cut to this many bytes (at a character boundary), in documents and queries alike.
pub const TERM_BYTES_MAX: usize = 1024;

/// How words become terms. A named property of an index.
///
/// A word is a maximal run of `char::is_alphanumeric` characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Analyzer {
    /// Lower-cased words.
    #[default]
    Plain,
    /// Lower-cased words, stemmed (Snowball English).
    English,
}

/// One word of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token<'a> {
    /// The term: what is indexed.
    pub term: &'a str,
    /// Where the word starts in the text, in bytes.
    pub start: usize,
    /// Where it ends, in bytes.
    pub end: usize,
}

impl Analyzer {
    /// Calls `each` for every word of `text`, in order; `buffer` is scratch kept between calls.
    /// Positions are the call's ordinal: word 0, 1, 2, …
    pub fn each_token(self, _text: &str, _buffer: &mut String, _each: impl FnMut(Token<'_>)) {
        unimplemented!()
    }

    /// The terms of `text`, in order.
    pub fn terms(self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.each_token(text, &mut String::new(), |token| {
            terms.push(token.term.to_owned())
        });
        terms
    }

    /// The name in manifests and options.
    pub fn name(self) -> &'static str {
        match self {
            Analyzer::Plain => "plain",
            Analyzer::English => "english",
        }
    }
}
