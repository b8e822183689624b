//! Cluster file (`cluster.toml`), which assigns chunks to servers.
//!
//! Servers of the same chunks are replicas of each other. The index servers together must hold the
//! chunks of the index, each in exactly one part; so must the document servers.

use crate::api::error::ServeError;
use crate::cluster::CHUNKS_OF_ANY;
use engine::calls::Chunks;
use engine::calls::chunks_shown;
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Servers of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterFile {
    /// Number of chunks of the index, or of each in a folder; 65,536 where the file says no chunks.
    pub chunks_count: u32,
    /// Index servers by part, in the order of chunks: the chunks and the addresses.
    pub index_servers: Vec<(Chunks, Vec<String>)>,
    /// Document servers by part, in the same form.
    pub document_servers: Vec<(Chunks, Vec<String>)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    /// Number of chunks of the index; if missing, one more than the last chunk in the file.
    chunks: Option<u32>,
    #[serde(default)]
    index_server: Vec<Entry>,
    #[serde(default)]
    document_server: Vec<Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    address: String,
    /// Chunks of the server; if missing, all.
    chunks: Option<String>,
}

/// Largest chunk number that an index can have.
const LAST_MAX: u32 = CHUNKS_OF_ANY - 1;

impl ClusterFile {
    /// Reads and checks a file.
    pub fn read(path: &Path) -> Result<ClusterFile, ServeError> {
        let text = std::fs::read_to_string(path).map_err(|error| bad(path, error.to_string()))?;
        ClusterFile::parse(&text).map_err(|reason| bad(path, reason))
    }

    /// Parses and checks the text of a file; the error is a message.
    pub fn parse(text: &str) -> Result<ClusterFile, String> {
        let file: File = toml::from_str(text).map_err(|error| error.to_string())?;
        let named = || file.index_server.iter().chain(&file.document_server);
        let last_of = |entry: &Entry| Some(*parse_chunks(entry.chunks.as_ref()?).ok()?.end());
        let chunks_count = match (file.chunks, named().filter_map(last_of).max()) {
            (Some(0), _) => return Err("chunks = 0: an index has at least one chunk".into()),
            (Some(count), _) => count,
            (None, Some(last)) => last + 1,
            (None, None) if named().next().is_some() => CHUNKS_OF_ANY,
            (None, None) => return Err("no server is named; add an [[index-server]]".into()),
        };
        let index_servers = parts("index-server", &file.index_server, chunks_count)?;
        let document_servers = parts("document-server", &file.document_server, chunks_count)?;
        covers("index-server", &index_servers, chunks_count)?;
        covers("document-server", &document_servers, chunks_count)?;
        Ok(ClusterFile {
            chunks_count,
            index_servers,
            document_servers,
        })
    }
}

fn bad(path: &Path, reason: String) -> ServeError {
    ServeError::ClusterFile {
        path: PathBuf::from(path),
        reason,
    }
}

/// Parses chunks in the form `0-63` or `7`.
pub fn parse_chunks(text: &str) -> Result<Chunks, String> {
    let wrong =
        || format!("{text:?} is not a range of chunks; write FIRST-LAST, as 0-63, or one number");
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |digits: &str| digits.trim().parse::<u32>().map_err(|_| wrong());
    let (first, last) = (number(first)?, number(last)?);
    if first > last || last > LAST_MAX {
        return Err(wrong());
    }
    Ok(first..=last)
}

/// Returns the servers by the chunks they hold, in the order of chunks.
fn parts(
    kind: &str,
    entries: &[Entry],
    chunks_count: u32,
) -> Result<Vec<(Chunks, Vec<String>)>, String> {
    let mut parts: Vec<(Chunks, Vec<String>)> = Vec::new();
    for entry in entries {
        let at = |reason: String| format!("[[{kind}]] {}: {reason}", entry.address);
        let chunks = match &entry.chunks {
            Some(chunks) => parse_chunks(chunks).map_err(at)?,
            None => 0..=chunks_count - 1,
        };
        if !entry.address.contains(':') {
            return Err(at("an address is HOST:PORT".into()));
        }
        match parts.iter_mut().find(|(known, _)| *known == chunks) {
            Some((_, addresses)) if addresses.contains(&entry.address) => {
                return Err(at("is named twice with the same chunks; remove one".into()));
            }
            Some((_, addresses)) => addresses.push(entry.address.clone()),
            None => parts.push((chunks, vec![entry.address.clone()])),
        }
    }
    parts.sort_by_key(|(chunks, _)| *chunks.start());
    Ok(parts)
}

