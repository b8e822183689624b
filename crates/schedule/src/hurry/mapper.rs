//! Mapper of the threads of other programs to big and little cores.

use super::choose::{BigCore, Exchange, LittleThread, Rule, exchanges};
use super::line::{Line, TID_MAX};
use super::requests::{Noted, Requests};
use crate::CpuSet;
use std::collections::BTreeMap;

/// Settings of a mapper.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MapperSettings {
    /// Version of the algorithm.
    pub rule: Rule,
    /// Age from which on a request on a little core moves, in ms.
    pub threshold_ms: f64,
    /// Upper limit on threads.
    pub threads_max: usize,
    /// Upper limit on requests that run at once.
    pub requests_max: usize,
    /// Age at which a request is taken for ended, its last line for lost, in ms; unused as published.
    pub age_max_ms: u64,
}

impl Default for MapperSettings {
    /// Returns the published threshold of 50 ms, 1,024 threads and requests, 10 s.
    fn default() -> MapperSettings {
        MapperSettings {
            rule: Rule::Mended,
            threshold_ms: 50.0,
            threads_max: 1024,
            requests_max: 1024,
            age_max_ms: 10_000,
        }
    }
}

/// Refusal of a mapper.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MapperError {
    /// One kind of cores is missing.
    #[error("there must be a big core and a little core; give --big and --little")]
    NoCores,
    /// A core is big and little.
    #[error("CPU {0} is named as big and as little; name it once")]
    Both(CpuSet),
    /// No more threads are taken.
    #[error("thread {tid} is not mapped: {max} threads are the limit")]
    Threads {
        /// The thread.
        tid: u32,
        /// The limit.
        max: usize,
    },
    /// No thread can have this id.
    #[error("no thread has the id {0}")]
    Tid(u32),
}

/// Reason of a move.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// First line of the thread.
    Placed,
    /// Its request is older than the threshold.
    Long {
        /// The request.
        rid: String,
        /// Its age, in ms.
        elapsed_ms: f64,
    },
    /// A longer request takes its big core.
    MadeRoom,
}

/// Assignment of a thread to a core. Moves are carried out in the order given.
#[derive(Debug, Clone, PartialEq)]
pub struct Move {
    /// The thread.
    pub tid: u32,
    /// Its core before; `None` where it was not mapped.
    pub from: Option<u32>,
    /// Core to which the thread moves.
    pub to: u32,
    /// Reason.
    pub reason: Reason,
}

/// Threads, their cores and their requests.
#[derive(Debug)]
pub struct Mapper {
    settings: MapperSettings,
    /// Core of each thread.
    threads: BTreeMap<u32, u32>,
    /// Thread of each big core.
    big: BTreeMap<u32, Option<u32>>,
    /// Number of threads on each little core.
    little: BTreeMap<u32, usize>,
    requests: Requests,
}

impl Mapper {
    /// Returns a mapper without threads.
    ///
    /// # Errors
    /// [`MapperError::NoCores`], [`MapperError::Both`].
    pub fn new(
        big: &CpuSet,
        little: &CpuSet,
        settings: MapperSettings,
    ) -> Result<Mapper, MapperError> {
        if big.is_empty() || little.is_empty() {
            return Err(MapperError::NoCores);
        }
        let both = big.intersection(little);
        if !both.is_empty() {
            return Err(MapperError::Both(both));
        }
        Ok(Mapper {
            threads: BTreeMap::new(),
            big: big.iter().map(|core| (core, None)).collect(),
            little: little.iter().map(|core| (core, 0)).collect(),
            requests: Requests::new(settings.rule, settings.requests_max, settings.age_max_ms),
            settings,
        })
    }

    /// Maps a thread: to a big core without a thread, else to the little core with the fewest. Returns its
    /// first move, or `None` for a thread that is mapped already.
    ///
    /// # Errors
    /// [`MapperError::Threads`], [`MapperError::Tid`].
    pub fn add(&mut self, tid: u32) -> Result<Option<Move>, MapperError> {
        if self.threads.contains_key(&tid) {
            return Ok(None);
        }
        if !(1..=TID_MAX).contains(&tid) {
            return Err(MapperError::Tid(tid));
        }
        let max = self.settings.threads_max;
        if self.threads.len() >= max {
            return Err(MapperError::Threads { tid, max });
        }
        let to = match self.big.iter_mut().find(|(_, thread)| thread.is_none()) {
            Some((&core, thread)) => {
                *thread = Some(tid);
                core
            }
            None => {
                let fewest = self.little.iter_mut().min_by_key(|(_, threads)| **threads);
                let (&core, threads) = fewest.ok_or(MapperError::NoCores)?;
                *threads += 1;
                core
            }
        };
        self.threads.insert(tid, to);
        Ok(Some(Move {
            tid,
            from: None,
            to,
            reason: Reason::Placed,
        }))
    }

