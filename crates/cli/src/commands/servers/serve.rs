//! `shorttail serve`: the search page and the API of an index.

use super::admin::print_addresses;
use super::front_end::FrontEndArguments;
use super::serving::{
    HandlerArguments, PlacementArguments, PreloadArguments, REFRESH, VerifyArguments, print_places,
};
use anyhow::{Context, bail};
use console::failure::note;
use console::interrupt::Interrupt;
use index::PreloadParts;
use ingest::{LiveOptions, LiveWriter};
use serve::supervisor::{Role, Supervisor};
use serve::{
    Chunks, Cluster, ClusterFile, Generations, HandlerOptions, Place, ServeOptions, Server,
    Topology, io_runtime, io_runtime_on,
};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use vfs::{RealStorage, SharedStorage};

const EXAMPLES: &str = "\
GET /                                          the search page
GET /search?q=WORDS&k=10&start=0    the answer as JSON
    &timeout=200ms    time limit, from arrival to answer
    &partial=0        an error in place of a partial answer
    &count=none       the best hits alone
    &trace=1          the time of each step
GET /healthz                                   whether the server answers

Of a folder of indexes, each is at its name: /NAME/ and GET /NAME/search?q=WORDS.
GET / and GET /indexes                         the list of them

At the admin address:
GET /metrics                                   metrics for Prometheus
POST /reload                                   open the newest generation of the index (or SIGHUP)
GET /crawl                                     figures of the crawl of the index; in browsers a page
POST /crawl/stop                               ask the crawl to commit and end
GET /healthz                                   the same, also under overload
With --writable, there too (docs/updating.md):
POST /documents                                add or replace: JSON lines or an array; gzip, zstd
PATCH /documents                               change fields of documents (JSON Merge Patch)
DELETE /documents?url=URL                      delete; or URLs in the body
GET /documents?url=URL                         a document as written last, with its version
POST /refresh                                  make everything searchable now
POST /delete-by-query?q=WORDS                  delete what matches
Of a folder of indexes these are at /NAME/documents and so on, and indexes come and go:
PUT /NAME                                      create one; JSON: chunks, analyzer, texts, fields
DELETE /NAME                                   drop one, with its files

Ctrl-C (or SIGTERM) lets running searches end, then stops.

EXAMPLES:
    shorttail serve my-index
        Serve the page at http://127.0.0.1:7700
    shorttail serve my-index --listen 0.0.0.0:8080 --handlers 4
        Search with four threads, for clients on any machine
    shorttail optimize my-index --partitions 2
    shorttail serve my-index --partitions 2
        Lay the index out in two halves, and search both in parallel for each query
    shorttail serve indexes --writable
        Serve every index in the folder `indexes` by one set of threads, and create and drop more
    shorttail serve my-index --index-servers 2 --handlers 4 --placement data
        The same in one process for each half, restarted after a failure, each with its threads on
        neighbouring CPUs";

