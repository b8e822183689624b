//! Assignment of whole parts of queries to handlers, in the model of machines: degree of parallelism, choice of handlers, and
//! moves of work.
//!
//! An assignment is called at three points: before a query starts ([`Assignment::degree`]), before one of several idle
//! handlers is taken ([`Assignment::handler`]), and, if requested, periodically ([`Assignment::remap`]). It sees only its
//! arguments: no clock, no threads. Servers do not run assignments: their handlers share queries in ranges, by the policies
//! of [`schedule::board`], which `crate::handlers` simulates.

/// A query that is about to start.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Query {
    /// Upper limit on the parts (partitions or ranges) of the query, at least 1.
    pub parts: usize,
    /// Time spent waiting so far, in ms.
    pub waited_ms: f64,
    /// Predicted time on one idle handler in ms, if there is a prediction.
    pub expected_ms: Option<f64>,
}

/// Load of the server when a query is about to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Load {
    /// Number of queries waiting behind it.
    pub waiting: usize,
    /// Number of idle handlers, at least 1.
    pub idle: usize,
    /// Total number of handlers.
    pub handlers: usize,
}

/// State of a handler when work may be moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Running {
    /// Number of the handler.
    pub handler: usize,
    /// Time since its query started in ms, or `None` for an idle handler.
    pub elapsed_ms: Option<f64>,
}

/// Exchange of work between two handlers: each continues the work of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Swap {
    /// A busy handler.
    pub from: usize,
    /// Another handler, busy or idle.
    pub to: usize,
}

/// The idle handlers, by number.
#[derive(Debug, Clone, Copy)]
pub struct Idle<'a> {
    words: &'a [u64],
}

impl<'a> Idle<'a> {
    /// Takes a bitmap: handler h is idle if bit h mod 64 of word h / 64 is set.
    pub fn new(words: &'a [u64]) -> Idle<'a> {
        Idle { words }
    }

    /// Iterates over the idle handlers in ascending order.
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

    /// Returns the lowest-numbered idle handler.
    pub fn first(self) -> Option<usize> {
        let idx = self.words.iter().position(|&word| word != 0)?;
        Some(idx * 64 + self.words[idx].trailing_zeros() as usize)
    }
}

/// Assignment of queries to handlers. Queries start in order of arrival.
pub trait Assignment {
    /// Returns the number of handlers that run `query` at once, from 1 to its parts; larger values are
    /// reduced. The handlers take its parts in turn. Busy ones join when they become idle, before they
    /// take another query.
    fn degree(&mut self, query: &Query, load: &Load) -> usize;

    /// Returns the idle handler that works on `query` next. At least one is idle. By default the lowest
    /// number is chosen: numbering second SMT contexts last keeps siblings apart.
    fn handler(&mut self, query: &Query, idle: Idle<'_>) -> Option<usize> {
        let _ = query;
        idle.first()
    }

    /// Returns the interval between calls of [`Assignment::remap`] in milliseconds; `None` disables them.
    fn sampling_ms(&self) -> Option<f64> {
        None
    }

    /// Adds moves of work between handlers to `swaps`. `handlers` lists all handlers by number.
    fn remap(&mut self, handlers: &[Running], swaps: &mut Vec<Swap>) {
        let _ = (handlers, swaps);
    }
}

impl<A: Assignment + ?Sized> Assignment for Box<A> {
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

/// Assignment with a fixed number of handlers per query, in order of arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fifo {
    /// Handlers per query, at least 1.
    pub degree: usize,
}

impl Assignment for Fifo {
    fn degree(&mut self, _query: &Query, _load: &Load) -> usize {
        self.degree
    }
}

/// Assignment that divides the idle handlers evenly between a query and those waiting behind it: wide while
/// handlers are idle, narrow under load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdleShare {
    /// Upper limit on handlers per query, at least 1.
    pub degree_max: usize,
}

impl Assignment for IdleShare {
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
