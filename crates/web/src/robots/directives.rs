//! Directives of one page: the header `X-Robots-Tag` and `<meta name="robots">`.
//!
//! value     := [agent ":"] directive {"," [agent ":"] directive}
//! directive := "noindex" | "nofollow" | "none" | "noarchive" | "nosnippet" | "noimageindex" | "unavailable_after:"
//! date | other
//!
//! An agent holds until the next one. What speaks to no agent and what speaks to ours are united: the stricter holds.

use super::agent;
use super::unavailable::instant_s;

/// Directives that take a value after a colon, and are no agents.
const WITH_VALUE: &[&str] = &[
    "unavailable_after",
    "max-snippet",
    "max-image-preview",
    "max-video-preview",
];

/// Days of the week, which a date may have before a comma.
const WEEKDAYS: &[&str] = &["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

/// Directives of a page to crawlers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Directives {
    /// The page must not be found by searches.
    pub noindex: bool,
    /// Its links must not be followed.
    pub nofollow: bool,
    /// No copy may be shown.
    pub noarchive: bool,
    /// No summary may be shown.
    pub nosnippet: bool,
    /// Its images must not be found by searches.
    pub noimageindex: bool,
    /// Instant after which it must not be found by searches, in seconds since 1970; the earliest where there are
    /// several.
    pub unavailable_after_s: Option<i64>,
    /// Directives that are unknown or have an unreadable date.
    pub ignored_count: u32,
}

impl Directives {
    /// Reads the value of one header `X-Robots-Tag`, for the crawler `product_token`.
    pub fn from_header(value: &str, product_token: &str) -> Self {
        let mut directives = Self::default();
        let token = agent::own_token(product_token);
        let mut is_ours = true;
        let mut parts = value.split(',').peekable();
        while let Some(part) = parts.next() {
            let mut directive = part.trim();
            if let Some((name, rest)) = directive.split_once(':')
                && !WITH_VALUE
                    .iter()
                    .any(|with| name.trim().eq_ignore_ascii_case(with))
            {
                let name = name.trim();
                is_ours = name.eq_ignore_ascii_case("robots")
                    || name == "*"
                    || agent::is_named(name.as_bytes(), token);
                directive = rest.trim();
            }
            let next = parts.next_if(|_| ends_in_weekday(directive));
            if is_ours {
                directives.add(directive, next);
            }
        }
        directives
    }

    /// Reads `<meta name="NAME" content="CONTENT">`; without effect unless the name is `robots` or that of the crawler.
    pub fn from_meta(name: &str, content: &str, product_token: &str) -> Self {
        let name = name.trim();
        let token = agent::own_token(product_token);
        if name.eq_ignore_ascii_case("robots") || name.eq_ignore_ascii_case(token) {
            Self::from_header(content, product_token)
        } else {
            Self::default()
        }
    }

    /// Returns the union of both sets of directives.
    pub fn union(self, other: Self) -> Self {
        let after_s = [self.unavailable_after_s, other.unavailable_after_s];
        Self {
            noindex: self.noindex | other.noindex,
            nofollow: self.nofollow | other.nofollow,
            noarchive: self.noarchive | other.noarchive,
            nosnippet: self.nosnippet | other.nosnippet,
            noimageindex: self.noimageindex | other.noimageindex,
            unavailable_after_s: after_s.into_iter().flatten().min(),
            ignored_count: self.ignored_count.saturating_add(other.ignored_count),
        }
    }

    /// Returns whether the page may be found by searches at `now_s`, in seconds since 1970.
    pub fn may_index(&self, now_s: i64) -> bool {
        !self.noindex
            && self
                .unavailable_after_s
                .is_none_or(|after_s| now_s < after_s)
    }

