//! Law of states: what an outcome makes of a record. Pure; the frontier and its twin share it.
//!
//! A page leaves the index only for 404 or 410 twice at least 24 hours apart, for robots.txt, a rule or noindex,
//! and because it moved or is a duplicate. Any other failure keeps what the index has.
use super::record::Record;
use super::state::{Failure, Parked, Refusal, State};
use super::visit::{Deletion, Effect, Outcome};
use crate::politeness::TimeMs;
use crate::recrawl::{HostRate, RecrawlLaw, change_rate};
use xxhash_rust::xxh3::xxh3_64_with_seed;

const DAY_MS: f64 = 86_400_000.0;
/// Distance of the two answers 404 or 410 that delete a page.
pub(super) const GONE_MS: u64 = 86_400_000;
/// First wait after a failure; each further one waits four times longer, twice where the host wants fewer requests.
const RETRY_MS_FIRST: u64 = 60_000;
/// Longest wait after a failure.
const RETRY_MS_MAX: u64 = 3 * 86_400_000;
/// Longest wait where the host wants fewer requests: that of its own backoff.
const THROTTLED_MS_MAX: u64 = 3_600_000;
/// A wait is longer by up to this part of itself.
const SPREAD_PART: u64 = 4;

/// Inputs of the recrawl law.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recrawl<'a> {
    pub(super) law: &'a RecrawlLaw,
    pub(super) threshold: f64,
}

/// Returns the time at which the URL is due. `again_at` is the start of a crawl that visits every URL once more.
pub(super) fn effective_due(record: &Record, again_at: TimeMs) -> TimeMs {
    let is_revisited = record.due != TimeMs::NEVER && record.state != State::Elsewhere;
    if is_revisited && record.last < again_at {
        return record.due.min(again_at);
    }
    record.due
}

/// Returns the record after `outcome`. Counts a revisit in `host`.
pub(super) fn apply(
    record: &mut Record,
    host: &mut HostRate,
    outcome: &Outcome,
    recrawl: Recrawl<'_>,
    now: TimeMs,
) -> Effect {
    // The epoch itself stands for "never".
    let now = now.max(TimeMs(1)).max(record.last);
    let before = record.last;
    record.last = now;
    if record.first == TimeMs(0) {
        record.first = now;
    }
    if !matches!(outcome, Outcome::Gone { .. } | Outcome::Failed { .. }) {
        record.gone_since = None;
    }
    if !matches!(outcome, Outcome::Failed { .. }) {
        record.failures = 0;
    }
    match outcome {
        Outcome::Fetched {
            status,
            took_ms,
            text_hash,
            noindex,
            validators,
            place,
            ..
        } => {
            answered(record, *status, *took_ms);
            let changed = record.text_hash != Some(*text_hash);
            record.text_hash = Some(*text_hash);
            record.validators = validators.clone();
            record.place = Some(*place);
            revisited(record, host, !changed, before, now);
            if *noindex {
                let refusal = Refusal::NoIndex;
                due_by_law(record, host, recrawl, now);
                return delete(record, State::Refused(refusal), Deletion::Refused(refusal));
            }
            record.state = State::Fetched;
            due_by_law(record, host, recrawl, now);
            let indexed_before = std::mem::replace(&mut record.indexed, true);
            if changed || !indexed_before {
                Effect::Index
            } else {
                Effect::Keep
            }
        }
        Outcome::NotModified { took_ms } => {
            answered(record, 304, *took_ms);
            revisited(record, host, true, before, now);
            // A refused page that did not change is refused still.
            if !matches!(
                record.state,
                State::Refused(Refusal::NoIndex | Refusal::Duplicate)
            ) {
                record.state = State::Fetched;
                let indexed_before = std::mem::replace(&mut record.indexed, true);
                due_by_law(record, host, recrawl, now);
                return if indexed_before {
                    Effect::Keep
                } else {
                    Effect::Index
                };
            }
            due_by_law(record, host, recrawl, now);
            Effect::Keep
        }
        Outcome::Redirected { status, took_ms } => {
            answered(record, *status, *took_ms);
            due_after_days(record, recrawl.law.age_days_max, now);
            delete(record, State::Moved, Deletion::Moved)
        }
        Outcome::Gone { status, took_ms } => {
            answered(record, *status, *took_ms);
            let since = *record.gone_since.get_or_insert(now);
            if now.since_ms(since) < GONE_MS {
                record.state = State::Failed(Failure::Missing);
                record.due = since.plus_ms(GONE_MS);
                return Effect::Keep;
            }
            due_after_days(record, recrawl.law.age_days_max, now);
            delete(record, State::Gone, Deletion::Gone)
        }
        Outcome::Refused(refusal) => {
            // Rules may permit it later; looking again costs no request.
            record.due = now.plus_ms(7 * GONE_MS);
            delete(
                record,
                State::Refused(*refusal),
                Deletion::Refused(*refusal),
            )
        }
        Outcome::Failed {
            failure,
            status,
            took_ms,
            retry_after_s,
        } => {
            answered(record, status.unwrap_or(0), *took_ms);
            record.failures = record.failures.saturating_add(1);
            record.state = State::Failed(*failure);
            let wait_ms = retry_ms(record.failures, *failure, *retry_after_s);
            record.due = now.plus_ms(spread_ms(wait_ms, record.discovered, now));
            Effect::Keep
        }
        Outcome::Parked(reason) => park(record, *reason),
        Outcome::HandedOver => {
            record.state = State::Elsewhere;
            // Not `NEVER`: where a change is claimed, it is handed over again.
            record.due = TimeMs::LATEST;
            Effect::Keep
        }
    }
}

