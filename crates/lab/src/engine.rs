//! Engine that runs all experiments.
//!
//! Runs of different arms alternate, repetition by repetition, and share schedule and seed, so that changes on the
//! machine affect all arms; within a repetition, rates and arms take turns in an order drawn from the seed. Every run has
//! a dedicated server, started before it and ended after it.
use crate::balance::Balance;
use crate::co_runner::last_level_bytes;
use crate::experiment::{Arm, Experiment, Order, View};
use crate::laboratory::{ALONE_FOLDER, Cell, Laboratory, Plan, Step, save};
use crate::layouts::Layouts;
use crate::policies::{self, Policies};
use crate::prediction::{self, Prediction};
use crate::results::{ExperimentResult, write_json};
use crate::server::Server;
use crate::{LabError, Session, Tree, examine, views};
use load::{
    Arrivals, Live, Machine, Outcome, QueryStream, RunRecord, Settings, Summary, Target, Think,
    run_watched, shuffled,
};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::SystemTime;

impl<'a> Laboratory<'a> {
    /// Examines the machine and opens a laboratory. `live` stops the current run.
    ///
    /// # Errors
    /// The plan has no queries or no index.
    pub fn open(plan: &'a Plan, live: &'a Live) -> Result<Laboratory<'a>, LabError> {
        let stream = QueryStream::as_is(plan.queries.iter().cloned());
        if stream.is_empty() {
            let reason = "no queries in it; write one a line, or id<TAB>query";
            return Err(LabError::file(plan.queries_name.as_ref(), reason));
        }
        let machine = Machine::here();
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let session = Session {
            shorttail: env!("CARGO_PKG_VERSION").into(),
            started_unix_ms: since_1970.map_or(0, |since| since.as_millis() as u64),
            depth: plan.depth.name.into(),
            capabilities: examine(&Tree::here()),
            index: plan.index.display().to_string(),
            index_checksum: index_checksum(plan)?,
            queries: plan.queries_name.clone(),
            queries_checksum: stream.checksum(),
            capacity_qps: None,
            search_time: None,
            self_check: None,
            machine,
        };
        let layouts = Layouts::new(
            &plan.binary,
            (&plan.index, plan.partitions),
            plan.into.join("layouts"),
        );
        Ok(Laboratory {
            plan,
            layouts,
            cores_count: session.machine.cores_count.unwrap_or(1),
            session,
            stream,
            live,
            alone: None,
            sizes: None,
        })
    }

    /// Runs one experiment and writes its result.
    ///
    /// # Errors
    /// A server that does not start, results that cannot be written, settings that cannot be changed,
    /// or a stop.
    pub fn run(
        &mut self,
        experiment: &Experiment,
        mut told: impl FnMut(Step),
    ) -> Result<ExperimentResult, LabError> {
        let (arms, left_out) = self.arms(experiment);
        let alone = usize::from(experiment.view.is_alone() && self.alone.is_none());
        let cells = match experiment.view {
            View::Prediction => prediction::runs_count(experiment, self.plan.depth),
            View::Policies => policies::runs_count(&arms, experiment, self.plan.depth),
            view if view.is_by_size() && self.sizes.is_none() => experiment.shares.len(),
            _ => arms.len() * experiment.shares.len() * self.plan.depth.repetitions,
        };
        let mut result = ExperimentResult::of(experiment);
        result.lacking = experiment.lacking(&self.session.capabilities);
        result.missing = left_out;
        if experiment.view.needs_corpus() && self.plan.corpus.is_none() {
            result
                .lacking
                .push("no documents were named: give --corpus FILE".into());
        }
        let is_one_of_each = |arm: &Arm| arm.order == Order::Unique;
        if self.plan.search_time.is_some() && arms.iter().any(is_one_of_each) {
            let reason = "queries of a wanted search time have it by their proportions; leave out --search-time";
            result.lacking.push(reason.into());
        }
        if experiment.view == View::CoRunner && last_level_bytes(&Tree::here()).is_none() {
            let reason = "the kernel does not tell the size of the last-level cache";
            result.lacking.push(reason.into());
        }
        if experiment.view == View::SimulatedCaches && !self.plan.simulate_caches {
            let reason = "a simulation was not asked for: give --simulate-caches";
            result.lacking = vec![reason.into()];
        }
        told(Step::Begins {
            name: experiment.name.clone(),
            runs_count: if result.lacking.is_empty() {
                cells + alone
            } else {
                0
            },
        });
        if result.lacking.is_empty() {
            self.make_queries(&mut told)?;
            match experiment.view {
                View::QueryLengths => views::words::query_lengths(&mut result, &self.stream),
                View::Rates | View::CoRunner => {
                    let arms = self.laid_out(arms, &mut result.missing, &mut told)?;
                    let cells = self.cells(experiment, &arms, &mut told)?;
                    views::rates::show(&mut result, &cells, self.cores_count);
                    result.warnings.extend(self.client_limits());
                    views::counted::show(&mut result, &cells);
                    if experiment.view == View::CoRunner {
                        // Arms with different settings are not points of one line.
                        let footprint = |arm: &Arm| match arm.set.is_empty() {
                            true => self.footprint_bytes(arm),
                            false => None,
                        };
                        let footprints: Vec<_> = arms.iter().map(footprint).collect();
                        views::co_runner::show(&mut result, &cells, &footprints);
                    }
                }
                View::PostingBalance => {
                    told(Step::Runs {
                        what: "reading the index".into(),
                    });
                    let (binary, index) = (&self.plan.binary, &self.plan.index);
                    match Balance::of(binary, index, 2, self.live) {
                        Ok(balance) => views::balance::show(&mut result, &balance),
                        // If the index cannot be partitioned, the remaining experiments still run.
                        Err(LabError::Program { reason, .. }) => result.lacking.push(reason),
                        Err(error) => return Err(error),
                    }
                }
                View::Decompression => {
                    let cells = self.codecs(experiment, &mut told)?;
                    views::decompression::show(&mut result, &cells);
                }
                View::SimulatedCaches => {
                    let cells = self.simulated(experiment, &mut told)?;
                    views::simulated::show(&mut result, &cells);
                }
                View::ModelFigures => {
                    views::figures::show(&mut result, self.alone.as_ref(), self.plan)?;
                }
                View::Policies => {
                    let compared = Policies { lab: self }.run(experiment, &arms, &mut told)?;
                    self.session.self_check = compared.self_check;
                    views::policies::show(&mut result, &compared);
                    result.warnings.extend(self.client_limits());
                }
                View::Prediction => {
                    Prediction { lab: self }.run(experiment, &mut result, &mut told)?;
                }
                view if view.is_by_size() => {
                    let cells = self.sizes(experiment, &mut told)?;
                    views::sizes::show(&mut result, view, &cells);
                    self.sizes = Some(cells);
                }
                view => {
                    let outcome = self.alone(&mut told)?;
                    views::alone::show(&mut result, view, &outcome, self.stream.texts());
                    self.alone = Some(outcome);
                }
            }
            result.add_published(experiment);
        }
        if !result.lacking.is_empty() {
            result.reading = format!("Not measured here: {}.", result.lacking.join("; "));
        }
        let folder = self.plan.into.join(&experiment.name);
        write_json(&folder.join("result.json"), &result)?;
        write_json(&self.plan.into.join("lab.json"), &self.session)?;
        told(Step::Ends {
            name: experiment.name.clone(),
            reading: result.reading.clone(),
        });
        Ok(result)
    }

    /// Returns the number of handlers of `query-parallelism`.
    pub(crate) fn policy_handlers(&self) -> usize {
        self.plan.handlers.unwrap_or(self.cores_count)
    }

    /// Returns the arms that can run, and the reasons why others cannot.
    fn arms(&self, experiment: &Experiment) -> (Vec<Arm>, Vec<String>) {
        let mut left_out = Vec::new();
        let mut arms = match experiment.view {
            View::Policies if !self.plan.policies.is_empty() => {
                let policies = self.plan.policies.iter();
                policies.map(|policy| Arm::of_policy(policy)).collect()
            }
            View::Policies => experiment.arms(self.policy_handlers()),
            _ => experiment.arms(self.cores_count),
        };
        arms.retain(|arm| {
            let lacking = Experiment::lacking_of(&arm.needs, &self.session.capabilities);
            if !lacking.is_empty() {
                left_out.push(format!("{}: {}", arm.name, lacking.join("; ")));
            }
            lacking.is_empty()
        });
        if let Some(first) = arms.first().filter(|_| self.plan.against_itself).cloned() {
            let name = format!("{} again", first.name);
            arms.insert(1, Arm { name, ..first });
        }
        (arms, left_out)
    }

    /// Lays the index out for each arm and returns the arms for which this succeeds.
    fn laid_out(
        &self,
        arms: Vec<Arm>,
        missing: &mut Vec<String>,
        told: &mut impl FnMut(Step),
    ) -> Result<Vec<Arm>, LabError> {
        let mut laid_out = Vec::new();
        for arm in arms {
            match self.index_for(arm.partitions, told) {
                Ok(_) => laid_out.push(arm),
                // Without a single partition no experiment is possible.
                Err(LabError::Program { reason, .. }) if arm.partitions > 1 => {
                    missing.push(format!("{}: {reason}", arm.name));
                }
                Err(error) => return Err(error),
            }
        }
        Ok(laid_out)
    }

    /// Returns the directory of the index laid out for `partitions` partitions; fails if it has fewer
    /// chunks.
    pub(crate) fn index_for(
        &self,
        partitions: usize,
        told: &mut impl FnMut(Step),
    ) -> Result<PathBuf, LabError> {
        if self.layouts.lacks(partitions) {
            told(Step::Runs {
                what: format!("laying a copy of the index out for partitions: {partitions}"),
            });
        }
        self.layouts.of(partitions, self.live)
    }

    fn cells(
        &mut self,
        experiment: &Experiment,
        arms: &[Arm],
        told: &mut impl FnMut(Step),
    ) -> Result<Vec<Cell>, LabError> {
        let capacity_qps = self.capacity_qps(told)?;
        let highest = experiment.shares.iter().copied().fold(0.0, f64::max);
        self.check_client(highest * capacity_qps, told)?;
        let mut cells = Vec::new();
        for share in &experiment.shares {
            for arm in arms {
                cells.push(Cell {
                    arm: arm.name.clone(),
                    rate_qps: share * capacity_qps,
                    runs: Vec::new(),
                });
            }
        }
        for repetition in 0..self.plan.depth.repetitions {
            let seed = self.plan.seed + repetition as u64;
            for idx in shuffled(cells.len(), seed) {
                let cell = &mut cells[idx];
                let arm = &arms[idx % arms.len()];
                let rate = format!("{:.0} queries a second", cell.rate_qps);
                told(Step::Runs {
                    what: format!("{}, {rate}, repetition {}", arm.name, repetition + 1),
                });
                let folder = self.plan.into.join(&experiment.name);
                let folder = folder.join(format!("{}-{}", idx + 1, repetition + 1));
                let arrivals = Arrivals::Poisson {
                    rate_qps: cell.rate_qps,
                };
                let spare = experiment.spare_cores;
                cell.runs
                    .push(self.run_arm(arm, spare, arrivals, seed, &folder)?);
            }
        }
        Ok(cells)
    }

    /// Runs one client that sends one query after the other, all of them if the time suffices.
    fn alone(&mut self, told: &mut impl FnMut(Step)) -> Result<Outcome, LabError> {
        if let Some(outcome) = self.alone.take() {
            return Ok(outcome);
        }
        told(Step::Runs {
            what: "one client, one query after the other".into(),
        });
        let _settings_of_machine = self.prepare(&BTreeMap::new())?;
        let index = self.index_for(1, told)?;
        let server = Server::start(&self.plan.binary, &index, 1, 1)?;
        let target = Target::parse(server.url())?;
        let stream = self.stream.clone().unique();
        let duration = self.plan.depth.duration * 3;
        let mut settings = Settings::closed(target, stream, 1, Think::None, duration);
        settings.warm_up = self.plan.depth.warm_up;
        let (outcome, summary) = self.measure(&settings)?;
        let record = RunRecord::of(&settings, &outcome, &summary, None);
        let folder = self.plan.into.join(ALONE_FOLDER);
        save(&record, &folder, &outcome.samples)?;
        self.go_on()?;
        Ok(outcome)
    }

    /// Returns an error if a stop was requested.
    pub(crate) fn go_on(&self) -> Result<(), LabError> {
        match self.live.is_stopped() {
            true => Err(LabError::Stopped),
            false => Ok(()),
        }
    }

    /// Runs a load. Returns the samples of a stopped run too: the caller saves them and then calls
    /// `go_on`.
    pub(crate) fn measure(&self, settings: &Settings) -> Result<(Outcome, Summary), LabError> {
        let outcome = run_watched(settings, self.live)?;
        let summary = Summary::of(&outcome);
        Ok((outcome, summary))
    }
}

/// Returns a checksum of the index's manifests, which name and checksum all its files.
fn index_checksum(plan: &Plan) -> Result<String, LabError> {
    let failed = |error: std::io::Error| {
        LabError::file(
            &plan.index,
            format!("{error}; build one with `shorttail index`"),
        )
    };
    let mut manifests = BTreeMap::new();
    for entry in std::fs::read_dir(&plan.index).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("MANIFEST") {
            manifests.insert(name, std::fs::read(entry.path()).map_err(failed)?);
        }
    }
    if manifests.is_empty() {
        let reason = "no index is there; build one with `shorttail index`";
        return Err(LabError::file(&plan.index, reason));
    }
    let bytes: Vec<u8> = manifests.into_values().flatten().collect();
    Ok(format!("{:016x}", xxhash_rust::xxh3::xxh3_64(&bytes)))
}
