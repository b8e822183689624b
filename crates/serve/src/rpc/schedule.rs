//! Schedules of searches as messages.

use wire::rpc;
use wire::rpc::visit as kinds;
use wire::schedule::{End, Role, Schedule, Visit};

/// Upper limit on the visits that are read: a traced search of a server has thousands at most.
const VISITS_MAX: usize = 1 << 16;

pub(super) fn message(schedule: &Schedule) -> rpc::Schedule {
    rpc::Schedule {
        policy: schedule.policy.clone(),
        handlers: schedule.handlers,
        ranges_cut: schedule.ranges_cut,
        predicted_us: schedule.predicted_us,
        predicted_high_us: schedule.predicted_high_us,
        prediction_is_trusted: schedule.prediction_is_trusted,
        worked_us: schedule.worked_us,
        search_us: schedule.search_us,
        stopped: schedule.stopped,
        visits: schedule.visits.iter().map(visit_message).collect(),
    }
}

fn visit_message(visit: &Visit) -> rpc::Visit {
    let role = match visit.role {
        Role::Begins => kinds::Role::Begins,
        Role::Resumes => kinds::Role::Resumes,
        Role::Helps => kinds::Role::Helps,
    };
    let end = match visit.end {
        End::Finished => kinds::End::Finished,
        End::Left => kinds::End::Left,
        End::Parked => kinds::End::Parked,
        End::Stopped => kinds::End::Stopped,
    };
    rpc::Visit {
        handler: visit.handler,
        role: role.into(),
        end: end.into(),
        start_us: visit.start_us,
        duration_us: visit.duration_us,
        ranges_searched: visit.ranges_searched,
        ranges_skipped: visit.ranges_skipped,
        cpu_us: visit.cpu_us,
        run_queue_us: visit.run_queue_us,
    }
}

/// Returns the schedule of a message. Values that a later version may add are read as the first of their kind.
pub(super) fn schedule(message: rpc::Schedule) -> Schedule {
    let mut visits = message.visits;
    visits.truncate(VISITS_MAX);
    Schedule {
        part: String::new(),
        policy: message.policy,
        handlers: message.handlers,
        ranges_cut: message.ranges_cut,
        predicted_us: message.predicted_us,
        predicted_high_us: message.predicted_high_us,
        prediction_is_trusted: message.prediction_is_trusted,
        worked_us: message.worked_us,
        search_us: message.search_us,
        stopped: message.stopped,
        visits: visits.into_iter().map(visit).collect(),
    }
}

fn visit(visit: rpc::Visit) -> Visit {
    Visit {
        handler: visit.handler,
        role: match visit.role() {
            kinds::Role::Begins => Role::Begins,
            kinds::Role::Resumes => Role::Resumes,
            kinds::Role::Helps => Role::Helps,
        },
        end: match visit.end() {
            kinds::End::Finished => End::Finished,
            kinds::End::Left => End::Left,
            kinds::End::Parked => End::Parked,
            kinds::End::Stopped => End::Stopped,
        },
        start_us: visit.start_us,
        duration_us: visit.duration_us,
        ranges_searched: visit.ranges_searched,
        ranges_skipped: visit.ranges_skipped,
        cpu_us: visit.cpu_us,
        run_queue_us: visit.run_queue_us,
    }
}
