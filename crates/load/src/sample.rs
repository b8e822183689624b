//! What is known of one request when the run is over?
use crate::Answer;

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Ending {
    /// A whole response came, with this HTTP status.
    Answered(u16),
    /// No whole response within the time that a client waits.
    TimedOut,
    /// Nobody listens there.
    Refused,
    /// No connection for another reason.
    Unreachable,
    /// The server closed or reset the connection before the response was whole.
    Closed,
    /// What came is not HTTP.
    Malformed,
    /// Never sent: all connections that the client may have were busy.
    Dropped,
    /// The run was over before the answer came.
    Unfinished,
}

impl Ending {
    /// Whether it is an answer to the query: a status of 2xx.
    pub fn is_answer(self) -> bool {
        matches!(self, Ending::Answered(200..=299))
    }

    /// Whether the server said that it has too much to do: 429 or 503.
    pub fn is_shed(self) -> bool {
        matches!(self, Ending::Answered(429 | 503))
    }

    /// As tables and files name it: `200`, `timed_out`.
    pub fn name(self) -> String {
        match self {
            Ending::Answered(status) => status.to_string(),
            other => {
                let named = NAMES.iter().find(|(ending, _)| *ending == other);
                named.map_or("", |(_, name)| name).to_owned()
            }
        }
    }

    /// What is named so; none of a name that is not.
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

/// One request. Instants are nanoseconds since the run began, warm-up included.
#[derive(Debug, Clone, PartialEq)]
pub struct Sample {
    /// Which arrival of the schedule, from 0; which client's request in a closed loop.
    pub arrival_idx: u32,
    /// Which text of the query stream.
    pub query_idx: u32,
    /// Whether it belongs to the warm-up, which no figure counts.
    pub warm_up: bool,
    /// When it should have been sent. Response time counts from here.
    pub intended_ns: u64,
    /// When the client began to send it (or to connect, for a new connection); none where it never did.
    pub sent_ns: Option<u64>,
    /// When the last byte of the response was read, or the request was given up.
    pub done_ns: Option<u64>,
    /// How it ended.
    pub ending: Ending,
    /// Whether a connection had to be made for it.
    pub new_connection: bool,
    /// When the server wants to be asked again.
    pub retry_after_s: Option<u32>,
    /// Length of the body.
    pub body_bytes: u32,
    /// What the body said, where it is the answer to the query.
    pub answer: Option<Answer>,
}

impl Sample {
    /// From the intended instant to the end: what a user waits.
    pub fn response_ns(&self) -> Option<u64> {
        Some(self.done_ns?.saturating_sub(self.intended_ns))
    }

    /// From sending to the end: what one request takes once it is sent.
    pub fn service_ns(&self) -> Option<u64> {
        Some(self.done_ns?.saturating_sub(self.sent_ns?))
    }

    /// From the intended instant to sending: how late this client was.
    pub fn lag_ns(&self) -> Option<u64> {
        Some(self.sent_ns?.saturating_sub(self.intended_ns))
    }
}
