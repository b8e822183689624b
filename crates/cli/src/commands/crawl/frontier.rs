//! `shorttail crawl frontier`: queues of URLs for other crawlers.

use anyhow::Context;
use console::failure::note;
use console::interrupt::Interrupt;
use console::terminal::print;
use crawl::queues::{Queues, QueuesOptions, serve};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use vfs::RealStorage;

const EXAMPLES: &str = "\
Speaks the gRPC interface of URLFrontier 2.6, so that StormCrawler and others that use it can keep
their URLs here: queues by crawl and host, due times, metadata. What is acknowledged is on the disk.
Fetching, robots.txt and the length of pauses are the crawler's: a queue that gave URLs rests for
one second, unless SetDelay says otherwise. Nothing is encrypted, and there is no password: listen
where only your crawlers can connect.

EXAMPLES:
    shorttail crawl frontier my-urls
        Serve at port 7071 of this machine until Ctrl-C
    shorttail crawl frontier my-urls --listen 10.0.0.5:7071
        Serve the machines of a network of your own";

/// Keep the URLs of other crawlers, by URLFrontier's interface
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct FrontierArguments {
    /// The directory of the URLs; it is made if it does not exist
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Address to listen at; port 0 for a free one. It is the first line printed
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7071")]
    listen: SocketAddr,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &FrontierArguments) -> anyhow::Result<ExitCode> {
    let interrupt = Interrupt::listen()?;
    let storage = RealStorage::create_directory(&arguments.directory)?;
    let (queues, recovered) = Queues::open(Arc::new(storage), QueuesOptions::default())?;
    if recovered.cut_bytes > 0 {
        note(&format!(
            "{} bytes at the end of the journal were cut: nothing in them had been acknowledged",
            recovered.cut_bytes
        ));
    }
    for damage in &recovered.damage {
        note(&format!("warning: {damage}"));
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind(arguments.listen))
        .with_context(|| format!("cannot listen at {}", arguments.listen))?;
    print(&format!("{}\n", listener.local_addr()?))?;
    note("serving until Ctrl-C");
    let served = runtime.block_on(serve(queues, listener, interrupt.asked()));
    runtime.shutdown_timeout(Duration::from_secs(1));
    served?;
    Ok(ExitCode::SUCCESS)
}
