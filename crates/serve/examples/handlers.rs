//! Response times of the handlers of one index server under open load, by policy, without HTTP.
//!
//! ```text
//! cargo run --release -p shorttail-serve --example handlers -- --spin 0.3,1.43,20
//! cargo run --release -p shorttail-serve --example handlers -- --index DIR --queries FILE --join 4
//! ```
//!
//! Requests are due at the instants of a Poisson process. One thread sends them; response time counts from the instant
//! at which a request was due. Policies take turns at each load, in an order that changes from round to round.

use serve::api::messages::{PartitionHits, Query, SearchRequest};
use serve::{
    Draining, Generations, HandlerOptions, InProcessIndexServer, IndexServer, Place, Reply,
    SyntheticRequest, SyntheticTimes,
};
use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

const USAGE: &str = "usage: handlers (--spin MEAN_MS,SIGMA,MAX_MS | --index DIR --queries FILE [--join N] [--k N]) \
    [--policies A;B] [--loads 0.1,0.3] [--handlers N] [--seconds S] [--rounds N] [--seed N] [--pin yes]";
/// Time of a run at saturation, in s.
const SATURATED_S: f64 = 3.0;
/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(2);

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::read()?;
    let service = Service::open(&options)?;
    let capacity_per_s = service.capacity(&options, "fifo:1")?;
    println!(
        "{} handlers, {}: {capacity_per_s:.0} requests/s at saturation with fifo:1\n",
        options.handlers,
        service.describe()
    );
    println!(
        "{:<28} {:>5} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>7} {:>7} {:>6}",
        "policy",
        "load",
        "mean ms",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "CPU ms",
        "helped",
        "parked",
        "late"
    );
    let mut lags = Vec::new();
    for &load in &options.loads {
        let mut runs: Vec<Vec<f64>> = vec![Vec::new(); options.policies.len()];
        let mut notes = vec![(0, 0, 0); options.policies.len()];
        let mut cpu = vec![(Duration::ZERO, 0); options.policies.len()];
        for round in 0..options.rounds {
            for step in 0..options.policies.len() {
                let at = (step + round * 3) % options.policies.len();
                let server = service.server(&options, &options.policies[at])?;
                let seed = options.seed + round as u64;
                let before = vfs::platform::process_cpu_time();
                let run = service.run(&server, load * capacity_per_s, options.seconds, seed);
                cpu[at].0 += vfs::platform::process_cpu_time().saturating_sub(before);
                cpu[at].1 += run.lags_ms.len();
                let figures = server.figures();
                notes[at].0 += figures.helped.load(Relaxed);
                notes[at].1 += figures.parked.load(Relaxed);
                notes[at].2 += run.failed;
                lags.extend(run.lags_ms);
                runs[at].extend(run.responses_ms);
            }
        }
        let rows = options.policies.iter().zip(runs).zip(notes).zip(cpu);
        for (((name, mut all), note), (cpu, requests)) in rows {
            all.sort_unstable_by(f64::total_cmp);
            let at = |share: f64| all[((all.len() as f64 * share) as usize).min(all.len() - 1)];
            let mean = all.iter().sum::<f64>() / all.len() as f64;
            println!(
                "{name:<28} {load:>5} {mean:>8.3} {:>8.3} {:>8.3} {:>8.3} {:>8.3} {:>8.3} {:>7} {:>7} {:>6}",
                at(0.5),
                at(0.9),
                at(0.99),
                at(0.999),
                cpu.as_secs_f64() * 1e3 / requests as f64,
                note.0,
                note.1,
                note.2
            );
        }
    }
    let mut rates = vec![(0.0, 0.0); options.policies.len()];
    for round in 0..options.rounds {
        for step in 0..rates.len() {
            let at = (step + round * 3) % rates.len();
            let before = vfs::platform::process_cpu_time();
            let rate = service.capacity(&options, &options.policies[at])?;
            let cpu = vfs::platform::process_cpu_time().saturating_sub(before);
            rates[at].0 += rate;
            rates[at].1 += cpu.as_secs_f64() * 1e3 / (rate * SATURATED_S);
        }
    }
    for (name, (rate, cpu_ms)) in options.policies.iter().zip(&rates) {
        let (rate, of_first) = (rate / options.rounds as f64, rate / rates[0].0);
        let cpu_ms = cpu_ms / options.rounds as f64;
        println!(
            "{name:<28}  at saturation {rate:>8.0} requests/s, {of_first:.3} of the first policy, CPU {cpu_ms:.3} ms"
        );
    }
    lags.sort_unstable_by(f64::total_cmp);
    let at = |share: f64| lags[((lags.len() as f64 * share) as usize).min(lags.len() - 1)];
    println!(
        "\nsent after due: p50 {:.3} ms, p99 {:.3} ms, p99.9 {:.3} ms",
        at(0.5),
        at(0.99),
        at(0.999)
    );
    Ok(())
}

