//! `shorttail crawl web`: the synthetic web as a server, and the judge of its log.

use super::run::SECONDS;
use anyhow::Context;
use console::failure::note;
use console::interrupt::Interrupt;
use console::terminal::print;
use crawl::synthetic::{
    JudgeOptions, SyntheticAuthority, SyntheticOptions, SyntheticWeb, Verdict, judge, listen,
    read_log, serve_with,
};
use std::fs::File;
use std::io::{BufReader, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use units::Sizes;

const EXAMPLES: &str = "\
Pages, links and sizes are computed from the seed: the web is the same each time, and takes no
memory. Each host has an address of its own, from 127.1.0.2 on; the pages at 127.1.0.1 link to all.
Of every 28 hosts one is plain, 15 have what crawlers meet (sitemaps, noindex, slow answers, 429,
redirects, mirrors, answers 200 for missing pages, a robots.txt that cannot be read), 12 are traps.
A judge reads the log and tells whether a crawler was polite, obeyed and found everything.

EXAMPLES:
    shorttail crawl web --seed 7 --hosts 1000 --listen 127.0.0.1:0 --log web.log
        Serve until Ctrl-C; the first line printed is the URL to begin with
    shorttail crawl my-docs http://127.1.0.1:8000/ --within any --allow-addresses 127.0.0.0/8
        Crawl it
    shorttail crawl web --seed 7 --hosts 1000 --judge web.log
        Judge the crawler by the log of the server";

/// Serve a synthetic web for tests of crawlers, or judge a crawler by its log
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct WebArguments {
    /// Seed of everything
    #[arg(long, value_name = "N", default_value_t = 7, help_heading = "The web")]
    seed: u64,
    /// Number of hosts
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=16_000_000), help_heading = "The web")]
    hosts: u32,
    /// Mean number of pages of a host
    #[arg(
        long,
        value_name = "N",
        default_value_t = 50.0,
        help_heading = "The web"
    )]
    pages_mean: f64,
    /// Mean length of a page
    #[arg(long, value_name = "SIZE", default_value = "8kB", value_parser = Sizes::ANY.bytes(), help_heading = "The web")]
    page_size: u64,
    /// Only ordinary hosts
    #[arg(long, help_heading = "The web")]
    plain: bool,
    /// No page changes
    #[arg(long, help_heading = "The web")]
    unchanging: bool,
    /// Port to listen at, on all addresses of 127.0.0.0/8; 0 for a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// Serve https, and write the certificate of the authority, in PEM, to a file
    #[arg(long, value_name = "FILE")]
    tls: Option<PathBuf>,
    /// Write each request as a line of JSON to a file
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Do not serve: judge the requests of a log. The other options are those of the server
    #[arg(long, value_name = "LOG", conflicts_with_all = ["log", "tls", "listen"], help_heading = "Judge")]
    judge: Option<PathBuf>,
    /// Pause between two requests to a host or address that the judge demands
    #[arg(long, value_name = "TIME", default_value = "500ms", requires = "judge", value_parser = SECONDS.durations(), help_heading = "Judge")]
    gap: Duration,
    /// Whether every page had to be found is not judged
    #[arg(long, requires = "judge", help_heading = "Judge")]
    partial: bool,
}

/// Runs the subcommand.
pub(super) fn run(arguments: &WebArguments) -> anyhow::Result<ExitCode> {
    match &arguments.judge {
        Some(log) => judged(arguments, log),
        None => serve(arguments),
    }
}

fn options(arguments: &WebArguments, port: u16) -> SyntheticOptions {
    let defaults = SyntheticOptions::default();
    SyntheticOptions {
        seed: arguments.seed,
        hosts: arguments.hosts,
        pages_mean: arguments.pages_mean,
        page_bytes_mean: usize::try_from(arguments.page_size).unwrap_or(usize::MAX),
        classes: !arguments.plain,
        change_gap_ms: match arguments.unchanging {
            true => u64::MAX,
            false => defaults.change_gap_ms,
        },
        port,
        tls: arguments.tls.is_some(),
        by_address: true,
        ..defaults
    }
}

fn serve(arguments: &WebArguments) -> anyhow::Result<ExitCode> {
    anyhow::ensure!(
        arguments.listen.ip().is_loopback(),
        "--listen {}: the synthetic web is for this machine alone; give an address of 127.0.0.0/8",
        arguments.listen
    );
    let interrupt = Interrupt::listen()?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let entered = runtime.enter();
    let listener = listen(arguments.listen.port()).context("cannot listen on 127.0.0.0/8")?;
    let port = listener.local_addr()?.port();
    let web = Arc::new(SyntheticWeb::new(options(arguments, port)));
    let tls = match &arguments.tls {
        None => None,
        Some(path) => {
            let authority = SyntheticAuthority::new(&web)?;
            std::fs::write(path, &authority.pem).with_context(|| path.display().to_string())?;
            Some(authority.acceptor)
        }
    };
    let log: Box<dyn Write + Send> = match &arguments.log {
        None => Box::new(std::io::sink()),
        Some(path) => Box::new(File::create(path).with_context(|| path.display().to_string())?),
    };
    let server = runtime.spawn(serve_with(web.clone(), listener, log, tls));
    drop(entered);
    print(&format!("{}\n", web.seeds_url()))?;
    note("serving until Ctrl-C");
    while interrupt.sleep(Duration::from_millis(200)) {
        if server.is_finished() {
            return match runtime.block_on(server)? {
                Ok(()) => Ok(ExitCode::SUCCESS),
                Err(error) => Err(error.into()),
            };
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn judged(arguments: &WebArguments, log: &PathBuf) -> anyhow::Result<ExitCode> {
    let web = SyntheticWeb::new(options(arguments, 0));
    let file = File::open(log).with_context(|| log.display().to_string())?;
    let records = read_log(BufReader::new(file)).with_context(|| log.display().to_string())?;
    let gap_ms = arguments.gap.as_millis() as u64;
    let verdict = judge(
        &records,
        &web,
        &JudgeOptions {
            host_gap_ms: gap_ms,
            address_gap_ms: gap_ms,
            complete: !arguments.partial,
            ..JudgeOptions::default()
        },
    );
    print(&told(&verdict))?;
    Ok(match verdict.passes() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

fn told(verdict: &Verdict) -> String {
    let mut text = format!(
        "requests   {}\ngaps       {}, {} too short\nforbidden  {} requests\nunexpected {} requests\n\
         missing    {} pages\ntraps      {} requests{}\n",
        verdict.requests_count,
        verdict.gaps_count,
        verdict.short_gaps_count,
        verdict.forbidden_count,
        verdict.unexpected_count,
        verdict.missing_count,
        verdict.trap_count,
        if verdict.trapped { ", too many" } else { "" },
    );
    for example in &verdict.examples {
        text.push_str(&format!("           {example}\n"));
    }
    text.push_str(match verdict.passes() {
        true => "the crawler kept the rules\n",
        false => "the crawler broke the rules\n",
    });
    text
}