    /// Adds one directive; `next` is the rest of a date whose weekday ends in a comma.
    fn add(&mut self, directive: &str, next: Option<&str>) {
        match directive.to_ascii_lowercase().as_str() {
            "" | "all" | "index" | "follow" | "archive" => {}
            "noindex" => self.noindex = true,
            "nofollow" => self.nofollow = true,
            "none" => (self.noindex, self.nofollow) = (true, true),
            "noarchive" | "nocache" => self.noarchive = true,
            "nosnippet" => self.nosnippet = true,
            "noimageindex" => self.noimageindex = true,
            lower => match (lower.split_once(':'), next) {
                (Some(("unavailable_after", date)), next) => {
                    let instant_s = instant_s(next.unwrap_or(date));
                    self.ignored_count += u32::from(instant_s.is_none());
                    let after_s = [self.unavailable_after_s, instant_s];
                    self.unavailable_after_s = after_s.into_iter().flatten().min();
                }
                _ => self.ignored_count += 1,
            },
        }
    }
}

/// Returns whether `directive` is the part of a date before its comma, that is, a weekday.
fn ends_in_weekday(directive: &str) -> bool {
    let Some((name, day)) = directive.split_once(':') else {
        return false;
    };
    let day = day.trim().to_ascii_lowercase();
    name.trim().eq_ignore_ascii_case("unavailable_after")
        && WEEKDAYS.iter().any(|name| day.starts_with(name))
        && !day.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(value: &str, expected: &str) {
        let d = Directives::from_header(value, "shorttail");
        let mut found = String::new();
        for (flag, sign) in [
            (d.noindex, 'i'),
            (d.nofollow, 'f'),
            (d.noarchive, 'a'),
            (d.nosnippet, 's'),
            (d.noimageindex, 'm'),
        ] {
            found.extend(flag.then_some(sign));
        }
        if let Some(after_s) = d.unavailable_after_s {
            found += &format!(" {after_s}");
        }
        found += &"?".repeat(d.ignored_count as usize);
        assert_eq!(found, expected, "{value}");
    }

    #[test]
    fn directives_of_all_and_of_agents() {
        check("NoIndex, nofollow", "if");
        check("none,noarchive,nosnippet , noimageindex,all", "ifasm");
        check("googlebot: noindex, nofollow", "");
        check("googlebot: noindex, shorttail: nofollow", "f");
        check("ShortTail/2.0: noindex", "i");
        check("nofollow, otherbot: noindex", "f");
        check("max-snippet: 20, noindex, x", "i??");
        check("", "");
    }

    #[test]
    fn dates_end_the_time_of_a_page() {
        check(
            "unavailable_after: Fri, 25 Jun 2010 15:00:00 GMT, noarchive",
            "a 1277478000",
        );
        check("unavailable_after: 25-Jun-2010 15:00:00 PST", " 1277506800");
        check(
            "unavailable_after: 2010-06-25T15:00:00+01:00",
            " 1277474400",
        );
        check(
            "unavailable_after: 2010-06-25, unavailable_after: 2009-01-01",
            " 1230768000",
        );
        check("googlebot: unavailable_after: 2010-06-25", "");
        check("unavailable_after: soon", "?");
        let d = Directives::from_header("unavailable_after: 2010-06-25", "x");
        assert!(d.may_index(1_277_423_999) && !d.may_index(1_277_424_000));
    }

    #[test]
    fn meta_elements_speak_to_names() {
        for (name, expected) in [
            ("ROBOTS", true),
            (" shorttail", true),
            ("googlebot", false),
            ("", false),
        ] {
            assert_eq!(
                Directives::from_meta(name, "none", "shorttail").nofollow,
                expected,
                "{name}"
            );
        }
        let both = Directives::from_meta("robots", "noindex", "x")
            .union(Directives::from_header("nofollow", "x"));
        assert!(both.noindex && both.nofollow && !both.noarchive);
    }

    proptest! {
        #[test]
        fn no_text_panics(value in "([a-z: ,é0-9-]{0,12}|unavailable_after:|Mon,|noindex,){0,6}", token in "\\PC{0,6}") {
            let _ = Directives::from_header(&value, &token);
        }
    }
}
