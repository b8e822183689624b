//! Oracle for answers when some parts of an index are lost.
//!
//! One process returns all matches of each query in order. The part of each document is derived here from the
//! document's URL. Without some parts, the right answer is the matches of the others.

use crate::client::{Client, get, search_path};
use crate::stage::Stage;
use anyhow::bail;
use std::net::SocketAddr;
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use testkit::MadeUp;
use wire::SearchAnswer;
use wire::answer::Hit;

/// Timeout of the queries.
pub(in crate::checks) const TIMEOUT_MS: u64 = 500;
/// Time after the end of a blow in which its server may still be missing.
const TAKEN_BACK: Duration = Duration::from_secs(2);
/// Number of hits on a page.
const K: usize = 10;
const QUERIES: usize = 200;

struct Question {
    query: String,
    /// All matches, best first, with the part of each.
    matches: Vec<(Hit, usize)>,
}

struct Part {
    chunks: RangeInclusive<u32>,
    documents_count: u64,
}

/// A period in which a part may be missing.
struct Fault {
    part: usize,
    begun: Instant,
    ended: Option<Instant>,
}

/// Results of the judgements.
#[derive(Debug, Clone, Default)]
pub(in crate::checks) struct Counts {
    pub(in crate::checks) asked: u64,
    pub(in crate::checks) flagged: u64,
    /// Incomplete answers without a flag.
    pub(in crate::checks) unflagged: u64,
    /// Answers that flag an unharmed part as missing.
    pub(in crate::checks) flagged_in_vain: u64,
    /// Answers whose hits are not those of the parts that were searched.
    pub(in crate::checks) wrong: u64,
    /// Largest difference of the reported coverage from the true one.
    pub(in crate::checks) coverage_off: f64,
    /// Requests without an answer.
    pub(in crate::checks) failed: u64,
    pub(in crate::checks) strict_answered: u64,
    pub(in crate::checks) nothing_answered: u64,
    pub(in crate::checks) examples: Vec<String>,
}

/// Oracle that knows the right answers.
pub(in crate::checks) struct Judge {
    questions: Vec<Question>,
    parts: Vec<Part>,
    faults: Mutex<Vec<Fault>>,
    counts: Mutex<Counts>,
    strips_flags: bool,
    /// Whether an answer without summaries must still have the right hits.
    judges_without_summaries: bool,
}

impl Judge {
    /// Learns the answers from one process that has everything. With `strips_flags`, answers lose their flags before
    /// they are judged.
    pub(in crate::checks) async fn taught(
        stage: &Stage,
        parts_count: u32,
        one_process: SocketAddr,
        strips_flags: bool,
    ) -> anyhow::Result<Judge> {
        let mut parts: Vec<Part> = stage
            .parts(parts_count)
            .iter()
            .map(|one| part(one))
            .collect();
        let chunks_count = u64::from(stage.chunks_count);
        let part_of = |parts: &[Part], url: &str| {
            let chunk = (document::url_hash(url) % chunks_count) as u32;
            let found = parts.iter().position(|part| part.chunks.contains(&chunk));
            found.unwrap_or(0)
        };
        for document in MadeUp::default().documents(stage.documents_count) {
            let at = part_of(&parts, &document.url);
            parts[at].documents_count += 1;
        }
        let mut questions = Vec::new();
        let mut client = Client::new(one_process);
        for query in MadeUp::default().queries(4 * QUERIES) {
            let path = search_path(&query, "&k=1000&words=all");
            let Ok(answered) = client.get(&path).await else {
                bail!("{path}: no answer from the one process");
            };
            let answer: SearchAnswer = serde_json::from_slice(&answered.body)?;
            // All matches must be known to derive those of some parts.
            if answer.total.value == answer.hits.len() as u64 && answer.hits.len() > K {
                let part = |hit: Hit| {
                    let at = part_of(&parts, &hit.url);
                    (hit, at)
                };
                let matches = answer.hits.into_iter().map(part).collect();
                questions.push(Question { query, matches });
            }
        }
        if questions.len() < QUERIES / 4 {
            bail!("only {} queries are fit to be judged by", questions.len());
        }
        questions.truncate(QUERIES);
        Ok(Judge {
            questions,
            parts,
            faults: Mutex::default(),
            counts: Mutex::default(),
            strips_flags,
            judges_without_summaries: false,
        })
    }

    /// Also judges the hits of answers that lack only summaries: for faults that delay no query.
    pub(in crate::checks) fn judging_hits_without_summaries(mut self) -> Judge {
        self.judges_without_summaries = true;
        self
    }

    pub(in crate::checks) fn fault_begins(&self, part: usize) {
        lock(&self.faults).push(Fault {
            part,
            begun: Instant::now(),
            ended: None,
        });
    }

    pub(in crate::checks) fn fault_ends(&self) {
        if let Some(fault) = lock(&self.faults).last_mut() {
            fault.ended = Some(Instant::now());
        }
    }

    pub(in crate::checks) fn counts(&self) -> Counts {
        lock(&self.counts).clone()
    }

    /// Sends a question and judges the answer.
    pub(in crate::checks) async fn ask(&self, client: &mut Client, number: usize) {
        let question = &self.questions[number % self.questions.len()];
        let path = search_path(
            &question.query,
            &format!("&words=all&k={K}&timeout={TIMEOUT_MS}"),
        );
        let begun = Instant::now();
        let answered = client.get(&path).await;
        let mut counts = lock(&self.counts);
        counts.asked += 1;
        let answer = match answered {
            Ok(answered) if answered.status == 200 => {
                match serde_json::from_slice::<SearchAnswer>(&answered.body) {
                    Ok(answer) => answer,
                    Err(error) => return counts.fail(format!("{path}: {error}")),
                }
            }
            Ok(answered) => {
                let body = String::from_utf8_lossy(&answered.body).into_owned();
                return counts.fail(format!("{path}: {} {body}", answered.status));
            }
            Err(lost) => return counts.fail(format!("{path}: {lost:?}")),
        };
        let answer = match self.strips_flags {
            true => stripped(answer),
            false => answer,
        };
        self.judge(question, &answer, begun, &mut counts);
    }