struct Options {
    spin: Option<[f64; 3]>,
    index: Option<String>,
    queries: Option<String>,
    join: usize,
    k: usize,
    policies: Vec<String>,
    loads: Vec<f64>,
    handlers: usize,
    seconds: f64,
    rounds: usize,
    seed: u64,
    pinned: bool,
}

impl Options {
    fn read() -> Result<Options, Box<dyn Error>> {
        let mut given: HashMap<String, String> = HashMap::new();
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let value = arguments.next().ok_or(USAGE)?;
            given.insert(name.trim_start_matches("--").to_owned(), value);
        }
        let text =
            |name: &str, default: &str| given.get(name).cloned().unwrap_or(default.to_owned());
        let spin = match given.get("spin") {
            Some(list) => {
                let numbers: Result<Vec<f64>, _> = list.split(',').map(str::parse).collect();
                Some(<[f64; 3]>::try_from(numbers?).map_err(|_| USAGE)?)
            }
            None => None,
        };
        Ok(Options {
            spin,
            index: given.get("index").cloned(),
            queries: given.get("queries").cloned(),
            join: text("join", "1").parse()?,
            k: text("k", "10").parse()?,
            policies: text(
                "policies",
                "fifo:1;fifo:2;idle-share;help-and-yield;sjf;least-left:alone;least-left",
            )
            .split(';')
            .map(str::to_owned)
            .collect(),
            loads: text("loads", "0.1,0.3,0.5,0.7,0.8")
                .split(',')
                .map(str::parse)
                .collect::<Result<_, _>>()?,
            handlers: text("handlers", "2").parse()?,
            seconds: text("seconds", "5").parse()?,
            rounds: text("rounds", "3").parse()?,
            seed: text("seed", "1").parse()?,
            pinned: text("pin", "no") == "yes",
        })
    }
}

/// What is asked of the handlers.
enum Service {
    Spin {
        mean_ms: f64,
        sigma: f64,
        max_ms: f64,
        generations: Arc<Generations>,
    },
    Real {
        generations: Arc<Generations>,
        queries: Vec<search::Query>,
        k: usize,
    },
}

struct Run {
    responses_ms: Vec<f64>,
    lags_ms: Vec<f64>,
    failed: u64,
}

/// A request on its way.
enum Asked {
    Spin(tokio::sync::oneshot::Receiver<Result<SyntheticTimes, serve::PartError>>),
    Real(tokio::sync::oneshot::Receiver<Result<PartitionHits, serve::PartError>>),
}

impl Asked {
    /// Waits for the answer; the time from arrival to answer in ms.
    fn wait(self) -> Option<f64> {
        match self {
            Asked::Spin(answer) => {
                let times = answer.blocking_recv().ok()?.ok()?;
                Some((times.queueing + times.search).as_secs_f64() * 1e3)
            }
            Asked::Real(answer) => {
                let found = answer.blocking_recv().ok()?.ok()?;
                Some((found.queueing_us + found.parse_us + found.search_us) as f64 / 1e3)
            }
        }
    }
}

impl Service {
    fn open(options: &Options) -> Result<Service, Box<dyn Error>> {
        if let Some([mean_ms, sigma, max_ms]) = options.spin {
            let storage = Arc::new(vfs::MemoryStorage::default());
            index::Writer::open(storage.clone(), index::BuildOptions::default())?.commit()?;
            let generations = Generations::open(storage)?;
            return Ok(Service::Spin {
                mean_ms,
                sigma,
                max_ms,
                generations,
            });
        }
        let (Some(directory), Some(file)) = (&options.index, &options.queries) else {
            return Err(USAGE.into());
        };
        let generations = Generations::open(Arc::new(vfs::RealStorage::open(directory)?))?;
        let index = generations.newest();
        let lines: Vec<String> = std::fs::read_to_string(file)?
            .lines()
            .map(str::to_owned)
            .collect();
        let typed = |line: &String| {
            line.split_once('\t')
                .map_or(line.clone(), |(_, text)| text.to_owned())
        };
        let texts: Vec<String> = lines.iter().map(typed).collect();
        let queries = texts.chunks(options.join.max(1)).map(|joined| {
            search::parse(&joined.join(" "), index.analyzer(), search::Operator::Or).query
        });
        Ok(Service::Real {
            queries: queries.take(5_000).collect(),
            k: options.k,
            generations,
        })
    }

    fn describe(&self) -> String {
        match self {
            Service::Spin {
                mean_ms,
                sigma,
                max_ms,
                ..
            } => {
                format!(
                    "spinning for lognormal times of mean {mean_ms} ms, sigma {sigma}, at most {max_ms} ms"
                )
            }
            Service::Real { queries, k, .. } => format!("{} queries, {k} hits", queries.len()),
        }
    }

