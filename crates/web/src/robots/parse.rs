//! Parsed robots.txt: groups of rules, crawl delays, sitemaps and extensions.
//!
//! Rules belong to a group: the user-agent lines since the last rule. A crawl delay or an extension belongs to a block,
//! the user-agent lines directly above it, and ends no group (RFC 9309, section 2.2.4).

use std::borrow::Cow;

use super::agent;
use super::lines::{Key, Line, extension_name, lines};
use super::rules::{Rule, Rules};

/// Greatest number of bytes of robots.txt that are read.
pub const ROBOTS_BYTES_MAX: usize = 512 * 1024;

/// Extensions that hold for the whole file, wherever they stand.
const GLOBAL_EXTENSIONS: &[&str] = &["cleanparam", "contentsignal", "host", "llmpolicy"];

/// A parsed robots.txt.
#[derive(Clone, Debug, Default)]
pub struct Robots {
    agents: Vec<Agent>,
    rules: Vec<GroupRule>,
    delays: Vec<BlockValue<f64>>,
    extensions: Vec<Extension>,
    sitemaps: Vec<String>,
    stats: Stats,
}

/// Counts of a file's lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Lines with user-agent, allow, disallow or sitemap.
    pub valid_directives: u32,
    /// Lines with another key.
    pub unknown_directives: u32,
    /// Number of the last line with a key, from 1.
    pub last_line: u32,
    /// Lines of which a part was ignored, because they are too long.
    pub cut_lines: u32,
    /// Bytes beyond [`ROBOTS_BYTES_MAX`], which were ignored.
    pub ignored_bytes: usize,
}

/// A user-agent line: the value, and the group and the block that it belongs to.
#[derive(Clone, Debug)]
struct Agent {
    value: Box<[u8]>,
    group: u32,
    block: u32,
}

#[derive(Clone, Debug)]
struct GroupRule {
    group: u32,
    line: u32,
    is_allow: bool,
    pattern: Box<[u8]>,
}

#[derive(Clone, Debug)]
struct BlockValue<T> {
    block: u32,
    value: T,
}

#[derive(Clone, Debug)]
struct Extension {
    name: String,
    value: String,
    /// `None`: it holds for the whole file.
    block: Option<u32>,
}

/// Context from the lines above the current one.
#[derive(Default)]
struct Place {
    group: u32,
    block: u32,
    after_rule: bool,
    after_agent: bool,
}

impl Robots {
    /// Parses `bytes`; any bytes are a robots.txt.
    pub fn parse(bytes: &[u8]) -> Self {
        let kept = &bytes[..bytes.len().min(ROBOTS_BYTES_MAX)];
        let mut robots = Self::default();
        robots.stats.ignored_bytes = bytes.len() - kept.len();
        let mut place = Place::default();
        for line in lines(&utf8(kept)) {
            robots.add(line, &mut place);
        }
        robots
    }

    /// Returns the rules for the crawler `product_token`: those of all groups that name it, else those for `*`.
    pub fn rules(&self, product_token: &str) -> Rules {
        let token = agent::own_token(product_token);
        let mut own: Vec<&Agent> = self
            .agents
            .iter()
            .filter(|agent| agent::is_named(&agent.value, token))
            .collect();
        let is_specific = !own.is_empty();
        if !is_specific {
            own = self
                .agents
                .iter()
                .filter(|agent| agent::is_wildcard(&agent.value))
                .collect();
        }
        // Both numbers rise from line to line, so these are sorted.
        let groups: Vec<u32> = own.iter().map(|agent| agent.group).collect();
        let blocks: Vec<u32> = own.iter().map(|agent| agent.block).collect();
        let rules = self
            .rules
            .iter()
            .filter(|rule| groups.binary_search(&rule.group).is_ok());
        let rules = rules.map(|rule| Rule::new(rule.is_allow, &rule.pattern, rule.line));
        let delay_s = self
            .delays
            .iter()
            .find(|delay| blocks.binary_search(&delay.block).is_ok());
        let holds = |ext: &&Extension| {
            ext.block
                .is_none_or(|block| blocks.binary_search(&block).is_ok())
        };
        let extensions = self
            .extensions
            .iter()
            .filter(holds)
            .map(|ext| (ext.name.clone(), ext.value.clone()));
        Rules::new(
            rules,
            is_specific,
            delay_s.map(|delay| delay.value),
            extensions.collect(),
        )
    }

