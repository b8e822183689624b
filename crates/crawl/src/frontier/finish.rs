//! Ends of visits: the record, the clocks of host and address, what the index does.
use super::core::{Frontier, PART_ROBOTS, PART_SHAPE};
use super::error::FrontierError;
use super::host::Robots;
use super::key;
use super::law::{Recrawl, apply};
use super::record::Record;
use super::state::{Failure, Parked, State};
use super::visit::{Effect, Finished, Notice, Outcome, RobotsAnswer, RobotsOutcome, VisitId};
use crate::politeness::TimeMs;
use std::net::IpAddr;

/// robots.txt is read again after this time at the latest.
const ROBOTS_MS_MAX: u64 = 86_400_000;
const DAY_MS: f64 = 86_400_000.0;

/// Cost of a request to its host.
enum Charge {
    None,
    /// A request without a time of its own.
    Asked,
    Answered(u64),
    Throttled(Option<u64>),
    Failed(u64),
}

fn charge_of(outcome: &Outcome) -> Charge {
    match outcome {
        Outcome::Fetched { took_ms, .. }
        | Outcome::NotModified { took_ms }
        | Outcome::Redirected { took_ms, .. }
        | Outcome::Gone { took_ms, .. } => Charge::Answered(*took_ms),
        Outcome::Failed {
            failure: Failure::Throttled,
            retry_after_s,
            ..
        } => Charge::Throttled(*retry_after_s),
        Outcome::Failed {
            failure: Failure::Client,
            took_ms,
            ..
        } => Charge::Answered(*took_ms),
        Outcome::Failed { took_ms, .. } => Charge::Failed(*took_ms),
        Outcome::Parked(Parked::Type | Parked::Probe) => Charge::Asked,
        Outcome::Refused(_) | Outcome::Parked(_) | Outcome::HandedOver => Charge::None,
    }
}

impl Frontier {
    /// Ends a page visit. `None` for a visit that is not in flight, or was one of robots.txt.
    /// Durable after the next [`Frontier::sync`]; discover the links of the page before.
    pub fn finished(
        &mut self,
        visit: VisitId,
        outcome: &Outcome,
        now: TimeMs,
    ) -> Result<Option<Finished>, FrontierError> {
        if self
            .in_flight
            .get(&visit.0)
            .is_none_or(|flight| flight.key.is_none())
        {
            return Ok(None);
        }
        let Some((id, address, key)) = self
            .end(visit)
            .and_then(|f| Some((f.host, f.address, f.key?)))
        else {
            return Ok(None);
        };
        self.charge(id, address, &charge_of(outcome), now);
        let host = &mut self.hosts[id as usize];
        let url = key::url_of(&host.prefix, &host.origin, &key);
        // The record of now, not of the start of the visit: sightings may have changed it.
        let Some((mut record, stored)) = self.store.record(&key) else {
            self.schedule(id);
            return Ok(None);
        };
        let before = stored.then(|| record.state.class());
        let first_visit = record.visits == 0;
        let known_text = record.text_hash;
        let recrawl = Recrawl {
            law: &self.options.recrawl,
            threshold: self.threshold.value,
        };
        let effect = apply(&mut record, &mut host.rate, outcome, recrawl, now);
        if !first_visit {
            let days = now.since_ms(self.counted_at) as f64 / DAY_MS;
            self.counted_at = now;
            self.threshold.fell_due(&self.options.recrawl, 1, days);
        }
        self.store
            .put(&key, record.encode(), Some((before, record.state.class())))?;
        let notice = match outcome {
            Outcome::Fetched {
                duplicate,
                repeats,
                text_hash,
                ..
            } if first_visit => self.shape_visited(
                id,
                &url,
                !duplicate && !repeats && known_text != Some(*text_hash),
            )?,
            _ => None,
        };
        self.store_host(id)?;
        self.check(id, record.due);
        self.schedule(id);
        self.checkpoint_if_full()?;
        Ok(Some(finished(url, &record, effect, notice)))
    }