    /// Notes a line that is read at Unix time `now_ms`. Lines of threads that are not mapped change nothing.
    pub fn line(&mut self, line: &Line<'_>, now_ms: u64) -> Noted {
        if !self.threads.contains_key(&line.tid) {
            return Noted::Unknown;
        }
        self.requests.note(line, now_ms)
    }

    /// Forgets a thread that has ended or cannot be moved, and its requests. Its core is free again.
    pub fn forget(&mut self, tid: u32) {
        self.requests.end_of(tid);
        let Some(core) = self.threads.remove(&tid) else {
            return;
        };
        if let Some(thread) = self.big.get_mut(&core) {
            *thread = None;
        } else if let Some(threads) = self.little.get_mut(&core) {
            *threads -= 1;
        }
    }

    /// Adds to `moves` those of the sampling instant `now_ms`.
    pub fn sample(&mut self, now_ms: u64, moves: &mut Vec<Move>) {
        self.requests.expire(now_ms);
        let oldest = self.requests.oldest();
        let elapsed = |tid: &u32| {
            let &(_, begun_ms) = oldest.get(tid)?;
            Some(now_ms.saturating_sub(begun_ms) as f64)
        };
        let mut big: Vec<BigCore> = (self.big.iter())
            .map(|(&core, thread)| BigCore {
                core,
                elapsed_ms: thread.as_ref().and_then(elapsed),
            })
            .collect();
        let mut little: Vec<LittleThread> = (oldest.keys())
            .filter(|tid| {
                self.threads
                    .get(tid)
                    .is_some_and(|core| self.little.contains_key(core))
            })
            .filter_map(|tid| {
                let elapsed_ms = elapsed(tid)?;
                Some(LittleThread {
                    id: *tid,
                    elapsed_ms,
                })
            })
            .collect();
        let mut found = Vec::new();
        let MapperSettings {
            rule, threshold_ms, ..
        } = self.settings;
        exchanges(rule, threshold_ms, &mut little, &mut big, &mut found);
        let long: Vec<(Exchange, Reason)> = (found.into_iter())
            .filter_map(|exchange| {
                let &(rid, _) = oldest.get(&exchange.little)?;
                let reason = Reason::Long {
                    rid: rid.to_owned(),
                    elapsed_ms: elapsed(&exchange.little)?,
                };
                Some((exchange, reason))
            })
            .collect();
        for (exchange, reason) in long {
            self.exchange(exchange, reason, moves);
        }
    }

    /// Moves the thread of the big core first, so that the core never has two.
    fn exchange(&mut self, exchange: Exchange, reason: Reason, moves: &mut Vec<Move>) {
        let Exchange { little: tid, big } = exchange;
        let (Some(thread), Some(&core)) = (self.big.get_mut(&big), self.threads.get(&tid)) else {
            return;
        };
        match thread.replace(tid) {
            Some(other) => {
                self.threads.insert(other, core);
                moves.push(Move {
                    tid: other,
                    from: Some(big),
                    to: core,
                    reason: Reason::MadeRoom,
                });
            }
            None => {
                if let Some(threads) = self.little.get_mut(&core) {
                    *threads -= 1;
                }
            }
        }
        self.threads.insert(tid, big);
        moves.push(Move {
            tid,
            from: Some(core),
            to: big,
            reason,
        });
    }

