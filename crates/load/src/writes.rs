//! Writes beside a measurement: documents sent at a fixed rate to a server that writes.
//!
//! Model: as for searches, an open loop. A batch is due at its intended instant; its time counts from then, until it is
//! acknowledged. At random instants, one document is sent by itself and waited for until it can be searched.

use crate::LoadError;
use crate::random::Purpose;
use crate::response::{Response, ResponseReader};
use crate::times::Times;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Batches a second.
const BATCHES_A_SECOND: f64 = 10.0;
/// Longest pause between two documents that are waited for.
const PROBE_PAUSE_MAX: Duration = Duration::from_secs(1);
/// Upper limit on the time of an answer.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Options of writes beside a measurement.
#[derive(Debug, Clone)]
pub struct Writes {
    host: String,
    address: SocketAddr,
    /// Lines of JSON, sent in turn, and again from the first.
    documents: Vec<Vec<u8>>,
    urls: Vec<String>,
    /// Changes a second.
    rate: f64,
    /// Shares of the changes that replace, and that delete, a document sent before.
    replacing: f64,
    deleting: f64,
}

/// Result of writes beside a measurement.
#[derive(Debug, Clone, Default)]
pub struct WritesOutcome {
    /// Changes acknowledged.
    pub accepted: u64,
    /// Changes that the server refused or did not answer.
    pub failed: u64,
    /// First failure.
    pub failure: Option<String>,
    /// Duration of the writes.
    pub elapsed: Duration,
    /// Times of batches, from the intended instant to the acknowledgement.
    pub acknowledged: Times,
    /// Times of single documents, from sending until they can be searched.
    pub searchable: Times,
}

impl Writes {
    /// Reads the options. `url` is the admin address of a server that writes, as `http://HOST:PORT`.
    ///
    /// # Errors
    /// An address that is none, a line that is no document with a URL.
    pub fn new(
        url: &str,
        lines: &[u8],
        rate: f64,
        shares: (f64, f64),
    ) -> Result<Writes, LoadError> {
        let wrong = |reason: String| LoadError::Target {
            url: url.to_owned(),
            reason,
        };
        let host = url
            .strip_prefix("http://")
            .map(|host| host.trim_end_matches('/'));
        let host =
            host.ok_or_else(|| wrong("not an http:// URL; write http://HOST:PORT".into()))?;
        let address = host
            .to_socket_addrs()
            .ok()
            .and_then(|mut found| found.next());
        let address = address.ok_or_else(|| wrong("its host cannot be found".into()))?;
        let (mut documents, mut urls) = (Vec::new(), Vec::new());
        let lines = (1..).zip(lines.split(|&byte| byte == b'\n'));
        for (number, line) in lines.filter(|(_, line)| !line.trim_ascii().is_empty()) {
            let value: serde_json::Value = serde_json::from_slice(line)
                .map_err(|error| wrong(format!("line {number} of the documents: {error}")))?;
            let Some(url) = value["url"].as_str() else {
                return Err(wrong(format!(
                    "line {number} of the documents has no `url`"
                )));
            };
            urls.push(url.to_owned());
            documents.push(line.to_vec());
        }
        if documents.is_empty() {
            return Err(wrong("there are no documents to write".into()));
        }
        Ok(Writes {
            host: host.to_owned(),
            address,
            documents,
            urls,
            rate,
            replacing: shares.0,
            deleting: shares.1,
        })
    }

    /// Writes until `is_over`.
    pub fn run(&self, seed: u64, is_over: &AtomicBool) -> WritesOutcome {
        std::thread::scope(|scope| {
            let probing = scope.spawn(|| self.probe(seed, is_over));
            let mut outcome = self.write(seed, is_over);
            if let Ok(probed) = probing.join() {
                outcome.searchable = probed.searchable;
                outcome.failed += probed.failed;
                outcome.failure = outcome.failure.or(probed.failure);
            }
            outcome
        })
    }

