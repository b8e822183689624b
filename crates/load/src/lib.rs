//! HTTP load generator that measures response times of search services from outside.
//!
//! Model: an open loop draws all arrivals before the run. Response time counts from the *intended*
//! instant, so neither a slow client nor a slow server can hide a delay (coordinated omission).
//!
//! ```text
//! response = done − intended    the wait of a user
//! service  = done − sent        the time of one request once it is sent
//! lag      = sent − intended    the lateness of this client
//! ```
//!
//! Overhead: per request, a wake-up and a write on one thread, a read on a second, and the parsing of
//! the body on a third. Limits: HTTP/1.1 without TLS, GET requests, one machine. [`Writes`] sends documents beside
//! them.
//!
//! Start with [`Settings`], [`run`] and [`Outcome`].

mod answer;
mod arrivals;
mod clock;
mod closed;
mod columns;
mod compare;
mod demand;
mod error;
mod examine;
mod labels;
mod live;
mod machine;
mod noise;
mod null_server;
mod open;
mod pool;
mod queries;
mod random;
mod rate_search;
mod record;
mod response;
mod run;
mod sample;
mod search_time;
mod server_cpu;
mod settings;
mod statistics;
mod summary;
mod target;
mod times;
mod writes;

pub use answer::{Answer, PartSearch};
pub use arrivals::Arrivals;
pub use clock::{Clock, run_first, wake_precisely};
pub use compare::{Basis, Comparison, Figure, Verdict, compare};
pub use demand::Demand;
pub use error::LoadError;
pub use labels::Label;
pub use live::{Live, Progress};
pub use machine::Machine;
pub use noise::{Noise, NoiseMeter, PRESSURE_MAX, STEAL_MAX};
pub use null_server::{NullServer, SelfCheck};
pub use queries::QueryStream;
pub use random::shuffled;
pub use rate_search::{Probe, ProbeVerdict, RateSearch, highest_kept, is_client_the_limit};
pub use record::RunRecord;
pub use run::{Outcome, run, run_watched};
pub use sample::{Ending, Sample};
pub use search_time::{
    JOINED_MAX, SearchTime, TimedQueries, exponential, joined_queries, search_times_ms,
};
pub use server_cpu::{ServerProcess, process_cpu_time};
pub use settings::{Load, Settings, Think};
pub use statistics::{Interval, holm, p_of_mean, repetitions_needed};
pub use summary::{AnswerCheck, Summary};
pub use target::Target;
pub use times::{BEYOND_MIN, PERCENTILES, Times};
pub use writes::{Writes, WritesOutcome};
