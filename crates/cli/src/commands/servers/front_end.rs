//! `shorttail front-end`: the search page and the API of the servers in a cluster file.

use super::addresses::AddressArguments;
use super::admin::{AdminArguments, print_addresses};
use super::connections::ConnectionArguments;
use super::serving::end_of;
use console::failure::note;
use console::interrupt::Interrupt;
use serve::{
    AdminOptions, ClusterFile, ConnectedServers, ConnectionLimits, FrontEndOptions, Origin,
    ServeOptions, Server, io_runtime,
};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use units::{Sizes, Times};

const EXAMPLES: &str = "\
The cluster file names index servers and document servers, and the chunks of each; servers with the
same chunks are replicas. See examples/cluster.toml. Of servers of a folder of indexes, each index
is at its name: /NAME/ and GET /NAME/search?q=WORDS; GET /indexes lists them.

POST /reload at the admin address makes every server open the newest generation of the index. Ctrl-C
(or SIGTERM) lets running searches end, then stops.

EXAMPLES:
    shorttail front-end --cluster cluster.toml --listen 127.0.0.1:7700";

/// Serve the search page and the API of the servers of a cluster
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct FrontEndCommandArguments {
    /// The cluster file
    #[arg(long, value_name = "FILE")]
    cluster: PathBuf,
    /// The address to listen on; port 0 takes any free port
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7700")]
    listen: String,
    #[command(flatten)]
    front_end: FrontEndArguments,
}

/// Options of the front-end itself.
#[derive(Debug, clap::Args)]
pub(crate) struct FrontEndArguments {
    /// Time limit of a query, from its arrival to the answer; a query may set a shorter one
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = Times::ANY.durations(), help_heading = "Queries and answers")]
    timeout: Duration,
    /// Upper limit on concurrent queries; further ones are refused with a time after which to retry
    #[arg(
        long,
        value_name = "N",
        default_value = "1024",
        help_heading = "Queries and answers"
    )]
    concurrency: usize,
    /// Size of the result cache; 0 switches it off
    #[arg(long, value_name = "SIZE", default_value = "0", value_parser = Sizes::ANY.bytes(), help_heading = "Queries and answers")]
    cache: u64,
    /// Upper limit on the size of an answer; a request for a larger one is refused
    #[arg(long, value_name = "SIZE", default_value = "4MiB", value_parser = Sizes::ANY.bytes(), help_heading = "Queries and answers")]
    answer_max: u64,
    /// Explanations of scores for requests with explain=1: on or off
    #[arg(long, value_name = "ON", default_value = "on", value_parser = ["on", "off"], help_heading = "Queries and answers")]
    explain: String,
    /// Traces of the steps of a query for requests with trace=1: on or off
    #[arg(long, value_name = "ON", default_value = "on", value_parser = ["on", "off"], help_heading = "Queries and answers")]
    trace: String,
    /// Hedged requests, to a second replica after the 95th percentile of call latency: on or off
    #[arg(long, value_name = "ON", default_value = "on", value_parser = ["on", "off"], help_heading = "Queries and answers")]
    hedges: String,
    #[command(flatten)]
    addresses: AddressArguments,
    #[command(flatten)]
    connections: ConnectionArguments,
    #[command(flatten)]
    admin: AdminArguments,
}

impl FrontEndArguments {
    pub(crate) fn hedges(&self) -> bool {
        self.hedges == "on"
    }

    pub(crate) fn limits(&self) -> ConnectionLimits {
        self.connections.limits()
    }

    pub(crate) fn host_names(&self) -> Vec<String> {
        self.connections.host_names()
    }

    pub(crate) fn origins(&self) -> Vec<Origin> {
        self.connections.origins()
    }

    pub(crate) fn admin(&self) -> anyhow::Result<AdminOptions> {
        self.admin.options()
    }

    pub(crate) fn options(&self) -> anyhow::Result<FrontEndOptions> {
        Ok(FrontEndOptions {
            timeout: self.timeout.max(Duration::from_millis(1)),
            concurrency: self.concurrency,
            cache_bytes: usize::try_from(self.cache).unwrap_or(usize::MAX),
            answer_bytes_max: usize::try_from(self.answer_max)
                .unwrap_or(usize::MAX)
                .max(1 << 10),
            explain: self.explain == "on",
            trace: self.trace == "on",
            addresses: self.addresses.options()?,
        })
    }
}

/// Runs the subcommand.
pub(crate) fn run(arguments: FrontEndCommandArguments) -> anyhow::Result<ExitCode> {
    let _logs = crate::logs::start("front-end");
    let interrupt = Interrupt::listen()?;
    let file = ClusterFile::read(&arguments.cluster)?;
    let runtime = io_runtime()?;
    let name = format!("{} (process {})", arguments.listen, std::process::id());
    let hedges = arguments.front_end.hedges();
    let servers = ConnectedServers::connect(&file, &name, &runtime, hedges, |silent| {
        note(&format!("warning: {silent}; going on without it"));
    })?;
    let options = ServeOptions {
        listen: arguments.listen,
        front_end: arguments.front_end.options()?,
        limits: arguments.front_end.limits(),
        host_names: arguments.front_end.host_names(),
        origins: arguments.front_end.origins(),
        admin: arguments.front_end.admin()?,
        ..ServeOptions::default()
    };
    let server = match servers {
        ConnectedServers::One(cluster) => Server::bind_cluster(cluster, &options, runtime)?,
        ConnectedServers::Many(indexes) => Server::bind_servers(indexes, &options, runtime)?,
    };
    print_addresses(&server)?;
    server.run_until(end_of(&interrupt, false)?)?;
    Ok(ExitCode::SUCCESS)
}
