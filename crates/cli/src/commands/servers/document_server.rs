//! `shorttail document-server`: summaries of the documents of some chunks of an index, or of each in a folder, for front-ends.

use super::serve_folder::{folder_of_parts, is_folder};
use super::serving::{
    MetricsArguments, PreloadArguments, RefreshArguments, VerifyArguments, end_of, open_part,
    serve_part,
};
use console::interrupt::Interrupt;
use index::PreloadParts;
use schedule::board::PolicyChoice;
use serve::{
    Chunks, Draining, FolderServers, HandlerOptions, InProcessDocumentServer, RpcServer,
    RpcServices, ServerMetrics, parse_chunks,
};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

const EXAMPLES: &str = "\
Front-ends find it through their cluster file. SIGHUP opens the newest generation of the index;
Ctrl-C (or SIGTERM) sends front-ends to other replicas, lets running requests end, then stops.

EXAMPLES:
    shorttail document-server my-index --chunks 0-1 --listen 127.0.0.1:7901
    shorttail document-server my-index --preload touch --metrics 127.0.0.1:7911
        Texts read into memory first; watch it with shorttail top 127.0.0.1:7911
    shorttail document-server indexes
        The texts of every index in the folder `indexes`, each at its name";

/// Make summaries of the documents of some chunks of an index, or of each index in a folder, for front-ends
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DocumentServerArguments {
    /// The directory of the index, or a folder of such directories
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// Chunks whose documents are summarized, such as 0-127 [default: all]
    #[arg(long, value_name = "CHUNKS", value_parser = parse_chunks)]
    chunks: Option<Chunks>,
    /// The address to listen on; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7901")]
    listen: String,
    #[command(flatten)]
    refresh: RefreshArguments,
    /// Threads that share the summaries of long texts [default: one a core, at most 4]
    #[arg(long, alias = "handlers", value_name = "N", help_heading = "Threads")]
    threads: Option<usize>,
    /// Which thread works on which request, as in shorttail serve
    #[arg(long, value_name = "POLICY", default_value_t, help_heading = "Threads")]
    policy: PolicyChoice,
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
pub(crate) fn run(arguments: DocumentServerArguments) -> anyhow::Result<ExitCode> {
    let _logs = crate::logs::start("document-server");
    let interrupt = Interrupt::listen()?;
    let draining = Draining::default();
    let (services, metrics) = match is_folder(&arguments.directory, true)? {
        true => of_folder(&arguments, draining.clone())?,
        false => of_index(&arguments, draining.clone())?,
    };
    let bound = RpcServer::bind(&arguments.listen, services, draining)?;
    let server = arguments.metrics.add(bound, || metrics)?;
    serve_part(server, end_of(&interrupt, arguments.until_stdin_ends)?)
}

/// What is loaded into memory, where that is asked for.
const PARTS: PreloadParts = PreloadParts {
    index: false,
    texts: true,
};

impl DocumentServerArguments {
    fn threads(&self) -> usize {
        let threads = self.threads;
        threads.unwrap_or_else(|| console::opened::cores_count().min(4))
    }
}

/// Starts the server of one index.
fn of_index(
    arguments: &DocumentServerArguments,
    draining: Draining,
) -> anyhow::Result<(RpcServices, ServerMetrics)> {
    arguments.refresh.refuse()?;
    let chunks = arguments.chunks.clone();
    let (generations, chunks) = open_part(&arguments.directory, &arguments.preload, chunks, PARTS)?;
    arguments.verify.start(&generations)?;
    let (threads, policy) = (arguments.threads(), &arguments.policy);
    let server = InProcessDocumentServer::start(generations, chunks, threads, policy, draining)?;
    let metrics = ServerMetrics::of_document_server(&server);
    Ok((RpcServices::of_document_server(Arc::new(server)), metrics))
}

/// Starts the servers of the indexes of a folder.
fn of_folder(
    arguments: &DocumentServerArguments,
    draining: Draining,
) -> anyhow::Result<(RpcServices, ServerMetrics)> {
    let (chunks, preload) = (arguments.chunks.clone(), arguments.preload.clone());
    let folder = folder_of_parts(
        &arguments.directory,
        chunks.clone(),
        preload,
        PARTS,
        &arguments.verify,
    )?;
    let options = HandlerOptions {
        handlers: arguments.threads().max(1),
        policy: arguments.policy.clone(),
        ..HandlerOptions::default()
    };
    let refresh = arguments.refresh.of_folder();
    let servers = FolderServers::of_texts(folder, chunks, &options, refresh, draining)?;
    let (services, metrics, _) = servers.into_parts();
    Ok((services, metrics))
}
