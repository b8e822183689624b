//! `shorttail document-server`: summaries of the documents of some chunks for front-ends.

use super::serving::{
    MetricsArguments, PreloadArguments, VerifyArguments, end_of, open_part, serve_part,
};
use console::interrupt::Interrupt;
use index::PreloadParts;
use schedule::board::PolicyChoice;
use serve::{
    Chunks, Draining, InProcessDocumentServer, RpcServer, RpcServices, ServerMetrics, parse_chunks,
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
        Texts read into memory first; watch it with shorttail top 127.0.0.1:7911";

/// Make summaries of the documents of some chunks for front-ends
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct DocumentServerArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// Chunks whose documents are summarized, such as 0-127 [default: all]
    #[arg(long, value_name = "CHUNKS", value_parser = parse_chunks)]
    chunks: Option<Chunks>,
    /// The address to listen on; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7901")]
    listen: String,
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
    let parts = PreloadParts {
        index: false,
        texts: true,
    };
    let (generations, chunks) = open_part(
        &arguments.directory,
        &arguments.preload,
        arguments.chunks,
        parts,
    )?;
    arguments.verify.start(&generations)?;
    let threads = arguments
        .threads
        .unwrap_or_else(|| console::opened::cores_count().min(4));
    let draining = Draining::default();
    let policy = arguments.policy;
    let server =
        InProcessDocumentServer::start(generations, chunks, threads, &policy, draining.clone())?;
    let server = Arc::new(server);
    let services = RpcServices {
        index_server: None,
        document_server: Some(server.clone()),
    };
    let bound = RpcServer::bind(&arguments.listen, services, draining)?;
    let metrics = || ServerMetrics::of_document_server(&server);
    let server = arguments.metrics.add(bound, metrics)?;
    serve_part(server, end_of(&interrupt, arguments.until_stdin_ends)?)
}
