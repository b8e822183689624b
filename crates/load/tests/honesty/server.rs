//! Server on loopback whose answers come from a closure, in order of arrival.
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};

/// Reply to a request: raw bytes, and whether the connection closes after them.
pub(crate) struct Reply {
    pub(crate) bytes: Vec<u8>,
    pub(crate) closes: bool,
}

impl Reply {
    pub(crate) fn ok(body: &str) -> Reply {
        Reply::status("200 OK", "", body)
    }

    pub(crate) fn status(status: &str, fields: &str, body: &str) -> Reply {
        let length = body.len();
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{fields}\r\n{body}");
        Reply {
            bytes: head.into_bytes(),
            closes: false,
        }
    }
}

/// Starts a server that answers each request on its connection's thread; `answer` receives the path.
pub(crate) fn start<A>(answer: A) -> SocketAddr
where
    A: Fn(&str) -> Reply + Send + Sync + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let answer = answer.clone();
            std::thread::spawn(move || serve(stream.unwrap(), &*answer));
        }
    });
    address
}

fn serve(stream: TcpStream, answer: &dyn Fn(&str) -> Reply) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let mut writer = stream.try_clone().ok()?;
    let mut lines = BufReader::new(stream).lines();
    loop {
        let first = lines.next()?.ok()?;
        while !lines.next()?.ok()?.is_empty() {}
        let reply = answer(first.split(' ').nth(1)?);
        writer.write_all(&reply.bytes).ok()?;
        if reply.closes {
            let _ = writer.shutdown(std::net::Shutdown::Both);
            return None;
        }
    }
}

/// Queue with `workers` servers in order of arrival: a request takes a ticket and waits until fewer
/// than `workers` earlier requests are unserved.
pub(crate) struct Counter {
    state: Mutex<(u64, u64, usize)>,
    changed: Condvar,
    workers: usize,
}

impl Counter {
    pub(crate) fn new(workers: usize) -> Arc<Counter> {
        Arc::new(Counter {
            state: Mutex::new((0, 0, 0)),
            changed: Condvar::new(),
            workers,
        })
    }

    /// Waits for its turn, then runs `work` with the number of the request.
    pub(crate) fn serve(&self, work: impl FnOnce(u64)) {
        let mut state = self.state.lock().unwrap();
        let number = state.0;
        state.0 += 1;
        while !(state.1 == number && state.2 < self.workers) {
            state = self.changed.wait(state).unwrap();
        }
        state.1 += 1;
        state.2 += 1;
        drop(state);
        self.changed.notify_all();
        work(number);
        self.state.lock().unwrap().2 -= 1;
        self.changed.notify_all();
    }
}
