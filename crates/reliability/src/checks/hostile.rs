//! Check V8: clients that stall cost the others nothing.

use super::settings::Run;
use crate::offered::{Came, Offer};
use crate::stage::Stage;
use crate::verdict::Verdict;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use testkit::MadeUp;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

/// Time after which a stalling connection must be closed.
const CLOSED_AFTER: Duration = Duration::from_secs(15);
const RATE_QPS: f64 = 100.0;
const MEMORY_BYTES_MAX: f64 = 64e6;

/// Period over which the connections are opened.
const OPENED_IN: Duration = Duration::from_secs(2);
/// Number of requests that a slow reader sends before it stops reading.
const ASKED_AT_ONCE: usize = 40;

/// Kind of stall; all kinds are equally frequent.
#[derive(Debug, Clone, Copy)]
enum Stall {
    /// Sends a byte of a request head each second.
    SlowHead,
    /// Sends many requests and reads none of the answers.
    SlowReader,
    /// Sends one request, reads the answer, and stays connected.
    Idle,
    /// Sends nothing.
    Silent,
}

const KINDS: [Stall; 4] = [
    Stall::SlowHead,
    Stall::SlowReader,
    Stall::Idle,
    Stall::Silent,
];

/// Runs one process with honest load alone, beside the stalling clients, and alone again.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("V8", run.seed);
    let stage = Stage::set(4_000, 8).await?;
    let more: &[&str] = match run.sabotage {
        true => &["--head-timeout", "10m"],
        false => &[],
    };
    let server = stage.serve(more).await?;
    let queries: Vec<String> = MadeUp::default().queries(500).collect();
    let offer = Offer::new(server.address, &queries, "", run.seed)?;
    let p99 = |came: &Came| came.times_ms(|sample| sample.ending.is_answer()).ms(99.0);
    let lasts = Duration::from_secs(run.size(6, 20));
    offer.open(RATE_QPS, Duration::from_secs(2)).await?;
    let before = offer.open(RATE_QPS, lasts).await?;
    // Waits until the honest connections are closed, after their client has ended.
    tokio::time::sleep(Duration::from_millis(300)).await;
    let sockets_before = server.sockets_count()?;
    let resident_before = server.resident_bytes()?;

    let count = run.size(400, 1_000);
    let begun = Instant::now();
    let mut stalling = JoinSet::new();
    for number in 0..count {
        stalling.spawn(stall(server.address, KINDS[number % KINDS.len()]));
        // Connections are spread over time: a burst would be load, and slow others as any load does.
        tokio::time::sleep(OPENED_IN / count as u32).await;
    }
    tokio::time::sleep(Duration::from_millis(500)).await;
    let sockets_meanwhile = server.sockets_count()?;
    let meanwhile = offer.open(RATE_QPS, lasts).await?;
    let resident_most = server.resident_bytes()?;
    tokio::time::sleep((OPENED_IN + CLOSED_AFTER).saturating_sub(begun.elapsed())).await;
    let sockets_after = server.sockets_count()?;
    stalling.shutdown().await;
    let after = offer.open(RATE_QPS, lasts).await?;

    let alone_ms = p99(&before).max(p99(&after));
    let asked = [&before, &meanwhile, &after];
    let failed = |came: &&Came| came.count(|sample| !sample.ending.is_answer());
    verdict.count = format!("{count} connections that stall");
    verdict.timed_at_least(
        "open at first",
        sockets_meanwhile.saturating_sub(sockets_before) as f64,
        count as f64 * 0.9,
    );
    verdict.none(
        "open after 15 s",
        sockets_after.saturating_sub(sockets_before) as u64,
    );
    verdict.none("honest requests failed", asked.iter().map(failed).sum());
    verdict.note("honest p99 ms alone", alone_ms);
    verdict.timed_at_most("honest p99 ms", p99(&meanwhile), 1.5 * alone_ms);
    verdict.at_most(
        "memory + MB",
        resident_most.saturating_sub(resident_before) as f64 / 1e6,
        MEMORY_BYTES_MAX / 1e6,
    );
    Ok(verdict)
}

/// Stalls until the harness ends it. The check counts on the server's side, so errors here are ignored.
async fn stall(server: SocketAddr, how: Stall) {
    let _ = try_stall(server, how).await;
    std::future::pending().await
}

async fn try_stall(server: SocketAddr, how: Stall) -> std::io::Result<()> {
    match how {
        Stall::SlowHead => {
            let mut stream = TcpStream::connect(server).await?;
            for byte in b"GET /search?q=zada HTTP/1.1\r\nhost: localhost\r\nx-filler: "
                .iter()
                .chain(&[b'x'; 1000])
            {
                stream.write_all(&[*byte]).await?;
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            Ok(())
        }
        Stall::SlowReader => {
            let socket = TcpSocket::new_v4()?;
            socket.set_recv_buffer_size(4096)?;
            let mut stream = socket.connect(server).await?;
            // The answer is long and cheap to make: the check is about patience, not about processor time.
            let request = b"GET /style.css HTTP/1.1\r\nhost: localhost\r\n\r\n";
            stream.write_all(&request.repeat(ASKED_AT_ONCE)).await?;
            // The stream stays open and unread.
            std::future::pending::<()>().await;
            drop(stream);
            Ok(())
        }
        Stall::Idle => {
            let mut stream = TcpStream::connect(server).await?;
            let request = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n";
            stream.write_all(request).await?;
            let mut answer = [0; 512];
            while stream.read(&mut answer).await? > 0 {}
            Ok(())
        }
        Stall::Silent => {
            let mut stream = TcpStream::connect(server).await?;
            stream.read_u8().await?;
            Ok(())
        }
    }
}
