//! Visit of one URL: fetch, reading and WARC records. Runs beside the crawl, and changes nothing.

use crate::collection::templates_digest;
use crate::config::Sites;
use crate::fetch::{AcceptedTypes, FetchError, FetchRequest, Fetched, Fetcher, Outcome, Truncated};
use crate::frontier::{Source, Validators, VisitId};
use crate::members::MemberEvent;
use crate::reading::{self, Answer, Reading, media_type};
use crate::render::{Manners, RenderError, RenderPage, Rendered, Renderer, Resource};
use jiff::Timestamp;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Instant;
use url::Url;
use web::address::CanonicalUrl;
use web::page::HostTemplates;
use web::warc;
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// Type of the HTML of a rendered page.
const RENDERED_TYPE: &str = "text/html; charset=utf-8";

/// State that all visits share.
pub(super) struct VisitContext {
    pub(super) fetcher: Arc<Fetcher>,
    /// Renderer, if a site of the crawl is rendered.
    pub(super) renderer: Option<Renderer>,
    pub(super) product_token: String,
}

/// Visit to make.
pub(super) struct PageVisit {
    pub(super) id: VisitId,
    pub(super) url: CanonicalUrl,
    pub(super) depth: u16,
    pub(super) source: Source,
    /// Whether a stated date of change made it due.
    pub(super) is_claimed: bool,
    pub(super) validators: Validators,
    pub(super) sites: Arc<Sites>,
    /// Templates of the host, once there are any.
    pub(super) templates: Option<Arc<HostTemplates>>,
    /// Whether it is rendered, and how.
    pub(super) render: Option<Manners>,
}

/// Visit that ended.
pub(super) struct Visited {
    pub(super) id: VisitId,
    pub(super) url: CanonicalUrl,
    pub(super) depth: u16,
    pub(super) source: Source,
    pub(super) is_claimed: bool,
    pub(super) took_ms: u64,
    pub(super) answer: Result<Answered, FetchError>,
}

/// Answer, read and ready to be archived.
pub(super) struct Answered {
    pub(super) status: u16,
    pub(super) kind: AnswerKind,
    pub(super) wire_bytes: u64,
    pub(super) is_cut: bool,
    /// Whether it was rendered, or why not; `None` where it was not to be.
    pub(super) rendered: Option<Result<(), String>>,
    pub(super) validators: Validators,
    pub(super) retry_after_s: Option<u64>,
    pub(super) records: Records,
}

pub(super) enum AnswerKind {
    /// Page, with the digest of the blocks that templates took out of the document.
    Page(Box<Reading>, u64),
    NotModified,
    Redirect(Option<CanonicalUrl>),
    OtherType,
    /// A status that is no success.
    Status,
}

/// WARC members of a visit.
pub(super) struct Records {
    pub(super) members: Vec<u8>,
    /// Offset of the response or revisit record.
    pub(super) response_at: u64,
    pub(super) response_bytes: u64,
}

/// Makes a visit.
pub(super) async fn visit_page(context: Arc<VisitContext>, visit: PageVisit) -> Visited {
    let started = Instant::now();
    let date = Timestamp::now();
    let fetched = match Url::parse(visit.url.as_str()) {
        Ok(url) => {
            let request = FetchRequest {
                etag: visit.validators.etag.as_deref(),
                last_modified: visit.validators.last_modified.as_deref(),
                accepted: match visit.source {
                    Source::List => AcceptedTypes::Any,
                    _ => AcceptedTypes::Pages,
                },
                ..FetchRequest::new(&url)
            };
            context.fetcher.fetch(&request).await
        }
        Err(_) => Err(FetchError::Url {
            url: visit.url.to_string(),
        }),
    };
    let took_ms = started.elapsed().as_millis() as u64;
    let PageVisit {
        id,
        url,
        depth,
        source,
        is_claimed,
        sites,
        templates,
        render,
        ..
    } = visit;
    let answer = match fetched {
        Ok(fetched) => {
            let rendered = match (&context.renderer, &render) {
                (Some(renderer), Some(manners)) if is_html(&fetched) => {
                    let page = RenderPage {
                        url: &url,
                        fetched: &fetched,
                        manners,
                    };
                    Some(renderer.render(&page).await)
                }
                _ => None,
            };
            let (url, unread) = (url.clone(), url.to_string());
            // Reading and compressing take milliseconds of the processor.
            let read = move || {
                let reader = (
                    &*sites,
                    context.product_token.as_str(),
                    templates.as_deref(),
                );
                answered((&url, source), &fetched, rendered, date, reader)
            };
            match tokio::task::spawn_blocking(read).await {
                Ok(answered) => Ok(answered),
                // Without an end of the visit the crawl would wait for it for ever.
                Err(_) => Err(FetchError::Unread { url: unread }),
            }
        }
        Err(error) => Err(error),
    };
    Visited {
        id,
        url,
        depth,
        source,
        is_claimed,
        took_ms,
        answer,
    }
}