/// Serve the search page and the API of an index, or of each index in a folder
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArguments {
    /// The directory of the index, or a folder of such directories
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// The address to listen on; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7700")]
    listen: String,
    /// Partitions of the index, searched in parallel in this process [default: 1]
    #[arg(long, value_name = "P", help_heading = "Search threads")]
    partitions: Option<usize>,
    /// Partitions of the index, each searched by a process that this one starts
    #[arg(
        long,
        value_name = "N",
        conflicts_with = "partitions",
        help_heading = "Search threads"
    )]
    index_servers: Option<usize>,
    /// Time between two looks for a newer generation of the index, which is served from then on; 0: only where
    /// asked by POST /reload or SIGHUP
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = REFRESH.durations())]
    refresh: Duration,
    /// Write documents sent to the admin address: durable when answered, searchable within the time of --refresh
    #[arg(long)]
    writable: bool,
    #[command(flatten)]
    handlers: HandlerArguments,
    #[command(flatten)]
    placement: PlacementArguments,
    #[command(flatten)]
    preload: PreloadArguments,
    #[command(flatten)]
    verify: VerifyArguments,
    #[command(flatten)]
    front_end: FrontEndArguments,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: ServeArguments) -> anyhow::Result<ExitCode> {
    let _logs = crate::logs::start("serve");
    let interrupt = Interrupt::listen()?;
    if super::serve_folder::is_folder(&arguments.directory, arguments.writable)? {
        return serve_folder(&arguments, &interrupt);
    }
    // First, since it commits what an ended server left in its log.
    let writer = match arguments.writable {
        true => Some(live_writer(&arguments)?),
        false => None,
    };
    let generations = match arguments.index_servers {
        None => {
            let parts = PreloadParts {
                index: true,
                texts: true,
            };
            arguments.preload.open(&arguments.directory, None, parts)?
        }
        // Each process loads the files that it needs.
        Some(_) => Generations::open(console::opened::existing_directory(&arguments.directory)?)?,
    };
    let options = arguments.options()?;
    let topology = options.topology();
    // Invalid options are refused before anything is started.
    let parts = topology.partitions_of(&generations.newest())?;
    let places = arguments
        .placement
        .places(topology.partitions, topology.handlers)?;
    arguments.handlers.warn_of_one_speed(&places);
    if arguments.index_servers.is_none() {
        arguments.verify.start(&generations)?;
        let io_cpus = PlacementArguments::io_cpus(&places);
        let cluster = Cluster::in_process(
            &generations,
            &topology,
            &places,
            &arguments.handlers.options(&io_cpus),
        )?;
        if !places.is_empty() {
            let said = cluster.handler_places();
            let named = said.iter().map(|(chunks, handler, place)| {
                let chunks = format!("{}-{}", chunks.start(), chunks.end());
                (format!("handler {handler} of chunks {chunks}"), place)
            });
            print_places(named);
        }
        let server = Server::bind_cluster(cluster, &options, io_runtime_on(&io_cpus)?)?;
        let server = observing(writing(server, writer)?, &arguments);
        serve_until(server, &interrupt)?;
        return Ok(ExitCode::SUCCESS);
    }
    let roles = roles(&arguments, &topology, &parts, &places)?;
    let chunks_count = generations.newest().chunks_count();
    // The processes have the index open; this one no longer needs it.
    drop::<Arc<Generations>>(generations);
    let names: Vec<String> = roles.iter().map(|role| role.name.clone()).collect();
    let supervisor = Supervisor::start(roles)?;
    for (name, addresses) in names.iter().zip(supervisor.addresses()) {
        note(&format!(
            "{name}: metrics at http://{}/metrics",
            addresses.metrics
        ));
    }
    let (document_server, index_servers) = supervisor
        .addresses()
        .split_last()
        .context("no process was started")?;
    let file = ClusterFile {
        chunks_count,
        index_servers: parts
            .into_iter()
            .zip(index_servers)
            .map(|(chunks, addresses)| (chunks, vec![addresses.listen.clone()]))
            .collect(),
        document_servers: vec![(0..=chunks_count - 1, vec![document_server.listen.clone()])],
    };
    let runtime = io_runtime()?;
    let cluster = Cluster::connect(&file, &arguments.listen, &runtime, |silent| {
        note(&format!("warning: {silent}"));
    })?
    .with_hedges(arguments.front_end.hedges());
    let server = Server::bind_cluster(cluster, &options, runtime)?;
    let server = observing(writing(server, writer)?, &arguments);
    serve_until(server, &interrupt)?;
    drop(supervisor);
    Ok(ExitCode::SUCCESS)
}

impl ServeArguments {
    /// Returns the options of the server.
    fn options(&self) -> anyhow::Result<ServeOptions> {
        Ok(ServeOptions {
            listen: self.listen.clone(),
            partitions: self.index_servers.or(self.partitions).unwrap_or(1),
            handlers: self.handlers.handlers(),
            queue_length: self.handlers.queue.unwrap_or(0),
            front_end: self.front_end.options()?,
            limits: self.front_end.limits(),
            host_names: self.front_end.host_names(),
            origins: self.front_end.origins(),
            admin: self.front_end.admin()?,
            refresh: (!self.refresh.is_zero()).then_some(self.refresh),
        })
    }

    /// Returns the options of a writer.
    fn writing(&self) -> LiveOptions {
        let defaults = LiveOptions::default();
        LiveOptions {
            refresh: match self.refresh.is_zero() {
                false => self.refresh,
                true => defaults.refresh,
            },
            threads: console::opened::cores_count(),
            ..defaults
        }
    }
}

/// Serves the indexes of a folder.
fn serve_folder(arguments: &ServeArguments, interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    if arguments.index_servers.is_some() {
        bail!(
            "--index-servers: processes of their own are for one index; leave it out for a folder of indexes"
        );
    }
    let options = arguments.options()?;
    let places = arguments.placement.places(1, options.handlers)?;
    arguments.handlers.warn_of_one_speed(&places);
    let io_cpus = PlacementArguments::io_cpus(&places);
    let handlers = HandlerOptions {
        places: places.into_iter().next().unwrap_or_default(),
        ..arguments.handlers.options(&io_cpus)
    };
    let writing = arguments.writable.then(|| arguments.writing());
    let preload = arguments.preload.clone();
    let catalog = super::serve_folder::catalog(
        &arguments.directory,
        preload,
        &arguments.verify,
        writing,
        options.refresh,
    )?;
    let server = Server::bind_catalog(catalog, &options, &handlers, io_runtime_on(&io_cpus)?)?;
    serve_until(server, interrupt)?;
    Ok(ExitCode::SUCCESS)
}

