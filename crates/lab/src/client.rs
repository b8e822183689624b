//! Rates that the machine and this client can do, which those of experiments are shares of.
use crate::LabError;
use crate::laboratory::{Laboratory, Step};
use crate::server::Server;
use load::{Arrivals, SelfCheck, Settings, Target, Think};
use std::collections::BTreeMap;

impl Laboratory<'_> {
    /// Measures once what this client alone can do, at twice the rate of `highest_qps`: a rate that it does not reach
    /// against a server that does nothing is out of reach against any.
    pub(crate) fn check_client(
        &mut self,
        highest_qps: f64,
        told: &mut impl FnMut(Step),
    ) -> Result<(), LabError> {
        self.session.self_check = self.checked_client(highest_qps, told)?;
        self.go_on()
    }

    /// Returns the limits of this client, measured at twice the given rate, unless they were measured at that rate or a
    /// higher one.
    pub(crate) fn checked_client(
        &self,
        rate_qps: f64,
        told: &mut impl FnMut(Step),
    ) -> Result<Option<SelfCheck>, LabError> {
        let known = self.session.self_check;
        if known.is_some_and(|known| known.offered_qps >= 1.8 * rate_qps) {
            return Ok(known);
        }
        told(Step::Runs {
            what: "what this client can do, against a server that does nothing".into(),
        });
        let target = Target::parse("http://127.0.0.1:1")?;
        let arrivals = Arrivals::Poisson {
            rate_qps: rate_qps.max(1.0),
        };
        let (stream, duration) = (self.stream.clone(), self.plan.depth.duration);
        let settings = Settings::open(target, stream, arrivals, duration);
        Ok(SelfCheck::run(&settings)?)
    }

    /// Returns a warning where this client did not reach twice the highest rate.
    pub(crate) fn client_limits(&self) -> Option<String> {
        const REACHED_MIN: f64 = 0.95;
        let check = self.session.self_check?;
        let is_short = check.achieved_qps < REACHED_MIN * check.offered_qps;
        (is_short || check.failed_count > 0).then(|| {
            format!(
                "client: {:.0} of {:.0} requests a second against a server that does nothing",
                check.achieved_qps, check.offered_qps
            )
        })
    }

    /// Measures the closed-loop throughput in queries per second with two clients per core and no think
    /// time.
    pub(crate) fn capacity_qps(&mut self, told: &mut impl FnMut(Step)) -> Result<f64, LabError> {
        if let Some(capacity_qps) = self.session.capacity_qps {
            return Ok(capacity_qps);
        }
        told(Step::Runs {
            what: "what the machine can do in a closed loop".into(),
        });
        let _settings_of_machine = self.prepare(&BTreeMap::new())?;
        let index = self.index_for(1, told)?;
        let server = Server::start(&self.plan.binary, &index, 1, self.cores_count)?;
        let target = Target::parse(server.url())?;
        let clients = 2 * self.cores_count;
        let duration = self.plan.depth.duration;
        let stream = self.stream.clone();
        let mut settings = Settings::closed(target, stream, clients, Think::None, duration);
        settings.warm_up = self.plan.depth.warm_up;
        let (_, summary) = self.measure(&settings)?;
        self.go_on()?;
        self.session.capacity_qps = Some(summary.achieved_qps);
        Ok(summary.achieved_qps)
    }
}
