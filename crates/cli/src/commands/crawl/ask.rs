//! Questions to a crawl: its status, why a URL is where it is; and the request to end.

use super::folder::existing_crawl;
use super::summary::{json_summary, notices, progress_text, text_details, text_summary};
use console::failure::note;
use console::figures::counted;
use console::terminal::{print, printable};
use crawl::politeness::TimeMs;
use crawl::{Explained, explain as explained, is_running, request_stop, status_of};
use std::path::PathBuf;
use std::process::ExitCode;

const STATUS_EXAMPLES: &str = "\
EXAMPLES:
    shorttail crawl status my-docs
    shorttail crawl status my-docs --json";

/// Show the figures of a crawl, running or ended
#[derive(Debug, clap::Args)]
#[command(after_help = STATUS_EXAMPLES)]
pub(super) struct StatusArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

const EXPLAIN_EXAMPLES: &str = "\
EXAMPLES:
    shorttail crawl explain my-docs https://docs.example.org/page";

/// Tell what is known of a URL: found where, visited when, its state with the reason, the next visit
#[derive(Debug, clap::Args)]
#[command(after_help = EXPLAIN_EXAMPLES)]
pub(super) struct ExplainArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// The URL
    #[arg(value_name = "URL")]
    url: String,
    /// Print one line of JSON
    #[arg(long)]
    json: bool,
}

const STOP_EXAMPLES: &str = "\
EXAMPLES:
    shorttail crawl stop my-docs";

/// Ask a running crawl to commit and end; the next run goes on
#[derive(Debug, clap::Args)]
#[command(after_help = STOP_EXAMPLES)]
pub(super) struct StopArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
}

const PING_EXAMPLES: &str = "\
A running crawl visits them within seconds, as fast as politeness permits; otherwise the next one
does. A program that publishes pages can call this after each change.

EXAMPLES:
    shorttail crawl ping my-docs https://docs.example.org/page";

/// Ask a crawl to visit URLs soon, because they are new or have changed
#[derive(Debug, clap::Args)]
#[command(after_help = PING_EXAMPLES)]
pub(super) struct PingArguments {
    /// The directory of the index
    #[arg(value_name = "INDEX")]
    directory: PathBuf,
    /// The URLs
    #[arg(value_name = "URL", required = true)]
    urls: Vec<String>,
}

