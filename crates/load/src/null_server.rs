//! Self-check of the client against a server that does nothing but answer.
//!
//! Every request gets the same short answer at once. A rate that the load generator cannot reach
//! against this server is out of reach against any, and a run at that rate would measure the client.
use crate::settings::Load;
use crate::{Arrivals, LoadError, Settings, Summary, run};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

const ANSWER: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
const REQUEST_BYTES: usize = 4096;
/// Requests needed for a 99th percentile, with a margin for Poisson variation.
const REQUESTS_WANTED: f64 = 1200.0;
/// Lower and upper limit on the duration of a check, in seconds.
const CHECK_S: (f64, f64) = (1.0, 5.0);

/// Capability of the client without delays by a server.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SelfCheck {
    /// Offered load, in requests per second: twice the highest rate of the run.
    pub offered_qps: f64,
    /// Answered requests per second.
    pub achieved_qps: f64,
    /// Median lag behind the schedule; `None` if the samples are too few.
    pub lag_us_p50: Option<f64>,
    /// 99th percentile of the lag behind the schedule; `None` if the samples are too few.
    pub lag_us_p99: Option<f64>,
    /// Number of requests without an answer.
    pub failed_count: u64,
}

impl SelfCheck {
    /// Offers Poisson arrivals at twice the highest rate of an open loop to the null server for 1 to 5
    /// seconds. Returns `None` for a closed loop, which has no rate, and for an empty trace.
    ///
    /// # Errors
    /// The errors of [`run`].
    pub fn run(settings: &Settings) -> Result<Option<SelfCheck>, LoadError> {
        let Load::Open { arrivals } = &settings.load else {
            return Ok(None);
        };
        let rate_qps = 2.0 * arrivals.peak_rate_qps(settings.duration);
        if rate_qps <= 0.0 {
            return Ok(None);
        }
        let server = NullServer::start()?;
        let mut check = settings.clone();
        check.target = settings.target.at(server.address());
        check.load = Load::Open {
            arrivals: Arrivals::Poisson { rate_qps },
        };
        check.warm_up = Duration::from_millis(200);
        let seconds = (REQUESTS_WANTED / rate_qps).clamp(CHECK_S.0, CHECK_S.1);
        check.duration = Duration::from_secs_f64(seconds);
        let summary = Summary::of(&run(&check)?);
        Ok(Some(SelfCheck {
            offered_qps: summary.offered_qps,
            achieved_qps: summary.achieved_qps,
            lag_us_p50: summary.lag.percentile_us(50.0),
            lag_us_p99: summary.lag.percentile_us(99.0),
            failed_count: summary.count(|ending| !ending.is_answer()),
        }))
    }
}

/// A server on the loopback interface that runs until it is dropped.
#[derive(Debug)]
pub struct NullServer {
    address: SocketAddr,
    is_over: Arc<AtomicBool>,
}

impl NullServer {
    /// Starts the server on a free port.
    ///
    /// # Errors
    /// No free port or no thread is available.
    pub fn start() -> Result<NullServer, LoadError> {
        let machine = || LoadError::machine("start the server of the self-check");
        let listener = TcpListener::bind("127.0.0.1:0").map_err(machine())?;
        let address = listener.local_addr().map_err(machine())?;
        let is_over = Arc::new(AtomicBool::new(false));
        let over = is_over.clone();
        std::thread::Builder::new()
            .name("null-server".into())
            .spawn(move || accept(&listener, &over))
            .map_err(machine())?;
        Ok(NullServer { address, is_over })
    }

    /// Returns the address that the server listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }
}

impl Drop for NullServer {
    fn drop(&mut self) {
        self.is_over.store(true, Relaxed);
        // Wakes the accepting thread; if that fails, it sleeps until the process ends.
        let _ = TcpStream::connect(self.address);
    }
}

fn accept(listener: &TcpListener, is_over: &AtomicBool) {
    for stream in listener.incoming() {
        if is_over.load(Relaxed) {
            return;
        }
        let Ok(stream) = stream else { continue };
        let thread = std::thread::Builder::new().stack_size(64 << 10);
        // A connection without a thread is closed, and the self-check counts the failure.
        let _ = thread.spawn(move || answer_all(stream));
    }
}

/// Answers one request per empty line until the connection ends.
fn answer_all(mut stream: TcpStream) -> Option<()> {
    const END: &[u8] = b"\r\n\r\n";
    stream.set_nodelay(true).ok()?;
    let mut buffer = [0; REQUEST_BYTES];
    let mut matched = 0;
    loop {
        let length = match stream.read(&mut buffer).ok()? {
            0 => return None,
            length => length,
        };
        for &byte in &buffer[..length] {
            matched = match byte {
                _ if byte == END[matched] => matched + 1,
                b'\r' => 1,
                _ => 0,
            };
            if matched == END.len() {
                matched = 0;
                stream.write_all(ANSWER).ok()?;
            }
        }
    }
}