    fn judge(
        &self,
        question: &Question,
        answer: &SearchAnswer,
        begun: Instant,
        counts: &mut Counts,
    ) {
        let told = |what: &str| {
            format!(
                "{}: {what}; {} hits of {}, coverage {}, {:?}",
                question.query,
                answer.hits.len(),
                answer.total.value,
                answer.coverage,
                answer.degraded
            )
        };
        let is_flagged = !answer.degraded.is_empty() || answer.coverage < 1.0 || answer.timed_out;
        let is_complete = self.is_right(question, answer, &[]);
        if !is_flagged {
            if !is_complete {
                counts.unflagged += 1;
                counts.examples.push(told("incomplete, and not said to be"));
            }
            return;
        }
        counts.flagged += 1;
        let mut missing = Vec::new();
        let (mut documents_lost, mut is_cut_short) = (0, false);
        for degraded in &answer.degraded {
            let at = self
                .parts
                .iter()
                .position(|one| shown(one) == degraded.chunks);
            // While the servers wait for one part, the time of others may run out too: such an answer is incomplete and
            // flagged rightly.
            let is_in_vain = match is_complete {
                true => !self.may_be_missed(at, begun),
                false => !self.may_be_missed(None, begun),
            };
            if is_in_vain {
                counts.flagged_in_vain += 1;
                counts.examples.push(told("nothing had happened to it"));
            }
            if self.judges_without_summaries && degraded.lacks == "summaries" {
                continue;
            }
            // Texts form a part of their own, which the wait for another part may leave no time.
            let Some(at) = at else {
                is_cut_short = true;
                continue;
            };
            if degraded.lacks != "search" {
                is_cut_short = true;
            } else if !missing.contains(&at) {
                let searched = degraded.documents_searched;
                is_cut_short |= searched > 0;
                missing.push(at);
                documents_lost += self.parts[at].documents_count.saturating_sub(searched);
            }
        }
        // A part that was searched up to its deadline returns some of its hits; which ones is unpredictable.
        if !is_cut_short && !self.is_right(question, answer, &missing) {
            counts.wrong += 1;
            counts
                .examples
                .push(told("not the hits that the other parts have"));
        }
        let documents: u64 = self.parts.iter().map(|part| part.documents_count).sum();
        let covered = 1.0 - documents_lost as f64 / documents as f64;
        let off = (answer.coverage - covered).abs();
        counts.coverage_off = counts.coverage_off.max(off);
        if off > 0.01 {
            counts
                .examples
                .push(told(&format!("the coverage is {covered}")));
        }
    }

    /// Returns whether an answer is that of the index without the `missing` parts.
    fn is_right(&self, question: &Question, answer: &SearchAnswer, missing: &[usize]) -> bool {
        let lacks_summaries = self.judges_without_summaries
            && answer.degraded.iter().any(|one| one.lacks == "summaries");
        let left = || {
            let matches = question.matches.iter();
            matches.filter(|(_, part)| !missing.contains(part))
        };
        answer.total.value == left().count() as u64
            && answer.hits.len() == left().take(K).count()
            && answer
                .hits
                .iter()
                .zip(left())
                .all(|(hit, (right, _))| match lacks_summaries {
                    false => hit == right,
                    true => (&hit.url, hit.score) == (&right.url, right.score),
                })
    }

    /// Returns whether `part`, or any part where it is `None`, had a fault.
    fn may_be_missed(&self, part: Option<usize>, begun: Instant) -> bool {
        lock(&self.faults).iter().any(|fault| {
            let is_over = fault.ended.is_some_and(|ended| ended + TAKEN_BACK < begun);
            part.is_none_or(|part| fault.part == part) && fault.begun <= Instant::now() && !is_over
        })
    }

    /// Counts the queries, of `queries_count`, that are answered with 200.
    pub(in crate::checks) async fn count_200(
        &self,
        front_end: SocketAddr,
        queries_count: usize,
        parameters: &str,
    ) -> u64 {
        let mut count = 0;
        for question in self.questions.iter().cycle().take(queries_count) {
            let parameters = format!("&timeout=100{parameters}");
            let path = search_path(&question.query, &parameters);
            // The front-end is up, so a missing answer counts as wrong too.
            let is_right = get(front_end, &path)
                .await
                .is_ok_and(|one| one.status >= 500);
            count += u64::from(!is_right);
        }
        count
    }
}

impl Counts {
    fn fail(&mut self, told: String) {
        self.failed += 1;
        self.examples.push(told);
    }
}

fn stripped(mut answer: SearchAnswer) -> SearchAnswer {
    answer.degraded.clear();
    answer.coverage = 1.0;
    answer.timed_out = false;
    answer.total.exact = true;
    answer
}

/// Parses a part named as `0-3`.
fn part(chunks: &str) -> Part {
    let number = |text: &str| text.parse().unwrap_or(0);
    let (from, to) = chunks.split_once('-').unwrap_or((chunks, chunks));
    Part {
        chunks: number(from)..=number(to),
        documents_count: 0,
    }
}

fn shown(part: &Part) -> String {
    format!("{}-{}", part.chunks.start(), part.chunks.end())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
