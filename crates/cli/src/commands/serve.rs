//! `shorttail serve`: the search page and the API of an index, until Ctrl-C.

use super::open_index;
use crate::interrupt::Interrupt;
use serve::{ServeOptions, Server};
use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

const EXAMPLES: &str = "\
GET /                                          the search page
GET /search?q=WORDS&k=10&start=0&per_site=2    the answer as JSON
GET /healthz                                   whether it serves
GET /metrics                                   figures for Prometheus

Ctrl-C (or SIGTERM) lets running searches end, then stops.

EXAMPLES:
    shorttail serve my-index
        Serve the page at http://127.0.0.1:7700
    shorttail serve my-index --listen 0.0.0.0:80 --partitions 2 --handlers 4
        Search two halves of the index at once, with four threads each, for everybody";

/// Serve the search page and the API of an index
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ServeArguments {
    /// The directory of the index
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The address to listen on; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7700")]
    listen: String,
    /// Parts of the index that are searched side by side [default: 1]
    #[arg(long, value_name = "P")]
    partitions: Option<usize>,
    /// Threads that search, for each partition [default: one a core]
    #[arg(long, value_name = "H")]
    handlers: Option<usize>,
}

/// Runs the subcommand.
pub(super) fn run(arguments: ServeArguments) -> anyhow::Result<ExitCode> {
    let index = open_index(&arguments.directory)?;
    let defaults = ServeOptions::default();
    let options = ServeOptions {
        listen: arguments.listen,
        partitions: arguments.partitions.unwrap_or(defaults.partitions),
        handlers: arguments.handlers.unwrap_or(defaults.handlers),
    };
    let interrupt = Interrupt::listen()?;
    serve_until(Server::bind(index, &options)?, &interrupt)?;
    Ok(ExitCode::SUCCESS)
}

/// Says where the page is, then answers until told to stop.
pub(super) fn serve_until(server: Server, interrupt: &Interrupt) -> anyhow::Result<()> {
    print_address(server.address())?;
    server.run_until(interrupt.asked())?;
    Ok(())
}

/// Says where the page is, at once, for whoever waits for the line to use the address.
fn print_address(address: SocketAddr) -> std::io::Result<()> {
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "listening on http://{address}")?;
    stdout.flush()
}
