//! Files of queries: one a line, or `id<TAB>query`.

use crate::failure::note;
use anyhow::{Context, bail};
use std::collections::HashSet;
use std::path::Path;

/// A query of a file, with its id if it has one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileQuery {
    /// Line number, from 1.
    pub line: u64,
    /// Text before the tab.
    pub id: Option<String>,
    /// Text after the tab, or the whole line.
    pub text: String,
}

/// Reads every query of a file. Empty lines are skipped.
pub fn read_queries(path: &Path) -> anyhow::Result<Vec<FileQuery>> {
    let bytes = std::fs::read(path).with_context(|| format!("{}: cannot read", path.display()))?;
    let (queries, not_utf8) = parse_queries(&bytes);
    if let Some(first) = not_utf8.first() {
        let path = path.display();
        note(&format!(
            "warning: {path}:{first}: not UTF-8 (and {} more lines); unreadable bytes were replaced",
            not_utf8.len() - 1
        ));
    }
    Ok(queries)
}

/// Reads a file of topics. Every query must have a unique id of one word.
pub fn read_topics(path: &Path) -> anyhow::Result<Vec<FileQuery>> {
    let topics = read_queries(path)?;
    let mut seen = HashSet::new();
    for topic in &topics {
        let place = format!("{}:{}", path.display(), topic.line);
        let Some(id) = &topic.id else {
            bail!("{place}: no tab; a topic is an id, a tab and a query");
        };
        if id.is_empty() || id.contains(char::is_whitespace) {
            bail!("{place}: the id `{id}` is not one word; run files could not name it");
        }
        if !seen.insert(id) {
            bail!("{place}: the id `{id}` stands twice in this file");
        }
    }
    Ok(topics)
}

/// Returns the queries, and the numbers of the lines that are not UTF-8.
fn parse_queries(bytes: &[u8]) -> (Vec<FileQuery>, Vec<u64>) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut queries = Vec::new();
    let mut not_utf8 = Vec::new();
    for (line, content) in (1..).zip(bytes.split(|&byte| byte == b'\n')) {
        let text = String::from_utf8_lossy(content);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            not_utf8.push(line);
        }
        let text = text.trim_end_matches('\r');
        if text.trim().is_empty() {
            continue;
        }
        let (id, text) = match text.split_once('\t') {
            Some((id, text)) => (Some(id.trim().to_owned()), text),
            None => (None, text),
        };
        let text = text.trim().to_owned();
        queries.push(FileQuery { line, id, text });
    }
    (queries, not_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_and_without_ids() {
        let file = b"\xef\xbb\xbfone two\r\n\n \t \n7\tthree\tfour\nbad \xff byte\nlast";
        let (queries, not_utf8) = parse_queries(file);
        let plain: Vec<_> = queries
            .iter()
            .map(|q| (q.line, q.id.as_deref(), q.text.as_str()))
            .collect();
        assert_eq!(
            plain,
            [
                (1, None, "one two"),
                (4, Some("7"), "three\tfour"),
                (5, None, "bad \u{fffd} byte"),
                (6, None, "last"),
            ]
        );
        assert_eq!(not_utf8, [5]);
    }
}
