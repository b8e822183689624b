//! Hurry-up as an assignment of the simulator, by the same decision as the mapper of threads.

use crate::simulate::assignment::{Assignment, Idle, Load, Query, Running, Swap};
use schedule::hurry::{BigCore, LittleThread, Rule, exchanges};

/// Assignment with one handler a query that moves long queries from little handlers to big ones.
#[derive(Debug, Clone)]
pub struct HurryUp {
    /// Version of the algorithm.
    pub rule: Rule,
    /// Number of big handlers; they have the lowest numbers.
    pub big: usize,
    /// Interval of sampling in ms, above 0; published 25. `None` never moves a query.
    pub sampling_ms: Option<f64>,
    /// Age from which on a query moves, in ms; published 50.
    pub threshold_ms: f64,
    /// State of the random choice among idle handlers, the published start; `None` takes the fastest.
    pub random: Option<u64>,
}

impl Assignment for HurryUp {
    fn degree(&mut self, _query: &Query, _load: &Load) -> usize {
        1
    }

    fn handler(&mut self, _query: &Query, idle: Idle<'_>) -> Option<usize> {
        let Some(state) = &mut self.random else {
            return idle.first();
        };
        let count = idle.iter().count() as u64;
        let drawn = splitmix(state) % count.max(1);
        idle.iter().nth(drawn as usize)
    }

    fn sampling_ms(&self) -> Option<f64> {
        self.sampling_ms
    }

    fn remap(&mut self, handlers: &[Running], swaps: &mut Vec<Swap>) {
        let is_big = |running: &&Running| running.handler < self.big;
        let mut big: Vec<BigCore> = (handlers.iter().filter(is_big))
            .map(|running| BigCore {
                core: running.handler as u32,
                elapsed_ms: running.elapsed_ms,
            })
            .collect();
        let mut little: Vec<LittleThread> = (handlers.iter())
            .filter(|running| !is_big(running))
            .filter_map(|running| {
                Some(LittleThread {
                    id: running.handler as u32,
                    elapsed_ms: running.elapsed_ms?,
                })
            })
            .collect();
        let mut found = Vec::new();
        exchanges(
            self.rule,
            self.threshold_ms,
            &mut little,
            &mut big,
            &mut found,
        );
        swaps.extend(found.iter().map(|exchange| Swap {
            from: exchange.little as usize,
            to: exchange.big as usize,
        }));
    }
}

/// Returns the next number of SplitMix64 (Steele et al. 2014).
fn splitmix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_queries_swap_with_big_handlers() {
        let ages = [Some(90.0), None, Some(70.0), Some(80.0), Some(20.0)];
        let handlers: Vec<Running> = (0..)
            .zip(ages)
            .map(|(handler, elapsed_ms)| Running {
                handler,
                elapsed_ms,
            })
            .collect();
        let swaps = |rule| {
            let mut policy = HurryUp {
                rule,
                big: 2,
                sampling_ms: Some(25.0),
                threshold_ms: 50.0,
                random: None,
            };
            let mut swaps = Vec::new();
            policy.remap(&handlers, &mut swaps);
            swaps.iter().map(|s| (s.from, s.to)).collect::<Vec<_>>()
        };
        assert_eq!(swaps(Rule::AsPublished), [(3, 0), (2, 1)]);
        assert_eq!(swaps(Rule::Mended), [(3, 1)]);
    }

    #[test]
    fn idle_handlers_are_drawn_evenly() {
        let words = [0b1011];
        let query = Query {
            parts: 1,
            waited_ms: 0.0,
            expected_ms: None,
        };
        let mut policy = HurryUp {
            rule: Rule::Mended,
            big: 1,
            sampling_ms: None,
            threshold_ms: 50.0,
            random: Some(1),
        };
        let mut drawn = [0; 4];
        for _ in 0..3_000 {
            drawn[policy.handler(&query, Idle::new(&words)).unwrap()] += 1;
        }
        assert_eq!(drawn[2], 0);
        assert!(
            [0, 1, 3].iter().all(|&h| (900..1_100).contains(&drawn[h])),
            "{drawn:?}"
        );
        policy.random = None;
        assert_eq!(policy.handler(&query, Idle::new(&words)), Some(0));
        policy.random = Some(1);
        assert_eq!(policy.handler(&query, Idle::new(&[0])), None);
    }
}
