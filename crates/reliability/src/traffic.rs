//! Steady traffic with every answer compared to the right one.

use crate::client::{Answered, Client, Lost, without_phases};
use crate::offered::Percentiles;
use crate::stage::Question;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

/// Number of concurrent clients, each with its own connection to every front-end.
const CLIENTS: usize = 8;
/// Interval between the attempts of a client that is refused everywhere, and the limit on these attempts.
const AGAIN: Duration = Duration::from_millis(20);
const REFUSALS_MAX: u32 = 250;

/// Outcomes of the requests.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) asked: u64,
    /// Requests without an answer, or with the wrong status.
    pub(crate) failed: u64,
    /// Answers that flag a missing part.
    pub(crate) partial: u64,
    /// Complete answers that are not the right ones.
    pub(crate) wrong: u64,
    /// Refused connections, retried at another front-end.
    pub(crate) refused: u64,
    times_ns: Vec<u64>,
    pub(crate) examples: Vec<String>,
}

/// Traffic in progress.
pub(crate) struct Traffic {
    stop: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    clients: JoinSet<Tally>,
}

impl Traffic {
    /// Starts sending questions in turn, at `rate_qps` queries a second over all clients where answers come in time.
    /// Front-ends are taken in turn; another one is tried where one refuses the connection.
    pub(crate) fn begin(
        front_ends: &[SocketAddr],
        questions: &Arc<Vec<Question>>,
        rate_qps: f64,
    ) -> Traffic {
        let (stop, asked) = (Arc::<AtomicBool>::default(), Arc::<AtomicUsize>::default());
        let mut clients = JoinSet::new();
        for number in 0..CLIENTS {
            let client = Asking {
                connections: front_ends.iter().map(|&at| Client::new(at)).collect(),
                turn: number,
                questions: Arc::clone(questions),
                asked: Arc::clone(&asked),
                stop: Arc::clone(&stop),
                period: Duration::from_secs_f64(CLIENTS as f64 / rate_qps),
            };
            clients.spawn(client.run());
        }
        Traffic {
            stop,
            asked,
            clients,
        }
    }

    /// Returns the number of questions sent so far.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// Ends the traffic when all questions in progress are answered.
    pub(crate) async fn end(mut self) -> Tally {
        self.stop.store(true, Ordering::Relaxed);
        let mut sum = Tally::default();
        while let Some(joined) = self.clients.join_next().await {
            match joined {
                Ok(tally) => sum.add(tally),
                Err(error) => sum.fail(format!("a client of the harness ended: {error}")),
            }
        }
        sum
    }
}

struct Asking {
    connections: Vec<Client>,
    turn: usize,
    questions: Arc<Vec<Question>>,
    asked: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    period: Duration,
}

impl Asking {
    async fn run(mut self) -> Tally {
        let mut tally = Tally::default();
        let mut ticks = tokio::time::interval(self.period);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !self.stop.load(Ordering::Relaxed) {
            ticks.tick().await;
            let number = self.asked.fetch_add(1, Ordering::Relaxed);
            let question = self.questions[number % self.questions.len()].clone();
            tally.asked += 1;
            let begun = Instant::now();
            match self.ask(&question.path, &mut tally).await {
                Ok(answered) => tally.judge(&question, &answered),
                Err(lost) => tally.fail(format!("{}: {lost:?}", question.path)),
            }
            tally.times_ns.push(begun.elapsed().as_nanos() as u64);
        }
        tally
    }

    async fn ask(&mut self, path: &str, tally: &mut Tally) -> Result<Answered, Lost> {
        let mut refusals = 0;
        loop {
            self.turn = (self.turn + 1) % self.connections.len();
            match self.connections[self.turn].get(path).await {
                Err(Lost::Refused) if refusals < REFUSALS_MAX => {
                    refusals += 1;
                    tally.refused += 1;
                    if (refusals as usize).is_multiple_of(self.connections.len()) {
                        tokio::time::sleep(AGAIN).await;
                    }
                }
                answered => return answered,
            }
        }
    }
}

/// Describes the first difference from the right answer, with the following bytes of both.
fn first_difference(answered: &[u8], expected: &[u8]) -> String {
    let answered = without_phases(answered);
    let pairs = answered.iter().zip(expected);
    let at = pairs.take_while(|(one, other)| one == other).count();
    let shown = |bytes: &[u8]| {
        let end = bytes.len().min(at + 200);
        String::from_utf8_lossy(&bytes[at.saturating_sub(60).min(end)..end]).into_owned()
    };
    format!(
        "byte {at}: {}\n      right: {}",
        shown(&answered),
        shown(expected)
    )
}

impl Tally {
    fn judge(&mut self, question: &Question, answered: &Answered) {
        let told = || {
            let body = String::from_utf8_lossy(&answered.body);
            let degraded = body.rfind("\"degraded\"").or(body.find("\"error\""));
            let body: String = body[degraded.unwrap_or(0)..].chars().take(300).collect();
            format!("{}: {} {body}", question.path, answered.status)
        };
        if answered.status != question.status {
            self.fail(told());
        } else if without_phases(&answered.body) != question.expected {
            let is_partial = answered.status == 200
                && serde_json::from_slice::<wire::SearchAnswer>(&answered.body)
                    .is_ok_and(|answer| !answer.degraded.is_empty());
            match is_partial {
                true => self.partial += 1,
                false => self.wrong += 1,
            }
            self.examples.push(told());
            if !is_partial {
                self.examples
                    .push(first_difference(&answered.body, &question.expected));
            }
        }
    }

    fn fail(&mut self, told: String) {
        self.failed += 1;
        self.examples.push(told);
    }

    fn add(&mut self, other: Tally) {
        self.asked += other.asked;
        self.failed += other.failed;
        self.partial += other.partial;
        self.wrong += other.wrong;
        self.refused += other.refused;
        self.times_ns.extend(other.times_ns);
        self.examples.extend(other.examples);
    }

    /// Returns the times from request to answer.
    pub(crate) fn times(&self) -> Percentiles {
        self.times_ns.iter().copied().collect()
    }
}
