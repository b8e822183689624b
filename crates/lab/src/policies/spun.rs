//! Ranges that spin in place of searches, in a process without HTTP, and the simulation of the same run.
//!
//! Instants and times are drawn before the run. The simulation gets the instants at which requests were sent, so the
//! lateness of the sender is no error of the model.
use super::cells::SpunRound;
use super::spin::{SpinClock, SpinQuery, SpinReport, SpinRequest};
use crate::LabError;
use crate::ask::ask;
use crate::experiment::Arm;
use crate::laboratory::Laboratory;
use crate::results::write_json;
use load::{Arrivals, NoiseMeter, SearchTime, exponential};
use model::handlers::{HandlersSettings, run};
use model::simulate::{self, Order, Searches};
use schedule::board::PolicyChoice;
use schedule::board::policy_named;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Standard deviation of the logarithm of predicted over true time.
const PREDICTION_DEVIATION: f64 = 0.5;
/// 90 % quantile of the standard normal distribution: queries are cut by the time that a tenth of them exceeds.
const NORMAL_90: f64 = 1.2816;

/// Service of ranges that spin.
pub(super) struct Spinning<'a> {
    pub(super) lab: &'a Laboratory<'a>,
    pub(super) folder: PathBuf,
    pub(super) handlers: usize,
    pub(super) wanted: SearchTime,
}

impl Spinning<'_> {
    /// Runs a policy at a load, after a warm-up, and simulates the same run.
    pub(super) fn run(
        &self,
        arm: &Arm,
        (load, clock): (f64, SpinClock),
        (warm_up, measured): (Duration, Duration),
        seed: u64,
    ) -> Result<SpunRound, LabError> {
        let default = PolicyChoice::default().to_string();
        let policy = arm.policy.as_deref().unwrap_or(&default);
        let queries = self.queries(load, warm_up + measured, seed)?;
        let warm_up_us = warm_up.as_secs_f64() * 1e6;
        let first = queries.partition_point(|query| query.at_us < warm_up_us);
        let request = SpinRequest {
            policy: policy.to_owned(),
            handlers: self.handlers,
            clock,
            queries,
        };
        let noise = NoiseMeter::start();
        let report = self.spun(&request)?;
        let noise = noise.stop();
        let mut round = SpunRound {
            is_whole: !noise.is_stolen() && report.answers.len() == request.queries.len(),
            ..SpunRound::default()
        };
        let counted = report.answers.iter().skip(first);
        let count = counted.clone().count().max(1) as f64;
        for answer in counted {
            round.lag.add_ns((answer.lag_us * 1e3) as u64);
            match answer.response_us {
                Some(us) => round.measured.add_ns((us * 1e3) as u64),
                None => round.measured.add_never(),
            }
            round.degree += f64::from(answer.handlers) / count;
        }
        if first < request.queries.len() {
            for ms in simulated(&request, &report, first, seed)? {
                round.simulated.add_ns((ms * 1e6) as u64);
            }
        }
        Ok(round)
    }

    /// Draws a schedule: Poisson arrivals at a load of all handlers, with the wanted times in random order.
    fn queries(
        &self,
        load: f64,
        duration: Duration,
        seed: u64,
    ) -> Result<Vec<SpinQuery>, LabError> {
        const TIMES: usize = 1 << 14;
        let times_ms = self.wanted.times_ms(TIMES, seed);
        let mean_ms = times_ms.iter().sum::<f64>() / TIMES as f64;
        let rate_qps = load * self.handlers as f64 / mean_ms * 1e3;
        let instants = Arrivals::Poisson { rate_qps }.draw(duration, seed)?;
        let query = |(number, at_ns): (usize, u64)| {
            let time_us = times_ms[number % TIMES] * 1e3;
            let likely_us = time_us * (PREDICTION_DEVIATION * normal(seed, number as u64)).exp();
            SpinQuery {
                at_us: at_ns as f64 / 1e3,
                time_us,
                likely_us,
                high_us: likely_us * (NORMAL_90 * PREDICTION_DEVIATION).exp(),
            }
        };
        Ok(instants.into_iter().enumerate().map(query).collect())
    }

    fn spun(&self, request: &SpinRequest) -> Result<SpinReport, LabError> {
        let file = self.folder.join("request.json");
        write_json(&file, request)?;
        let mut command = Command::new(&self.lab.plan.binary);
        command.args(["lab", "spin"]).arg(&file);
        let said = ask(&mut command, "shorttail lab spin", self.lab.live)?;
        serde_json::from_str(&said.stdout).map_err(|error| LabError::Program {
            command: "shorttail lab spin".into(),
            reason: format!("{error}; is it the same version?"),
        })
    }
}

