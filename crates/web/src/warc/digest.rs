//! SHA-1 digests of WARC records, in base 32.

use sha1::{Digest as _, Sha1};
use std::fmt;

const ALPHABET: &[u8; 32] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/// SHA-1 digest, written as `sha1:` and 32 characters of base 32.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 20]);

/// Result of comparing a digest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DigestCheck {
    /// The record names no digest.
    Absent,
    /// The digest cannot be compared: of another kind, or the record was cut.
    Unknown,
    /// The bytes have this digest.
    Equal,
    /// The bytes have another digest.
    Different,
}

impl Digest {
    /// Computes the digest of bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest::of_parts(&[bytes])
    }

    /// Computes the digest of parts, one after the other.
    pub fn of_parts(parts: &[&[u8]]) -> Digest {
        let mut hasher = Sha1::new();
        for part in parts {
            hasher.update(part);
        }
        let mut bytes = [0; 20];
        bytes.copy_from_slice(&hasher.finalize());
        Digest(bytes)
    }

    /// Compares a written digest, in base 32, 64 or 16, with that of `bytes`.
    pub fn check(written: &str, bytes: &[u8]) -> DigestCheck {
        let Some((name, value)) = written.split_once(':') else {
            return DigestCheck::Unknown;
        };
        if !name.eq_ignore_ascii_case("sha1") && !name.eq_ignore_ascii_case("sha-1") {
            return DigestCheck::Unknown;
        }
        let digest = Digest::of(bytes);
        let equal = match value.len() {
            40 => value.eq_ignore_ascii_case(&digest.hex()),
            // Of either alphabet, with or without padding.
            27 | 28 => {
                let value = value.replace('-', "+").replace('_', "/");
                value.trim_end_matches('=') == digest.base64()
            }
            _ => value.eq_ignore_ascii_case(&digest.base32()),
        };
        match equal {
            true => DigestCheck::Equal,
            false => DigestCheck::Different,
        }
    }

    /// Returns the digest's bytes.
    pub fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    fn hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    fn base64(&self) -> String {
        let letter = |bits: u32| match bits as u8 {
            bits @ 0..26 => b'A' + bits,
            bits @ 26..52 => b'a' + bits - 26,
            bits @ 52..62 => b'0' + bits - 52,
            62 => b'+',
            _ => b'/',
        };
        let mut text = String::with_capacity(28);
        for group in self.0.chunks(3) {
            let bits = (0..3).fold(0u32, |bits, n| {
                bits << 8 | group.get(n).copied().map_or(0, u32::from)
            });
            for shift in (0..4).rev().take(group.len() + 1) {
                text.push(char::from(letter(bits >> (6 * shift) & 63)));
            }
        }
        text
    }

    fn base32(&self) -> String {
        let mut text = String::with_capacity(32);
        // 20 bytes are four groups of 40 bits, so there is no padding.
        for group in self.0.chunks_exact(5) {
            let bits = group
                .iter()
                .fold(0u64, |bits, &byte| bits << 8 | u64::from(byte));
            for shift in (0..8).rev() {
                text.push(char::from(ALPHABET[(bits >> (5 * shift) & 31) as usize]));
            }
        }
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha1:{}", self.base32())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests() {
        assert_eq!(
            Digest::of(b"").to_string(),
            "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"
        );
        let written = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
        assert_eq!(Digest::check(written, b""), DigestCheck::Equal);
        assert_eq!(Digest::check(written, b"x"), DigestCheck::Different);
        let hex = "SHA1:da39a3ee5e6b4b0d3255bfef95601890afd80709";
        assert_eq!(Digest::check(hex, b""), DigestCheck::Equal);
        let base64 = "sha1:2jmj7l5rSw0yVb/vlWAYkK/YBwk=";
        assert_eq!(Digest::check(base64, b""), DigestCheck::Equal);
        assert_eq!(Digest::check("bubing:1", b""), DigestCheck::Unknown);
        assert_eq!(Digest::check("", b""), DigestCheck::Unknown);
    }
}
