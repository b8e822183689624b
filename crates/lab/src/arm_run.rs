//! Execution of one run of one arm: machine settings, a dedicated server, load and measurements.
use crate::co_runner::{CoRunner, footprint_bytes};
use crate::counting::Counting;
use crate::energy::EnergyMeter;
use crate::experiment::{Arm, Order};
use crate::journal::Journal;
use crate::knobs::Knob;
use crate::laboratory::{CellRun, Laboratory, save};
use crate::server::{Server, Usage};
use crate::{LabError, Tree};
use load::{Arrivals, RunRecord, Settings, Target};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use vfs::platform::CpuTicks;

impl Laboratory<'_> {
    /// Runs one arm at a given load and saves its samples in a folder. A stopped run is saved too, and
    /// marked.
    pub(crate) fn run_arm(
        &self,
        arm: &Arm,
        spare_cores: usize,
        arrivals: Arrivals,
        seed: u64,
        folder: &Path,
    ) -> Result<CellRun, LabError> {
        let _settings_of_machine = self.prepare(&arm.set)?;
        // Counts only the processors in use, so contexts disabled by SMT settings are excluded.
        let cores_count = std::thread::available_parallelism().map_or(1, usize::from);
        let handlers = arm.handlers(cores_count.saturating_sub(spare_cores));
        let binary = &self.plan.binary;
        let index = self.index_for(arm.partitions, &mut |_| {})?;
        let (topology, options) = ((arm.partitions, handlers), arm.server_options());
        let server = Server::start_with(binary, &index, topology, &options)?;
        let footprint_bytes = self.footprint_bytes(arm);
        let co_runner = footprint_bytes.map(|bytes| CoRunner::start(binary, bytes));
        let _co_runner = co_runner.transpose()?;
        let stream = match arm.order {
            Order::AsIs => self.stream.clone(),
            Order::Unique => self.stream.clone().unique(),
            Order::Real => self.stream.clone().real(seed),
            Order::Sorted => self.stream.clone().sorted(),
        };
        let target = Target::parse(server.url())?;
        let mut settings = Settings::open(target, stream, arrivals, self.plan.depth.duration);
        settings.warm_up = self.plan.depth.warm_up;
        settings.seed = seed;
        settings.timeout = Duration::from_secs(10);
        settings.drain = settings.timeout;
        let tree = Tree::here();
        let before = (server.usage(), CpuTicks::now());
        let energy = EnergyMeter::start(&tree);
        let counting = Counting::start(server.process(), &self.session.capabilities);
        let (outcome, summary) = self.measure(&settings)?;
        let threads = counting.finish();
        let energy = energy.finish();
        let cores = CpuTicks::now().busy_since(&before.1);
        let usage = before.0.zip(server.usage());
        let mut record = RunRecord::of(&settings, &outcome, &summary, None);
        let cpu_us = usage.map(|(before, after)| after.cpu_us.saturating_sub(before.cpu_us));
        record.server_cpu_s = cpu_us.map(|us| us as f64 / 1e6);
        let settings_of_machine = self.plan.settings.iter().cloned();
        let settings_of_machine: BTreeMap<&str, String> = settings_of_machine
            .chain(arm.set.clone())
            .map(|(knob, value)| (knob.name(), value))
            .collect();
        let notes = [
            ("arm", json!(arm.name)),
            ("partitions", json!(arm.partitions)),
            ("handlers", json!(handlers)),
            ("server_options", json!(options)),
            ("settings", json!(settings_of_machine)),
            ("co_runner_bytes", json!(footprint_bytes)),
            ("index_checksum", json!(self.session.index_checksum)),
            (
                "server",
                usage.map_or(json!(null), |(before, after)| used(before, after)),
            ),
            ("threads", json!(threads)),
            ("cores_busy", json!(cores)),
            ("energy", json!(energy)),
        ];
        record
            .notes
            .extend(notes.map(|(name, value)| (name.to_owned(), value)));
        save(&record, folder, &outcome.samples)?;
        self.go_on()?;
        let seconds = (outcome.warm_up + outcome.measured).as_secs_f64();
        let utilisation = usage.map(|(before, after)| {
            let used_s = after.cpu_us.saturating_sub(before.cpu_us) as f64 / 1e6;
            used_s / seconds / cores_count as f64
        });
        Ok(CellRun {
            outcome,
            summary,
            utilisation,
            threads,
            energy,
        })
    }

    /// Applies the machine settings of the arm and of the plan; dropping the returned journal restores
    /// them.
    pub(crate) fn prepare(&self, own: &BTreeMap<Knob, String>) -> Result<Journal, LabError> {
        let mut journal = Journal::begin(&self.plan.journal, &self.plan.tree)?;
        for (knob, value) in self
            .plan
            .settings
            .iter()
            .map(|(knob, value)| (knob, value))
            .chain(own)
        {
            journal.turn(*knob, value)?;
        }
        Ok(journal)
    }

    /// Returns the memory that the arm's co-runner sweeps, in bytes; `None` without a co-runner.
    pub(crate) fn footprint_bytes(&self, arm: &Arm) -> Option<u64> {
        footprint_bytes(&Tree::here(), arm.co_runner?)
    }
}

fn used(before: Usage, after: Usage) -> serde_json::Value {
    json!({
        "cpu_us": after.cpu_us.saturating_sub(before.cpu_us),
        "context_switches": after.switches.saturating_sub(before.switches),
        "memory_bytes": after.memory_bytes,
    })
}