    /// Ends a visit of robots.txt: its pages may be given out, or the host waits.
    pub fn robots(
        &mut self,
        visit: VisitId,
        answer: &RobotsAnswer<'_>,
        now: TimeMs,
    ) -> Result<Option<Notice>, FrontierError> {
        if self
            .in_flight
            .get(&visit.0)
            .is_none_or(|flight| flight.key.is_some())
        {
            return Ok(None);
        }
        let Some((id, address)) = self.end(visit).map(|flight| (flight.host, flight.address))
        else {
            return Ok(None);
        };
        let charge = match answer.throttled {
            Some(retry_after_s) => Charge::Throttled(retry_after_s),
            None => Charge::Answered(answer.took_ms),
        };
        let latest = now.plus_ms(ROBOTS_MS_MAX);
        let earliest = now.plus_ms(1);
        let host = &mut self.hosts[id as usize];
        let mut notice = None;
        let delay_s = match answer.outcome {
            RobotsOutcome::Rules { crawl_delay_s, .. } => crawl_delay_s,
            RobotsOutcome::Free { .. } => None,
            RobotsOutcome::WaitUntil(_) => Some(host.pace.crawl_delay_ms as f64 / 1_000.0),
        };
        let obeyed = host.owned || host.pace.set_crawl_delay(&self.options.law, delay_s);
        host.robots = match answer.outcome {
            RobotsOutcome::Rules { valid_until, .. } if !obeyed => {
                let until = valid_until.clamp(earliest, latest);
                let origin = host.origin.to_string();
                notice = Some(Notice::HostParked { origin, until });
                Robots::Parked(until)
            }
            RobotsOutcome::Rules { valid_until, .. } => {
                Robots::Rules(valid_until.clamp(earliest, latest))
            }
            RobotsOutcome::Free { valid_until } => {
                Robots::Free(valid_until.clamp(earliest, latest))
            }
            RobotsOutcome::WaitUntil(until) => Robots::Wait(until.max(earliest)),
        };
        let key = key::part_of(&host.prefix, PART_ROBOTS);
        self.charge(id, address, &charge, now);
        // After a failure the rules known before stay, for whoever looks; no page is given out meanwhile.
        if !matches!(answer.outcome, RobotsOutcome::WaitUntil(_)) {
            self.store.put(&key, answer.source.to_vec(), None)?;
        }
        self.store_host(id)?;
        self.schedule(id);
        self.checkpoint_if_full()?;
        Ok(notice)
    }

    /// Source of the robots.txt of an origin, as it was last read.
    pub fn robots_source(&mut self, origin: &str) -> Option<Vec<u8>> {
        let id = self.find_host(origin)?;
        let key = key::part_of(&self.hosts[id as usize].prefix, PART_ROBOTS);
        self.store.get(&key)
    }

    fn charge(&mut self, id: u32, address: Option<IpAddr>, charge: &Charge, now: TimeMs) {
        let law = &self.options.law;
        let host = &mut self.hosts[id as usize];
        let owned = host.owned;
        match *charge {
            Charge::None => return,
            Charge::Asked => host.pace.allow_after(law, owned, now),
            Charge::Answered(took_ms) => host.pace.answered(law, owned, took_ms, now),
            Charge::Throttled(retry_after_s) => host.pace.throttled(law, owned, retry_after_s, now),
            Charge::Failed(took_ms) => host.pace.failed(law, owned, took_ms, now),
        }
        let Some(address) = address.and_then(|address| self.addresses.get_mut(&address)) else {
            return;
        };
        // A 429 is about the host; its address keeps the ordinary gap.
        match *charge {
            Charge::Answered(took_ms) => address.pace.answered(law, false, took_ms, now),
            Charge::Failed(took_ms) => address.pace.failed(law, false, took_ms, now),
            Charge::Throttled(_) | Charge::Asked | Charge::None => {
                address.pace.allow_after(law, false, now)
            }
        }
    }

    fn shape_visited(
        &mut self,
        id: u32,
        url: &str,
        new_text: bool,
    ) -> Result<Option<Notice>, FrontierError> {
        let shape = (self.options.shape)(url);
        if self.shapes.len() >= self.options.shapes_max && !self.shapes.contains_key(&(id, shape)) {
            // Shapes with few visits are no traps yet; they may count again from the start.
            self.shapes
                .retain(|_, budget| budget.parked || budget.visits >= 10);
            if self.shapes.len() >= self.options.shapes_max {
                return Ok(None);
            }
        }
        let budget = self.shapes.entry((id, shape)).or_default();
        if !budget.visited(&self.options.shapes, new_text) {
            return Ok(None);
        }
        let host = &self.hosts[id as usize];
        let key = key::part_of(&host.prefix, &[PART_SHAPE, &shape.to_le_bytes()].concat());
        let origin = host.origin.to_string();
        self.store.put(&key, Vec::new(), None)?;
        Ok(Some(Notice::ShapeParked { origin, shape }))
    }
}

fn finished(url: String, record: &Record, effect: Effect, notice: Option<Notice>) -> Finished {
    let state: State = record.state;
    Finished {
        url,
        effect,
        state,
        due: record.due,
        notice,
    }
}
