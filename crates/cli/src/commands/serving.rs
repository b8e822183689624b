//! What the serving subcommands share: placement of handlers, preloading, metrics, and when to end.

use crate::failure::note;
use crate::interrupt::Interrupt;
use anyhow::{Context, bail};
use index::PreloadParts;
use schedule::board::PolicyChoice;
use schedule::{CpuSet, CpuTopology, Placement, PlacementRequest, Places, place};
use serve::{Chunks, Generations, HandlerOptions, Place, Preloading, RpcServer, ServerMetrics};
use std::future::Future;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use vfs::{Preload, PreloadOptions};

/// Where handlers run.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PlacementArguments {
    /// Where handlers run: `data` puts those of a partition on SMT siblings, `query` puts the partitions of
    /// a query on them, `none` leaves it to the kernel
    #[arg(long, value_name = "POLICY", default_value = "none")]
    placement: Placement,
    /// Whether the SMT siblings of a core are used: on, or off for one handler a core
    #[arg(long, value_name = "ON", default_value = "on", value_parser = ["on", "off"])]
    smt: String,
    /// The CPUs that handlers may use, as 0-3,8 [default: all]
    #[arg(long, value_name = "LIST")]
    cpus: Option<CpuSet>,
}

/// How long searches and queues may get.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct HandlerArguments {
    /// Threads that search, for each partition [default: one a core]
    #[arg(long, value_name = "H")]
    pub(crate) handlers: Option<usize>,
    /// Requests that may wait for the handlers of a partition [default: about 50 ms of work]
    #[arg(long, value_name = "N")]
    pub(crate) queue: Option<usize>,
    /// The most time that a search gets on its handler, whatever the client allows
    #[arg(long, value_name = "MS")]
    pub(crate) cut_off_ms: Option<u64>,
    /// Which handler works on which query: boost, least-left, help-and-yield, fifo, fifo:2, idle-share, adaptive,
    /// few-to-many, target:20ms, sjf, earliest-deadline, hurry-up
    #[arg(long, value_name = "POLICY", default_value_t)]
    pub(crate) policy: PolicyChoice,
}

impl HandlerArguments {
    pub(crate) fn handlers(&self) -> usize {
        self.handlers.unwrap_or_else(super::cores_count)
    }

    /// Returns the options that hold for the handlers of all partitions.
    pub(crate) fn options(&self) -> HandlerOptions {
        HandlerOptions {
            handlers: self.handlers(),
            queue_length: self.queue.unwrap_or(0),
            places: Vec::new(),
            cut_off: self.cut_off_ms.map(Duration::from_millis),
            policy: self.policy.clone(),
            ..HandlerOptions::default()
        }
    }
}

impl PlacementArguments {
    /// Where every handler runs, by partition; none where the kernel decides. Says on standard error what
    /// was chosen, where something was.
    pub(crate) fn places(
        &self,
        partitions: usize,
        handlers: usize,
    ) -> anyhow::Result<Vec<Vec<Place>>> {
        let is_default =
            self.placement == Placement::None && self.smt == "on" && self.cpus.is_none();
        if is_default {
            return Ok(Vec::new());
        }
        let topology = CpuTopology::read(|path| {
            let path = Path::new("/").join(path);
            std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))
        });
        let request = PlacementRequest {
            placement: self.placement,
            smt: self.smt == "on",
            cpus: self.cpus.clone(),
            partitions,
            handlers,
        };
        let placed: Places = place(&topology, &request)?;
        eprint!("{placed}");
        let has_nodes = topology.nodes_count() > 1;
        let mut places: Vec<Vec<Place>> = vec![Vec::new(); partitions];
        for handler in &placed.handlers {
            places[handler.partition].push(Place {
                cpus: handler.cpus.clone(),
                node: handler.node.filter(|_| has_nodes),
            });
        }
        Ok(places)
    }

    /// The same choice as arguments of another process, for one of several partitions.
    pub(crate) fn for_process(&self, places: &[Place]) -> Vec<String> {
        let all: CpuSet = places.iter().flat_map(|place| place.cpus.iter()).collect();
        if all.is_empty() {
            return Vec::new();
        }
        let arguments = [
            "--placement",
            "data",
            "--cpus",
            &all.to_string(),
            "--smt",
            &self.smt,
        ];
        arguments.map(String::from).to_vec()
    }
}

/// Where the index is before the first query.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PreloadArguments {
    /// Where the index is before the first query, and before the first after a reload: none (pages come when
    /// needed), touch (page cache), tmpfs (memory files), hugepages
    #[arg(long, value_name = "WHERE", default_value = "none")]
    preload: Preload,
}

