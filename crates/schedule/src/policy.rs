//! How many handlers work on a query, which ones, and does work move between them?
//!
//! A policy is asked at three moments: when a query is about to begin ([`Policy::degree`]), when a
//! handler is to be taken out of several idle ones ([`Policy::handler`]), and, where it wants to,
//! every few milliseconds ([`Policy::remap`]). It sees only what is in its arguments: no clock, no
//! threads. So the same code runs under the simulator and under real handlers.

/// A query about to begin.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query {
    /// Parts (partitions or ranges) that it can be cut into at most, from 1.
    pub parts: usize,
    /// How long it has waited.
    pub waited_ms: f64,
    /// How long it would take on one idle handler, where somebody predicts that.
    pub expected_ms: Option<f64>,
}

/// What is going on where it is about to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Queries that wait behind it.
    pub waiting: usize,
    /// Handlers without work, from 1.
    pub idle: usize,
    /// All handlers.
    pub handlers: usize,
}

/// A handler at work, when work may be moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Running {
    /// Which handler.
    pub handler: usize,
    /// How long its query has been worked on, or `None` where the handler is idle.
    pub elapsed_ms: Option<f64>,
}

/// Work that changes its handler: what `from` does, `to` goes on with, and the other way round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swap {
    /// A busy handler.
    pub from: usize,
    /// Another handler, busy or idle.
    pub to: usize,
}

/// Handlers without work, by number.
#[derive(Debug, Clone, Copy)]
pub struct Idle<'a> {
    words: &'a [u64],
}

impl<'a> Idle<'a> {
    /// Handler h is idle where bit h mod 64 of word h / 64 is set.
    pub fn new(words: &'a [u64]) -> Idle<'a> {
        Idle { words }
    }

    /// The idle handlers, ascending.
    pub fn iter(self) -> impl Iterator<Item = usize> + 'a {
        self.words.iter().enumerate().flat_map(|(idx, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                let bit = left.trailing_zeros();
                left &= left.wrapping_sub(1);
                (bit < 64).then_some(idx * 64 + bit as usize)
            })
        })
    }

    /// The idle handler with the lowest number.
    pub fn first(self) -> Option<usize> {
        let idx = self.words.iter().position(|&word| word != 0)?;
        Some(idx * 64 + self.words[idx].trailing_zeros() as usize)
    }
}

/// Decides how queries get handlers. Queries begin in order of arrival.
pub trait Policy {
    /// On how many handlers `query` runs at once, from 1 to its parts; more is cut down to that. They
    /// take its parts in turn. Those that are not idle yet join when they are, before they take
    /// another query.
    fn degree(&mut self, query: &Query, load: &Load) -> usize;

    /// Which of the idle handlers works on `query` next. At least one is idle. Lowest number first
    /// unless told otherwise: numbering second SMT contexts last keeps siblings apart.
    fn handler(&mut self, query: &Query, idle: Idle<'_>) -> Option<usize> {
        let _ = query;
        idle.first()
    }

    /// How often [`Policy::remap`] is asked, in milliseconds; `None` for never.
    fn sampling_ms(&self) -> Option<f64> {
        None
    }

    /// Which work moves to another handler. `handlers` lists all of them by number.
    fn remap(&mut self, handlers: &[Running], swaps: &mut Vec<Swap>) {
        let _ = (handlers, swaps);
    }
}

impl<P: Policy + ?Sized> Policy for Box<P> {
    fn degree(&mut self, query: &Query, load: &Load) -> usize {
        (**self).degree(query, load)
    }
    fn handler(&mut self, query: &Query, idle: Idle<'_>) -> Option<usize> {
        (**self).handler(query, idle)
    }
    fn sampling_ms(&self) -> Option<f64> {
        (**self).sampling_ms()
    }
    fn remap(&mut self, handlers: &[Running], swaps: &mut Vec<Swap>) {
        (**self).remap(handlers, swaps);
    }
}

/// Every query on the same number of handlers, in order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fifo {
    /// Handlers a query, from 1.
    pub degree: usize,
}

impl Policy for Fifo {
    fn degree(&mut self, _query: &Query, _load: &Load) -> usize {
        self.degree
    }
}

/// Every query on as many handlers as are idle when it begins, less those that the queries waiting
/// behind it will want: wide when there is room, narrow under load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleShare {
    /// Handlers a query at most, from 1.
    pub degree_max: usize,
}

impl Policy for IdleShare {
    fn degree(&mut self, _query: &Query, load: &Load) -> usize {
        (load.idle / (load.waiting + 1)).clamp(1, self.degree_max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const QUERY: Query = Query {
        parts: 4,
        waited_ms: 0.0,
        expected_ms: None,
    };

    fn load(waiting: usize, idle: usize) -> Load {
        Load {
            waiting,
            idle,
            handlers: 8,
        }
    }

    #[test]
    fn degrees() {
        assert_eq!(Fifo { degree: 3 }.degree(&QUERY, &load(100, 1)), 3);
        let mut wide = IdleShare { degree_max: 4 };
        let mut check = |waiting, idle, expected| {
            assert_eq!(wide.degree(&QUERY, &load(waiting, idle)), expected);
        };
        check(0, 8, 4);
        check(0, 3, 3);
        check(1, 4, 2);
        check(9, 1, 1);
    }

    #[test]
    fn idle_handlers_are_listed_upwards() {
        let words = [0, 1 << 63 | 1 << 3, 1];
        let idle = Idle::new(&words);
        assert_eq!(idle.iter().collect::<Vec<_>>(), [67, 127, 128]);
        assert_eq!(idle.first(), Some(67));
        assert_eq!(Idle::new(&[0, 0]).first(), None);
        assert_eq!(Fifo { degree: 1 }.handler(&QUERY, idle), Some(67));
    }
}
