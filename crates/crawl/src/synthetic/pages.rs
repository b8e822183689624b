//! Pages of the synthetic web: versions, texts and links.

use std::fmt::Write as _;

use super::options::HostClass;
use super::respond::{RequestFacts, Response};
use super::text::{mix, unique_word, unit};
use super::web::{Host, SyntheticWeb};

impl SyntheticWeb {
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

    pub(super) fn page(
        &self,
        host: &Host,
        page: u32,
        now_ms: u64,
        facts: RequestFacts<'_>,
    ) -> Response {
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
}
