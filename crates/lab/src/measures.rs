//! Measures without a server of the given index: other indexes, and simulated processors.
use crate::co_runner::last_level_bytes;
use crate::codecs::{CodecCell, Codecs};
use crate::experiment::Experiment;
use crate::laboratory::{Laboratory, Step};
use crate::simulated::{SimulatedCell, Simulation};
use crate::sizes::{Parts, SizeCell};
use crate::{LabError, Tree};
use std::collections::BTreeMap;

impl Laboratory<'_> {
    /// Measures one index for each share of the corpus.
    pub(crate) fn sizes(
        &mut self,
        experiment: &Experiment,
        told: &mut impl FnMut(Step),
    ) -> Result<Vec<SizeCell>, LabError> {
        if let Some(cells) = self.sizes.take() {
            return Ok(cells);
        }
        let Some(corpus) = &self.plan.corpus else {
            return Ok(Vec::new());
        };
        let _settings_of_machine = self.prepare(&BTreeMap::new())?;
        let parts = Parts {
            binary: &self.plan.binary,
            corpus,
            scratch: self.plan.into.join("scratch"),
            stream: &self.stream,
            warm_up: self.plan.depth.warm_up,
            duration: self.plan.depth.duration,
            seed: self.plan.seed,
        };
        let measure = |share: &f64| {
            told(Step::Runs {
                what: format!(
                    "{:.0} % of the documents: index, then one client",
                    share * 100.0
                ),
            });
            parts.measure(*share, self.live)
        };
        experiment.shares.iter().map(measure).collect()
    }

    /// Measures an index of the documents for each codec.
    pub(crate) fn codecs(
        &self,
        experiment: &Experiment,
        told: &mut impl FnMut(Step),
    ) -> Result<Vec<CodecCell>, LabError> {
        let Some(corpus) = &self.plan.corpus else {
            return Ok(Vec::new());
        };
        let _settings_of_machine = self.prepare(&BTreeMap::new())?;
        let codecs = Codecs {
            binary: &self.plan.binary,
            corpus,
            share: experiment.shares.first().copied().unwrap_or(1.0),
            scratch: self.plan.into.join("scratch"),
            queries: &self.plan.queries,
            repetitions: self.plan.depth.repetitions,
            live: self.live,
        };
        codecs.measure(|what| told(Step::Runs { what }))
    }

    /// Measures simulated caches of several shares of the last-level cache.
    pub(crate) fn simulated(
        &self,
        experiment: &Experiment,
        told: &mut impl FnMut(Step),
    ) -> Result<Vec<SimulatedCell>, LabError> {
        let simulation = Simulation {
            binary: &self.plan.binary,
            index: &self.plan.index,
            queries: &self.plan.queries,
            scratch: self.plan.into.join("scratch"),
            live: self.live,
        };
        // If the kernel does not report the size, that of the published machine applies.
        let whole_bytes = last_level_bytes(&Tree::here()).unwrap_or(20 << 20);
        let simulate = |share: &f64| {
            let cache_bytes = (whole_bytes as f64 * share) as u64;
            let mb = cache_bytes as f64 / 1e6;
            told(Step::Runs {
                what: format!("on a simulated processor with a cache of {mb:.1} MB"),
            });
            simulation.run(cache_bytes)
        };
        experiment.shares.iter().map(simulate).collect()
    }
}
