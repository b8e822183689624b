//! Meaning of the HTTP status of robots.txt (RFC 9309, section 2.3.1).

/// Permission of a crawler that has asked for robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// The body holds.
    Obey,
    /// There are no rules: everything is allowed.
    Free,
    /// Nothing may be fetched until the answer is another one.
    Wait,
}

/// Returns the meaning of `status`, after redirects. A server that cannot be reached is [`Access::Wait`] too.
///
/// A redirect that was not followed to its end, too many requests, and errors of the server close the host for the time
/// being.
pub fn access(status: u16) -> Access {
    match status {
        200..=299 => Access::Obey,
        429 => Access::Wait,
        400..=499 => Access::Free,
        _ => Access::Wait,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses() {
        for (status, expected) in [
            (200, Access::Obey),
            (301, Access::Wait),
            (404, Access::Free),
            (403, Access::Free),
            (429, Access::Wait),
            (503, Access::Wait),
            (0, Access::Wait),
            (999, Access::Wait),
        ] {
            assert_eq!(access(status), expected, "{status}");
        }
    }
}