/// Parks the URL; what the index has of it stays.
pub(super) fn park(record: &mut Record, reason: Parked) -> Effect {
    record.state = State::Parked(reason);
    record.due = TimeMs::NEVER;
    Effect::Keep
}

fn retry_ms(failures: u32, failure: Failure, retry_after_s: Option<u64>) -> u64 {
    let again = failures.saturating_sub(1).min(20);
    let asked_ms = retry_after_s
        .unwrap_or(0)
        .saturating_mul(1_000)
        .min(7 * GONE_MS);
    let wait_ms = match failure {
        // The host says when it will answer. Where it does not then, waits double as if it had said nothing.
        Failure::Throttled if again == 0 && asked_ms > 0 => asked_ms,
        // The host is slow, not the page: mostly the host's clock decides. A crawl ends though no answer ever comes.
        Failure::Throttled => (RETRY_MS_FIRST << again).min(THROTTLED_MS_MAX),
        _ => (RETRY_MS_FIRST << (2 * again)).min(RETRY_MS_MAX),
    };
    wait_ms.max(asked_ms)
}

/// Returns the wait, made longer by a part that differs between URLs and visits: waits of equal length would meet a host
/// that is busy at regular times in every one of them.
fn spread_ms(wait_ms: u64, discovered: TimeMs, now: TimeMs) -> u64 {
    let mixed = xxh3_64_with_seed(&discovered.0.to_le_bytes(), now.0);
    wait_ms + mixed % (wait_ms / SPREAD_PART + 1)
}

fn answered(record: &mut Record, status: u16, took_ms: u64) {
    record.status = status;
    record.took_ms = u32::try_from(took_ms).unwrap_or(u32::MAX);
}

fn revisited(
    record: &mut Record,
    host: &mut HostRate,
    unchanged: bool,
    before: TimeMs,
    now: TimeMs,
) {
    if record.visits > 0 {
        record.unchanged = record.unchanged.saturating_add(u32::from(unchanged));
        host.revisited(unchanged, now.since_ms(before) as f64 / DAY_MS);
    }
    record.visits = record.visits.saturating_add(1);
}

fn due_by_law(record: &mut Record, host: &HostRate, recrawl: Recrawl<'_>, now: TimeMs) {
    let revisits = record.visits.saturating_sub(1);
    let mean_gap_days = now.since_ms(record.first) as f64 / DAY_MS / f64::from(revisits.max(1));
    let rate = change_rate(record.unchanged, revisits, mean_gap_days, host.rate());
    let importance = f64::from(record.importance);
    due_after_days(
        record,
        recrawl
            .law
            .due_after_days(importance, rate, recrawl.threshold),
        now,
    );
}

fn due_after_days(record: &mut Record, days: f64, now: TimeMs) {
    record.due = now.plus_ms((days * DAY_MS) as u64);
}

fn delete(record: &mut Record, state: State, deletion: Deletion) -> Effect {
    record.state = state;
    if std::mem::take(&mut record.indexed) {
        Effect::Delete(deletion)
    } else {
        Effect::Keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_to_their_limits() {
        let minutes = |failure| -> Vec<u64> {
            let failures = [1, 2, 3, 4, 7, u32::MAX];
            failures
                .map(|failures| retry_ms(failures, failure, None) / 60_000)
                .to_vec()
        };
        assert_eq!(minutes(Failure::Throttled), [1, 2, 4, 8, 60, 60]);
        assert_eq!(minutes(Failure::Timeout), [1, 4, 16, 64, 4096, 4320]);
        assert_eq!(retry_ms(1, Failure::Throttled, Some(90)), 90_000);
        assert_eq!(retry_ms(1, Failure::Throttled, Some(2)), 2_000);
        assert_eq!(retry_ms(2, Failure::Throttled, Some(2)), 120_000);
        assert_eq!(retry_ms(1, Failure::Throttled, Some(0)), 60_000);
        assert_eq!(retry_ms(1, Failure::Timeout, Some(2)), 60_000);
    }

    #[test]
    fn waits_of_one_length_end_at_different_phases() {
        let phases: std::collections::BTreeSet<u64> = (0..100)
            .map(|visit| {
                let wait_ms = spread_ms(60_000, TimeMs(7), TimeMs(visit * 60_000));
                assert!((60_000..=75_000).contains(&wait_ms), "{wait_ms}");
                wait_ms % 10_000 / 1_000
            })
            .collect();
        assert_eq!(phases.len(), 10);
    }
}