/// Returns whether an answer is a page that a browser can show.
fn is_html(fetched: &Fetched) -> bool {
    let media_type = fetched.header_text("content-type").map(media_type);
    let is_html = matches!(
        media_type.as_deref(),
        Some("text/html" | "application/xhtml+xml")
    );
    is_html && matches!(fetched.outcome, Outcome::Page) && (200..300).contains(&fetched.status)
}

fn answered(
    (url, source): (&CanonicalUrl, Source),
    fetched: &Fetched,
    rendered: Option<Result<Rendered, RenderError>>,
    date: Timestamp,
    (sites, product_token, templates): (&Sites, &str, Option<&HostTemplates>),
) -> Answered {
    let (rendered, told) = match rendered {
        Some(Ok(rendered)) => (Some(rendered), Some(Ok(()))),
        Some(Err(error)) => (None, Some(Err(error.to_string()))),
        None => (None, None),
    };
    let kind = match &fetched.outcome {
        Outcome::Page if (200..300).contains(&fetched.status) => {
            let robots_tags: Vec<String> = fetched
                .header_values("x-robots-tag")
                .map(|value| String::from_utf8_lossy(value).into_owned())
                .collect();
            let answer = Answer {
                url,
                content_type: match &rendered {
                    Some(_) => Some(RENDERED_TYPE),
                    None => fetched.header_text("content-type"),
                },
                robots_tags: &robots_tags,
                language: fetched.header_text("content-language"),
                body: rendered.as_ref().map_or(&fetched.body, |page| &page.html),
                now_s: date.as_second(),
                is_named_list: source == Source::List,
            };
            let reading = reading::read(&answer, sites, product_token, templates);
            let digest = templates_digest(&reading.shape.blocks, templates);
            AnswerKind::Page(Box::new(reading), digest)
        }
        Outcome::Page => AnswerKind::Status,
        Outcome::NotModified => AnswerKind::NotModified,
        Outcome::Redirect { to } => {
            let to = CanonicalUrl::parse(to.as_str()).ok();
            AnswerKind::Redirect(to.map(|to| sites.cleaned(to)))
        }
        Outcome::SkippedType { .. } => AnswerKind::OtherType,
    };
    let text = |name| fetched.header_text(name).map(str::to_owned);
    Answered {
        status: fetched.status,
        wire_bytes: fetched.wire_bytes,
        is_cut: fetched.truncated.is_some(),
        validators: Validators {
            etag: text("etag"),
            last_modified: text("last-modified"),
        },
        retry_after_s: fetched
            .retry_after_ms(date.as_millisecond())
            .map(|ms| ms.div_ceil(1000)),
        records: records(url, (fetched, rendered.as_ref()), date, &kind),
        kind,
        rendered: told,
    }
}

/// Writes the records of a visit into memory, where a write cannot fail.
fn records(
    url: &CanonicalUrl,
    (fetched, rendered): (&Fetched, Option<&Rendered>),
    date: Timestamp,
    kind: &AnswerKind,
) -> Records {
    let ip = fetched.remote.ip().to_string();
    let about = warc::About {
        uri: url.as_str(),
        date,
        ip: Some(&ip),
    };
    let seed = xxh3_64_with_seed(url.as_str().as_bytes(), date.as_microsecond() as u64);
    let mut writer = warc::Writer::new(Vec::new(), 0, seed);
    let head = fetched.archived_head();
    let written = match kind {
        AnswerKind::NotModified => {
            let profile = warc::Profile::NotModified;
            writer.revisit(&about, &head, profile, (None, None, None))
        }
        _ => {
            let truncated = truncated_text(fetched);
            writer.response(&about, &head, &fetched.body, truncated)
        }
    };
    let (mut response_at, mut response_bytes, id) = match written {
        Ok(written) => (written.offset, written.length_bytes, Some(written.id)),
        Err(_) => (0, 0, None),
    };
    // A `Vec` takes every write.
    let _ = writer.request(&about, &fetched.request_head, &[], id);
    if let Some(rendered) = rendered {
        for resource in &rendered.resources {
            write_resource(&mut writer, resource, date);
        }
        let head = rendered_head(fetched, rendered.html.len());
        // What is read again is what the browser showed.
        if let Ok(written) = writer.conversion(&about, &head, &rendered.html, id) {
            (response_at, response_bytes) = (written.offset, written.length_bytes);
        }
    }
    Records {
        members: writer.into_inner(),
        response_at,
        response_bytes,
    }
}

