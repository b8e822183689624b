//! Several runs of a simulation of handlers.

use super::event_loop::run;
use super::report::HandlersSummary;
use super::settings::HandlersSettings;
use crate::error::ModelError;
use schedule::board::Policy;
use std::sync::Arc;

/// Simulates `runs` runs with seeds `seed`, `seed + 1`, … and takes them together.
///
/// # Errors
/// [`ModelError`] if settings are out of range.
pub fn summarise(
    settings: &HandlersSettings,
    runs: usize,
    policy: &Arc<dyn Policy>,
) -> Result<HandlersSummary, ModelError> {
    let mut reports = Vec::with_capacity(runs);
    for number in 0..runs as u64 {
        let mut settings = settings.clone();
        settings.seed = settings.seed.wrapping_add(number);
        reports.push(run(&settings, policy)?);
    }
    Ok(HandlersSummary::of(reports))
}
