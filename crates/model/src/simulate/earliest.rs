//! Tournament tree over the completion times of cores.
//!
//! Each inner node holds the winner of its two children: the earlier time, and the lower core among
//! equal times. A changed time replays log₂(cores) matches; the overall winner is read in constant
//! time. Unlike a heap, the tree needs no search for the changed core.

/// Times, one per core; `f64::INFINITY` for never.
#[derive(Debug)]
pub(crate) struct Earliest {
    instants_ms: Vec<f64>,
    /// Winner of all in `winners[1]`; `winners[n]` of `winners[2n]` and `winners[2n + 1]`; leaves from
    /// `leaves`.
    winners: Vec<u32>,
    leaves: usize,
}

impl Earliest {
    pub(crate) fn new(cores: usize) -> Earliest {
        let leaves = cores.next_power_of_two();
        let mut winners = vec![0; 2 * leaves];
        for (idx, leaf) in winners[leaves..].iter_mut().enumerate() {
            *leaf = idx as u32;
        }
        let mut earliest = Earliest {
            instants_ms: vec![f64::INFINITY; leaves],
            winners,
            leaves,
        };
        for place in (1..leaves).rev() {
            earliest.play(place);
        }
        earliest
    }

    /// Returns the earliest time.
    #[inline]
    pub(crate) fn instant_ms(&self) -> f64 {
        self.instants_ms[self.core()]
    }

    /// Returns the core with the earliest time.
    #[inline]
    pub(crate) fn core(&self) -> usize {
        self.winners[1] as usize
    }

    /// Sets the time of a core.
    #[inline]
    pub(crate) fn set(&mut self, core: usize, instant_ms: f64) {
        self.instants_ms[core] = instant_ms;
        let mut place = (self.leaves + core) / 2;
        while place > 0 {
            self.play(place);
            place /= 2;
        }
    }

    #[inline]
    fn play(&mut self, place: usize) {
        let (left, right) = (self.winners[2 * place], self.winners[2 * place + 1]);
        let left_first = self.instants_ms[left as usize] <= self.instants_ms[right as usize];
        self.winners[place] = if left_first { left } else { right };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_winner_is_that_of_a_scan() {
        for cores in [1, 2, 3, 8, 13] {
            let mut earliest = Earliest::new(cores);
            let mut instants = vec![f64::INFINITY; cores];
            let mut state = 12345u64;
            for _ in 0..2000 {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let core = (state >> 33) as usize % cores;
                let instant = match (state >> 20) % 8 {
                    0 => f64::INFINITY,
                    few => few as f64,
                };
                earliest.set(core, instant);
                instants[core] = instant;
                let first = instants.iter().copied().fold(f64::INFINITY, f64::min);
                assert_eq!(earliest.instant_ms(), first);
                let expected = instants
                    .iter()
                    .position(|&instant| instant == first)
                    .unwrap();
                assert_eq!(earliest.core(), expected);
            }
        }
    }
}
