//! Days of a crawl in virtual time, at size: every gap judged, the share of the polite bound, the order repeated.
//!
//! `cargo run --release -p shorttail-crawl --example virtual_days -- HOSTS PAGES [DAYS] [SEED] [--twice] [--sabotage]`
//!
//! The frontier works alone on a real disk. Visits in flight are a heap; the time jumps to the next event. The web is a
//! function of seed, URL and time ([`virtual_web`]). The judge ([`virtual_judge`]) sees the log entry by entry and
//! knows the law as written down there; it says also what the polite bound is.
//!
//! `--twice` crawls again and compares the hashes of the logs. `--sabotage` starts each thousandth page 100 ms before
//! its time: the judge must find it. Fails where a gap is broken or the hashes differ.
use crawl::frontier::{
    Discovery, Frontier, FrontierOptions, Next, Outcome, Permission, RobotsAnswer, RobotsOutcome,
    Source, Validators, Visit, VisitId, VisitKind, WarcPlace, url_hash,
};
use crawl::politeness::TimeMs;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;
use urls::resident_mb;
use virtual_judge::Judge;
use virtual_web::{DAY_MS, Web};

#[path = "../../../bench/crawl/urls.rs"]
#[expect(dead_code, reason = "this web has URLs of its own")]
mod urls;
#[path = "virtual_days/judge.rs"]
mod virtual_judge;
#[path = "virtual_days/web.rs"]
mod virtual_web;

/// Time 0 of web and judge.
const START_MS: u64 = 1_790_000_000_000;
/// Each such page is started before its time where the crawl is sabotaged.
const SABOTAGED_ONE_IN: u64 = 1_000;
const SABOTAGE_MS: u64 = 100;
const SYNC_VISITS: u64 = 256;
const MEMORY_VISITS: u64 = 1 << 16;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let (options, numbers): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let number = |at: usize, default: u64| numbers.get(at).map_or(Ok(default), |n| n.parse());
    let has = |name: &str| options.iter().any(|option| option == name);
    let (hosts, pages) = (number(0, 10_000)?, number(1, 1_000_000)?);
    let (days, seed) = (number(2, 30)?, number(3, 1)?);
    if days > 45 || hosts == 0 {
        return Err("1 host at least, 45 days at most".into());
    }
    let web = Web::new(seed, hosts as usize, pages);
    println!(
        "{hosts} hosts, {} pages, {days} days, seed {seed}",
        web.pages()
    );
    let (hash, mut is_sound) = crawl(&web, days * DAY_MS, has("--sabotage"))?;
    if has("--twice") {
        println!("again:");
        let (again, is_sound_again) = crawl(&web, days * DAY_MS, has("--sabotage"))?;
        println!("same log: {}", again == hash);
        is_sound &= is_sound_again && again == hash;
    }
    Ok(ExitCode::from(u8::from(!is_sound)))
}

/// Crawls up to time `horizon` and prints the findings. Returns the hash of the log, and whether all of the law was kept.
fn crawl(web: &Web, horizon: u64, sabotaged: bool) -> Result<(u64, bool), Box<dyn Error>> {
    let (directory, begun) = (tempfile::tempdir()?, Instant::now());
    let mut crawl = Crawl::open(web, directory.path(), sabotaged)?;
    crawl.drive(horizon)?;
    crawl.judge.close(web, horizon);
    let seconds = begun.elapsed().as_secs_f64();
    let (visits, hash) = (crawl.judge.visits(), crawl.judge.hash());
    println!(
        "{visits} visits: {} of robots.txt, {} not modified, {} not found; {} started before their time",
        crawl.robots, crawl.not_modified, crawl.not_found, crawl.sabotaged
    );
    print!("{}", crawl.judge);
    println!(
        "hash of the log {hash:016x}\n{seconds:.1} s, {:.0} visits/s, {:.0} links found/s",
        visits as f64 / seconds,
        crawl.links as f64 / seconds
    );
    println!(
        "{} MB of memory at most, of it {} MB of web and judge; {} bytes on disk for {} URLs",
        crawl.memory_mb.max(resident_mb()),
        (web.bytes() + crawl.judge.bytes()) >> 20,
        disk_bytes(directory.path())?,
        crawl.frontier.counts(at(crawl.now)).known
    );
    Ok((hash, crawl.judge.broken() == 0))
}

fn at(time: u64) -> TimeMs {
    TimeMs(START_MS + time)
}

/// Size of all files, with journal and runs not yet removed.
fn disk_bytes(directory: &Path) -> Result<u64, std::io::Error> {
    let files = std::fs::read_dir(directory)?;
    files.map(|file| Ok(file?.metadata()?.len())).sum()
}

/// A crawl under way.
struct Crawl<'a> {
    web: &'a Web,
    frontier: Frontier,
    judge: Judge,
    flying: BinaryHeap<Reverse<Flight>>,
    now: u64,
    sabotages: bool,
    sabotaged: u64,
    pages: u64,
    robots: u64,
    not_modified: u64,
    not_found: u64,
    links: u64,
    memory_mb: u64,
}

/// A visit in flight. The first two order the heap.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Flight {
    end: u64,
    id: VisitId,
    host: usize,
    /// Number of the page; `None` for robots.txt.
    page: Option<u32>,
    took_ms: u64,
    depth: u16,
    version: u64,
    /// Whether the record has the validator of this version.
    not_modified: bool,
}

