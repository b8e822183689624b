//! A run of the crawl: options, progress, and a server of the index meanwhile.

use super::folder::crawl_folder;
use super::indexnow;
use super::summary::{json_summary, notices, progress_text, text_summary};
use crate::commands::documents::create_target;
use crate::indexing::MEMORY;
use anyhow::Context;
use console::failure::note;
use console::interrupt::Interrupt;
use console::meter::Meter;
use console::opened::cores_count;
use console::terminal::print;
use crawl::config::{RuleForm, Within};
use crawl::{Crawl, CrawlConfig, CrawlProgress, CrawlSetup, MemberSetup};
use index::BuildOptions;
use ipnet::IpNet;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode};
use std::sync::Arc;
use std::time::Duration;
use units::{Time, TimeUnit, Times};
use vfs::RealStorage;

/// Times whose plain numbers are seconds.
pub(super) const SECONDS: Times = Times::ANY.plain(TimeUnit::Seconds);

/// Sources and options.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("staying").args(["watch", "serve"]).multiple(true)))]
pub(super) struct RunArguments {
    /// The directory of the index; the crawl is in its folder `crawl`
    #[arg(value_name = "INDEX", required = true)]
    directory: Option<PathBuf>,
    /// URLs to begin with, or a configuration (a file whose name ends with .toml)
    #[arg(required = true, value_name = "URL")]
    sources: Vec<String>,
    /// The index is named by its option, and may hold other files
    #[arg(long, hide = true)]
    named: bool,
    /// Name of this process among the [[member]] tables of the configuration, which share the hosts of the crawl
    #[arg(long, value_name = "NAME")]
    member: Option<String>,
    /// Boundary around the URLs
    #[arg(long, value_name = "WHAT", help_heading = "What is visited")]
    within: Option<Boundary>,
    /// Leave out URLs: a path prefix with * and $ as in robots.txt, an ending such as .pdf, or https://host/path. Rules
    /// are tried in the order --allow, --deny
    #[arg(long, value_name = "PATTERN", help_heading = "What is visited")]
    deny: Vec<String>,
    /// Visit URLs in spite of a later --deny; those of another host in spite of --within
    #[arg(long, value_name = "PATTERN", help_heading = "What is visited")]
    allow: Vec<String>,
    /// The sites are your own: up to 8 requests at a time, no pauses
    #[arg(long, help_heading = "How it is fetched")]
    owned: bool,
    /// Read pages as Chromium shows them, after their scripts; it must be installed
    #[arg(long, help_heading = "How it is fetched")]
    render: bool,
    /// Permit connections to private addresses of a network, such as 127.0.0.0/8
    #[arg(
        long,
        value_name = "NETWORK",
        value_delimiter = ',',
        help_heading = "How it is fetched"
    )]
    allow_addresses: Vec<IpNet>,
    /// Trust a certificate authority (a file in PEM) beside those of the web, such as that of an intranet
    #[arg(long, value_name = "FILE", help_heading = "How it is fetched")]
    authority: Vec<PathBuf>,
    /// Shortest pause between two requests to a host [default: 500ms]
    #[arg(long, value_name = "TIME", value_parser = SECONDS.reader(), help_heading = "How it is fetched")]
    gap: Option<Time>,
    /// Pages to fetch in this run, at most
    #[arg(long, value_name = "N", help_heading = "What is visited")]
    pages: Option<u64>,
    /// Links from a given URL, at most [default: 20]
    #[arg(long, value_name = "N", help_heading = "What is visited")]
    depth: Option<u16>,
    /// Name of the crawler in requests and for robots.txt. Name a page or an address that tells who you are
    #[arg(long, value_name = "TEXT", help_heading = "How it is fetched")]
    user_agent: Option<String>,
    /// Time between two commits of the index [default: 1m]
    #[arg(long, value_name = "TIME", value_parser = SECONDS.reader(), help_heading = "Going on")]
    commit_every: Option<Time>,
    /// Go on when everything was visited, and visit pages again when they are due, until Ctrl-C
    #[arg(long, help_heading = "Going on")]
    watch: bool,
    /// Serve the index meanwhile, and afterwards until Ctrl-C
    #[arg(long, help_heading = "Going on")]
    serve: bool,
    /// Address of that server
    #[arg(
        long,
        value_name = "ADDRESS",
        default_value = "127.0.0.1:7700",
        requires = "serve",
        help_heading = "Going on"
    )]
    listen: String,
    /// Address at which publishers of your own sites (--owned) submit changed URLs by the protocol IndexNow; with --watch
    /// or --serve
    #[arg(
        long,
        value_name = "ADDRESS",
        requires = "staying",
        help_heading = "Going on"
    )]
    indexnow: Option<String>,
    /// Upper limit on the memory of indexing; at least 16MiB
    #[arg(long, value_name = "SIZE", default_value = "512MiB", value_parser = MEMORY.bytes())]
    memory: u64,
    /// Print the summary as one line of JSON
    #[arg(long)]
    json: bool,
}