    /// Returns the sitemaps as written, relative ones too, each once.
    pub fn sitemaps(&self) -> &[String] {
        &self.sitemaps
    }

    /// Returns the counts of the file's lines.
    pub fn stats(&self) -> Stats {
        self.stats
    }

    fn add(&mut self, line: Line<'_>, place: &mut Place) {
        self.stats.last_line = line.number;
        self.stats.cut_lines += u32::from(line.is_cut);
        match line.key {
            Key::CrawlDelay | Key::Other => self.stats.unknown_directives += 1,
            _ => self.stats.valid_directives += 1,
        }
        match line.key {
            Key::UserAgent => {
                place.group += u32::from(place.after_rule);
                place.block += u32::from(!place.after_agent);
                (place.after_rule, place.after_agent) = (false, true);
                self.agents.push(Agent {
                    value: line.value.into(),
                    group: place.group,
                    block: place.block,
                });
            }
            Key::Allow | Key::Disallow if place.block > 0 => {
                (place.after_rule, place.after_agent) = (true, false);
                if !line.value.is_empty() {
                    let is_allow = line.key == Key::Allow;
                    let pattern = line.value.into();
                    self.rules.push(GroupRule {
                        group: place.group,
                        line: line.number,
                        is_allow,
                        pattern,
                    });
                }
            }
            Key::Allow | Key::Disallow => {}
            Key::Sitemap => self.add_sitemap(text(&line.value)),
            Key::CrawlDelay => {
                place.after_agent = false;
                if let Some(value) = seconds(&line.value).filter(|_| place.block > 0) {
                    self.delays.push(BlockValue {
                        block: place.block,
                        value,
                    });
                }
            }
            Key::Other => self.add_other(&line, place),
        }
    }

    fn add_other(&mut self, line: &Line<'_>, place: &mut Place) {
        let name = line.name.to_ascii_lowercase();
        if matches!(name.as_slice(), b"http" | b"https") {
            // A sitemap whose key was forgotten.
            let url = format!("{}:{}", text(&line.name), text(&line.value));
            if url.to_ascii_lowercase().contains("sitemap") {
                self.add_sitemap(url);
            }
            return;
        }
        let name = extension_name(&name);
        let is_global = GLOBAL_EXTENSIONS.contains(&name.as_str());
        place.after_agent &= is_global;
        if is_global || place.block > 0 {
            let block = (!is_global).then_some(place.block);
            self.extensions.push(Extension {
                name,
                value: text(&line.value),
                block,
            });
        }
    }

    fn add_sitemap(&mut self, url: String) {
        // Few files have more than a handful; beyond, a sitemap listed twice is harmless.
        let seen = self.sitemaps.len() < 1_000 && self.sitemaps.contains(&url);
        if !url.is_empty() && !seen {
            self.sitemaps.push(url);
        }
    }
}

/// Returns UTF-16 with a byte-order mark as UTF-8, other bytes as they are.
fn utf8(bytes: &[u8]) -> Cow<'_, [u8]> {
    let unit: fn([u8; 2]) -> u16 = match bytes {
        [0xFF, 0xFE, ..] => u16::from_le_bytes,
        [0xFE, 0xFF, ..] => u16::from_be_bytes,
        _ => return Cow::Borrowed(bytes),
    };
    let units = bytes[2..]
        .chunks_exact(2)
        .map(|pair| unit([pair[0], pair[1]]));
    let text: String = char::decode_utf16(units)
        .map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect();
    Cow::Owned(text.into_bytes())
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Reads a delay such as `10`, `0.5` or `10 seconds`.
fn seconds(value: &[u8]) -> Option<f64> {
    let end = value
        .iter()
        .position(|b| !(b.is_ascii_digit() || *b == b'.'))
        .unwrap_or(value.len());
    let number: f64 = std::str::from_utf8(&value[..end.min(32)])
        .ok()?
        .parse()
        .ok()?;
    number.is_finite().then_some(number)
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