impl Crawl<'_> {
    fn open<'a>(
        web: &'a Web,
        directory: &Path,
        sabotages: bool,
    ) -> Result<Crawl<'a>, Box<dyn Error>> {
        let storage = Arc::new(vfs::RealStorage::open(directory)?);
        let (frontier, _) = Frontier::open(storage, FrontierOptions::default(), at(0))?;
        let mut crawl = Crawl {
            web,
            frontier,
            judge: Judge::new(web),
            flying: BinaryHeap::new(),
            now: 0,
            sabotages,
            sabotaged: 0,
            pages: 0,
            robots: 0,
            not_modified: 0,
            not_found: 0,
            links: 0,
            memory_mb: 0,
        };
        for host in 0..web.hosts() {
            crawl.found(host, 0, Source::Seed, 0, None)?;
        }
        Ok(crawl)
    }

    fn drive(&mut self, horizon: u64) -> Result<(), Box<dyn Error>> {
        loop {
            let next = self.flying.peek();
            if next.is_some_and(|flight| flight.0.end <= self.now)
                && let Some(Reverse(flight)) = self.flying.pop()
            {
                self.end(&flight)?;
                continue;
            }
            match self.frontier.next(at(self.now))? {
                Next::Visit(visit) => self.start(&visit)?,
                Next::Wait { until } => {
                    let end = self.flying.peek().map_or(u64::MAX, |flight| flight.0.end);
                    self.now = until.since_ms(at(0)).min(end);
                    if self.now >= horizon {
                        return Ok(());
                    }
                }
                Next::Idle => return Ok(()),
            }
        }
    }

    fn start(&mut self, visit: &Visit) -> Result<(), Box<dyn Error>> {
        let host: usize = visit.origin[Web::ORIGIN.len()..]
            .trim_end_matches(".example")
            .parse()?;
        let address = self.web.address(host);
        if self.frontier.resolved(visit.id, address, at(self.now)) == Permission::Later {
            return Ok(());
        }
        let page: Option<u32> = match visit.kind {
            VisitKind::Page => Some(visit.url[visit.origin.len() + 1..].parse()?),
            VisitKind::Robots => None,
        };
        self.pages += u64::from(page.is_some());
        let is_early =
            self.sabotages && page.is_some() && self.pages.is_multiple_of(SABOTAGED_ONE_IN);
        let start = match is_early {
            true => self.now.saturating_sub(SABOTAGE_MS),
            false => self.now,
        };
        self.sabotaged += u64::from(is_early);
        let took_ms = self.web.took_ms(host, page, start);
        self.judge
            .started(self.web, host, page, &visit.url, (start, start + took_ms));
        let record = visit.record.as_ref();
        let etag = record.and_then(|record| record.validators.etag.as_deref());
        let version = page.map_or(0, |page| self.web.version(host, page, start));
        self.flying.push(Reverse(Flight {
            end: (start + took_ms).max(self.now),
            id: visit.id,
            host,
            page,
            took_ms,
            depth: record.map_or(0, |record| record.depth),
            version,
            not_modified: etag.is_some_and(|etag| etag == version.to_string()),
        }));
        if self.judge.visits().is_multiple_of(SYNC_VISITS) {
            self.frontier.sync()?;
        }
        if self.judge.visits().is_multiple_of(MEMORY_VISITS) {
            self.memory_mb = self.memory_mb.max(resident_mb());
        }
        Ok(())
    }

    fn end(&mut self, flight: &Flight) -> Result<(), Box<dyn Error>> {
        let (host, took_ms) = (flight.host, flight.took_ms);
        let Some(page) = flight.page else {
            self.robots += 1;
            return self.read_robots(flight);
        };
        let outcome = if self.web.is_dead(host, page) {
            self.not_found += 1;
            let status = 404;
            Outcome::Gone { status, took_ms }
        } else if flight.not_modified {
            self.not_modified += 1;
            Outcome::NotModified { took_ms }
        } else {
            let from = Some(url_hash(&Web::url(host, page)));
            for (host, page) in self.web.links(host, page) {
                self.found(host, page, Source::Link, flight.depth + 1, from)?;
            }
            fetched(flight, page)
        };
        let finished = self
            .frontier
            .finished(flight.id, &outcome, at(self.now))?
            .ok_or("a visit was not in flight")?;
        let due = finished.due.since_ms(at(0));
        self.judge.due(host, page, due);
        Ok(())
    }

    fn read_robots(&mut self, flight: &Flight) -> Result<(), Box<dyn Error>> {
        let valid_until = at(self.now + DAY_MS);
        let answer = RobotsAnswer {
            outcome: match self.web.crawl_delay_s(flight.host) {
                0 => RobotsOutcome::Free { valid_until },
                delay_s => RobotsOutcome::Rules {
                    crawl_delay_s: Some(delay_s as f64),
                    valid_until,
                },
            },
            throttled: None,
            took_ms: flight.took_ms,
            source: b"",
        };
        self.frontier.robots(flight.id, &answer, at(self.now))?;
        Ok(())
    }

    fn found(
        &mut self,
        host: usize,
        page: u32,
        source: Source,
        depth: u16,
        from: Option<u64>,
    ) -> Result<(), Box<dyn Error>> {
        let discovery = Discovery {
            url: &Web::url(host, page),
            depth,
            source,
            from,
            importance: 1.0,
            modified: None,
        };
        self.links += 1;
        self.judge.found(host, page, self.now);
        self.frontier.discover(&discovery, at(self.now))?;
        Ok(())
    }
}

fn fetched(flight: &Flight, page: u32) -> Outcome {
    let url = Web::url(flight.host, page);
    Outcome::Fetched {
        status: 200,
        took_ms: flight.took_ms,
        text_hash: u128::from(url_hash(&url)) << 64 | u128::from(flight.version),
        duplicate: false,
        noindex: false,
        repeats: false,
        validators: Validators {
            etag: Some(flight.version.to_string()),
            last_modified: None,
        },
        place: WarcPlace::default(),
    }
}
