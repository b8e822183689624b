//! Allow and deny rules of a scope.
//!
//! pattern := path | suffix | address
//! path    := ("/" | "*") …       as in robots.txt: a prefix of path and query, `*` for any bytes, a final `$` for the end
//! suffix  := "." …               end of the path without its query, in any case, as `.pdf`
//! address := "http" ["s"] "://" host [":" port] ["/" …]     a path pattern of one origin
//!
//! Example in TOML: `rules = [{ deny = "/private/" }, { allow = "https://other.example/docs/" }, { deny = ".zip" }]`.

use serde::{Deserialize, Serialize};

use super::canonical::CanonicalUrl;
use super::error::AddressError;
use super::percent;
use super::wildcard;

/// A rule as it is written in a configuration.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RuleForm {
    /// URLs that match are visited, if nothing before refuses them.
    Allow(String),
    /// URLs that match are not visited.
    Deny(String),
}

/// A rule ready to be compared.
#[derive(Clone, Debug)]
pub struct Rule {
    form: RuleForm,
    pattern: Pattern,
}

#[derive(Clone, Debug)]
enum Pattern {
    Path(String),
    Suffix(String),
    Address { origin: String, path: String },
}

impl Rule {
    /// Reads `form`, the rule at position `index` from 1.
    pub fn new(form: RuleForm, index: usize) -> Result<Self, AddressError> {
        let (RuleForm::Allow(text) | RuleForm::Deny(text)) = &form;
        let pattern = match text.as_bytes().first() {
            Some(b'/' | b'*') => Pattern::Path(percent::normal(text)),
            Some(b'.') => Pattern::Suffix(text.to_ascii_lowercase()),
            _ if text.starts_with("http://") || text.starts_with("https://") => address(text)?,
            _ => {
                return Err(AddressError::Rule {
                    index,
                    pattern: text.clone(),
                });
            }
        };
        Ok(Self { form, pattern })
    }

    /// Returns whether this rule allows.
    pub fn is_allow(&self) -> bool {
        matches!(self.form, RuleForm::Allow(_))
    }

    /// Returns whether this rule names an origin of its own.
    pub fn has_origin(&self) -> bool {
        matches!(self.pattern, Pattern::Address { .. })
    }

    /// Returns the rule as written.
    pub fn form(&self) -> &RuleForm {
        &self.form
    }

    /// Returns whether `url` matches, in time linear in both.
    pub fn matches(&self, url: &CanonicalUrl) -> bool {
        let in_path =
            |pattern: &str| wildcard::matches(pattern.as_bytes(), url.path_and_query().as_bytes());
        match &self.pattern {
            Pattern::Path(pattern) => in_path(pattern),
            Pattern::Suffix(suffix) => {
                let path = url.path().as_bytes();
                let tail = path.len().checked_sub(suffix.len()).map(|at| &path[at..]);
                tail.is_some_and(|tail| tail.eq_ignore_ascii_case(suffix.as_bytes()))
            }
            Pattern::Address { origin, path } => url.origin() == origin && in_path(path),
        }
    }
}

impl std::fmt::Display for RuleForm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Allow(pattern) => write!(f, "allow {pattern}"),
            Self::Deny(pattern) => write!(f, "deny {pattern}"),
        }
    }
}

/// Splits off the path by hand: parsing it would encode its `*`, resolve its dots and drop what is listed.
fn address(text: &str) -> Result<Pattern, AddressError> {
    let host = text.find("://").map_or(0, |at| at + 3);
    let slash = text[host..].find('/').map_or(text.len(), |at| host + at);
    let origin = CanonicalUrl::parse(&text[..slash])?.origin().to_owned();
    let path = if slash < text.len() {
        &text[slash..]
    } else {
        "/"
    };
    Ok(Pattern::Address {
        origin,
        path: percent::normal(path),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, url: &str, expected: bool) {
        let rule = Rule::new(RuleForm::Deny(pattern.into()), 1).unwrap();
        assert_eq!(
            rule.matches(&CanonicalUrl::parse(url).unwrap()),
            expected,
            "{pattern} {url}"
        );
    }

    #[test]
    fn patterns_of_each_kind() {
        check("/a/", "https://h/a/b", true);
        check("/a/", "https://h/b/a/", false);
        check("*.html$", "https://h/x.html", true);
        check("*.html$", "https://h/x.html?y", false);
        check(".PDF", "https://h/x.pdf?y", true);
        check(".pdf", "https://h/pdf", false);
        check("https://H:443/a*z", "https://h/abz", true);
        check("https://h", "https://h/abz", true);
        check("https://h/", "http://h/", false);
        check("/%7Eme", "https://h/%7eme", true);
    }

    #[test]
    fn other_patterns_are_refused() {
        for pattern in ["", "a/b", "ftp://h/", "http://"] {
            assert!(
                Rule::new(RuleForm::Allow(pattern.into()), 3).is_err(),
                "{pattern}"
            );
        }
    }
}
