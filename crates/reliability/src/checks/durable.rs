//! Check `durable`: what a server that writes has acknowledged is there after it was killed.

use super::settings::Run;
use crate::process::Process;
use crate::stage::Stage;
use crate::verdict::Verdict;
use serde_json::{Value, json};
use stats::Random;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Clients that write at the same time.
const CLIENTS: u64 = 4;
/// Documents of each client; they are replaced, patched and deleted again and again.
const DOCUMENTS: u64 = 40;
/// Longest time until a kill.
const LIFE_MAX_MS: u64 = 400;

/// Documents of a client: the number that each has, or `None` where it was deleted. After a request that got no answer
/// there are two possible states.
#[derive(Debug, Default)]
pub(super) struct Known {
    states: BTreeMap<String, Vec<Option<u64>>>,
    pub(super) acknowledged: u64,
    pub(super) refused: u64,
}

/// Kills a server under writes, and compares what the next one has with what was acknowledged.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("durable", run.seed);
    let stage = Stage::set(run.size(300, 3_000), 2).await?;
    let mut server = stage.serve(&["--writable", "--refresh", "100ms"]).await?;
    let mut random = Random::new(run.seed, 50);
    let mut all: Vec<Known> = (0..CLIENTS).map(|_| Known::default()).collect();
    let (mut compared, mut wrong, mut slowest_start) = (0, Vec::new(), Duration::ZERO);
    let rounds = run.size(12, 500);
    for round in 0..rounds {
        let is_over = AtomicBool::new(false);
        let admin = admin_of(&server)?;
        let life = Duration::from_millis(20 + random.below(LIFE_MAX_MS));
        std::thread::scope(|scope| {
            for (client, known) in (0..).zip(&mut all) {
                let stream = run.seed.wrapping_add(round * CLIENTS + client);
                let is_over = &is_over;
                let random = Random::new(stream, 51);
                scope.spawn(move || {
                    known.write(admin, client, random, Duration::ZERO, is_over);
                });
            }
            std::thread::sleep(life);
            // The clients stop after the kill, so that it cuts off requests.
            let killed = server.signal(rustix::process::Signal::KILL);
            std::thread::sleep(Duration::from_millis(5));
            is_over.store(true, Ordering::Relaxed);
            killed
        })?;
        server.kill().await?;
        if run.sabotage {
            remove_logs(&stage.index())?;
        }
        let begun = Instant::now();
        server.restart().await?;
        slowest_start = slowest_start.max(begun.elapsed());
        let admin = admin_of(&server)?;
        for known in &mut all {
            compared += known.states.len() as u64;
            known.compare(admin, &mut wrong)?;
        }
    }
    // What look-ups tell is what is searched.
    let live: usize = all.iter().map(Known::live_count).sum();
    let (_, answer) = ask(admin_of(&server)?, "POST", "/refresh", "")?;
    let found = ask(server.address, "GET", "/search?q=durableword&k=1", "")?.1;
    let searched = found["total"]["value"].as_u64().unwrap_or(0);
    let sum = |of: fn(&Known) -> u64| all.iter().map(of).sum::<u64>();
    let (acknowledged, refused) = (sum(|known| known.acknowledged), sum(|known| known.refused));
    verdict.count = format!(
        "{rounds} kills, {acknowledged} changes acknowledged, {compared} documents compared, generation {}",
        answer["generation"]
    );
    verdict.none("lost or wrong", wrong.len() as u64);
    verdict.none("refused", refused);
    verdict.none("live and not searched", (live as u64).abs_diff(searched));
    verdict.at_least("acknowledged", acknowledged as f64, rounds as f64);
    verdict.note("slowest start ms", slowest_start.as_secs_f64() * 1e3);
    verdict.tell(wrong);
    Ok(verdict)
}

pub(super) fn admin_of(server: &Process) -> anyhow::Result<SocketAddr> {
    server
        .admin
        .ok_or_else(|| anyhow::anyhow!("the server has no admin address"))
}

fn remove_logs(index: &Path) -> anyhow::Result<()> {
    for entry in std::fs::read_dir(index)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with("log-") {
            std::fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn url(client: u64, document: u64) -> String {
    format!("http://durable-{client}.example/{document}")
}

impl Known {
    /// Changes documents, with a pause before each request, until the end of the round, or until the server no longer
    /// answers.
    pub(super) fn write(
        &mut self,
        admin: SocketAddr,
        client: u64,
        mut random: Random,
        pause: Duration,
        is_over: &AtomicBool,
    ) {
        while !is_over.load(Ordering::Relaxed) {
            std::thread::sleep(pause);
            let mut changes = BTreeMap::new();
            for _ in 0..=random.below(5) {
                changes.insert(url(client, random.below(DOCUMENTS)), random.below(1 << 40));
            }
            let (method, body) = match random.below(4) {
                0 => ("DELETE", changes.keys().cloned().collect::<Vec<_>>()),
                _ => (
                    "POST",
                    changes
                        .iter()
                        .map(|(url, number)| document(url, *number))
                        .collect(),
                ),
            };
            let is_deleted = method == "DELETE";
            let asked = ask(admin, method, "/documents", &body.join("\n"));
            let is_answered = asked.is_ok();
            match &asked {
                Ok((200, answer)) if answer["accepted"] == changes.len() => {
                    self.acknowledged += changes.len() as u64;
                }
                Ok(_) => self.refused += 1,
                Err(_) => {}
            }
            for (url, number) in changes {
                let state = (!is_deleted).then_some(number);
                let states = self.states.entry(url).or_insert_with(|| vec![None]);
                if is_answered {
                    states.clear();
                }
                states.push(state);
            }
            if !is_answered {
                return;
            }
        }
    }

    /// Compares with what the server has, which is the one state from then on.
    fn compare(&mut self, admin: SocketAddr, wrong: &mut Vec<String>) -> anyhow::Result<()> {
        for (url, states) in &mut self.states {
            let (status, answer) = ask(admin, "GET", &format!("/documents?url={url}"), "")?;
            let found = match status {
                404 => None,
                _ => answer["document"]["number"].as_u64(),
            };
            if !states.contains(&found) {
                wrong.push(format!(
                    "{url} has {found:?}, and should have one of {states:?}"
                ));
            }
            *states = vec![found];
        }
        Ok(())
    }

    fn live_count(&self) -> usize {
        self.states
            .values()
            .filter(|states| states[..] != [None])
            .count()
    }
}

pub(super) fn document(url: &str, number: u64) -> String {
    json!({ "url": url, "title": "durable", "body": "durableword", "number": number }).to_string()
}

/// Sends a request on a connection of its own.
pub(super) fn ask(
    address: SocketAddr,
    method: &str,
    path: &str,
    body: &str,
) -> std::io::Result<(u16, Value)> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    let cut_off = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let (head, body) = answer.split_once("\r\n\r\n").ok_or_else(cut_off)?;
    let status = head
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok());
    let body = serde_json::from_str(body).map_err(|_| cut_off())?;
    Ok((status.ok_or_else(cut_off)?, body))
}