/// Returns the simulated response times in ms of the queries from `first` on, sent at the instants of a run.
fn simulated(
    request: &SpinRequest,
    report: &SpinReport,
    first: usize,
    seed: u64,
) -> Result<Vec<f64>, LabError> {
    let failed = |error: &dyn std::fmt::Display| LabError::Model(error.to_string());
    let policy = policy_named(&request.policy).map_err(|error| failed(&error))?;
    let mut last_ms = 0.0_f64;
    let sent_ms = request.queries.iter().zip(&report.answers);
    let sent_ms = sent_ms.map(|(query, answer)| {
        last_ms = last_ms.max((query.at_us + answer.lag_us) / 1e3);
        last_ms
    });
    let sent_ms: Vec<f64> = sent_ms.collect();
    let rows = request.queries.iter().map(|one| vec![one.time_us / 1e3]);
    let searches = Searches::new(rows).map_err(|error| failed(&error))?;
    let times = simulate::Times::Measured {
        searches,
        order: Order::AsMeasured,
    };
    let arrivals = simulate::Arrivals::Trace(sent_ms);
    let count = request.queries.len();
    let mut settings = HandlersSettings::new(request.handlers, arrivals, times, count);
    settings.warm_up = first;
    settings.seed = seed;
    settings.costs.prediction_deviation = PREDICTION_DEVIATION;
    settings.costs.wake_us = report.wake_us;
    // A range that spins takes its time on whatever handler.
    settings.costs.efficiency = 1.0;
    let report = run(&settings, &policy).map_err(|error| failed(&error))?;
    Ok(report.responses_ms)
}

/// Returns a number of the standard normal distribution that depends only on seed and number (Box & Muller).
fn normal(seed: u64, number: u64) -> f64 {
    let radius = (2.0 * exponential(seed, 2 * number)).sqrt();
    let uniform = (-exponential(seed, 2 * number + 1)).exp();
    radius * (std::f64::consts::TAU * uniform).cos()
}

#[cfg(test)]
mod tests {
    use super::super::spin::SpinAnswer;
    use super::*;

    #[test]
    fn numbers_are_normal() {
        let numbers: Vec<f64> = (0..20_000).map(|n| normal(3, n)).collect();
        let mean = numbers.iter().sum::<f64>() / 2e4;
        let square = numbers.iter().map(|number| number * number).sum::<f64>() / 2e4;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.04);
        let beyond = numbers.iter().filter(|number| **number > NORMAL_90);
        assert!((beyond.count() as f64 / 2e4 - 0.1).abs() < 0.01);
    }

    /// One handler, a query of 2 ms, one of 1 ms half a millisecond later and one after a pause.
    #[test]
    fn a_run_is_simulated_from_the_instants_of_sending() {
        let query = |at_us: f64, time_us: f64| SpinQuery {
            at_us,
            time_us,
            likely_us: time_us,
            high_us: time_us,
        };
        let answer = |lag_us| SpinAnswer {
            lag_us,
            response_us: None,
            handlers: 1,
        };
        let request = SpinRequest {
            policy: "fifo".into(),
            handlers: 1,
            clock: SpinClock::Wall,
            queries: vec![
                query(0.0, 2_000.0),
                query(400.0, 1_000.0),
                query(9_000.0, 500.0),
            ],
        };
        let report = SpinReport {
            answers: vec![answer(0.0), answer(100.0), answer(0.0)],
            wake_us: 0.0,
        };
        let found = simulated(&request, &report, 0, 1).unwrap();
        let expected = [0.5, 2.0, 2.5];
        let is_near = |(a, b): (&f64, &f64)| (a - b).abs() < 0.02;
        assert!(found.iter().zip(&expected).all(is_near), "{found:?}");
        let json = serde_json::to_string(&request).unwrap();
        assert_eq!(serde_json::from_str::<SpinRequest>(&json).unwrap(), request);
    }
}