    fn server(
        &self,
        options: &Options,
        policy: &str,
    ) -> Result<InProcessIndexServer, Box<dyn Error>> {
        let (Service::Spin { generations, .. } | Service::Real { generations, .. }) = self;
        let handlers = HandlerOptions {
            handlers: options.handlers,
            policy: policy.parse()?,
            queue_length: 1_000_000,
            places: match options.pinned {
                true => (0..options.handlers)
                    .map(|handler| Place {
                        cpus: std::iter::once(handler as u32).collect(),
                        ..Place::default()
                    })
                    .collect(),
                false => Vec::new(),
            },
            ..HandlerOptions::default()
        };
        let chunks = 0..=generations.newest().chunks_count() - 1;
        let generations = Arc::clone(generations);
        Ok(InProcessIndexServer::start(
            generations,
            chunks,
            &handlers,
            Draining::default(),
        )?)
    }

    /// Sends a request.
    fn ask(&self, server: &InProcessIndexServer, number: u64, chance: &mut Chance) -> Asked {
        let deadline = Instant::now() + TIMEOUT;
        match self {
            Service::Spin {
                mean_ms,
                sigma,
                max_ms,
                ..
            } => {
                let mu = mean_ms.ln() - sigma * sigma / 2.0;
                let time_ms = (mu + sigma * chance.normal()).exp().min(*max_ms);
                let likely_ms = time_ms * (0.5 * chance.normal()).exp();
                let of = |ms: f64| Duration::from_secs_f64(ms / 1e3);
                let (reply, answer) = Reply::channel();
                let request = SyntheticRequest {
                    time: of(time_ms),
                    likely: of(likely_ms),
                    high: of(likely_ms * (1.2816_f64 * 0.5).exp()),
                    deadline,
                    clock: Default::default(),
                };
                server.spin(request, reply);
                Asked::Spin(answer)
            }
            Service::Real { queries, k, .. } => {
                let at = (chance.uniform() * queries.len() as f64) as usize;
                let ranking = search::Ranking::default();
                let query = Query::new(number, String::new(), queries[at].clone(), ranking);
                let query = Arc::new(query);
                let request = SearchRequest {
                    sort: Default::default(),
                    collapse: None,
                    after: None,
                    trace: false,
                    k: *k,
                    counted: false,
                    generation: 0,
                    deadline,
                    caller_waits: false,
                };
                let (reply, answer) = Reply::channel();
                server.search(&query, request, reply);
                Asked::Real(answer)
            }
        }
    }

    /// Requests a second that handlers answer when some always wait.
    fn capacity(&self, options: &Options, policy: &str) -> Result<f64, Box<dyn Error>> {
        let server = self.server(options, policy)?;
        let mut chance = Chance(options.seed);
        let began = Instant::now();
        let mut number = 0;
        let mut waiting = std::collections::VecDeque::new();
        while began.elapsed().as_secs_f64() < SATURATED_S {
            while waiting.len() < 16 * options.handlers {
                number += 1;
                waiting.push_back(self.ask(&server, number, &mut chance));
            }
            waiting.pop_front().and_then(Asked::wait);
        }
        Ok((number - waiting.len() as u64) as f64 / began.elapsed().as_secs_f64())
    }

    /// Offers requests at a rate.
    fn run(&self, server: &InProcessIndexServer, rate_per_s: f64, seconds: f64, seed: u64) -> Run {
        let mut arrivals = Chance(seed.wrapping_mul(2));
        let mut times = Chance(seed.wrapping_mul(2) + 1);
        let began = Instant::now();
        let mut due = Duration::ZERO;
        let mut asked = Vec::new();
        let mut lags_ms = Vec::new();
        let warm_up = Duration::from_secs_f64(seconds * 0.1);
        while due.as_secs_f64() < seconds {
            due += Duration::from_secs_f64(arrivals.exponential() / rate_per_s);
            if let Some(left) = due.checked_sub(began.elapsed()) {
                std::thread::sleep(left);
            }
            let lag_ms = began.elapsed().saturating_sub(due).as_secs_f64() * 1e3;
            let one = self.ask(server, asked.len() as u64, &mut times);
            asked.push((lag_ms, due >= warm_up, one));
            lags_ms.push(lag_ms);
        }
        let (mut responses_ms, mut failed) = (Vec::new(), 0);
        for (lag_ms, is_counted, one) in asked {
            match one.wait() {
                Some(response_ms) if is_counted => responses_ms.push(response_ms + lag_ms),
                Some(_) => {}
                None => failed += 1,
            }
        }
        Run {
            responses_ms,
            lags_ms,
            failed,
        }
    }
}

/// Random numbers: a Weyl sequence and a multiplication (Steele et al. 2014).
struct Chance(u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn exponential(&mut self) -> f64 {
        -(1.0 - self.uniform()).ln()
    }

    fn normal(&mut self) -> f64 {
        let radius = (2.0 * self.exponential()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }
}
