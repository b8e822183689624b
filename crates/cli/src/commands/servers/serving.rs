//! Options and steps of all serving subcommands: placement of handlers, preloading, metrics, shutdown.

use anyhow::{Context, bail};
use console::failure::note;
use console::interrupt::Interrupt;
use index::{IndexError, PreloadParts};
use schedule::board::{PolicyChoice, Seat};
use schedule::{CpuSet, CpuTopology, Placement, PlacementRequest, Places, place};
use serve::{Chunks, Generations, HandlerOptions, Place, Preloading, RpcServer, ServerMetrics};
use std::cmp::Ordering;
use std::future::Future;
use std::io::Write;
use std::net::SocketAddr;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use units::{Size, Sizes, Time, TimeUnit, Times};
use vfs::{Preload, PreloadOptions, SharedStorage};

/// Time for which handlers with a core of their own spin before they sleep: less than a wake-up takes.
const SPIN: Duration = Duration::from_micros(20);

/// Placement of handlers on CPUs.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PlacementArguments {
    /// Placement of handlers on CPUs: `data` puts the handlers of one partition on SMT siblings, `query` the
    /// handlers of different partitions; `none` leaves the choice to the operating system
    #[arg(
        long,
        value_name = "POLICY",
        default_value = "none",
        help_heading = "Placement on CPUs"
    )]
    placement: Placement,
    /// Use of SMT siblings: on, or off for one handler a core
    #[arg(long, value_name = "ON", default_value = "on", value_parser = ["on", "off"], help_heading = "Placement on CPUs")]
    smt: String,
    /// CPUs that handlers may use, such as 0-3,8 [default: all]
    #[arg(long, value_name = "LIST", help_heading = "Placement on CPUs")]
    cpus: Option<CpuSet>,
}

/// Handlers, their queues and the time limit of searches.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct HandlerArguments {
    /// Search threads of each partition [default: one a core]
    #[arg(long, value_name = "H", help_heading = "Search threads")]
    pub(crate) handlers: Option<usize>,
    /// Capacity of the queue of each partition, in requests; further ones are refused [default: about 50 ms of
    /// work]
    #[arg(long, value_name = "N", help_heading = "Search threads")]
    pub(crate) queue: Option<usize>,
    /// Upper limit on the time of a search on its handler, even if the client allows more
    #[arg(long, value_name = "TIME", value_parser = Times::ANY.reader(), help_heading = "Search threads")]
    pub(crate) cut_off: Option<Time>,
    /// Which handler works on which query: help-if-idle, boost, least-left, help-and-yield, fifo, fifo:2, idle-share,
    /// adaptive, few-to-many, target:20ms, sjf, earliest-deadline, hurry-up
    #[arg(
        long,
        value_name = "POLICY",
        default_value_t,
        help_heading = "Search threads"
    )]
    pub(crate) policy: PolicyChoice,
    /// Hand every search over to a search thread, even where one is free and the thread that read the request could begin
    /// the search in its place: slower, for measurements by thread
    #[arg(long, help_heading = "Search threads")]
    pub(crate) hand_over: bool,
}

impl HandlerArguments {
    pub(crate) fn handlers(&self) -> usize {
        self.handlers.unwrap_or_else(console::opened::cores_count)
    }

    /// Warns of a policy that swaps queries between fast and slow cores where all handlers have one speed.
    pub(crate) fn warn_of_one_speed(&self, places: &[Vec<Place>]) {
        let differ = |two: &[Place]| two[0].speed.unwrap_or(1.0) != two[1].speed.unwrap_or(1.0);
        let has_several = places.iter().any(|of_one| of_one.windows(2).any(differ));
        if self.policy.policy().sampling_ns().is_some() && !has_several {
            note(&format!(
                "warning: {} has nothing to swap and answers in order of arrival: no handler is placed on a slower core; \
                 on a machine with big and little cores, add --placement data",
                self.policy.policy().name()
            ));
        }
    }

    /// Returns the options that hold for the handlers of all partitions; `io_cpus` are those of other threads, if they have
    /// CPUs of their own.
    pub(crate) fn options(&self, io_cpus: &CpuSet) -> HandlerOptions {
        HandlerOptions {
            handlers: self.handlers(),
            queue_length: self.queue.unwrap_or(0),
            places: Vec::new(),
            cut_off: self.cut_off.map(Time::duration),
            hands_all_over: self.hand_over,
            policy: self.policy.clone(),
            spin: match io_cpus.is_empty() {
                true => Duration::ZERO,
                false => SPIN,
            },
            ..HandlerOptions::default()
        }
    }
}

/// Returns the speed of the slowest of some CPUs relative to the fastest of the machine; 1 within the class of the
/// fastest.
fn speed_of(topology: &CpuTopology, cpus: &CpuSet) -> Option<f64> {
    let among = topology
        .contexts
        .iter()
        .filter(|one| cpus.contains(one.cpu));
    let speeds = among.map(|one| match (one.speed_class, one.capacity) {
        (0, _) | (_, None) => 1.0,
        (_, Some(capacity)) => f64::from(capacity) / 1024.0,
    });
    speeds.reduce(f64::min)
}

