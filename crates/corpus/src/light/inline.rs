//! Marks within a line: emphasis around words, and links.

/// Upper limit on the characters between a mark and its partner, so that a line of marks costs little.
const SPAN_CHARS_MAX: usize = 400;

/// Returns a line without pairs of `marks` around words: `a *b c* d` is `a b c d`. A mark opens after a blank or a sign and
/// before a word, and closes the other way round. A doubled mark is one.
pub(super) fn without_pairs(line: &str, marks: &[char]) -> String {
    if !line.contains(marks) {
        return line.to_owned();
    }
    let chars: Vec<char> = line.chars().collect();
    let mut dropped = vec![false; chars.len()];
    let opens_after = |at: usize| at == 0 || !chars[at - 1].is_alphanumeric();
    let mut at = 0;
    while at < chars.len() {
        let mark = chars[at];
        if dropped[at] || !marks.contains(&mark) || !opens_after(at) {
            at += 1;
            continue;
        }
        let width = chars[at..].iter().take_while(|&&c| c == mark).count();
        let start = at + width;
        let is_open = width <= 2 && chars.get(start).is_some_and(|c| !c.is_whitespace());
        let end = (start + 1..chars.len().min(start + SPAN_CHARS_MAX)).find(|&end| {
            let closed = end + width;
            chars.len() >= closed
                && chars[end..closed].iter().all(|c| *c == mark)
                && !chars[end - 1].is_whitespace()
                && chars
                    .get(closed)
                    .is_none_or(|c| !c.is_alphanumeric() && *c != mark)
        });
        match end.filter(|_| is_open) {
            Some(end) => {
                dropped[at..start].fill(true);
                dropped[end..end + width].fill(true);
                at = start;
            }
            None => at = start,
        }
    }
    let kept = chars.iter().zip(&dropped).filter(|(_, dropped)| !**dropped);
    kept.map(|(c, _)| *c).collect()
}

/// Replaces each stretch between `open` and `close` by what `shown` makes of its inside; `None` leaves it.
pub(super) fn replaced(
    line: &str,
    open: &str,
    close: &str,
    shown: impl Fn(&str) -> Option<String>,
) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find(open) {
        let inside_from = start + open.len();
        let Some(length) = rest[inside_from..].find(close) else {
            break;
        };
        let end = inside_from + length + close.len();
        match shown(&rest[inside_from..inside_from + length]) {
            Some(shown) => {
                text.push_str(&rest[..start]);
                text.push_str(&shown);
                rest = &rest[end..];
            }
            None => {
                text.push_str(&rest[..inside_from]);
                rest = &rest[inside_from..];
            }
        }
    }
    text.push_str(rest);
    text
}
