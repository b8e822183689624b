//! The token that an administrator sends: `Authorization: Bearer TOKEN`.

use crate::api::error::ServeError;
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use subtle::ConstantTimeEq;

/// A shorter token could be found by trying.
const TOKEN_BYTES_MIN: usize = 16;

/// A secret, read from a file: arguments of a process can be read by everybody on its machine.
#[derive(Clone, PartialEq, Eq)]
pub struct AdminToken(Arc<str>);

impl AdminToken {
    /// Reads the token of a file; white space around it is no part of it.
    pub fn read(path: &Path) -> Result<AdminToken, ServeError> {
        let refused = |reason: String| ServeError::Options {
            option: "--admin-token-file",
            reason: format!("{}: {reason}", path.display()),
        };
        let text = std::fs::read_to_string(path).map_err(|error| refused(error.to_string()))?;
        AdminToken::parse(&text).map_err(refused)
    }

    /// Takes a token out of the text of a file; an error with a remedy where it is too short or cannot be sent.
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

    /// Whether the value of an `Authorization` header carries this token. How long it takes does not tell how much of
    /// it is right.
    pub(crate) fn is_carried_by(&self, authorization: &[u8]) -> bool {
        let Some((scheme, carried)) = authorization.split_at_checked("Bearer ".len()) else {
            return false;
        };
        scheme.eq_ignore_ascii_case(b"Bearer ") && self.0.as_bytes().ct_eq(carried).into()
    }

    /// The value of the header that carries it.
    pub fn authorization(&self) -> String {
        format!("Bearer {}", self.0)
    }
}

/// Without the secret: options are printed in logs.
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