    fn write(&self, seed: u64, is_over: &AtomicBool) -> WritesOutcome {
        let (begun, mut outcome) = (Instant::now(), WritesOutcome::default());
        let mut random = Purpose::Writes.stream(seed);
        let mut client = Client::new(self);
        // The first document is the probes'.
        let mut sent = 1;
        let mut due_changes = 0.0;
        for batch in 0u64.. {
            let due = begun + Duration::from_secs_f64(batch as f64 / BATCHES_A_SECOND);
            std::thread::sleep(due.saturating_duration_since(Instant::now()));
            if is_over.load(Ordering::Relaxed) {
                break;
            }
            due_changes += self.rate / BATCHES_A_SECOND;
            let (mut puts, mut deletes, mut puts_count) = (Vec::new(), Vec::new(), 0);
            while due_changes >= 1.0 {
                due_changes -= 1.0;
                let kind = random.uniform();
                let earlier = 1 + (random.uniform() * (sent - 1) as f64) as usize;
                if sent > 1 && kind < self.deleting {
                    deletes.extend_from_slice(self.urls[earlier % self.urls.len()].as_bytes());
                    deletes.push(b'\n');
                    continue;
                }
                let is_replacing = sent > 1 && kind < self.deleting + self.replacing;
                let number = if is_replacing { earlier } else { sent };
                sent += usize::from(!is_replacing);
                puts.extend_from_slice(&self.documents[number % self.documents.len()]);
                puts.push(b'\n');
                puts_count += 1;
            }
            let deletes_count = deletes.iter().filter(|&&byte| byte == b'\n').count() as u64;
            for (method, body, count) in [
                ("POST", puts, puts_count),
                ("DELETE", deletes, deletes_count),
            ] {
                if count == 0 {
                    continue;
                }
                match client.ask(method, "/documents", &body) {
                    Ok(()) => {
                        outcome.accepted += count;
                        outcome.acknowledged.add_ns(due.elapsed().as_nanos() as u64);
                    }
                    Err(failure) => {
                        outcome.failed += count;
                        outcome.acknowledged.add_never();
                        outcome.failure.get_or_insert(failure);
                    }
                }
            }
        }
        outcome.elapsed = begun.elapsed();
        outcome
    }

    /// Sends a document at random instants and waits until it can be searched.
    fn probe(&self, seed: u64, is_over: &AtomicBool) -> WritesOutcome {
        let mut outcome = WritesOutcome::default();
        let mut random = Purpose::Probes.stream(seed);
        let mut client = Client::new(self);
        while !is_over.load(Ordering::Relaxed) {
            let begun = Instant::now();
            match client.ask("POST", "/documents?refresh=wait", &self.documents[0]) {
                Ok(()) => outcome.searchable.add_ns(begun.elapsed().as_nanos() as u64),
                Err(failure) => {
                    outcome.failed += 1;
                    outcome.failure.get_or_insert(failure);
                }
            }
            // At random, so that it keeps no step with refreshes.
            std::thread::sleep(PROBE_PAUSE_MAX.mul_f64(random.uniform()));
        }
        outcome
    }
}

/// Connection to a server that writes, opened again where it was lost.
struct Client<'a> {
    writes: &'a Writes,
    stream: Option<TcpStream>,
}

impl<'a> Client<'a> {
    fn new(writes: &'a Writes) -> Client<'a> {
        Client {
            writes,
            stream: None,
        }
    }

    /// Sends a request; fails with what went wrong, or with the refusal.
    fn ask(&mut self, method: &str, path: &str, body: &[u8]) -> Result<(), String> {
        let answered = self.exchange(method, path, body);
        match answered {
            Ok(response) if response.status == 200 => Ok(()),
            Ok(response) => {
                let told = String::from_utf8_lossy(&response.body);
                let told: String = told.chars().take(200).collect();
                Err(format!(
                    "{method} {path} was answered {}: {told}",
                    response.status
                ))
            }
            Err(error) => {
                self.stream = None;
                Err(format!("{method} {path}: {error}"))
            }
        }
    }

    fn exchange(&mut self, method: &str, path: &str, body: &[u8]) -> std::io::Result<Response> {
        let stream = match &mut self.stream {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect_timeout(&self.writes.address, TIMEOUT)?;
                stream.set_read_timeout(Some(TIMEOUT))?;
                stream.set_nodelay(true)?;
                self.stream.insert(stream)
            }
        };
        let host = &self.writes.host;
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes())?;
        stream.write_all(body)?;
        let (mut reader, mut buffer) = (ResponseReader::default(), vec![0; 16 << 10]);
        let broken = |_| std::io::Error::other("not a response");
        let response = loop {
            let read = stream.read(&mut buffer)?;
            if read == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if let Some(response) = reader.feed(&buffer[..read]).map_err(broken)? {
                break response;
            }
        };
        if !response.keep_alive {
            self.stream = None;
        }
        Ok(response)
    }
}
