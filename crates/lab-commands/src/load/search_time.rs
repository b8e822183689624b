//! Queries of a wanted search time, in place of the given ones.

use ::load::{Live, QueryStream, SearchTime, Settings, search_times_ms};
use anyhow::bail;
use console::failure::note;
use console::interrupt::Interrupt;
use serde_json::{Value, json};

/// Number of queries made, before the stream repeats.
const MADE: usize = 10_000;
/// Relative difference from the wanted mean above which a warning is printed.
const OFF_MAX: f64 = 0.2;

/// Makes queries of a wanted search time of those in the settings. Returns them in the order of sending, and their times
/// for the record of the run.
pub(super) fn made(
    settings: &Settings,
    wanted: SearchTime,
    interrupt: &Interrupt,
) -> anyhow::Result<(QueryStream, Value)> {
    let live = Live::default();
    let given = settings.queries.texts();
    let timed = |texts: &[String]| search_times_ms(&settings.target, texts, &live);
    let made = super::watch::until_stopped(&live, interrupt, || {
        wanted.make(given, MADE, settings.seed, timed)
    })?;
    if live.is_stopped() {
        bail!("stopped before the measurement");
    }
    let Some(made) = made else {
        bail!(
            "{}: no answer tells a search time; --search-time needs one of Shorttail, OpenSearch or Solr",
            settings.target.url()
        );
    };
    note(&format!(
        "queries: of {:.1} given ones on average; alone, a search takes {:.3} ms on average and {:.2} ms at p99",
        made.joined, made.mean_ms, made.p99_ms
    ));
    let wanted_ms = wanted.mean.as_secs_f64() * 1e3;
    if (made.mean_ms / wanted_ms - 1.0).abs() > OFF_MAX {
        note(&format!(
            "warning: {wanted} was wanted; this index has no such queries"
        ));
    }
    let told = json!({
        "wanted_mean_ms": wanted_ms,
        "wanted_p99_ms": wanted.p99.map(|p99| p99.as_secs_f64() * 1e3),
        "joined": made.joined,
        "mean_ms": made.mean_ms,
        "p99_ms": made.p99_ms,
    });
    Ok((QueryStream::as_is(made.texts), told))
}