    /// Iterates over the threads with their cores, by thread.
    pub fn threads(&self) -> impl Iterator<Item = (u32, u32)> + '_ {
        self.threads.iter().map(|(&tid, &core)| (tid, core))
    }

    /// Returns whether the core is one of the big ones.
    pub fn is_big(&self, core: u32) -> bool {
        self.big.contains_key(&core)
    }

    /// Returns the number of requests that run.
    pub fn requests_count(&self) -> usize {
        self.requests.len()
    }

    /// Returns the age of the oldest request in ms.
    pub fn oldest_ms(&self, now_ms: u64) -> Option<u64> {
        let oldest = self.requests.oldest();
        let begun_ms = oldest.values().map(|&(_, begun_ms)| begun_ms).min()?;
        Some(now_ms.saturating_sub(begun_ms))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mapper(rule: Rule) -> Mapper {
        let settings = MapperSettings {
            rule,
            ..MapperSettings::default()
        };
        let [big, little] = ["0", "2-3"].map(|list| list.parse().unwrap());
        let mut mapper = Mapper::new(&big, &little, settings).unwrap();
        for tid in [10, 11, 12, 13] {
            assert_eq!(mapper.add(tid).unwrap().unwrap().reason, Reason::Placed);
        }
        assert_eq!(mapper.add(10), Ok(None));
        mapper
    }

    fn begins(mapper: &mut Mapper, tid: u32, rid: &str, ms: u64) {
        assert_eq!(mapper.line(&Line { tid, rid, ms }, ms), Noted::Begun);
    }

    /// Returns the moves at `now_ms` as (thread, from, to).
    fn sampled(mapper: &mut Mapper, now_ms: u64) -> Vec<(u32, u32, u32)> {
        let mut moves = Vec::new();
        mapper.sample(now_ms, &mut moves);
        let plain = moves.iter().map(|m| (m.tid, m.from.unwrap(), m.to));
        plain.collect()
    }

    #[test]
    fn a_long_request_takes_the_big_core_and_its_thread_the_little_one() {
        for rule in [Rule::AsPublished, Rule::Mended] {
            let mut mapper = mapper(rule);
            let placed: Vec<_> = mapper.threads().collect();
            assert_eq!(placed, [(10, 0), (11, 2), (12, 3), (13, 2)]);
            begins(&mut mapper, 12, "a", 1_000);
            assert_eq!(sampled(&mut mapper, 1_050), []);
            assert_eq!(sampled(&mut mapper, 1_051), [(10, 0, 3), (12, 3, 0)]);
            assert_eq!(sampled(&mut mapper, 1_076), []);
            begins(&mut mapper, 11, "b", 1_080);
            let second = sampled(&mut mapper, 1_140);
            let demoted = [(12, 0, 2), (11, 2, 0)];
            assert_eq!(
                second,
                if rule == Rule::Mended {
                    &[][..]
                } else {
                    &demoted
                }
            );
        }
    }

    #[test]
    fn a_forgotten_thread_leaves_its_core() {
        let mut mapper = mapper(Rule::Mended);
        mapper.forget(10);
        mapper.forget(10);
        begins(&mut mapper, 13, "a", 0);
        assert_eq!(sampled(&mut mapper, 60), [(13, 2, 0)]);
        assert_eq!(
            mapper.line(
                &Line {
                    tid: 10,
                    rid: "b",
                    ms: 61
                },
                61
            ),
            Noted::Unknown
        );
        assert_eq!(
            (mapper.requests_count(), mapper.oldest_ms(61)),
            (1, Some(61))
        );
        assert_eq!(mapper.add(14).unwrap().unwrap().to, 2);
    }

    #[test]
    fn cores_and_threads_are_validated() {
        let new = |big: &str, little: &str| {
            let [big, little] = [big, little].map(|list| list.parse().unwrap());
            let settings = MapperSettings {
                threads_max: 1,
                ..MapperSettings::default()
            };
            Mapper::new(&big, &little, settings)
        };
        assert_eq!(new("", "1").unwrap_err(), MapperError::NoCores);
        assert_eq!(new("1", "").unwrap_err(), MapperError::NoCores);
        let both = MapperError::Both("1-2".parse().unwrap());
        assert_eq!(new("0-2", "1-3").unwrap_err(), both);
        let mut mapper = new("0", "1").unwrap();
        for tid in [0, TID_MAX + 1] {
            assert_eq!(mapper.add(tid), Err(MapperError::Tid(tid)));
        }
        mapper.add(1).unwrap();
        assert_eq!(mapper.add(2), Err(MapperError::Threads { tid: 2, max: 1 }));
    }
}
