//! One rule of shown addresses: those that begin so are shown as if they began otherwise.

use url::Url;

/// Rule by which the beginning of an address is replaced where it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressMap {
    /// Beginning of the addresses in the index, without a slash at its end.
    pub(super) from: String,
    /// Beginning of the addresses as shown, without a slash at its end.
    pub(super) to: String,
}

/// Parses a rule as the operator gives it: `file:///srv/docs=https://intranet/docs`.
///
/// # Errors
/// A text without two addresses.
pub fn parse_address_map(text: &str) -> Result<AddressMap, String> {
    let refused = |what: &str| {
        format!(
            "{text:?} {what}; write how addresses begin in the index, an equals sign and how they begin as shown, as \
             file:///srv/docs=https://intranet.example.org/docs"
        )
    };
    let (from, to) = (text.split_once('=')).ok_or_else(|| refused("has no equals sign"))?;
    let is_address = |text: &str| Url::parse(text).is_ok();
    if !is_address(from) || !is_address(to) {
        return Err(refused("is not two addresses"));
    }
    Ok(AddressMap::new(from, to))
}

impl AddressMap {
    pub(super) fn new(from: &str, to: &str) -> AddressMap {
        AddressMap {
            from: bare(from),
            to: bare(to),
        }
    }

    /// Returns an address of the index as shown; `None` where it does not begin so.
    pub(super) fn shown(&self, url: &str) -> Option<String> {
        if url.starts_with('/') {
            // Records of a file that was named by its path have that as address.
            let rest = rest_after(url, self.own_path()?)?;
            return Some(format!("{}{rest}", path_of(&self.to).unwrap_or(&self.to)));
        }
        let rest = rest_after(url, &self.from)?;
        Some(format!("{}{rest}", self.to))
    }

    /// Returns the addresses of the index that may be shown so.
    pub(super) fn real(&self, shown: &str) -> Vec<String> {
        if shown.starts_with('/') {
            let rest = path_of(&self.to).and_then(|to| rest_after(shown, to));
            let real = rest.zip(self.own_path());
            let real = real.map(|(rest, from)| format!("{from}{rest}"));
            return real.into_iter().collect();
        }
        let Some(rest) = rest_after(shown, &self.to) else {
            return Vec::new();
        };
        let paths = self.own_path().filter(|_| path_of(&self.to).is_none());
        let beginnings = [Some(self.from.as_str()), paths];
        let beginnings = beginnings.into_iter().flatten();
        beginnings.map(|from| format!("{from}{rest}")).collect()
    }

    /// Returns the path of a `file:` address, of which sites of files begin.
    pub(super) fn own_path(&self) -> Option<&str> {
        path_of(&self.from)
    }

    /// Returns how sites of files begin as shown: a path, or a host and a path.
    pub(super) fn to_site(&self) -> &str {
        match self.to.split_once("://") {
            Some((_, site)) => site,
            None => &self.to,
        }
    }
}

/// Returns rules in the order in which they are tried.
pub(super) fn longest_first(maps: &[AddressMap]) -> Vec<AddressMap> {
    let mut maps = maps.to_vec();
    maps.sort_by_key(|map| std::cmp::Reverse(map.from.len()));
    maps
}

/// Returns what follows the beginning of an address, which ends where a segment does.
pub(super) fn rest_after<'a>(url: &'a str, beginning: &str) -> Option<&'a str> {
    let rest = url.strip_prefix(beginning)?;
    let is_segment = rest.is_empty() || rest.starts_with(['/', '?', '#']) || rest.starts_with("!/");
    is_segment.then_some(rest)
}

/// Returns the path of a `file:` address without a host.
fn path_of(url: &str) -> Option<&str> {
    let path = url.strip_prefix("file://")?;
    (path.is_empty() || path.starts_with('/')).then_some(path)
}

/// Returns an address without slashes at its end, but for those before a host.
fn bare(url: &str) -> String {
    let least = url.find("://").map_or(0, |at| at + "://".len());
    let end = url.trim_end_matches('/').len().max(least);
    url.get(..end).unwrap_or(url).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_segments_are_replaced() {
        let map = parse_address_map("file:///srv/docs/=https://intranet/docs").unwrap();
        for (url, shown) in [
            ("file:///srv/docs", Some("https://intranet/docs")),
            (
                "file:///srv/docs/a%20b.pdf",
                Some("https://intranet/docs/a%20b.pdf"),
            ),
            (
                "file:///srv/docs/a.zip!/b.txt",
                Some("https://intranet/docs/a.zip!/b.txt"),
            ),
            (
                "/srv/docs/people.csv#3",
                Some("https://intranet/docs/people.csv#3"),
            ),
            ("file:///srv/docs-old/a", None),
            ("file:///srv/doc", None),
            ("https://srv/docs/a", None),
        ] {
            assert_eq!(map.shown(url).as_deref(), shown, "{url}");
            if let Some(shown) = shown {
                assert!(map.real(shown).iter().any(|real| real == url), "{url}");
            }
        }
        let all = parse_address_map("file:///=https://intranet/").unwrap();
        assert_eq!(
            all.shown("file:///srv/a").unwrap(),
            "https://intranet/srv/a"
        );
    }

    #[test]
    fn a_rule_is_two_addresses() {
        for (text, reason) in [
            ("file:///srv", "no equals sign"),
            ("/srv=https://x", "is not two addresses"),
            ("file:///srv=docs", "is not two addresses"),
            ("=", "is not two addresses"),
        ] {
            let error = parse_address_map(text).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
    }
}