/// Checks that every chunk is in exactly one part.
fn covers(kind: &str, parts: &[(Chunks, Vec<String>)], chunks_count: u32) -> Result<(), String> {
    let missing =
        |chunk: u32| format!("chunk {chunk} has no [[{kind}]]; add one, or correct its chunks");
    let mut next = 0;
    for (chunks, addresses) in parts {
        if *chunks.start() > next {
            return Err(missing(next));
        }
        if *chunks.start() < next {
            return Err(format!(
                "chunk {} is in two parts of the [[{kind}]]s, the second {} of {}; \
                 replicas must have exactly the same chunks",
                chunks.start(),
                chunks_shown(chunks),
                addresses[0],
            ));
        }
        if *chunks.end() >= chunks_count {
            return Err(format!(
                "[[{kind}]] {} has chunk {}, and the index only {chunks_count}, 0 to {}",
                addresses[0],
                chunks.end(),
                chunks_count - 1
            ));
        }
        next = chunks.end() + 1;
    }
    match next < chunks_count {
        true => Err(missing(next)),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(index_servers: &[(&str, &str)], rest: &str) -> String {
        let one = |(address, chunks): &(&str, &str)| {
            format!("[[index-server]]\naddress = \"{address}\"\nchunks = \"{chunks}\"\n")
        };
        let servers: String = index_servers.iter().map(one).collect();
        format!("{rest}\n{servers}\n[[document-server]]\naddress = \"h:9\"\nchunks = \"0-3\"\n")
    }

    #[test]
    fn servers_with_the_same_chunks_are_replicas() {
        let text = file(
            &[("b:1", "2-3"), ("a:1", "0-1"), ("b:2", "2-3")],
            "chunks = 4",
        );
        let read = ClusterFile::parse(&text).unwrap();
        assert_eq!(read.chunks_count, 4);
        assert_eq!(
            read.index_servers,
            [
                (0..=1, vec!["a:1".to_owned()]),
                (2..=3, vec!["b:1".into(), "b:2".into()])
            ]
        );
        assert_eq!(read.document_servers, [(0..=3, vec!["h:9".to_owned()])]);
    }

    #[test]
    fn the_example_is_a_cluster() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/cluster.toml");
        let example = ClusterFile::read(&path).unwrap();
        assert_eq!(example.chunks_count, 8);
        assert_eq!(example.index_servers.len(), 2);
        assert!(
            example
                .index_servers
                .iter()
                .all(|(_, addresses)| addresses.len() == 2)
        );
    }

    #[test]
    fn a_server_without_chunks_has_all() {
        let servers =
            "[[index-server]]\naddress = \"a:1\"\n[[document-server]]\naddress = \"h:9\"\n";
        let read = ClusterFile::parse(servers).unwrap();
        assert_eq!(read.chunks_count, CHUNKS_OF_ANY);
        assert_eq!(read.index_servers, [(0..=LAST_MAX, vec!["a:1".to_owned()])]);
        let read = ClusterFile::parse(&format!("chunks = 4\n{servers}")).unwrap();
        assert_eq!(read.document_servers, [(0..=3, vec!["h:9".to_owned()])]);
        let further = "[[index-server]]\naddress = \"b:1\"\nchunks = \"0-1\"\n";
        let read = ClusterFile::parse(&format!("{servers}{further}")).unwrap();
        let replicas = vec!["a:1".to_owned(), "b:1".to_owned()];
        assert_eq!(read.index_servers, [(0..=1, replicas)]);
    }

    #[test]
    fn what_is_wrong_is_told_with_the_chunk() {
        for (text, part) in [
            (
                file(&[("a:1", "0-1"), ("b:1", "3")], ""),
                "chunk 2 has no [[index-server]]",
            ),
            (
                file(&[("a:1", "0-3")], "chunks = 8"),
                "chunk 4 has no [[index-server]]",
            ),
            (
                file(&[("a:1", "0-2"), ("b:1", "2-3")], ""),
                "chunk 2 is in two parts",
            ),
            (
                file(&[("a:1", "0-4")], "chunks = 4"),
                "has chunk 4, and the index only 4",
            ),
            (file(&[("a:1", "0-3"), ("a:1", "0-3")], ""), "named twice"),
            (file(&[("a", "0-3")], ""), "HOST:PORT"),
            (file(&[("a:1", "3-0")], ""), "not a range of chunks"),
            (file(&[("a:1", "zero")], ""), "not a range of chunks"),
            (
                file(&[("a:1", "0-99999999999")], ""),
                "not a range of chunks",
            ),
            (file(&[], ""), "chunk 0 has no [[index-server]]"),
            (file(&[], "chunks = 0"), "at least one chunk"),
            ("".into(), "no server is named"),
            ("index-server = 3".into(), "index-server"),
            ("replicas = 3".into(), "unknown field"),
        ] {
            let told = ClusterFile::parse(&text).unwrap_err();
            assert!(told.contains(part), "{text}\n{told}");
        }
    }
}
