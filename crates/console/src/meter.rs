//! Progress on standard error: a bar on a terminal, a line every few seconds elsewhere.

use crate::failure::note;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

const BAR_INTERVAL: Duration = Duration::from_millis(100);
const LINE_INTERVAL: Duration = Duration::from_secs(5);
const BAR: &str = "{prefix} [{bar:24}] {percent:>3}%  {wide_msg}";
const SPINNER: &str = "{prefix} {spinner} {wide_msg}";

/// Progress of a long operation.
pub struct Meter {
    what: &'static str,
    bar: Option<ProgressBar>,
    started: Instant,
    stage_started: Instant,
    shown: Instant,
}

impl Meter {
    /// Starts a meter. `total` has the unit of the later positions.
    pub fn start(what: &'static str, total: Option<u64>) -> Meter {
        let now = Instant::now();
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
            bar.set_style(style(if total.is_some() { BAR } else { SPINNER }));
            bar.set_prefix(what);
            bar
        });
        Meter {
            what,
            bar,
            started: now,
            stage_started: now,
            shown: now,
        }
    }

    /// Returns the seconds since the start.
    pub fn elapsed_s(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    /// Shows a new position, if the last one was shown long enough ago.
    pub fn update(&mut self, position: u64, message: impl FnOnce(f64) -> String) {
        let interval = if self.bar.is_some() {
            BAR_INTERVAL
        } else {
            LINE_INTERVAL
        };
        if self.shown.elapsed() < interval {
            return;
        }
        self.shown = Instant::now();
        let message = message(self.elapsed_s());
        match &self.bar {
            Some(bar) => {
                bar.set_position(position);
                bar.set_message(message);
            }
            None => note(&format!("{}: {message}", self.what)),
        }
    }

    /// Shows a new position, as `update`, of a stage with a length of its own; seconds count from the stage's start.
    pub fn update_of(
        &mut self,
        what: &'static str,
        position: u64,
        total: u64,
        message: impl FnOnce(f64) -> String,
    ) {
        if self.what != what {
            self.what = what;
            self.stage_started = Instant::now();
            if let Some(bar) = &self.bar {
                bar.disable_steady_tick();
                bar.set_style(style(BAR));
                bar.set_prefix(what);
            }
        }
        if let Some(bar) = &self.bar {
            bar.set_length(total);
        }
        let elapsed_s = self.stage_started.elapsed().as_secs_f64();
        self.update(position, |_| message(elapsed_s));
    }

    /// Continues with work of unknown length.
    pub fn busy(&mut self, what: &'static str) {
        match &self.bar {
            Some(bar) => {
                bar.set_style(style(SPINNER));
                bar.set_prefix(what);
                bar.enable_steady_tick(BAR_INTERVAL);
            }
            None => {
                // Short work gets no line of its own.
                if self.started.elapsed() >= LINE_INTERVAL {
                    note(what);
                }
            }
        }
    }
}

impl Drop for Meter {
    /// Removes the meter from the terminal.
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template);
    style
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .progress_chars("=> ")
}

/// Estimates the seconds left if `done` of `total` took `elapsed_s`; `None` without a basis for an estimate.
pub fn left_s(done: u64, total: u64, elapsed_s: f64) -> Option<f64> {
    (done > 0).then(|| elapsed_s * total.saturating_sub(done) as f64 / done as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_the_rate_so_far() {
        assert_eq!(left_s(0, 10, 1.0), None);
        assert_eq!(left_s(5, 10, 2.0), Some(2.0));
        assert_eq!(left_s(12, 10, 2.0), Some(0.0));
    }
}
