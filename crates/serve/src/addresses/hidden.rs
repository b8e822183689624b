//! Addresses of files that nothing says how to show: the name of the file, and the hash by which it is found.
//!
//! ```text
//! file:///home/ann/notes/owls.txt   ->   file:///~5d1c6a0b9e3f7c24/owls.txt
//! ```

/// Digits of a hash.
const DIGITS: usize = 16;
const BEFORE: &str = "file:///~";

/// Returns an address without its folder.
pub(super) fn hidden(url: &str) -> String {
    let name = url.trim_end_matches('/').rsplit('/').next().unwrap_or("");
    let hash = document::url_hash(url);
    format!("{BEFORE}{hash:0DIGITS$x}/{name}")
}

/// Returns the hash of the address that is shown without its folder; `None` for any other address.
pub(crate) fn hash_of(shown: &str) -> Option<u64> {
    let (digits, name) = shown.strip_prefix(BEFORE)?.split_once('/')?;
    let is_hash = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let hash = u64::from_str_radix(digits, 16).ok()?;
    (is_hash && !name.contains('/')).then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_a_hash() {
        let url = "file:///home/ann/a%20b.zip!/x/owls.txt";
        let shown = hidden(url);
        assert!(
            shown.ends_with("/owls.txt") && !shown.contains("ann"),
            "{shown}"
        );
        assert_eq!(hash_of(&shown), Some(document::url_hash(url)));
        for other in [
            url,
            "file:///~12/x",
            "file:///~0123456789abcdeg/x",
            "file:///~+123456789abcdef/x",
            "file:///~0123456789abcdef/x/y",
            "file:///~0123456789abcdef",
        ] {
            assert_eq!(hash_of(other), None, "{other}");
        }
    }
}
