//! Lines of the pipe: a request begins or ends on a thread.
//!
//! line := tid ";" rid ";" ms "\n"
//! tid  := decimal, 1 to 4,194,304        thread id in the kernel
//! rid  := 1 to 64 printable ASCII bytes without ";" and space
//! ms   := decimal, at most 15 digits, a fraction is ignored        Unix time of the event
//!
//! Example: `4711;q-17;1700000000123`. A line of at most 4,096 bytes arrives whole if it is written by one call.

use std::str;

/// Longest line without its end, in bytes; a longer one is dropped.
pub const LINE_BYTES_MAX: usize = 128;

/// Longest request id, in bytes.
pub const RID_BYTES_MAX: usize = 64;

/// Highest thread id of a 64-bit Linux (`/proc/sys/kernel/pid_max`).
pub const TID_MAX: u32 = 1 << 22;

/// Start or end of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Line<'a> {
    /// Thread that works on the request.
    pub tid: u32,
    /// Request.
    pub rid: &'a str,
    /// Unix time of the event, in ms.
    pub ms: u64,
}

/// Defect of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    /// Not three fields.
    #[error("a line is TID;RID;ms")]
    Fields,
    /// No thread can have this id.
    #[error("the thread id is not a number from 1 to 4194304")]
    Tid,
    /// Empty, too long, or with bytes that are not printable.
    #[error("the request id is not 1 to 64 printable ASCII bytes")]
    Rid,
    /// Not a time.
    #[error("the time is not a number of milliseconds")]
    Ms,
}

impl Line<'_> {
    /// Parses a line without its end.
    ///
    /// # Errors
    /// [`LineError`], the first defect from the left.
    pub fn parse(bytes: &[u8]) -> Result<Line<'_>, LineError> {
        let mut fields = bytes.split(|&byte| byte == b';');
        let (Some(tid), Some(rid), Some(ms), None) =
            (fields.next(), fields.next(), fields.next(), fields.next())
        else {
            return Err(LineError::Fields);
        };
        let tid = number(tid, 7).filter(|tid| (1..=u64::from(TID_MAX)).contains(tid));
        let tid = tid.ok_or(LineError::Tid)? as u32;
        let rid = Some(rid)
            .filter(|rid| (1..=RID_BYTES_MAX).contains(&rid.len()))
            .filter(|rid| rid.iter().all(u8::is_ascii_graphic))
            .and_then(|rid| str::from_utf8(rid).ok())
            .ok_or(LineError::Rid)?;
        let ms = ms.strip_suffix(b"\r").unwrap_or(ms);
        let (whole, fraction) = match ms.iter().position(|&byte| byte == b'.') {
            Some(point) => (&ms[..point], &ms[point + 1..]),
            None => (ms, &b""[..]),
        };
        let ms = number(whole, 15).filter(|_| fraction.iter().all(u8::is_ascii_digit));
        let ms = ms.ok_or(LineError::Ms)?;
        Ok(Line { tid, rid, ms })
    }
}

/// Parses an unsigned number of at most `digits_max` digits, which must be below 19.
fn number(digits: &[u8], digits_max: usize) -> Option<u64> {
    if digits.is_empty() || digits.len() > digits_max || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let add = |number, digit: &u8| number * 10 + u64::from(digit - b'0');
    Some(digits.iter().fold(0, add))
}

/// Lines of a stream of bytes that arrives in pieces. Keeps less than one line.
#[derive(Debug, Default)]
pub struct Lines {
    begun: Vec<u8>,
    /// The line that has begun is too long, and is dropped up to its end.
    dropping: bool,
    too_long: u64,
}

impl Lines {
    /// Calls `each` with every line that `bytes` completes, without its end. Empty lines are skipped.
    pub fn feed(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) {
        let mut pieces = bytes.split(|&byte| byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            if !self.dropping && self.begun.len() + piece.len() > LINE_BYTES_MAX {
                self.dropping = true;
                self.too_long += 1;
                self.begun.clear();
            }
            if !self.dropping {
                self.begun.extend_from_slice(piece);
            }
            if pieces.peek().is_some() {
                if !self.begun.is_empty() {
                    each(&self.begun);
                }
                self.begun.clear();
                self.dropping = false;
            }
        }
    }

    /// Returns the number of lines dropped for their length.
    pub fn too_long(&self) -> u64 {
        self.too_long
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_parsed_or_refused_by_the_first_defect() {
        let line = |tid, rid, ms| Ok(Line { tid, rid, ms });
        let check =
            |text: &str, expected| assert_eq!(Line::parse(text.as_bytes()), expected, "{text}");
        check(
            "4711;q-17;1700000000123",
            line(4711, "q-17", 1_700_000_000_123),
        );
        check("1;a;5.75", line(1, "a", 5));
        check("1;a;5\r", line(1, "a", 5));
        check("4194304;a;0", line(4_194_304, "a", 0));
        for wrong in ["", "1", "1;a", "1;a;2;3", ";;;"] {
            check(wrong, Err(LineError::Fields));
        }
        for tid in [
            "",
            "0",
            "-1",
            "+1",
            "4194305",
            "99999999999999999999",
            "x",
            " 1",
        ] {
            check(&format!("{tid};a;1"), Err(LineError::Tid));
        }
        for rid in ["", "a b", "\u{e9}", "a\0", &"x".repeat(65)] {
            check(&format!("1;{rid};1"), Err(LineError::Rid));
        }
        for ms in ["", "-1", "1e3", "1.x", ".5", "1000000000000000"] {
            check(&format!("1;a;{ms}"), Err(LineError::Ms));
        }
    }

    #[test]
    fn pieces_become_lines() {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        let long = [b"x".repeat(LINE_BYTES_MAX + 1), b"\nnext\n".to_vec()].concat();
        for bytes in [&b"on"[..], b"e\ntwo\n\nthr", b"ee", b"\n", &long, b"end"] {
            lines.feed(bytes, |line| {
                found.push(String::from_utf8_lossy(line).into_owned())
            });
        }
        assert_eq!(found, ["one", "two", "three", "next"]);
        assert_eq!(lines.too_long(), 1);
        assert!(lines.begun.capacity() <= 2 * LINE_BYTES_MAX);
    }
}
