//! `shorttail index-server`: search of some chunks of an index, or of each in a folder, for front-ends.

use super::serve_folder::{folder_of_parts, is_folder};
use super::serving::{
    HandlerArguments, MetricsArguments, PlacementArguments, PreloadArguments, RefreshArguments,
    VerifyArguments, end_of, open_part, print_places, serve_part,
};
use console::interrupt::Interrupt;
use index::PreloadParts;
use schedule::CpuSet;
use serve::{
    Chunks, Draining, Figures, FolderServers, HandlerOptions, InProcessIndexServer, RpcServer,
    RpcServices, ServerMetrics, parse_chunks,
};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const EXAMPLES: &str = "\
Front-ends find it through their cluster file. SIGHUP opens the newest generation of the index;
Ctrl-C (or SIGTERM) sends front-ends to other replicas, lets running searches end, then stops.

EXAMPLES:
    shorttail index-server my-index --preload touch --metrics 127.0.0.1:7811
        The whole index, read into memory first; watch it with shorttail top 127.0.0.1:7811
    shorttail optimize my-index --partitions 2
    shorttail index-server my-index --chunks 0 --listen 127.0.0.1:7801 --handlers 4
    shorttail index-server my-index --chunks 1 --listen 127.0.0.1:7802 --cpus 0 --placement data
        Lay the index of two chunks out in two halves, and serve each by a process of its own
    shorttail index-server indexes
        Every index in the folder `indexes`, each at its name, by one set of threads";

/// Search some chunks of an index, or of each index in a folder, for front-ends
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct IndexServerArguments {
    /// The directory of the index, or a folder of such directories
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// Chunks to search, such as 0-63 [default: all]
    #[arg(long, value_name = "CHUNKS", value_parser = parse_chunks)]
    chunks: Option<Chunks>,
    /// The address to listen on; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7801")]
    listen: String,
    #[command(flatten)]
    refresh: RefreshArguments,
    #[command(flatten)]
    handlers: HandlerArguments,
    #[command(flatten)]
    placement: PlacementArguments,
    #[command(flatten)]
    preload: PreloadArguments,
    #[command(flatten)]
    verify: VerifyArguments,
    #[command(flatten)]
    metrics: MetricsArguments,
    /// Stop at the end of standard input, that is with the process that started this one
    #[arg(long, hide = true)]
    until_stdin_ends: bool,
}

/// Runs the subcommand.
pub(crate) fn run(arguments: IndexServerArguments) -> anyhow::Result<ExitCode> {
    let _logs = crate::logs::start("index-server");
    let interrupt = Interrupt::listen()?;
    let handlers = arguments.handlers.handlers();
    let mut places = arguments.placement.places(1, handlers)?;
    arguments.handlers.warn_of_one_speed(&places);
    let places = places.pop();
    let is_placed = places.is_some();
    let options = HandlerOptions {
        places: places.unwrap_or_default(),
        // Other processes may have handlers on the CPUs that this one has none on.
        ..arguments.handlers.options(&CpuSet::default())
    };
    let draining = Draining::default();
    let (services, metrics, figures) = match is_folder(&arguments.directory, true)? {
        true => of_folder(&arguments, &options, draining.clone())?,
        false => of_index(&arguments, &options, draining.clone())?,
    };
    if is_placed {
        let named = |(handler, place)| (format!("handler {handler}"), place);
        print_places(figures.places.iter().enumerate().map(named));
    }
    let bound = RpcServer::bind(&arguments.listen, services, draining)?;
    let server = arguments.metrics.add(bound, || metrics)?;
    serve_part(server, end_of(&interrupt, arguments.until_stdin_ends)?)
}

/// What is loaded into memory, where that is asked for.
const PARTS: PreloadParts = PreloadParts {
    index: true,
    texts: false,
};

type Started = (RpcServices, ServerMetrics, Arc<Figures>);

/// Starts the server of one index.
fn of_index(
    arguments: &IndexServerArguments,
    options: &HandlerOptions,
    draining: Draining,
) -> anyhow::Result<Started> {
    arguments.refresh.refuse()?;
    let chunks = arguments.chunks.clone();
    let (generations, chunks) = open_part(&arguments.directory, &arguments.preload, chunks, PARTS)?;
    arguments.verify.start(&generations)?;
    let server = InProcessIndexServer::start(generations, chunks, options, draining)?;
    let (metrics, figures) = (ServerMetrics::of_index_server(&server), server.figures());
    let services = RpcServices::of_index_server(Arc::new(server));
    Ok((services, metrics, figures))
}

/// Starts the servers of the indexes of a folder.
fn of_folder(
    arguments: &IndexServerArguments,
    options: &HandlerOptions,
    draining: Draining,
) -> anyhow::Result<Started> {
    let (chunks, preload) = (arguments.chunks.clone(), arguments.preload.clone());
    let folder = folder_of_parts(
        &arguments.directory,
        chunks.clone(),
        preload,
        PARTS,
        &arguments.verify,
    )?;
    let refresh = arguments.refresh.of_folder();
    let servers = FolderServers::of_searches(folder, chunks, options, refresh, draining)?;
    let (services, metrics, figures) = servers.into_parts();
    Ok((services, metrics, figures.unwrap_or_default()))
}
