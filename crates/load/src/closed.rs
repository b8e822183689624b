//! Closed-loop load: each client is a thread that sends, waits, thinks, and repeats.
//!
//! A slow answer delays the next request, so the load adapts to the server and hides waits that an open
//! loop would show. A closed loop measures the throughput of a server, not the response time of its
//! users.
use crate::clock::{Clock, wake_precisely};
use crate::examine::{Examined, Outbox};
use crate::pool::{Ticket, ending_of_connect};
use crate::response::{Response, ResponseReader};
use crate::sample::Ending;
use crate::settings::Think;
use crate::{Live, LoadError, Settings};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

const RECEIVE_BYTES: usize = 64 << 10;
/// Pause in ns after a failed connection, so that a dead server does not receive a flood of connects.
const PAUSE_NS: u64 = 10_000_000;

struct Shared<'a> {
    settings: &'a Settings,
    requests: Vec<Arc<[u8]>>,
    clock: Clock,
    live: &'a Live,
    next: AtomicUsize,
}

/// Runs all clients to their end and sends their samples to the outbox.
pub(crate) fn run(
    settings: &Settings,
    (clients, think): (usize, Think),
    clock: Clock,
    live: &Live,
    outbox: &Outbox<'_>,
) -> Result<(), LoadError> {
    let texts = settings.queries.texts().iter();
    let shared = Shared {
        settings,
        requests: texts.map(|text| settings.target.request(text)).collect(),
        clock,
        live,
        next: AtomicUsize::new(0),
    };
    std::thread::scope(|scope| {
        for client in 0..clients {
            let shared = &shared;
            let outbox = outbox.clone();
            // Small stacks let a thousand clients fit into memory.
            let thread = std::thread::Builder::new().stack_size(256 << 10);
            let started = thread
                .spawn_scoped(scope, move || shared.client(client as u64, think, &outbox))
                .map_err(LoadError::machine("start a thread for each client"));
            if let Err(error) = started {
                live.stop();
                return Err(error);
            }
        }
        Ok(())
    })
}

impl Shared<'_> {
    fn client(&self, client: u64, think: Think, outbox: &Outbox<'_>) {
        wake_precisely();
        let warm_up_ns = self.settings.warm_up.as_nanos() as u64;
        let end_ns = warm_up_ns + self.settings.duration.as_nanos() as u64;
        let timeout_ns = self.settings.timeout.as_nanos() as u64;
        let mut random = Think::random(self.settings.seed, client);
        let mut connection = Connection::new(self.settings.target.address());
        // The first think time spreads the clients' first requests like their later ones.
        let mut intended_ns = think.draw_ns(&mut random);
        while intended_ns < end_ns && self.sleep_until(intended_ns) {
            let n = self.next.fetch_add(1, Relaxed);
            let mut ticket = Ticket {
                arrival_idx: n as u32,
                query_idx: self.settings.queries.nth(n),
                warm_up: intended_ns < warm_up_ns,
                intended_ns,
                sent_ns: self.clock.now_ns(),
                new_connection: connection.open.is_none(),
            };
            self.live.offer(intended_ns);
            self.live.send();
            let request = &self.requests[ticket.query_idx as usize];
            let deadline_ns = intended_ns.saturating_add(timeout_ns);
            let asked = connection.ask(request, &self.clock, deadline_ns, &mut ticket);
            let done_ns = self.clock.now_ns();
            let pause_ns = if asked.is_err() { PAUSE_NS } else { 0 };
            outbox.put(Examined::ended(ticket, Some(done_ns), asked));
            intended_ns = done_ns + pause_ns.max(think.draw_ns(&mut random));
        }
    }

    fn sleep_until(&self, at_ns: u64) -> bool {
        loop {
            let now_ns = self.clock.now_ns();
            if self.live.is_stopped() || now_ns >= at_ns {
                return !self.live.is_stopped();
            }
            self.clock.sleep_until(at_ns.min(now_ns + 100_000_000));
        }
    }
}

/// Connection of one client, opened on demand.
struct Connection {
    address: SocketAddr,
    open: Option<(TcpStream, ResponseReader)>,
    buffer: Vec<u8>,
}

impl Connection {
    fn new(address: SocketAddr) -> Connection {
        Connection {
            address,
            open: None,
            buffer: vec![0; RECEIVE_BYTES],
        }
    }

    /// Sends a request and reads the whole response. A failed connection is not reused.
    fn ask(
        &mut self,
        request: &[u8],
        clock: &Clock,
        deadline_ns: u64,
        ticket: &mut Ticket,
    ) -> Result<Response, Ending> {
        let left = || {
            let left_ns = deadline_ns.saturating_sub(clock.now_ns());
            (left_ns > 0)
                .then(|| Duration::from_nanos(left_ns))
                .ok_or(Ending::TimedOut)
        };
        let is_reused = self.open.is_some();
        let (mut stream, mut reader) = match self.open.take() {
            Some(open) => open,
            None => self.connect(left()?)?,
        };
        if stream.write_all(request).is_err() {
            // The server closed the idle connection and never saw this request, so it is sent on a new one.
            if !is_reused {
                return Err(Ending::Closed);
            }
            ticket.new_connection = true;
            (stream, reader) = self.connect(left()?)?;
            stream.write_all(request).map_err(|_| Ending::Closed)?;
        }
        loop {
            stream
                .set_read_timeout(Some(left()?))
                .map_err(|_| Ending::Closed)?;
            match stream.read(&mut self.buffer) {
                Ok(0) => return reader.end().ok().flatten().ok_or(Ending::Closed),
                Ok(length) => match reader.feed(&self.buffer[..length]) {
                    Ok(Some(response)) => {
                        if response.keep_alive {
                            self.open = Some((stream, reader));
                        }
                        return Ok(response);
                    }
                    Ok(None) => {}
                    Err(_) => return Err(Ending::Malformed),
                },
                Err(error) => match error.kind() {
                    ErrorKind::Interrupted => {}
                    ErrorKind::WouldBlock | ErrorKind::TimedOut => return Err(Ending::TimedOut),
                    _ => return Err(Ending::Closed),
                },
            }
        }
    }

    fn connect(&self, within: Duration) -> Result<(TcpStream, ResponseReader), Ending> {
        let stream =
            TcpStream::connect_timeout(&self.address, within).map_err(|error| {
                match error.kind() {
                    ErrorKind::TimedOut => Ending::TimedOut,
                    _ => ending_of_connect(error),
                }
            })?;
        stream.set_nodelay(true).map_err(|_| Ending::Unreachable)?;
        Ok((stream, ResponseReader::default()))
    }
}