/// Opens the writer of a server that writes.
fn live_writer(arguments: &ServeArguments) -> anyhow::Result<LiveWriter> {
    let directory = &arguments.directory;
    // In a folder that is not there either, the name is more likely a mistake.
    let is_new = !directory.exists() && directory.parent().is_some_and(is_folder_or_here);
    let storage = match is_new {
        true => new_index(directory)?,
        false => console::opened::existing_index(directory)?,
    };
    let writer = LiveWriter::open_without_room(storage, arguments.writing());
    let writer = writer.context("cannot write to the index")?;
    if let Some(failure) = writer.status().failure {
        note(&format!(
            "warning: nothing is written until the disk has room, and what the write-ahead log has is not searched before: \
             {failure}"
        ));
    }
    Ok(writer)
}

fn is_folder_or_here(path: &Path) -> bool {
    path.as_os_str().is_empty() || path.is_dir()
}

/// Creates an index without documents in a directory that is not there yet.
fn new_index(directory: &Path) -> anyhow::Result<SharedStorage> {
    let storage: SharedStorage = Arc::new(RealStorage::create_directory(directory)?);
    let writer = index::Writer::open(storage.clone(), index::BuildOptions::default());
    writer.and_then(index::Writer::commit)?;
    note(&format!(
        "{}: a new index, for documents sent to the admin address",
        directory.display()
    ));
    Ok(storage)
}

fn writing(server: Server, writer: Option<LiveWriter>) -> anyhow::Result<Server> {
    Ok(match writer {
        Some(writer) => server.with_writer(writer)?,
        None => server,
    })
}

/// Makes the server tell of the crawl in the directory, in builds with the crawler.
fn observing(server: Server, arguments: &ServeArguments) -> Server {
    #[cfg(feature = "crawler")]
    let server = {
        let crawl = crate::commands::crawl::DirectoryCrawl(arguments.directory.clone());
        server.with_crawl(Arc::new(crawl))
    };
    #[cfg(not(feature = "crawler"))]
    let _ = arguments;
    server
}

/// Returns the processes to start: an index server for each partition, then a document server.
fn roles(
    arguments: &ServeArguments,
    topology: &Topology,
    parts: &[Chunks],
    places: &[Vec<Place>],
) -> anyhow::Result<Vec<Role>> {
    let program = std::env::current_exe().context("cannot find this program to start it again")?;
    let directory = arguments.directory.to_string_lossy().into_owned();
    let mut roles = Vec::with_capacity(parts.len() + 1);
    for (partition, chunks) in parts.iter().enumerate() {
        let chunks = format!("{}-{}", chunks.start(), chunks.end());
        let mut role = Role {
            name: format!("index server of chunks {chunks}"),
            program: program.clone(),
            arguments: ["index-server", &directory, "--chunks", &chunks]
                .map(String::from)
                .to_vec(),
        };
        role.arguments
            .extend(["--handlers".into(), topology.handlers.to_string()]);
        if topology.queue_length > 0 {
            role.arguments
                .extend(["--queue".into(), topology.queue_length.to_string()]);
        }
        if let Some(cut_off) = arguments.handlers.cut_off {
            role.arguments
                .extend(["--cut-off".into(), cut_off.to_string()]);
        }
        role.arguments
            .extend(["--policy".into(), arguments.handlers.policy.to_string()]);
        if arguments.handlers.hand_over {
            role.arguments.push("--hand-over".into());
        }
        role.arguments.extend(arguments.preload.for_process());
        role.arguments.extend(arguments.verify.for_process());
        if let Some(places) = places.get(partition) {
            role.arguments
                .extend(arguments.placement.for_process(places));
        }
        roles.push(role);
    }
    let mut document_server = Role {
        name: "document server".into(),
        program,
        arguments: ["document-server".into(), directory].to_vec(),
    };
    document_server
        .arguments
        .extend(["--policy".into(), arguments.handlers.policy.to_string()]);
    let preload = arguments.preload.for_process();
    document_server.arguments.extend(preload);
    let verify = arguments.verify.for_process();
    document_server.arguments.extend(verify);
    roles.push(document_server);
    Ok(roles)
}

/// Prints the address of the page, then answers until a signal asks for the end.
pub(crate) fn serve_until(server: Server, interrupt: &Interrupt) -> anyhow::Result<()> {
    print_addresses(&server)?;
    server.run_until(interrupt.asked())?;
    Ok(())
}
