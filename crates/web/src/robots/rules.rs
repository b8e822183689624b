//! Rules of robots.txt for one crawler, and their verdict on a path.
//!
//! The longest pattern that matches decides, allow before disallow where they are as long (RFC 9309, section 2.2.2).
//! Patterns are sorted, so the first match decides; each comparison is linear ([`wildcard`](crate::address::wildcard)),
//! so a verdict costs O(bytes of the rules + rules × bytes of the path).

use super::escape::{escaped_pattern, normal_path, normal_pattern};
use super::lines::extension_name;
use crate::address::wildcard;

/// A rule as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    is_allow: bool,
    line: u32,
    pattern: Box<[u8]>,
}

/// The rules for one crawler.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    rules: Vec<Rule>,
    /// Patterns as Google compares them.
    written: Vec<Compiled>,
    /// Patterns in the normal form of RFC 9309.
    normal: Vec<Compiled>,
    is_specific: bool,
    delay_s: Option<f64>,
    extensions: Vec<(String, String)>,
}

/// A pattern to compare, of the rule with index `rule`.
#[derive(Clone, Debug)]
struct Compiled {
    pattern: Box<[u8]>,
    rule: u32,
}

/// Whether a path may be fetched, and the rule that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict<'a> {
    /// Whether the path may be fetched.
    pub allowed: bool,
    /// The rule that decided; `None` where none matches.
    pub rule: Option<&'a Rule>,
}

impl Rule {
    pub(super) fn new(is_allow: bool, pattern: &[u8], line: u32) -> Self {
        Self {
            is_allow,
            line,
            pattern: pattern.into(),
        }
    }

    /// Returns whether this rule allows.
    pub fn is_allow(&self) -> bool {
        self.is_allow
    }

    /// Returns the number of its line, from 1.
    pub fn line(&self) -> u32 {
        self.line
    }
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kind = if self.is_allow { "Allow" } else { "Disallow" };
        write!(f, "{kind}: {}", String::from_utf8_lossy(&self.pattern))
    }
}

impl Rules {
    pub(super) fn new(
        rules: impl Iterator<Item = Rule>,
        is_specific: bool,
        delay_s: Option<f64>,
        extensions: Vec<(String, String)>,
    ) -> Self {
        let rules: Vec<Rule> = rules.collect();
        let written = compiled(&rules, escaped_pattern);
        let normal = compiled(&rules, normal_pattern);
        Self {
            rules,
            written,
            normal,
            is_specific,
            delay_s,
            extensions,
        }
    }

    /// Decides whether `path_and_query` may be fetched. `/robots.txt` always may.
    ///
    /// Google compares patterns as written, RFC 9309 in a normal form; a path is allowed where both allow it.
    /// Exact: equal to [`Rules::allows_slowly`] in answer and rule.
    pub fn allows(&self, path_and_query: &str) -> Verdict<'_> {
        let path = path_and_query.as_bytes();
        if path == b"/robots.txt" {
            return Verdict {
                allowed: true,
                rule: None,
            };
        }
        let verdict = self.first(&self.written, path);
        if verdict.allowed {
            self.first(&self.normal, &normal_path(path)).or(verdict)
        } else {
            verdict
        }
    }

    /// Returns the slow twin of [`Rules::allows`]: compares each pattern with each place of the path and keeps the
    /// best.
    pub fn allows_slowly(&self, path_and_query: &str) -> Verdict<'_> {
        let path = path_and_query.as_bytes();
        if path == b"/robots.txt" {
            return Verdict {
                allowed: true,
                rule: None,
            };
        }
        let best = |patterns: &[Compiled], path: &[u8]| {
            let mut best: Option<(usize, &Rule)> = None;
            for compiled in patterns
                .iter()
                .filter(|c| wildcard::matches_slowly(&c.pattern, path))
            {
                let (length, rule) = (compiled.pattern.len(), &self.rules[compiled.rule as usize]);
                let beats = |(other_length, other): (usize, &Rule)| {
                    (length, rule.is_allow, other.line) > (other_length, other.is_allow, rule.line)
                };
                if best.is_none_or(beats) {
                    best = Some((length, rule));
                }
            }
            Verdict {
                allowed: best.is_none_or(|(_, rule)| rule.is_allow),
                rule: best.map(|(_, rule)| rule),
            }
        };
        let verdict = best(&self.written, path);
        if verdict.allowed {
            best(&self.normal, &normal_path(path)).or(verdict)
        } else {
            verdict
        }
    }

    /// Returns the delay between two fetches, in seconds, as written: it may exceed what a crawler is ready to wait.
    pub fn crawl_delay(&self) -> Option<f64> {
        self.delay_s
    }

    /// Returns whether a group names the crawler; else the rules are those for `*`.
    pub fn is_specific(&self) -> bool {
        self.is_specific
    }

    /// Returns the rules as written, in their order.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Returns the values of the extension `name`, such as `request-rate` or `content-signal`: those of the crawler's
    /// groups, and those that hold for the whole file. Case, `-` and other signs of the name do not matter.
    pub fn extension<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> {
        let name = extension_name(name.as_bytes());
        self.extensions
            .iter()
            .filter(move |(key, _)| *key == name)
            .map(|(_, value)| value.as_str())
    }

    /// Returns the verdict of the first pattern that matches.
    fn first(&self, patterns: &[Compiled], path: &[u8]) -> Verdict<'_> {
        let found = patterns
            .iter()
            .find(|compiled| wildcard::matches(&compiled.pattern, path));
        let rule = found.map(|compiled| &self.rules[compiled.rule as usize]);
        Verdict {
            allowed: rule.is_none_or(|rule| rule.is_allow),
            rule,
        }
    }
}

impl<'a> Verdict<'a> {
    /// Returns this verdict, with the rule of `other` where no rule decided here.
    fn or(self, other: Self) -> Self {
        Self {
            allowed: self.allowed,
            rule: self.rule.or(other.rule),
        }
    }
}

/// Returns the patterns of `rules` in the form that `form` gives, the longest first, then allow, then by line.
fn compiled(rules: &[Rule], form: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Compiled> {
    let mut compiled = Vec::with_capacity(rules.len());
    for (idx, rule) in rules.iter().enumerate() {
        let pattern = form(&rule.pattern);
        if let Some(folder) = index_folder(&pattern).filter(|_| rule.is_allow) {
            compiled.push(Compiled {
                pattern: folder.into(),
                rule: idx as u32,
            });
        }
        compiled.push(Compiled {
            pattern: pattern.into(),
            rule: idx as u32,
        });
    }
    // Stable: what is as long and of one kind stays in the order of lines.
    compiled.sort_by_key(|c| {
        (
            std::cmp::Reverse(c.pattern.len()),
            !rules[c.rule as usize].is_allow,
        )
    });
    compiled
}

/// Returns `/folder/$` for `/folder/index.html`: who allows the page allows the folder that shows it, as Google reads
/// it.
fn index_folder(pattern: &[u8]) -> Option<Vec<u8>> {
    let slash = memchr::memrchr(b'/', pattern)?;
    pattern[slash..]
        .starts_with(b"/index.htm")
        .then(|| [&pattern[..=slash], b"$"].concat())
}
