//! Steady traffic whose every answer is compared with the right one.

use crate::client::{Answered, Client, Lost, without_phases};
use crate::offered::Percentiles;
use crate::stage::Question;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

/// Clients side by side, each with a connection of its own to every front-end.
const CLIENTS: usize = 8;
/// A client that is refused everywhere looks again after this, for this long.
const AGAIN: Duration = Duration::from_millis(20);
const REFUSALS_MAX: u32 = 250;

/// What became of the requests.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) asked: u64,
    /// No answer, or another status than the right one.
    pub(crate) failed: u64,
    /// Answers that say that they lack something.
    pub(crate) partial: u64,
    /// Whole answers that are not the right ones.
    pub(crate) wrong: u64,
    /// Refused connections, tried again elsewhere.
    pub(crate) refused: u64,
    times_ns: Vec<u64>,
    pub(crate) examples: Vec<String>,
}

/// Traffic under way.
pub(crate) struct Traffic {
    stop: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    clients: JoinSet<Tally>,
}

impl Traffic {
    /// Begins to ask questions in turn, `rate_qps` a second over all clients, as long as answers come in
    /// time; front-ends are taken in turn, and another one where one refuses the connection.
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

    /// Questions asked so far.
    pub(crate) fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    /// Ends when all questions under way are answered.
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

/// Where an answer leaves the right one, and how both go on.
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

    /// Times from asking to the answer.
    pub(crate) fn times(&self) -> Percentiles {
        self.times_ns.iter().copied().collect()
    }
}
