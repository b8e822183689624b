//! Figures of a crawl as text and as JSON.

use console::failure::note;
use console::figures::{bytes, count, counted, seconds};
use console::terminal::printable;
use crawl::CrawlProgress;
use std::path::Path;

/// Returns the figures of a running crawl in one line.
pub(super) fn progress_text(progress: &CrawlProgress) -> String {
    let mut text = format!(
        "{} pages, {:.1}/s, {}, {} to visit",
        count(progress.answered()),
        progress.answered() as f64 / progress.elapsed_s.max(1e-9),
        bytes(progress.wire_bytes),
        count(progress.queued),
    );
    if progress.hosts > 1 {
        let (hosts, waiting) = (count(progress.hosts), count(progress.hosts_waiting));
        text.push_str(&format!(" on {hosts} hosts ({waiting} waiting)"));
    }
    if progress.failed > 0 {
        text.push_str(&format!(", {} failed", count(progress.failed)));
    }
    text
}

/// Prints what the run noticed.
pub(super) fn notices(progress: &CrawlProgress) {
    for notice in &progress.notices {
        note(&printable(notice));
    }
}

/// Returns the figures of a crawl as lines.
pub(super) fn text_summary(progress: &CrawlProgress, directory: &Path) -> String {
    let mut text = format!(
        "visited    {}: {} fetched, {} not modified, {} redirected, {} missing, {} failed\n",
        counted(progress.answered() + progress.failed, "page"),
        count(progress.fetched),
        count(progress.not_modified),
        count(progress.redirects),
        count(progress.missing),
        count(progress.failed),
    );
    text.push_str(&format!(
        "took       {}, {:.1} pages/s, {}\n",
        seconds(progress.elapsed_s),
        progress.answered() as f64 / progress.elapsed_s.max(1e-9),
        bytes(progress.wire_bytes),
    ));
    text.push_str(&format!(
        "left out   {} by robots.txt, rules or type; {} out of scope; {} too far or like a trap\n",
        counted(progress.refused, "page"),
        counted(progress.links_out_of_scope, "link"),
        count(progress.links_trapped),
    ));
    if progress.handed_over + progress.taken_over > 0 {
        text.push_str(&format!(
            "members    {} handed over to others, {} taken over\n",
            counted(progress.handed_over, "URL"),
            count(progress.taken_over),
        ));
    }
    if progress.rendered > 0 {
        let rendered = counted(progress.rendered, "page");
        text.push_str(&format!(
            "rendered   {rendered}, as a browser showed them\n"
        ));
    }
    if progress.duplicates > 0 {
        let pages = counted(progress.duplicates, "page");
        text.push_str(&format!(
            "same       {pages} with the text of another, which stands for them\n"
        ));
    }
    if progress.cut > 0 {
        let cut = counted(progress.cut, "page");
        text.push_str(&format!(
            "cut        {cut} over the limit of a body; their beginnings are read\n"
        ));
    }
    text.push_str(&format!(
        "known      {} on {}, {} to visit\n",
        counted(progress.known, "URL"),
        counted(progress.hosts, "host"),
        count(progress.queued),
    ));
    let directory = printable(&directory.display().to_string());
    match progress.generation {
        0 => text.push_str(&format!("{directory} has no document yet\n")),
        generation => text.push_str(&format!(
            "{directory} now holds {} (generation {generation}); {} added, {} deleted\n",
            counted(progress.documents, "document"),
            count(progress.added),
            count(progress.deleted),
        )),
    }
    text
}

/// Returns the URLs by state, the failures by cause and the hosts that wait longest, as lines.
pub(super) fn text_details(progress: &CrawlProgress) -> String {
    let mut text = String::new();
    for told in &progress.states {
        let urls = counted(told.urls, "URL");
        text.push_str(&format!("state      {urls} {}\n", told.explanation));
    }
    for (cause, visits) in &progress.failures {
        let visits = counted(*visits, "visit");
        text.push_str(&format!("failed     {visits} by {cause}\n"));
    }
    for host in &progress.waiting {
        let origin = printable(&host.origin);
        let (until, reason) = (&host.until, &host.reason);
        text.push_str(&format!("waiting    {origin} until {until} ({reason})\n"));
    }
    text
}

/// Returns figures of a crawl as JSON.
pub(super) fn json_summary(figures: &impl serde::Serialize) -> serde_json::Value {
    serde_json::to_value(figures).unwrap_or_default()
}
