//! Search times of queries that one client sends one after the other.
use crate::settings::Think;
use crate::{Answer, Live, LoadError, QueryStream, Settings, Target, run_watched};
use std::collections::HashMap;
use std::time::{Duration, Instant};

/// Limits on the duration of one run.
const RUN_MIN: Duration = Duration::from_millis(20);
const RUN_MAX: Duration = Duration::from_secs(1);
/// Upper limit on the time of all runs; texts not sent by then have no time.
const ALL_MAX: Duration = Duration::from_secs(60);

/// Sends each text twice from a single client and returns the shorter search time in ms, as the server reports it: of the
/// slowest partition, or the whole time of the server where it tells no more. The first answer pays for pages of the
/// index that are not yet resident. `None` for a text without an answer.
///
/// # Errors
/// The errors of [`run`](crate::run).
pub fn search_times_ms(
    target: &Target,
    texts: &[String],
    live: &Live,
) -> Result<Vec<Option<f64>>, LoadError> {
    let started = Instant::now();
    let mut shortest: HashMap<String, f64> = HashMap::new();
    for _ in 0..2 {
        let mut left = texts.to_vec();
        let mut each = Duration::from_millis(2);
        while !left.is_empty() && !live.is_stopped() && started.elapsed() < ALL_MAX {
            let stream = QueryStream::as_is(left.iter().cloned());
            let duration = (each * 3 / 2 * left.len() as u32).clamp(RUN_MIN, RUN_MAX);
            let settings = Settings::closed(target.clone(), stream, 1, Think::None, duration);
            let began = Instant::now();
            let outcome = run_watched(&settings, live)?;
            let sent = outcome.samples.len().max(1) as u32;
            each = began.elapsed() / sent;
            for sample in &outcome.samples {
                let text = &settings.queries.texts()[sample.query_idx as usize];
                let ms = sample.answer.as_ref().and_then(search_ms);
                if let Some(ms) = ms.filter(|_| sample.ending.is_answer()) {
                    let known = shortest.entry(text.clone()).or_insert(ms);
                    *known = known.min(ms);
                }
            }
            // Without an answer a text is not sent again, lest a silent server be asked for ever.
            let sent = outcome.samples.iter().map(|one| one.query_idx);
            let last = sent.max().map_or(0, |last| last as usize + 1);
            left = settings.queries.texts()[last..].to_vec();
            if last == 0 {
                break;
            }
        }
    }
    Ok(texts
        .iter()
        .map(|text| shortest.get(text).copied())
        .collect())
}

/// Returns the search time in ms that an answer reports.
fn search_ms(answer: &Answer) -> Option<f64> {
    let parts = answer.searches.iter().map(|part| part.search_us).max();
    let us = parts
        .or_else(|| Some(answer.phases?.index_search))
        .or(answer.server_us)?;
    Some(us as f64 / 1e3)
}
