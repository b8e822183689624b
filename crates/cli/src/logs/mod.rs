//! Logs on standard error and, with the feature `otel`, export of spans.

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::{Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;

/// Guard of logs and export until the end of the program. Dropping it sends the pending spans.
pub(crate) struct Logs {
    #[cfg(feature = "otel")]
    _spans: Option<otel::Export>,
}

/// Filter of log lines: `LEVEL` or `TARGET=LEVEL`, separated by commas.
const VARIABLE: &str = "SHORTTAIL_LOG";

/// Starts logging to standard error, filtered by `SHORTTAIL_LOG`; `warn` if it is unset or invalid.
pub(crate) fn start(role: &str) -> Logs {
    let asked = std::env::var(VARIABLE).ok();
    let filter = asked.and_then(|asked| asked.parse::<Targets>().ok());
    let filter = filter.unwrap_or_else(|| Targets::new().with_default(LevelFilter::WARN));
    let lines = tracing_subscriber::fmt::layer()
        .with_writer(std::io::stderr)
        .with_ansi(
            std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && is_terminal(),
        )
        .with_filter(filter);
    let registry = tracing_subscriber::registry().with(lines);
    #[cfg(feature = "otel")]
    {
        let (layer, export) = match otel::start(role) {
            Some((layer, export)) => (Some(layer), Some(export)),
            None => (None, None),
        };
        let _ = registry.with(layer).try_init();
        Logs { _spans: export }
    }
    #[cfg(not(feature = "otel"))]
    {
        let _ = role;
        // An earlier subscriber in this process, such as that of a test, stays.
        let _ = registry.try_init();
        Logs {}
    }
}

fn is_terminal() -> bool {
    use std::io::IsTerminal;
    std::io::stderr().is_terminal()
}

#[cfg(feature = "otel")]
mod otel;