/// Boundaries by the names of the option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Boundary {
    /// Hosts of the URLs
    Host,
    /// Folders of the URLs
    Path,
    /// Registrable domains of the URLs
    Site,
    /// None
    Any,
}

/// Runs the crawl.
pub(super) fn run(arguments: RunArguments) -> anyhow::Result<ExitCode> {
    let directory = arguments.directory.clone().context("INDEX is missing")?;
    let config = configuration(&arguments)?;
    let is_named = config.user_agent.contains(['+', '@', '/']) && config.user_agent.contains(' ');
    if !is_named && !config.sites.iter().all(|site| site.owned) {
        note(
            "note: the user agent names no contact; for sites of others add --user-agent 'name (+https://you.example/bot)'",
        );
    }
    let setup = CrawlSetup {
        index: create_target(&directory, arguments.named)?,
        storage: Arc::new(RealStorage::create_directory(crawl_folder(&directory))?),
        build: BuildOptions {
            threads: cores_count(),
            memory_bytes: arguments.memory,
            ..BuildOptions::default()
        },
        resolver: None,
        watch: arguments.watch,
        is_read_meanwhile: arguments.serve,
        member: member_setup(&config, arguments.member.as_deref())?,
    };
    let is_alone = setup.member.is_none();
    let interrupt = Interrupt::listen()?;
    let indexnow = arguments.indexnow.as_deref();
    let indexnow = indexnow.map(|address| indexnow::listen(address, &config, &setup.storage));
    let indexnow = indexnow.transpose()?;
    let mut meter = Meter::start("crawling", None);
    let crawl = Crawl::open(config, setup)?;
    let mut server = Server::new(&arguments, &directory);
    let mut failure = None;
    let mut report = |progress: &CrawlProgress| {
        meter.update(progress.answered(), |_| progress_text(progress));
        if let Err(error) = server.start_if(progress.generation > 0) {
            failure.get_or_insert(error);
        }
    };
    let progress = crawl.run(&|| interrupt.is_asked(), &mut report)?;
    drop(meter);
    notices(&progress);
    print(&match arguments.json {
        true => format!("{}\n", json_summary(&progress)),
        false => text_summary(&progress, &directory),
    })?;
    if let Some(error) = failure {
        return Err(error);
    }
    if !interrupt.is_asked() {
        server.wait(&interrupt)?;
    }
    drop(indexnow);
    // Nothing answered, and there is nothing to search either: the addresses are wrong, or not permitted. Of several members
    // one may have nothing to do.
    let is_in_vain = progress.generation == 0 && is_alone && !interrupt.is_asked();
    let has_failed = progress.answered() == 0 && (progress.failed > 0 || is_in_vain);
    Ok(match has_failed {
        true => ExitCode::FAILURE,
        false => ExitCode::SUCCESS,
    })
}

