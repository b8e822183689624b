//! Silent and slow connections on every port: health checks and other clients are served.
//!
//! Half of them send nothing; the others send a request to write whose body comes a byte at a time. Whichever is closed
//! is opened again.

use super::settings::Run;
use crate::client::{search_path, send_body};
use crate::stage::Stage;
use crate::verdict::Verdict;
use anyhow::Context;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

const CONNECTIONS: usize = 512;
const HEALTH_MS_MAX: f64 = 50.0;
const MEMORY_MB_MAX: f64 = 64.0;
/// Pause between two bytes of a slow body.
const DRIP: Duration = Duration::from_millis(100);
/// Tries of a client that gets 503 and comes back: connections that are opened together leave no idle one for some ms.
const TRIES: usize = 5;
/// Pause before a connection is opened again.
const AGAIN: Duration = Duration::from_secs(1);
/// Pause between two rounds of served clients.
const LOOK: Duration = Duration::from_millis(20);

/// Connection that holds a seat.
#[derive(Debug, Clone, Copy)]
enum Holds {
    Silent,
    SlowBody,
    /// Waits for a refresh that is not asked for: the server is busy with it, and it gives no seat away.
    Busy,
}

/// Runs one process, and asks it beside connections at its public and its admin port.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("seats", run.seed);
    let stage = Stage::set(2_000, 1).await?;
    let server = stage
        .serve(&[
            "--writable",
            "--refresh",
            "3600",
            "--handlers",
            "1",
            "--connections",
            "256",
        ])
        .await?;
    let admin = server.admin.context("no admin address")?;
    let document = br#"{"url":"u:0","title":"first"}"#;
    send_body(admin, "POST", "/documents?refresh=now", "", document).await?;
    server.forget_peak()?;
    let resident = server.resident_bytes()?;
    let mut holding = JoinSet::new();
    for number in 0..CONNECTIONS {
        let holds = match number % 2 {
            _ if run.sabotage => Holds::Busy,
            0 => Holds::Silent,
            _ => Holds::SlowBody,
        };
        for address in [server.address, admin] {
            holding.spawn(hold(address, holds));
        }
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let rounds = run.size(50, 500);
    let (mut health_ms, mut health_failed, mut failed) = (0.0f64, 0, 0);
    let mut examples = Vec::new();
    for round in 0..rounds {
        for address in [server.address, admin] {
            let begun = Instant::now();
            let answered = send_body(address, "GET", "/healthz", "", b"").await;
            health_ms = health_ms.max(begun.elapsed().as_secs_f64() * 1e3);
            if !matches!(answered, Ok((200, _))) {
                health_failed += 1;
                examples.push(format!("/healthz of {address}: {answered:?}"));
            }
        }
        let document = format!("{{\"url\":\"u:{round}\",\"title\":\"one of many\"}}");
        let search = search_path("first", "");
        let others = [
            (admin, "POST", "/documents", document.as_bytes()),
            (admin, "GET", "/metrics", b""),
            (server.address, "GET", &search, b""),
        ];
        for (address, method, path, body) in others {
            if let Err(told) = served(address, method, path, body).await {
                failed += 1;
                examples.push(format!("{method} {path}: {told}"));
            }
        }
        tokio::time::sleep(LOOK).await;
    }
    let memory_mb = server.resident_peak_bytes()?.saturating_sub(resident) as f64 / 1e6;
    holding.shutdown().await;
    verdict.count = format!("{CONNECTIONS} connections a port, {rounds} rounds");
    verdict.timed_at_most(
        "slowest /healthz ms",
        health_ms,
        run.limit_ms(HEALTH_MS_MAX),
    );
    verdict.none("/healthz failed", health_failed);
    verdict.none("others failed", failed);
    verdict.at_most("memory + MB", memory_mb, MEMORY_MB_MAX);
    verdict.tell(examples);
    Ok(verdict)
}

/// Sends a request, and again where the answer says that every connection is busy; fails with the last answer.
async fn served(address: SocketAddr, method: &str, path: &str, body: &[u8]) -> Result<(), String> {
    let mut told = String::new();
    for _ in 0..TRIES {
        match send_body(address, method, path, "", body).await {
            Ok((200, _)) => return Ok(()),
            Ok((503, _)) => told = "503".to_owned(),
            answered => return Err(format!("{answered:?}")),
        }
        tokio::time::sleep(DRIP).await;
    }
    Err(told)
}

/// Holds a connection, opened again whenever it is closed.
async fn hold(address: SocketAddr, holds: Holds) {
    let (head, body) = match holds {
        Holds::Silent => (String::new(), ""),
        Holds::SlowBody => (
            format!(
                "POST /documents HTTP/1.1\r\nhost: {address}\r\ncontent-length: 60000\r\n\r\n["
            ),
            " ",
        ),
        Holds::Busy => (
            format!(
                "POST /documents?refresh=wait HTTP/1.1\r\nhost: {address}\r\ncontent-length: 23\r\n\r\n\
                 {{\"url\":\"b\",\"title\":\"b\"}}"
            ),
            "",
        ),
    };
    loop {
        // Whatever ends the connection, the next one takes its place.
        let _ = held(address, &head, body).await;
        tokio::time::sleep(AGAIN).await;
    }
}

async fn held(address: SocketAddr, head: &str, body: &str) -> std::io::Result<()> {
    let mut stream = TcpStream::connect(address).await?;
    stream.write_all(head.as_bytes()).await?;
    let mut answer = [0; 1024];
    loop {
        tokio::select! {
            read = stream.read(&mut answer) => {
                if read? == 0 {
                    return Ok(());
                }
            }
            () = tokio::time::sleep(DRIP) => {}
        }
        stream.write_all(body.as_bytes()).await?;
    }
}
