//! Banner for the gaps of an answer, in words for users.
//!
//! Each kind of loss has one sentence, whatever the number of servers; the JSON has the message of each
//! server.

use super::times::thousands;
use crate::api::options;
use crate::api::options::SearchOptions;
use crate::http::page::url::local;
use std::time::Duration;
use wire::SearchAnswer;
use wire::answer::Degraded;

/// Upper limit on the ranges of chunks in a sentence; further ones are counted.
const RANGES_MAX: usize = 8;

/// Banner above a partial answer.
pub(super) struct Missing {
    pub(super) sentences: Vec<String>,
    /// Link to the same search.
    pub(super) again: String,
    /// Link to the same search with a longer timeout, if time was the cause.
    pub(super) longer: Option<String>,
}

/// Losses of the same kind with the same reason.
struct Group<'a> {
    lacks: &'a str,
    reason: &'a str,
    ranges: Vec<&'a str>,
    documents_searched: u64,
    documents_count: u64,
}

/// Returns the banner of an answer; `None` if the answer is whole.
pub(super) fn missing(answer: &SearchAnswer, options: &SearchOptions) -> Option<Missing> {
    if answer.degraded.is_empty() && answer.coverage >= 1.0 && !answer.timed_out {
        return None;
    }
    let mut sentences = Vec::new();
    if answer.coverage < 1.0 {
        let percent = match (answer.coverage * 100.0).floor() {
            0.0 if answer.coverage > 0.0 => "Less than 1 %".to_owned(),
            percent => format!("Only {percent:.0} %"),
        };
        sentences.push(format!("{percent} of the documents were searched."));
    }
    sentences.extend(groups(&answer.degraded).iter().map(Group::sentence));
    if sentences.is_empty() {
        sentences.push("Time was over before everything was done.".to_owned());
    }
    let link = |options| local("./", &super::settings::pairs(&answer.query, &options));
    let longer = options.timeout.filter(|_| answer.timed_out);
    Some(Missing {
        sentences,
        again: link(options.clone()),
        longer: longer.map(|timeout| {
            link(SearchOptions {
                timeout: Some(longer_than(timeout)),
                ..options.clone()
            })
        }),
    })
}

/// Returns ten times the timeout: a smaller increase would often fail again.
fn longer_than(timeout: Duration) -> Duration {
    timeout.saturating_mul(10).min(options::TIMEOUT_SHOWN_MAX)
}

fn groups(degraded: &[Degraded]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for one in degraded {
        let alike = |group: &&mut Group<'_>| group.lacks == one.lacks && group.reason == one.reason;
        let at = match groups.iter_mut().find(alike) {
            Some(group) => group,
            None => {
                groups.push(Group {
                    lacks: &one.lacks,
                    reason: &one.reason,
                    ranges: Vec::new(),
                    documents_searched: 0,
                    documents_count: 0,
                });
                // The group was just pushed.
                let last = groups.len() - 1;
                &mut groups[last]
            }
        };
        if !at.ranges.contains(&one.chunks.as_str()) {
            at.ranges.push(&one.chunks);
        }
        at.documents_searched += one.documents_searched;
        at.documents_count += one.documents_count;
    }
    groups
}

impl Group<'_> {
    fn sentence(&self) -> String {
        let (chunks, why) = (self.chunks(), self.why());
        let (searched, count) = (self.documents_searched, self.documents_count);
        match self.lacks {
            "search" if searched > 0 => format!(
                "In {chunks}, {} of {} documents were searched: {why}.",
                thousands(searched),
                thousands(count)
            ),
            "search" => {
                let documents = match count {
                    0 => String::new(),
                    1 => " (1 document)".to_owned(),
                    _ => format!(" ({} documents)", thousands(count)),
                };
                format!("Nothing was searched in {chunks}{documents}: {why}.")
            }
            "count" => format!("Not all matches were counted in {chunks}: {why}."),
            "details" => format!("Hits of {chunks} are left out: {why}."),
            "summaries" => format!("Some hits of {chunks} are without their text: {why}."),
            "facets" => {
                format!("The facets are left out, because {chunks} were not counted: {why}.")
            }
            _ => format!("Something of {chunks} is missing: {why}."),
        }
    }

    fn why(&self) -> &'static str {
        match self.reason {
            "deadline" => "time was over",
            "damaged" => "the index there cannot be read",
            "overloaded" => "the servers there have too much to do",
            _ => "no server there answers",
        }
    }

    fn chunks(&self) -> String {
        let is_one = self.ranges.len() == 1 && !self.ranges[0].contains('-');
        let shown = &self.ranges[..self.ranges.len().min(RANGES_MAX)];
        let more = match self.ranges.len() - shown.len() {
            0 => String::new(),
            more => format!(" and {more} further parts"),
        };
        let word = if is_one { "chunk" } else { "chunks" };
        format!("{word} {}{more}", shown.join(", "))
    }
}

#[cfg(test)]
mod tests;
