//! Scheduling policies under load: first ranges that spin, beside their simulation, then real queries.
//!
//! ```text
//! spun:   each policy, each load, in a process without HTTP ─► measured ─┐
//!         the same instants and times ─► simulator ─► simulated ─────────┴─► error of the simulation
//! served: each policy a server, all alive ─► loads, a burst, saturation ─► compared with sequential and best static
//!
//! a round:  all policies and loads once, in an order drawn from the seed, with one schedule for all policies
//! ```
//!
//! Rounds are short (with `--full` of 20 s), so that other activity on the machine meets all policies alike. Servers live
//! through all rounds: what a policy learns of its traffic is part of it.
use crate::LabError;
use crate::experiment::{Arm, Experiment};
use crate::laboratory::{Depth, Laboratory, Step};
use load::{SearchTime, shuffled};
use std::collections::BTreeMap;
use std::time::Duration;

mod cells;
mod served;
mod spin;
mod spun;

pub(crate) use cells::{Compared, Offered, ServedCell, ServedRound, SpunCell, SpunRound};
pub use spin::{SpinAnswer, SpinClock, SpinQuery, SpinReport, SpinRequest};

use cells::Rounds;
use served::Serving;
use spun::Spinning;

/// Share of the load of the burst.
const BURST: f64 = 0.9;
/// Wanted search times, where the plan has none: as those of web searches, most are short and few are long.
const SEARCH_TIME: SearchTime = SearchTime {
    mean: Duration::from_micros(500),
    p99: Some(Duration::from_millis(5)),
};

/// Returns the loads of each server in a round.
fn offers(shares: &[f64]) -> Vec<Offered> {
    let loads = shares.iter().copied().map(Offered::Load);
    loads
        .chain([Offered::Burst(BURST), Offered::Saturation])
        .collect()
}

/// Returns the arms that also spin by the clock of their processor time: the first and the last, the default.
fn by_processor_time(arms: usize) -> Vec<usize> {
    let mut chosen = vec![0, arms.saturating_sub(1)];
    chosen.dedup();
    chosen
}

/// Returns the number of runs, for progress reports.
pub(crate) fn runs_count(arms: &[Arm], experiment: &Experiment, depth: Depth) -> usize {
    let rounds = Rounds::of(depth);
    let loads = experiment.shares.len();
    let spun = (arms.len() + by_processor_time(arms.len()).len()) * loads * rounds.spun;
    spun + arms.len() * (loads + 2) * rounds.served
}

/// The experiment of a laboratory.
pub(crate) struct Policies<'a> {
    pub(crate) lab: &'a Laboratory<'a>,
}

