//! Sample: the recorded times and outcome of one request.
use crate::Answer;

/// Outcome of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Ending {
    /// A complete response with this HTTP status.
    Answered(u16),
    /// No complete response within the client timeout.
    TimedOut,
    /// The connection was refused: no server listens at the address.
    Refused,
    /// The connection failed for another reason.
    Unreachable,
    /// The server closed or reset the connection before the response was complete.
    Closed,
    /// The received bytes are not HTTP.
    Malformed,
    /// Never sent, because all permitted connections were busy.
    Dropped,
    /// The run ended before the answer arrived.
    Unfinished,
}

impl Ending {
    /// Returns whether it is an answer to the query: a 2xx status.
    pub fn is_answer(self) -> bool {
        matches!(self, Ending::Answered(200..=299))
    }

    /// Returns whether the server shed the request for overload: status 429 or 503.
    pub fn is_shed(self) -> bool {
        matches!(self, Ending::Answered(429 | 503))
    }

    /// Returns the name used in tables and files: `200`, `timed_out`.
    pub fn name(self) -> String {
        match self {
            Ending::Answered(status) => status.to_string(),
            other => {
                let named = NAMES.iter().find(|(ending, _)| *ending == other);
                named.map_or("", |(_, name)| name).to_owned()
            }
        }
    }

    /// Returns the ending with this name; `None` for an unknown name.
    pub fn of_name(name: &str) -> Option<Ending> {
        match NAMES.iter().find(|(_, known)| *known == name) {
            Some((ending, _)) => Some(*ending),
            None => name.parse().ok().map(Ending::Answered),
        }
    }
}

const NAMES: [(Ending, &str); 7] = [
    (Ending::TimedOut, "timed_out"),
    (Ending::Refused, "refused"),
    (Ending::Unreachable, "unreachable"),
    (Ending::Closed, "closed"),
    (Ending::Malformed, "malformed"),
    (Ending::Dropped, "dropped"),
    (Ending::Unfinished, "unfinished"),
];

/// Record of one request. Times are nanoseconds since the start of the run, including the warm-up.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Number of the arrival in the schedule, from 0; in a closed loop, number of the client's request.
    pub arrival_idx: u32,
    /// Index of the text in the query stream.
    pub query_idx: u32,
    /// Whether the request belongs to the warm-up, which no figure includes.
    pub warm_up: bool,
    /// Intended send time, from which the response time counts.
    pub intended_ns: u64,
    /// Time at which the client began to send (or to connect, for a new connection); `None` if never
    /// sent.
    pub sent_ns: Option<u64>,
    /// Time at which the last response byte was read or the request was given up.
    pub done_ns: Option<u64>,
    /// Outcome of the request.
    pub ending: Ending,
    /// Whether the request opened a new connection.
    pub new_connection: bool,
    /// Value of `Retry-After`, in seconds.
    pub retry_after_s: Option<u32>,
    /// Length of the body, in bytes.
    pub body_bytes: u32,
    /// Contents of the body, if it answers the query.
    pub answer: Option<Answer>,
}

impl Sample {
    /// Returns the time from the intended instant to the end: the wait of a user.
    pub fn response_ns(&self) -> Option<u64> {
        Some(self.done_ns?.saturating_sub(self.intended_ns))
    }

    /// Returns the time from sending to the end: the time of the request itself.
    pub fn service_ns(&self) -> Option<u64> {
        Some(self.done_ns?.saturating_sub(self.sent_ns?))
    }

    /// Returns the time from the intended instant to sending: the lateness of this client.
    pub fn lag_ns(&self) -> Option<u64> {
        Some(self.sent_ns?.saturating_sub(self.intended_ns))
    }
}