impl PreloadArguments {
    /// The generations of an index that must be there already. Says on standard error what was loaded.
    pub(crate) fn open(
        &self,
        directory: &Path,
        chunks: Option<&Chunks>,
        parts: PreloadParts,
    ) -> anyhow::Result<Arc<Generations>> {
        let storage = super::existing_directory(directory)?;
        if parts.index {
            crate::kernels::choose()?;
        }
        if self.preload == Preload::None {
            return Ok(Generations::open(storage)?);
        }
        let preloading = Preloading {
            options: PreloadOptions::new(self.preload),
            chunks: chunks.map_or(0..u32::MAX, |chunks| {
                *chunks.start()..chunks.end().saturating_add(1)
            }),
            parts,
            on_report: Box::new(|generation, report| {
                note(&format!("generation {generation}: {report}"));
            }),
        };
        Ok(Generations::open_preloaded(storage, preloading)?)
    }

    /// The same choice as arguments of another process.
    pub(crate) fn for_process(&self) -> [String; 2] {
        ["--preload".to_owned(), self.preload.to_string()]
    }
}

/// How files that are open are verified again.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct VerifyArguments {
    /// Bytes of the open files to verify again in the background, in MiB a second; 0 verifies only those that were
    /// changed
    #[arg(long, value_name = "MIB", default_value = "8")]
    verify_mib_s: u32,
}

impl VerifyArguments {
    /// Begins to verify.
    pub(crate) fn start(&self, generations: &Arc<Generations>) -> anyhow::Result<()> {
        let bytes_per_s = u64::from(self.verify_mib_s) << 20;
        Ok(generations.verify_in_background(bytes_per_s)?)
    }

    /// The same choice as arguments of another process.
    pub(crate) fn for_process(&self) -> [String; 2] {
        ["--verify-mib-s".to_owned(), self.verify_mib_s.to_string()]
    }
}

/// Where a process of a cluster tells what it does.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct MetricsArguments {
    /// Tell figures at http://ADDRESS/metrics, and at /healthz whether it serves; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS")]
    metrics: Option<String>,
}

impl MetricsArguments {
    /// Adds the address to a server, where there is one, and says where it is.
    pub(crate) fn add(
        &self,
        server: RpcServer,
        metrics: impl FnOnce() -> ServerMetrics,
    ) -> anyhow::Result<RpcServer> {
        let Some(listen) = &self.metrics else {
            return Ok(server);
        };
        let server = server.with_metrics(listen, metrics())?;
        if let Some(address) = server.metrics_address() {
            let mut stdout = std::io::stdout().lock();
            writeln!(stdout, "metrics at http://{address}/metrics")?;
        }
        Ok(server)
    }
}

/// Ready when a person or a supervisor asks for the end, or whoever holds the other end of standard input
/// is gone, where that is what to wait for.
pub(crate) fn end_of(
    interrupt: &Interrupt,
    until_stdin_ends: bool,
) -> anyhow::Result<impl Future<Output = ()> + Send + 'static> {
    let (ended, end) = tokio::sync::oneshot::channel::<()>();
    if until_stdin_ends {
        std::thread::Builder::new()
            .name("stdin".into())
            .spawn(move || {
                let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
                let _ = ended.send(());
            })
            .context("cannot start a thread")?;
    } else {
        // Kept open for good.
        std::mem::forget(ended);
    }
    let asked = interrupt.asked();
    Ok(async move {
        tokio::select! {
            () = asked => {}
            _ = end => {}
        }
    })
}

/// Says where a server listens, at once, for whoever waits for the line to use the address.
pub(crate) fn print_address(scheme: &str, address: SocketAddr) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "listening on {scheme}{address}")?;
    stdout.flush()
}

/// Says on standard error where the handlers run by the kernel's word, where that was asked for.
pub(crate) fn print_places<'a>(places: impl Iterator<Item = (String, &'a String)>) {
    for (handler, place) in places {
        eprintln!("{handler}: {place}");
    }
}

/// Some chunks of an index, all where none are named, preloaded as asked for.
pub(crate) fn open_part(
    directory: &Path,
    preload: &PreloadArguments,
    chunks: Option<Chunks>,
    parts: PreloadParts,
) -> anyhow::Result<(Arc<Generations>, Chunks)> {
    let generations = preload.open(directory, chunks.as_ref(), parts)?;
    let chunks_count = generations.newest().chunks_count();
    let chunks = chunks.unwrap_or(0..=chunks_count - 1);
    check_chunks(&chunks, chunks_count)?;
    Ok((generations, chunks))
}

/// Says where the server of a part listens, then answers until the end.
pub(crate) fn serve_part(
    server: RpcServer,
    end: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<ExitCode> {
    print_address("", server.address())?;
    server.run_until(end)?;
    Ok(ExitCode::SUCCESS)
}

/// Chunks that an index has.
fn check_chunks(chunks: &Chunks, chunks_count: u32) -> anyhow::Result<()> {
    if *chunks.end() >= chunks_count {
        bail!(
            "--chunks: chunk {} is asked for, and the index has only {chunks_count}, 0 to {}",
            chunks.end(),
            chunks_count - 1
        );
    }
    Ok(())
}