impl Policies<'_> {
    /// Runs the experiment.
    pub(crate) fn run(
        &self,
        experiment: &Experiment,
        arms: &[Arm],
        told: &mut impl FnMut(Step),
    ) -> Result<Compared, LabError> {
        let _settings_of_machine = self.lab.prepare(&BTreeMap::new())?;
        let rounds = Rounds::of(self.lab.plan.depth);
        let handlers = self.lab.policy_handlers();
        let wanted = self.lab.plan.search_time.unwrap_or(SEARCH_TIME);
        let spinning = Spinning {
            lab: self.lab,
            folder: self.lab.plan.into.join(&experiment.name).join("spun"),
            handlers,
            wanted,
        };
        let spun = self.spin(&spinning, (experiment, arms, &rounds), told)?;
        let (stream, queries) = served::stream(self.lab, wanted, told)?;
        let mut servings = Vec::new();
        for arm in arms {
            told(Step::Runs {
                what: format!("{}, its server and its first queries", arm.name),
            });
            let serving = Serving::start(self.lab, (arm, handlers), &stream)?;
            serving.warm_up(rounds.duration)?;
            servings.push(serving);
        }
        let Some(sequential) = servings.first() else {
            return Err(LabError::file(
                experiment.name.as_ref(),
                "it has no arms; name policies with --policies",
            ));
        };
        told(Step::Runs {
            what: "what the first server does at saturation".into(),
        });
        let capacity_qps = sequential.capacity_qps(rounds.duration * 2)?;
        let self_check = self.lab.checked_client(BURST * capacity_qps, told)?;
        let served = self.serve(&servings, (experiment, capacity_qps, &rounds), told)?;
        Ok(Compared {
            arms: arms.to_vec(),
            handlers,
            capacity_qps,
            queries,
            spun_times: format!("lognormal, {wanted}, at most four times the 99th percentile"),
            served,
            spun,
            self_check,
        })
    }

    fn spin(
        &self,
        spinning: &Spinning<'_>,
        (experiment, arms, rounds): (&Experiment, &[Arm], &Rounds),
        told: &mut impl FnMut(Step),
    ) -> Result<Vec<SpunCell>, LabError> {
        let wall = (0..arms.len()).map(|arm| (arm, SpinClock::Wall));
        let processor = by_processor_time(arms.len());
        let processor = processor.into_iter().map(|arm| (arm, SpinClock::Processor));
        let mut cells = Vec::new();
        for (arm, clock) in wall.chain(processor) {
            cells.extend(experiment.shares.iter().map(|&load| SpunCell {
                arm,
                load,
                clock,
                rounds: Vec::new(),
            }));
        }
        for round in 0..rounds.spun {
            let seed = self.lab.plan.seed + round as u64;
            for idx in shuffled(cells.len(), seed) {
                let cell = &mut cells[idx];
                let arm = &arms[cell.arm];
                told(Step::Runs {
                    what: format!(
                        "{} spins at a load of {} ({}), round {}",
                        arm.name,
                        cell.load,
                        cell.clock.name(),
                        round + 1
                    ),
                });
                let durations = (rounds.warm_up, rounds.duration);
                let run = spinning.run(arm, (cell.load, cell.clock), durations, seed)?;
                cell.rounds.push(run);
                self.lab.go_on()?;
            }
        }
        Ok(cells)
    }

    fn serve(
        &self,
        servings: &[Serving<'_>],
        (experiment, capacity_qps, rounds): (&Experiment, f64, &Rounds),
        told: &mut impl FnMut(Step),
    ) -> Result<Vec<ServedCell>, LabError> {
        let mut cells = Vec::new();
        for offered in offers(&experiment.shares) {
            let share = match offered {
                Offered::Load(share) | Offered::Burst(share) => share,
                Offered::Saturation => 1.0,
            };
            cells.extend((0..servings.len()).map(|arm| ServedCell {
                arm,
                offered,
                rate_qps: share * capacity_qps,
                rounds: Vec::new(),
            }));
        }
        for round in 0..rounds.served {
            let seed = self.lab.plan.seed + round as u64;
            for idx in shuffled(cells.len(), seed) {
                let cell = &mut cells[idx];
                let serving = &servings[cell.arm];
                told(Step::Runs {
                    what: format!(
                        "{}, {}, round {}",
                        serving.arm.name,
                        cell.offered.name(),
                        round + 1
                    ),
                });
                let folder = self.lab.plan.into.join(&experiment.name);
                let folder = folder.join(format!("{}-{}", idx + 1, round + 1));
                let run = serving.run((cell.offered, cell.rate_qps), rounds, seed, &folder)?;
                cell.rounds.push(run);
                self.lab.go_on()?;
            }
        }
        Ok(cells)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_short_and_last_as_long_as_asked_for() {
        let rounds = Rounds::of(Depth::QUICK);
        assert_eq!((rounds.served, rounds.spun), (9, 3));
        assert!(rounds.duration <= Duration::from_millis(1_500) && rounds.burst <= rounds.duration);
        let rounds = Rounds::of(Depth::FULL);
        assert_eq!((rounds.served, rounds.spun), (30, 12));
        let whole = rounds.duration * rounds.served as u32;
        assert_eq!(whole, Depth::FULL.duration * Depth::FULL.repetitions as u32);
        let brief = Depth {
            duration: Duration::from_millis(200),
            ..Depth::QUICK
        };
        let rounds = Rounds::of(brief);
        assert_eq!((rounds.served, rounds.spun), (3, 3));
        assert_eq!(rounds.burst, Duration::from_millis(200));
        let experiment = &crate::experiment::chosen(&["query-parallelism".into()]).unwrap()[0];
        // 5 + 2 arms spin at 5 loads, 5 serve 7 offers.
        let arms = experiment.arms(2);
        assert_eq!(runs_count(&arms, experiment, brief), 7 * 5 * 3 + 5 * 7 * 3);
        assert_eq!(by_processor_time(1), [0]);
    }
}
