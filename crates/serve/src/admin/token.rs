//! Administrator's token: `Authorization: Bearer TOKEN`.

use crate::api::error::ServeError;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// Lower limit on the length of a token, in bytes, against guessing.
const TOKEN_BYTES_MIN: usize = 16;

/// Secret token, read from a file: the arguments of a process are visible to all users of its machine.
#[derive(Clone, PartialEq, Eq)]
pub struct AdminToken(Arc<str>);

impl AdminToken {
    /// Reads the token of a file, without surrounding white space.
    pub fn read(path: &Path) -> Result<AdminToken, ServeError> {
        let refused = |reason: String| ServeError::Options {
            option: "--admin-token-file",
            reason: format!("{}: {reason}", path.display()),
        };
        let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        AdminToken::parse(&text).map_err(refused)
    }

    /// Parses the token in the text of a file; fails with a remedy if it is too short or cannot be
    /// sent.
    pub fn parse(text: &str) -> Result<AdminToken, String> {
        let token = text.trim();
        if token.len() < TOKEN_BYTES_MIN {
            return Err(format!(
                "the token has {} bytes, and needs {TOKEN_BYTES_MIN} at least; make one with \
                 `head -c 32 /dev/urandom | base64 > FILE`",
                token.len()
            ));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err("the token must be one line of ASCII letters, digits and signs".into());
        }
        Ok(AdminToken(token.into()))
    }

    /// Returns whether the value of an `Authorization` header carries this token. The duration does not
    /// depend on the number of correct bytes.
    pub(crate) fn is_carried_by(&self, authorization: &[u8]) -> bool {
        let Some((scheme, carried)) = authorization.split_at_checked("Bearer ".len()) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"Bearer ") && self.0.as_bytes().ct_eq(carried).into()
    }

    /// Returns the header value that carries the token.
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

/// Omits the secret, since options are printed in logs.
impl fmt::Debug for AdminToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AdminToken(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_unsendable_tokens_are_refused() {
        assert!(AdminToken::parse("fifteen-bytes-1").is_err());
        assert!(AdminToken::parse("               \n sixteen").is_err());
        assert!(AdminToken::parse("two words of sixteen bytes").is_err());
        let token = AdminToken::parse("  0123456789abcdef\n").unwrap();
        assert!(!format!("{token:?}").contains("0123"));
        assert!(token.is_carried_by(b"Bearer 0123456789abcdef"));
        assert!(token.is_carried_by(b"bearer 0123456789abcdef"));
        for wrong in [
            "",
            "Bearer ",
            "Basic 0123456789abcdef",
            "Bearer 0123456789abcdeg",
            "Bearer 0123456789abcde",
            "Bearer 0123456789abcdef0",
        ] {
            assert!(!token.is_carried_by(wrong.as_bytes()), "{wrong}");
        }
    }
}
