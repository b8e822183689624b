//! Answers of the synthetic web: a pure function of seed, host, path, time and request.

use std::fmt::Write as _;

use super::options::{HostClass, Trap};
use super::text::{mix, unique_word, unit};
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
    fn new(status: u16, content_type: &str, body: impl Into<Vec<u8>>) -> Self {
        let headers = vec![("Content-Type", content_type.to_owned())];
        Self {
            status,
            headers,
            body: body.into(),
            delay_ms: 0,
            retry_after_s: None,
        }
    }

    fn html(status: u16, body: String) -> Self {
        Self::new(status, "text/html; charset=utf-8", body)
    }

    fn redirect(to: String) -> Self {
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

    /// Returns the version of a page at `now_ms`; half of the pages change, once in each gap of theirs.
    pub fn version(&self, host: &Host, page: u32, now_ms: u64) -> u64 {
        let mixed = mix(
            self.options.seed ^ 0xc4a,
            u64::from(host.origin()) << 32 | u64::from(page),
        );
        if mixed & 1 == 0 {
            return 0;
        }
        let gap_ms =
            (self.options.change_gap_ms as f64 * (0.25 + 1.5 * unit(mixed))).max(1.0) as u64;
        (now_ms + mixed % gap_ms) / gap_ms
    }

    fn page(&self, host: &Host, page: u32, now_ms: u64, facts: RequestFacts<'_>) -> Response {
        let version = self.version(host, page, now_ms);
        let etag = format!("\"{page}-{version}\"");
        if facts.if_none_match == Some(&etag) {
            let mut response = Response::html(304, String::new());
            response.headers = vec![("ETag", etag)];
            return response;
        }
        let seed = mix(
            self.options.seed,
            u64::from(host.origin()) << 32 | u64::from(page),
        );
        let bytes = (self.options.page_bytes_mean as f64 * (0.5 + unit(seed))) as usize;
        let mut html = String::with_capacity(bytes + 512);
        let word = unique_word(host.origin(), page);
        let _ = writeln!(
            html,
            "<!doctype html><html><head><title>Page {word}</title>"
        );
        if host.class == HostClass::Directives {
            if page % 5 == 1 {
                html.push_str("<meta name=\"robots\" content=\"noindex\">\n");
            }
            if page % 5 == 4 {
                let _ = writeln!(
                    html,
                    "<link rel=\"canonical\" href=\"{}\">",
                    self.page_path(host, page)
                );
            }
        }
        if host.class == HostClass::Feed && page == 0 {
            html.push_str(
                "<link rel=\"alternate\" type=\"application/rss+xml\" href=\"/feed.xml\">\n",
            );
        }
        let _ = writeln!(
            html,
            "</head><body><nav><a href=\"/\">Home</a></nav>\n<p>{word} version {version}</p>"
        );
        self.links(host, page, seed, &mut html);
        let near = host.class == HostClass::NearDuplicates;
        let text = if near {
            mix(
                self.options.seed ^ 0x4ea,
                u64::from(host.number) << 32 | u64::from(page / 2),
            )
        } else {
            seed
        };
        let room = bytes.saturating_sub(html.len()).max(200);
        self.vocabulary.write(
            text,
            if near {
                self.options.page_bytes_mean
            } else {
                room
            },
            &mut html,
        );
        html.push_str("</body></html>\n");
        let mut response = if host.class == HostClass::Latin1 {
            let latin: Vec<u8> = html
                .replace("ka ", "k\u{e9} ")
                .chars()
                .map(|c| u8::try_from(c).unwrap_or(b'?'))
                .collect();
            Response::new(200, "text/html; charset=iso-8859-1", latin)
        } else {
            Response::html(200, html)
        };
        if host.class == HostClass::Directives && page % 5 == 2 {
            response
                .headers
                .push(("X-Robots-Tag", "noindex".to_owned()));
        }
        response.headers.push(("ETag", etag));
        response
    }

    fn links(&self, host: &Host, page: u32, seed: u64, html: &mut String) {
        let link = |html: &mut String, to: &str| {
            let _ = writeln!(html, "<a href=\"{to}\">to</a>");
        };
        let child = u64::from(page) * 4 + 1;
        for child in child..(child + 4).min(host.pages.into()) {
            link(html, &self.page_path(host, child as u32));
        }
        // About lognormal, with the mean of the options: exp(N(0, 1)) has mean e^0.5.
        let normal: f64 = (0..12).map(|part| unit(mix(seed, 100 + part))).sum::<f64>() - 6.0;
        let degree = (self.options.degree_mean * normal.exp() / 0.5_f64.exp()).min(500.0) as u64;
        for number in 0..degree {
            let mixed = mix(seed, 1_000 + number);
            let to = (mixed >> 32) as u32;
            match mixed % 100 {
                0 => link(html, &format!("/dead/{to}.html")),
                1..=10 => link(html, &self.url(to % self.options.hosts.max(1), "/")),
                _ => link(html, &self.page_path(host, to % host.pages)),
            }
        }
        match host.class {
            HostClass::Disallow => link(html, &format!("/private/{page}.html")),
            HostClass::RobotsChanging => link(html, &format!("/later/{page}.html")),
            HostClass::Directives if page % 5 == 3 => {
                let _ = writeln!(
                    html,
                    "<a rel=\"nofollow\" href=\"/unfollowed/{page}.html\">to</a>"
                );
            }
            HostClass::Directives if page % 5 == 4 => {
                link(html, &(self.page_path(host, page) + "?print=1"))
            }
            HostClass::Redirects if page.is_multiple_of(4) => {
                link(html, &format!("/r/{page}/3"));
                link(html, "/loop/a");
            }
            HostClass::Trap(_) if page == 0 => link(html, "/trap/"),
            _ => {}
        }
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

    fn trap(&self, trap: Trap, path: &str) -> Response {
        let mixed = path
            .bytes()
            .fold(self.options.seed, |sum, byte| mix(sum, byte.into()));
        let number = mixed % 100_000;
        let next: u64 = path
            .rsplit(|c: char| !c.is_ascii_digit())
            .find(|digits| !digits.is_empty())
            .and_then(|digits| digits.parse().ok())
            .unwrap_or(0u64)
            .saturating_add(1);
        let folder = path.trim_end_matches('/');
        let (a, b) = match trap {
            Trap::Calendar => (
                format!("/trap/{}/{}", 2026 + next / 12, next),
                format!("/trap/{}/{}", 2026 + next / 12, next + 1),
            ),
            Trap::SessionQuery => (
                format!("/trap/?sid={mixed:x}"),
                format!("/trap/p?sid={:x}", mixed >> 8),
            ),
            Trap::SessionPath => (
                format!("/trap/;jsessionid={mixed:x}"),
                format!("/trap/p;jsessionid={:x}", mixed >> 8),
            ),
            Trap::EndlessPath => (
                format!("{folder}/{}/", number % 7),
                format!("{folder}/{}/", number % 11 + 7),
            ),
            Trap::RepeatedSegment => ("more/".to_owned(), "next/more/".to_owned()),
            Trap::Permutations => {
                let part = |n: u64| ["a=1", "b=2", "c=3", "d=4", "e=5", "f=6"][(n % 6) as usize];
                (
                    format!(
                        "/trap/?{}&{}&{}",
                        part(number),
                        part(number / 6),
                        part(number / 36)
                    ),
                    format!(
                        "/trap/?{}&{}&{}",
                        part(number / 7),
                        part(number / 3),
                        part(number / 5)
                    ),
                )
            }
            Trap::GrowingQuery => {
                let more = if path.contains('?') {
                    format!("{path}&x{}=1", next)
                } else {
                    format!("{path}?x1=1")
                };
                (more.clone(), more + "&y=2")
            }
            Trap::Search => (
                format!("/trap/search?q=w{number}"),
                format!("/trap/search?q=w{}", number + 1),
            ),
            Trap::Pagination => (
                format!("/trap/page/{next}"),
                format!("/trap/page/{}", next + 1),
            ),
            Trap::Redirects => return Response::redirect(format!("/trap/{next}")),
            Trap::Case => {
                let cased: String = "/trap/listing-of-articles"
                    .char_indices()
                    .map(|(at, c)| {
                        if mixed >> at & 1 == 1 {
                            c.to_ascii_uppercase()
                        } else {
                            c
                        }
                    })
                    .collect();
                (cased.clone(), cased + "/")
            }
            Trap::Filters => (
                format!("/trap/?f={:x}", number % 4_096),
                format!("/trap/?f={:x}&g={}", number % 512, number % 97),
            ),
        };
        Response::html(
            200,
            format!(
                "<title>Trap</title><p>the same text again</p><a href=\"{a}\">a</a> <a href=\"{b}\">b</a>\n"
            ),
        )
    }
}
