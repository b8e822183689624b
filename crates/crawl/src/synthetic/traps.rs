//! Trap pages of the synthetic web: two links each, to further pages without an end.

use super::options::Trap;
use super::respond::Response;
use super::text::mix;
use super::web::SyntheticWeb;

impl SyntheticWeb {
    pub(super) fn trap(&self, trap: Trap, path: &str) -> Response {
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