/// Listens for the other members at the address that the configuration gives this one.
fn member_setup(config: &CrawlConfig, name: Option<&str>) -> anyhow::Result<Option<MemberSetup>> {
    let Some(name) = name else {
        return Ok(None);
    };
    let address = &config.members[config.member_at(name)?].address;
    let listener = TcpListener::bind(address)
        .with_context(|| format!("member {name}: cannot listen at {address}"))?;
    Ok(Some(MemberSetup {
        name: name.to_owned(),
        listener: Arc::new(listener),
    }))
}

/// Returns the configuration that the arguments make.
fn configuration(arguments: &RunArguments) -> anyhow::Result<CrawlConfig> {
    let (files, seeds): (Vec<&String>, Vec<&String>) = arguments
        .sources
        .iter()
        .partition(|source| source.ends_with(".toml") && Path::new(source).is_file());
    let mut config = CrawlConfig::default();
    if let [file] = files[..] {
        let text = std::fs::read_to_string(file).with_context(|| file.clone())?;
        config = CrawlConfig::from_toml(&text).with_context(|| file.clone())?;
    } else if !files.is_empty() {
        anyhow::bail!("one configuration at a time; a file may have any number of [[site]] tables");
    }
    if !seeds.is_empty() {
        let seeds = seeds.into_iter().cloned().collect();
        config.sites.extend(CrawlConfig::of_seeds(seeds).sites);
    }
    let allowed = arguments.allow.iter().cloned().map(RuleForm::Allow);
    let denied = arguments.deny.iter().cloned().map(RuleForm::Deny);
    let rules: Vec<RuleForm> = allowed.chain(denied).collect();
    for site in &mut config.sites {
        site.owned |= arguments.owned;
        site.render |= arguments.render;
        site.rules.splice(0..0, rules.iter().cloned());
        site.within = match arguments.within {
            None => site.within,
            Some(Boundary::Host) => Within::Host,
            Some(Boundary::Path) => Within::Path,
            Some(Boundary::Site) => Within::Site,
            Some(Boundary::Any) => Within::Any,
        };
    }
    config.allow_addresses.extend(&arguments.allow_addresses);
    config
        .authorities
        .extend(arguments.authority.iter().cloned());
    config.pages_max = arguments.pages.or(config.pages_max);
    config.gap_s = arguments.gap.map_or(config.gap_s, Time::seconds);
    config.depth_max = arguments.depth.unwrap_or(config.depth_max);
    config.commit_every_s = arguments
        .commit_every
        .map_or(config.commit_every_s, Time::seconds);
    if let Some(user_agent) = &arguments.user_agent {
        config.user_agent = user_agent.clone();
    }
    Ok(config)
}

/// Server of the index, a process of its own.
struct Server<'a> {
    command: Option<(&'a Path, &'a str)>,
    child: Option<Child>,
}

impl<'a> Server<'a> {
    fn new(arguments: &'a RunArguments, directory: &'a Path) -> Server<'a> {
        Server {
            command: arguments
                .serve
                .then_some((directory, arguments.listen.as_str())),
            child: None,
        }
    }

    /// Starts the server, once there is an index.
    fn start_if(&mut self, is_there: bool) -> anyhow::Result<()> {
        let Some((directory, listen)) = self.command.filter(|_| is_there && self.child.is_none())
        else {
            return Ok(());
        };
        let program = std::env::current_exe().context("cannot find this program")?;
        let child = Command::new(program)
            .arg("serve")
            .arg(directory)
            .args(["--listen", listen])
            .spawn()
            .context("cannot start the server")?;
        self.child = Some(child);
        Ok(())
    }

    /// Waits until the server ends, or a signal asks for the end.
    fn wait(&mut self, interrupt: &Interrupt) -> anyhow::Result<()> {
        if self.child.is_some() {
            note("serving until Ctrl-C");
        }
        while let Some(child) = &mut self.child {
            if child.try_wait()?.is_some() || !interrupt.sleep(Duration::from_millis(200)) {
                break;
            }
        }
        Ok(())
    }
}

impl Drop for Server<'_> {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by the same signal.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
