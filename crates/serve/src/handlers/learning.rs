//! What a board learns from the searches of its server: their times, and the costs of help.

use crate::handlers::figures::Figures;
use crate::handlers::shared_board::{NEW, SharedBoard};
use crate::handlers::sync::MutexGuard;
use schedule::board::Learnt;
use schedule::cost::{CostModel, Prediction, Work};
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

impl SharedBoard {
    /// Predicts the time of a search.
    pub(crate) fn predict(&self, work: &Work) -> Prediction {
        self.costs().predict(work)
    }

    /// Learns from a search that was made whole.
    pub(crate) fn observe(
        &self,
        work: &Work,
        predicted: &Prediction,
        spent: Duration,
        figures: &Figures,
    ) {
        let mut costs = self.costs();
        costs.observe(work, predicted, spent.as_nanos() as u64);
        let error_milli = (costs.error() * 1e3) as u64;
        figures.prediction_error_milli.store(error_milli, Relaxed);
    }

    /// Learns for how much of their time handlers had a CPU.
    pub(crate) fn observe_cpu(&self, cpu: Duration, wall: Duration) {
        let mut state = self.state();
        let [cpu_ns, wall_ns] = &mut state.cpu_and_wall_ns;
        *cpu_ns += (cpu.as_nanos() as f64 - *cpu_ns) * NEW;
        *wall_ns += (wall.as_nanos() as f64 - *wall_ns) * NEW;
        let cpu_share = *cpu_ns / wall_ns.max(1.0);
        let learnt = Learnt {
            cpu_share: cpu_share.clamp(0.0, 1.0),
            ..*state.board.learnt()
        };
        state.board.learn(learnt);
    }

    /// Learns how fast helpers are: the owner's time of a range over the helpers'.
    pub(crate) fn observe_efficiency(&self, efficiency: f64, figures: &Figures) {
        if efficiency.is_finite() {
            let mut state = self.state();
            let efficiency = efficiency.clamp(0.1, 1.2);
            let mut learnt = *state.board.learnt();
            learnt.efficiency += (efficiency - learnt.efficiency) * NEW;
            state.board.learn(learnt);
            figures
                .efficiency_milli
                .store((learnt.efficiency * 1e3) as u64, Relaxed);
            figures.wake_ns.store(learnt.wake_ns as u64, Relaxed);
        }
    }

    fn costs(&self) -> MutexGuard<'_, CostModel> {
        self.costs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
