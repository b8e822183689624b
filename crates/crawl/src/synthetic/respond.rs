//! Answers of the synthetic web: a pure function of seed, host, path, time and request.

use std::fmt::Write as _;

use super::options::HostClass;
use super::text::{mix, unique_word};
use super::truth::EXTRA_WORDS;
use super::web::{Host, LISTED, Place, SEEDS_A_PAGE, SyntheticWeb};

/// Properties of a request that change the answer.
#[derive(Debug, Clone, Copy, Default)]
pub struct RequestFacts<'a> {
    /// `If-None-Match`.
    pub if_none_match: Option<&'a str>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Response {
    /// The status.
    pub status: u16,
    /// Names and values.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: Vec<u8>,
    /// Wait before the answer, in ms.
    pub delay_ms: u64,
    /// Wait that `Retry-After` asks for, in s.
    pub retry_after_s: Option<u64>,
}

impl Response {
    pub(super) fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type", content_type.to_owned())];
        Self {
            status,
            headers,
            body: body.into(),
            delay_ms: 0,
            retry_after_s: None,
        }
    }

    pub(super) fn html(status: u16, body: String) -> Self {
        Self::new(status, "text/html; charset=utf-8", body)
    }

    pub(super) fn redirect(to: String) -> Self {
        let mut response = Self::html(302, String::new());
        response.headers.push(("Location", to));
        response
    }
}

impl SyntheticWeb {
    /// Answers a request for `path` (with its query) at `now_ms`.
    pub fn respond(
        &self,
        host: &str,
        path: &str,
        now_ms: u64,
        facts: RequestFacts<'_>,
    ) -> Response {
        if host.split(':').next() == Some(&self.seeds_host()) {
            return self.seeds(path);
        }
        let Some(host) = self.host_named(host) else {
            return Response::html(404, "no such host".to_owned());
        };
        let mut response = self.of_host(&host, path, now_ms, facts);
        if host.class == HostClass::Slow {
            response.delay_ms = self.options.slow_ms;
        }
        response
    }

    fn seeds(&self, path: &str) -> Response {
        if path == "/robots.txt" {
            return Response::new(200, "text/plain", "User-agent: *\nDisallow:\n");
        }
        let digits = path.strip_prefix('/').unwrap_or("x");
        let number = if digits.is_empty() {
            Ok(0)
        } else {
            digits.parse::<u32>()
        };
        let Ok(number) = number else {
            return Response::html(404, String::new());
        };
        let first = number.saturating_mul(SEEDS_A_PAGE);
        if first >= self.options.hosts.max(1) {
            return Response::html(404, String::new());
        }
        let end = first.saturating_add(SEEDS_A_PAGE).min(self.options.hosts);
        let mut html = String::from("<title>Seeds</title>\n");
        for host in first..end {
            let _ = writeln!(html, "<a href=\"{}\">h{host}</a>", self.url(host, "/"));
        }
        if end < self.options.hosts {
            let _ = writeln!(html, "<a href=\"/{}\">more</a>", number + 1);
        }
        Response::html(200, html)
    }

    fn of_host(&self, host: &Host, path: &str, now_ms: u64, facts: RequestFacts<'_>) -> Response {
        let place = self.place(host, path);
        if place == Place::Robots {
            return self.robots(host, now_ms);
        }
        let busy = match host.class {
            HostClass::Busy429 => Some(429),
            HostClass::Busy503 => Some(503),
            _ => None,
        };
        if let Some(status) = busy.filter(|_| now_ms % 10_000 < 1_000) {
            let mut response = Response::html(status, "busy".to_owned());
            response.headers.push(("Retry-After", "2".to_owned()));
            response.retry_after_s = Some(2);
            return response;
        }
        match place {
            Place::Page(page) | Place::Print(page) => self.page(host, page, now_ms, facts),
            Place::Extra(page) | Place::Forbidden(_, page) => {
                let word = unique_word(host.origin(), EXTRA_WORDS + page);
                let mut html = format!("<title>Extra {word}</title>\n<p>{word} </p>\n");
                self.vocabulary
                    .write(mix(self.options.seed ^ 0xe0, page.into()), 1_000, &mut html);
                Response::html(200, html)
            }
            Place::List => self.list(host),
            Place::Redirect(page, 0) => Response::redirect(format!("/target/{page}.html")),
            Place::Redirect(page, hops) => Response::redirect(format!("/r/{page}/{}", hops - 1)),
            Place::Loop => Response::redirect(
                if path == "/loop/a" {
                    "/loop/b"
                } else {
                    "/loop/a"
                }
                .to_owned(),
            ),
            Place::Trap(trap) => self.trap(trap, path),
            _ if host.class == HostClass::SoftNotFound => Response::html(
                200,
                "<title>Oops</title><p>Sorry, this page was not found.</p>".to_owned(),
            ),
            _ => Response::html(404, "not found".to_owned()),
        }
    }

    fn robots(&self, host: &Host, now_ms: u64) -> Response {
        let rules = match host.class {
            HostClass::RobotsUnavailable => return Response::new(503, "text/plain", ""),
            HostClass::Sitemap => format!(
                "User-agent: *\nDisallow:\nSitemap: {}\n",
                self.url(host.number, "/sitemap.xml")
            ),
            HostClass::Disallow => "User-agent: *\nDisallow: /private/\n".to_owned(),
            HostClass::CrawlDelay => format!(
                "User-agent: *\nCrawl-delay: {}\n",
                self.options.crawl_delay_s
            ),
            HostClass::RobotsChanging if now_ms >= self.options.robots_change_ms => {
                "User-agent: *\nDisallow: /later/\n".to_owned()
            }
            _ => return Response::new(404, "text/plain", ""),
        };
        Response::new(200, "text/plain", rules)
    }

    fn list(&self, host: &Host) -> Response {
        let feed = host.class == HostClass::Feed;
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        xml.push_str(if feed {
            "<rss version=\"2.0\"><channel><title>Feed</title>\n"
        } else {
            "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
        });
        for page in 0..LISTED {
            let _ = match feed {
                true => writeln!(
                    xml,
                    "<item><title>{page}</title><link>{}</link></item>",
                    self.url(host.number, &format!("/entry/{page}.html"))
                ),
                false => writeln!(
                    xml,
                    "<url><loc>{}</loc></url>",
                    self.url(host.number, &format!("/listed/{page}.html"))
                ),
            };
        }
        xml.push_str(if feed {
            "</channel></rss>\n"
        } else {
            "</urlset>\n"
        });
        Response::new(
            200,
            if feed {
                "application/rss+xml"
            } else {
                "application/xml"
            },
            xml,
        )
    }
}
