//! `shorttail crawl`: pages of sites become an index that stays current.

mod ask;
mod folder;
#[cfg(feature = "urlfrontier")]
mod frontier;
mod indexnow;
mod observed;
mod replay;
mod run;
mod summary;
mod web;

pub(super) use observed::DirectoryCrawl;
use std::process::ExitCode;

const EXAMPLES: &str = "\
Asks each host for its robots.txt and keeps to it; one request at a time to a host and to an
address, with a pause of at least --gap. The same command again fetches only what changed. Ctrl-C
ends it; the next run goes on. Pages are kept in WARC files in INDEX/crawl. docs/crawler.md explains
more. `crawl frontier` keeps the URLs of other crawlers where the program is built with --features
urlfrontier.

EXAMPLES:
    shorttail crawl my-docs https://docs.example.org
        The pages of one host
    shorttail crawl my-docs https://example.org/manual/ --within path --deny .pdf
        The pages of one folder, without PDF
    shorttail crawl my-docs crawl.toml --serve
        Many sites with rules of their own; searchable meanwhile
    shorttail crawl my-docs http://127.0.0.1:8000/ --owned --allow-addresses 127.0.0.0/8
        A site of your own: several requests at a time; private addresses only by name
    shorttail crawl my-docs crawl.toml --watch --indexnow 127.0.0.1:7702
        Go on for ever, and visit at once what publishers of your own sites submit by IndexNow
    shorttail crawl docs-a crawl.toml --member a
        One of several processes that share the hosts, as the configuration names them
    shorttail crawl status my-docs
    shorttail crawl explain my-docs https://docs.example.org/page
        Why a page is in the index, or not";

/// Crawl sites into an index that stays current
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(crate) struct CrawlArguments {
    #[command(subcommand)]
    question: Option<Question>,
    #[command(flatten)]
    run: run::RunArguments,
}

#[derive(Debug, clap::Subcommand)]
enum Question {
    Status(ask::StatusArguments),
    Explain(ask::ExplainArguments),
    Stop(ask::StopArguments),
    Ping(ask::PingArguments),
    Replay(replay::ReplayArguments),
    Web(web::WebArguments),
    #[cfg(feature = "urlfrontier")]
    Frontier(frontier::FrontierArguments),
}

/// Runs the subcommand.
pub(super) fn run(arguments: CrawlArguments) -> anyhow::Result<ExitCode> {
    match arguments.question {
        None => run::run(arguments.run),
        Some(Question::Status(arguments)) => ask::status(&arguments),
        Some(Question::Explain(arguments)) => ask::explain(&arguments),
        Some(Question::Stop(arguments)) => ask::stop(&arguments),
        Some(Question::Ping(arguments)) => ask::ping(&arguments),
        Some(Question::Replay(arguments)) => replay::run(&arguments),
        Some(Question::Web(arguments)) => web::run(&arguments),
        #[cfg(feature = "urlfrontier")]
        Some(Question::Frontier(arguments)) => frontier::run(&arguments),
    }
}