impl PlacementArguments {
    /// Returns the place of every handler, by partition; empty if the operating system chooses. Prints the
    /// chosen places on standard error.
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
                speed: speed_of(&topology, &handler.cpus),
                seat: Seat::of(&topology, &handler.cpus),
            });
        }
        for places in &mut places {
            // The board uses handlers in the order of their numbers.
            places.sort_by(|a, b| b.speed.partial_cmp(&a.speed).unwrap_or(Ordering::Equal));
        }
        Ok(places)
    }

    /// Returns the CPUs for the threads that read requests and write answers: those without a handler, where there is one
    /// for every eight handlers. Empty where they run anywhere.
    pub(crate) fn io_cpus(places: &[Vec<Place>]) -> CpuSet {
        let of_handlers = || places.iter().flatten();
        if of_handlers().any(|place| place.seat.is_none()) {
            return CpuSet::default();
        }
        let allowed: CpuSet = vfs::platform::affinity(0)
            .unwrap_or_default()
            .into_iter()
            .collect();
        let used: CpuSet = of_handlers().flat_map(|place| place.cpus.iter()).collect();
        let spare = allowed.difference(&used);
        match used.is_empty() || spare.len() * 8 < used.len() {
            true => CpuSet::default(),
            false => spare,
        }
    }

    /// Returns the arguments that give the process of one partition the same placement.
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

/// Preloading of the index.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct PreloadArguments {
    /// Memory that the index is loaded into before the first query, and before the first one after a reload:
    /// none (pages are read on demand), touch (page cache), tmpfs (memory files), hugepages
    #[arg(
        long,
        value_name = "WHERE",
        default_value = "none",
        help_heading = "Memory and verification"
    )]
    preload: Preload,
}

impl PreloadArguments {
    /// Opens the generations of an existing index. Prints the loaded files on standard error.
    pub(crate) fn open(
        &self,
        directory: &Path,
        chunks: Option<&Chunks>,
        parts: PreloadParts,
    ) -> anyhow::Result<Arc<Generations>> {
        let storage = console::opened::existing_directory(directory)?;
        if parts.index {
            console::kernels::choose()?;
        }
        Ok(self.open_storage(storage, chunks, parts)?)
    }

    /// Does the same for the storage of an index, once the kernels are chosen.
    pub(crate) fn open_storage(
        &self,
        storage: SharedStorage,
        chunks: Option<&Chunks>,
        parts: PreloadParts,
    ) -> Result<Arc<Generations>, IndexError> {
        if self.preload == Preload::None {
            return Generations::open(storage);
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
        Generations::open_preloaded(storage, preloading)
    }

    /// Returns the arguments that give another process the same preloading.
    pub(crate) fn for_process(&self) -> [String; 2] {
        ["--preload".to_owned(), self.preload.to_string()]
    }
}

/// Repeated verification of open files.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct VerifyArguments {
    /// Rate at which open files are verified again in the background, a size in each second; 0 verifies only changed files
    #[arg(long, value_name = "SIZE", default_value = "8MiB", value_parser = Sizes::ANY.per_second().reader(), help_heading = "Memory and verification")]
    verify_rate: Size,
}

impl VerifyArguments {
    /// Starts the background verification.
    pub(crate) fn start(&self, generations: &Arc<Generations>) -> anyhow::Result<()> {
        let started = generations.verify_in_background(self.bytes_per_s());
        started.context("cannot start the thread that verifies files")
    }

    /// Returns the rate, in bytes a second.
    pub(crate) fn bytes_per_s(&self) -> u64 {
        self.verify_rate.bytes()
    }

    /// Returns the arguments that give another process the same rate.
    pub(crate) fn for_process(&self) -> [String; 2] {
        ["--verify-rate".to_owned(), self.verify_rate.to_string()]
    }
}

/// Refreshes of the servers of a folder of indexes.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct RefreshArguments {
    /// Of a folder of indexes, the time between two looks for newer generations and for indexes that are gone; 0: only
    /// where asked by a front-end or SIGHUP [default: 1s]
    #[arg(long, value_name = "TIME", value_parser = REFRESH.durations())]
    refresh: Option<Duration>,
}

/// Times between two looks for a newer generation.
pub(super) const REFRESH: Times = Times::ANY.plain(TimeUnit::Seconds).within(
    Time::new(0.0, TimeUnit::Seconds),
    Time::new(24.0, TimeUnit::Hours),
);

impl RefreshArguments {
    /// Returns the time between two looks at a folder; `None` for none.
    pub(crate) fn of_folder(&self) -> Option<Duration> {
        let refresh = self.refresh.unwrap_or(Duration::from_secs(1));
        (!refresh.is_zero()).then_some(refresh)
    }

    /// Fails where a time is given for one index.
    pub(crate) fn refuse(&self) -> anyhow::Result<()> {
        if self.refresh.is_some() {
            bail!(
                "--refresh: is for a folder of indexes; POST /reload at the front-end makes its servers open the newest \
                 generation of one"
            );
        }
        Ok(())
    }
}

/// Address of the metrics of a server process.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct MetricsArguments {
    /// Address of /metrics, with metrics for Prometheus, and of /healthz; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", help_heading = "Administration")]
    metrics: Option<String>,
}

impl MetricsArguments {
    /// Adds the address, if the options have one, to a server and prints it.
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

/// Returns a future that is ready when a signal asks for the end or, with `until_stdin_ends`, at the end of
/// standard input.
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
        // The channel stays open, so that its end never comes.
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

/// Prints the address that a server listens on, and flushes it for programs that wait for the line.
pub(crate) fn print_address(scheme: &str, address: SocketAddr) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "listening on {scheme}{address}")?;
    stdout.flush()
}

/// Prints the place of each handler, as the operating system reports it, on standard error.
pub(crate) fn print_places<'a>(places: impl Iterator<Item = (String, &'a String)>) {
    for (handler, place) in places {
        eprintln!("{handler}: {place}");
    }
}

/// Opens `chunks` of an index, by default all, and preloads them. Returns the opened chunks.
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

/// Prints the address that the server listens on, then answers until `end` is ready.
pub(crate) fn serve_part(
    server: RpcServer,
    end: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<ExitCode> {
    print_address("", server.address())?;
    server.run_until(end)?;
    Ok(ExitCode::SUCCESS)
}

/// Fails if the index does not have all of `chunks`.
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
