//! Status page of a crawl. It loads itself anew, without a script.

use super::assets::Files;
use super::times::thousands;
use askama::Template;
use wire::{CrawlProgress, CrawlStatus};

/// Seconds after which the page of a running crawl is loaded again; of another one.
const REFRESH_S: u32 = 2;
const REFRESH_IDLE_S: u32 = 15;

#[derive(Template)]
#[template(path = "crawl.html")]
struct CrawlPage<'a> {
    files: Files,
    refresh_s: u32,
    condition: &'static str,
    figures: Vec<(&'static str, String)>,
    states: Vec<(&'a str, String)>,
    failures: Vec<(&'a str, String)>,
    hosts_waiting: String,
    waiting: Vec<(&'a str, &'a str, &'static str)>,
    notices: &'a [String],
}

/// Returns the status page. Origins and notices come from sites: the template escapes them.
pub(crate) fn crawl_status(status: &CrawlStatus) -> String {
    let progress = &status.progress;
    let states = progress.states.iter();
    let failures = progress.failures.iter();
    let waiting = progress.waiting.iter();
    let page = CrawlPage {
        files: Files::new(),
        refresh_s: match status.is_running {
            true => REFRESH_S,
            false => REFRESH_IDLE_S,
        },
        condition: match status.condition() {
            "interrupted" => "interrupted; the same command again goes on",
            condition => condition,
        },
        figures: figures(progress),
        states: states
            .map(|state| (state.explanation.as_str(), thousands(state.urls)))
            .collect(),
        failures: failures
            .map(|(cause, visits)| (cause.as_str(), thousands(*visits)))
            .collect(),
        hosts_waiting: thousands(progress.hosts_waiting),
        waiting: waiting
            .map(|host| {
                let reason = wait_explanation(&host.reason);
                (host.origin.as_str(), host.until.as_str(), reason)
            })
            .collect(),
        notices: &progress.notices,
    };
    page.render().unwrap_or_else(|error| error.to_string())
}

fn figures(progress: &CrawlProgress) -> Vec<(&'static str, String)> {
    let mean_per_s = progress.answered() as f64 / progress.elapsed_s.max(1e-9);
    let per_s = progress.pages_per_s;
    vec![
        ("run since", progress.started.clone()),
        ("hosts", thousands(progress.hosts)),
        ("URLs known", thousands(progress.known)),
        ("visited", thousands(progress.visited())),
        ("to visit", thousands(progress.queued)),
        ("visits under way", thousands(progress.in_flight)),
        (
            "pages a second",
            format!("{per_s:.1} now, {mean_per_s:.1} in the whole run"),
        ),
        ("pages fetched in this run", thousands(progress.fetched)),
        ("not modified", thousands(progress.not_modified)),
        ("redirected", thousands(progress.redirects)),
        ("missing", thousands(progress.missing)),
        ("failed", thousands(progress.failed)),
        (
            "left out by robots.txt, a rule or type",
            thousands(progress.refused),
        ),
        ("bytes received", thousands(progress.wire_bytes)),
        ("documents of the index", thousands(progress.documents)),
        ("added, deleted in this run", {
            let (added, deleted) = (progress.added, progress.deleted);
            format!("{}, {}", thousands(added), thousands(deleted))
        }),
    ]
}

fn wait_explanation(reason: &str) -> &'static str {
    match reason {
        "pause" => "pause after its last answer",
        "crawl_delay" => "Crawl-delay of its robots.txt",
        "throttled" => "it answered 429 or 503",
        "robots" => "its robots.txt cannot be read",
        "parked" => "its Crawl-delay is over 5 minutes",
        // Of a later version of the crawl.
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::{UrlsInState, WaitingHost};

    #[test]
    fn the_page_has_every_figure_and_refreshes_itself() {
        let progress = CrawlProgress {
            known: 12_345,
            queued: 345,
            pages_per_s: 7.25,
            failures: [("dns".to_owned(), 42)].into(),
            states: vec![UrlsInState {
                state: "refused".into(),
                reason: "robots".into(),
                explanation: "refused: robots.txt disallows it".into(),
                urls: 1_009,
            }],
            hosts_waiting: 3,
            waiting: vec![WaitingHost {
                origin: "https://a.example".into(),
                until: "2026-01-02T03:04:05Z".into(),
                reason: "robots".into(),
            }],
            notices: vec!["<script>alert(1)</script>".into()],
            ..CrawlProgress::default()
        };
        let mut status = CrawlStatus {
            progress,
            is_running: true,
        };
        let page = crawl_status(&status);
        for part in [
            r#"<meta http-equiv="refresh" content="2">"#,
            "12,345",
            "12,000",
            "7.2 now",
            "<td>dns</td>",
            "<td>42</td>",
            "robots.txt disallows it",
            "1,009",
            "https://a.example",
            "2026-01-02T03:04:05Z",
            "its robots.txt cannot be read",
            "running",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("<script"), "{page}");
        status.is_running = false;
        let page = crawl_status(&status);
        assert!(
            page.contains("interrupted") && page.contains(r#"content="15""#),
            "{page}"
        );
    }
}