/// Notes URLs to visit soon.
pub(super) fn ping(arguments: &PingArguments) -> anyhow::Result<ExitCode> {
    let storage = existing_crawl(&arguments.directory)?;
    let refused = crawl::ping(&storage, &arguments.urls)?;
    for (url, error) in &refused {
        note(&format!("{}: {error}", printable(url)));
    }
    let taken = arguments.urls.len() - refused.len();
    if taken > 0 {
        let when = match is_running(&storage)? {
            true => "soon",
            false => "by the next run",
        };
        let urls = counted(taken as u64, "URL");
        print(&format!("{urls} will be visited {when}\n"))?;
    }
    Ok(match refused.is_empty() {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

/// Shows the figures.
pub(super) fn status(arguments: &StatusArguments) -> anyhow::Result<ExitCode> {
    let storage = existing_crawl(&arguments.directory)?;
    let status = status_of(&storage)?;
    if arguments.json {
        print(&format!("{}\n", json_summary(&status)))?;
        return Ok(ExitCode::SUCCESS);
    }
    let condition = match status.condition() {
        "interrupted" => "interrupted; run it again to go on",
        condition => condition,
    };
    let progress = &status.progress;
    print(&format!(
        "crawl      {condition}: {}\n{}{}",
        progress_text(progress),
        text_summary(progress, &arguments.directory),
        text_details(progress),
    ))?;
    notices(progress);
    Ok(ExitCode::SUCCESS)
}

/// Asks for the end.
pub(super) fn stop(arguments: &StopArguments) -> anyhow::Result<ExitCode> {
    let storage = existing_crawl(&arguments.directory)?;
    match is_running(&storage)? {
        true => {
            request_stop(&storage)?;
            note("the crawl commits and ends within seconds");
        }
        false => note("no crawl runs here"),
    }
    Ok(ExitCode::SUCCESS)
}

/// Explains a URL.
pub(super) fn explain(arguments: &ExplainArguments) -> anyhow::Result<ExitCode> {
    let storage = existing_crawl(&arguments.directory)?;
    let explained = explained(&storage, &arguments.url)?;
    print(&match arguments.json {
        true => format!("{}\n", json_explanation(&explained)),
        false => text_explanation(&explained),
    })?;
    Ok(ExitCode::SUCCESS)
}

fn text_explanation(explained: &Explained) -> String {
    let mut lines = vec![("url", explained.url.to_string())];
    match &explained.known {
        None => lines.push((
            "state",
            "unknown: no seed, sitemap or page within the limit of links from a seed has named it"
                .into(),
        )),
        Some(known) => {
            let record = &known.record;
            lines.push(("state", known.reason.clone()));
            let is_indexed = record.indexed && explained.same_text_as.is_none();
            let is_indexed = if is_indexed { "yes" } else { "no" };
            lines.push(("in index", is_indexed.into()));
            let source = format!("{:?}", record.source).to_lowercase();
            let on = explained.found_on.as_deref();
            let on = on.map(|on| format!(" on {on}")).unwrap_or_default();
            let found = format!(
                "{} by a {source}{on}, {} links from a seed",
                instant(record.discovered),
                record.depth
            );
            lines.push(("found", found));
            if let Some(member) = &explained.member {
                let handed = format!("to member {member}, {}; ask there", instant(record.last));
                lines.push(("handed over", handed));
            } else if record.last != TimeMs(0) {
                let visited = format!(
                    "{}, status {}, {} ms; {} visits, {} unchanged, {} failures since the last good one",
                    instant(record.last),
                    record.status,
                    record.took_ms,
                    record.visits,
                    record.unchanged,
                    record.failures
                );
                lines.push(("visited", visited));
            }
            if let Some(stated) = &explained.stated_address {
                let (address, what) = stated.told();
                let address = address.map(|address| format!("{address}: "));
                lines.push(("states", address.unwrap_or_default() + what));
            }
            if let Some(other) = &explained.same_text_as {
                let name = match explained.is_left_to_stated_address() {
                    true => "stands in",
                    false => "same text",
                };
                lines.push((name, format!("{other}, which is in the index for it")));
            }
            if let Some(place) = record.place {
                let file = crawl::archive::file_name(place.file);
                lines.push(("kept in", format!("{file}, byte {}", place.offset_bytes)));
            }
            let next = known.next_visit.map(instant);
            lines.push(("next", next.unwrap_or_else(|| "no further visit".into())));
        }
    }
    let scope = match &explained.admitted {
        Ok(()) => "within the crawl".to_owned(),
        Err(reason) => format!("not visited: {reason}"),
    };
    lines.push(("scope", scope));
    if let Some(robots) = &explained.robots {
        lines.push(("robots.txt", robots.clone()));
    }
    let line = |(name, value): (&str, String)| format!("{name:<11} {}\n", printable(&value));
    lines.into_iter().map(line).collect()
}

fn json_explanation(explained: &Explained) -> serde_json::Value {
    let known = explained.known.as_ref().map(|known| {
        let record = &known.record;
        serde_json::json!({
            "state": known.reason,
            "indexed": record.indexed,
            "source": format!("{:?}", record.source).to_lowercase(),
            "depth": record.depth,
            "discovered": instant(record.discovered),
            "last_visit": (record.last != TimeMs(0)).then(|| instant(record.last)),
            "status": record.status,
            "visits": record.visits,
            "unchanged": record.unchanged,
            "failures": record.failures,
            "next_visit": known.next_visit.map(instant),
            "in_flight": known.in_flight,
        })
    });
    serde_json::json!({
        "url": explained.url.as_str(),
        "known": known,
        "member": explained.member,
        "found_on": explained.found_on,
        "same_text_as": explained.same_text_as,
        "stated_address": explained.stated_address.as_ref().map(|stated| {
            let (url, what) = stated.told();
            serde_json::json!({ "url": url, "reason": what })
        }),
        "admitted": explained.admitted.is_ok(),
        "reason": explained.admitted.as_ref().err(),
        "robots": explained.robots,
    })
}

fn instant(at: TimeMs) -> String {
    crawl::time_text(at)
}
