//! State of a queue in memory: counts, the URLs that are due first, the URLs that are held.
use super::record::Settings;
use crate::politeness::TimeMs;
use std::collections::{BTreeSet, HashMap};

/// A URL with the second at which it is due.
pub(super) type Due = (u64, Box<str>);

/// A queue.
#[derive(Debug, Default)]
pub(super) struct Queue {
    pub(super) settings: Settings,
    /// URLs that are not completed, held ones included.
    pub(super) active: u64,
    pub(super) completed: u64,
    /// Time at which it last gave URLs.
    pub(super) gave_at: Option<TimeMs>,
    /// All URLs up to the bound that are neither completed nor held.
    window: BTreeSet<Due>,
    bound: Bound,
    held: HashMap<Box<str>, Hold>,
    /// Holds by their end.
    ends: BTreeSet<(TimeMs, Box<str>)>,
}

/// Reach of the window over the URLs of the queue.
#[derive(Debug, Default, Clone, PartialEq)]
enum Bound {
    /// The window covers all URLs.
    #[default]
    All,
    /// The window ends at this URL.
    To(Due),
    /// The window was never filled.
    None,
}

#[derive(Debug)]
struct Hold {
    until: TimeMs,
    due_s: u64,
}

impl Queue {
    /// A queue whose URLs are in the store alone.
    pub(super) fn stored(settings: Settings) -> Queue {
        Queue {
            settings,
            bound: Bound::None,
            ..Queue::default()
        }
    }

    /// Releases URLs whose hold has ended.
    pub(super) fn expire(&mut self, now: TimeMs) {
        while let Some(first) = self.ends.first()
            && first.0 <= now
        {
            let Some((_, url)) = self.ends.pop_first() else {
                return;
            };
            if let Some(hold) = self.held.remove(&url) {
                self.enter(hold.due_s, url);
            }
        }
    }

    /// Returns the number of URLs held, after [`Queue::expire`].
    pub(super) fn held_count(&self) -> usize {
        self.held.len()
    }

    /// Returns the number of URLs held at `now`.
    pub(super) fn held_at(&self, now: TimeMs) -> usize {
        self.held.values().filter(|hold| hold.until > now).count()
    }

    /// Adds a URL that is neither held nor in the window.
    pub(super) fn enter(&mut self, due_s: u64, url: Box<str>) {
        let due = (due_s, url);
        let is_within = match &self.bound {
            Bound::All => true,
            Bound::To(last) => due <= *last,
            Bound::None => false,
        };
        if is_within {
            self.window.insert(due);
        }
    }

    /// Forgets a URL that was due at `due_s`, and its hold.
    pub(super) fn forget(&mut self, due_s: u64, url: &str) {
        if let Some(hold) = self.held.remove(url) {
            self.ends.remove(&(hold.until, url.into()));
        }
        self.window.remove(&(due_s, url.into()));
    }

    /// Narrows the window to `most` URLs.
    pub(super) fn narrow(&mut self, most: usize) {
        while self.window.len() > most.max(1) {
            self.window.pop_last();
            self.bound = match self.window.last() {
                Some(last) => Bound::To(last.clone()),
                None => Bound::None,
            };
        }
    }

    /// Returns whether URLs that are due may be in the store and not in the window.
    pub(super) fn needs_refill(&self) -> bool {
        self.window.is_empty() && self.bound != Bound::All && self.active > self.held.len() as u64
    }

    pub(super) fn is_held(&self, url: &str) -> bool {
        self.held.contains_key(url)
    }

    /// Replaces the window. `is_whole`: it has all URLs.
    pub(super) fn refill(&mut self, window: BTreeSet<Due>, is_whole: bool) {
        self.bound = match (is_whole, window.last()) {
            (false, Some(last)) => Bound::To(last.clone()),
            _ => Bound::All,
        };
        self.window = window;
    }

    /// Returns whether the settings of the queue permit URLs at `now`, whether or not any is due.
    pub(super) fn may_give(
        &self,
        default_delay_s: u32,
        in_process_max: usize,
        now: TimeMs,
    ) -> bool {
        let Settings {
            blocked_until_s,
            delay_s,
            limit,
        } = self.settings;
        let pause_ms = u64::from(delay_s.unwrap_or(default_delay_s)) * 1000;
        let paused = self.gave_at.is_some_and(|at| at.plus_ms(pause_ms) > now);
        let finished = limit > 0 && self.completed >= u64::from(limit);
        let blocked = self.is_blocked(blocked_until_s, now);
        !paused && !finished && !blocked && self.held.len() < in_process_max
    }

    fn is_blocked(&self, until_s: u64, now: TimeMs) -> bool {
        until_s.saturating_mul(1000) > now.0
    }

    /// Returns whether it has URLs to be fetched and is not blocked.
    pub(super) fn is_active(&self, now: TimeMs) -> bool {
        self.active > 0 && !self.is_blocked(self.settings.blocked_until_s, now)
    }

    /// Takes the URL that is due first, if it is due, and holds it.
    pub(super) fn take(&mut self, until: TimeMs, now: TimeMs) -> Option<Box<str>> {
        let (due_s, _) = self.window.first()?;
        if due_s.saturating_mul(1000) > now.0 {
            return None;
        }
        let (due_s, url) = self.window.pop_first()?;
        self.ends.insert((until, url.clone()));
        self.held.insert(url.clone(), Hold { until, due_s });
        Some(url)
    }
}