fn write_resource(writer: &mut warc::Writer<Vec<u8>>, resource: &Resource, date: Timestamp) {
    let fetched = &*resource.fetched;
    let ip = fetched.remote.ip().to_string();
    let about = warc::About {
        uri: &resource.url,
        date,
        ip: Some(&ip),
    };
    let (head, truncated) = (fetched.archived_head(), truncated_text(fetched));
    let written = writer.response(&about, &head, &fetched.body, truncated);
    let id = written.ok().map(|written| written.id);
    let _ = writer.request(&about, &fetched.request_head, &[], id);
}

/// Returns the head of a rendered page: indexing and language as the answer states them, and the type of the HTML.
fn rendered_head(fetched: &Fetched, html_bytes: usize) -> Vec<u8> {
    let mut head = format!("HTTP/1.1 200 OK\r\nContent-Type: {RENDERED_TYPE}\r\n").into_bytes();
    for (name, value) in &fetched.headers {
        let is_kept = ["x-robots-tag", "content-language", "link"];
        if is_kept.iter().any(|kept| name.eq_ignore_ascii_case(kept)) {
            for part in [name.as_bytes(), b": ", value, b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
    }
    head.extend_from_slice(format!("Content-Length: {html_bytes}\r\n\r\n").as_bytes());
    head
}

fn truncated_text(fetched: &Fetched) -> Option<&'static str> {
    fetched.truncated.map(|reason| match reason {
        Truncated::Length => "length",
        Truncated::Disconnect | Truncated::Decoding => "disconnect",
    })
}

/// Redirects that a request for robots.txt follows (RFC 9309, section 2.3.1.2).
const ROBOTS_REDIRECTS_MAX: usize = 5;

/// Answer to a request for robots.txt.
pub(super) struct RobotsVisited {
    pub(super) id: VisitId,
    pub(super) origin: String,
    pub(super) took_ms: u64,
    pub(super) outcome: RobotsAnswered,
}

pub(super) enum RobotsAnswered {
    Answered {
        status: u16,
        body: Vec<u8>,
        retry_after_s: Option<u64>,
    },
    Failed(FetchError),
}

/// Fetches robots.txt of an origin.
pub(super) async fn visit_robots(
    context: Arc<VisitContext>,
    id: VisitId,
    origin: String,
) -> RobotsVisited {
    let started = Instant::now();
    let outcome = robots(&context.fetcher, &origin).await;
    RobotsVisited {
        id,
        origin,
        took_ms: started.elapsed().as_millis() as u64,
        outcome: outcome.unwrap_or_else(RobotsAnswered::Failed),
    }
}

async fn robots(fetcher: &Fetcher, origin: &str) -> Result<RobotsAnswered, FetchError> {
    let text = format!("{origin}/robots.txt");
    let bad = |_| FetchError::Url { url: text.clone() };
    let mut url = Url::parse(&text).map_err(bad)?;
    for _ in 0..=ROBOTS_REDIRECTS_MAX {
        let request = FetchRequest {
            accepted: AcceptedTypes::Any,
            ..FetchRequest::new(&url)
        };
        let fetched = fetcher.fetch(&request).await?;
        match fetched.outcome {
            Outcome::Redirect { to } => url = to,
            _ => {
                let now_ms = Timestamp::now().as_millisecond();
                return Ok(RobotsAnswered::Answered {
                    status: fetched.status,
                    retry_after_s: fetched.retry_after_ms(now_ms).map(|ms| ms.div_ceil(1000)),
                    body: fetched.body.to_vec(),
                });
            }
        }
    }
    // More redirects than permitted: as if there were no robots.txt.
    Ok(RobotsAnswered::Answered {
        status: 404,
        body: Vec::new(),
        retry_after_s: None,
    })
}

/// End of a task that ran beside the crawl.
pub(super) enum Event {
    Resolved(VisitId, Option<IpAddr>),
    Robots(RobotsVisited),
    Page(Box<Visited>),
    Member(MemberEvent),
}
