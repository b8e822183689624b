//! Documentation installed on this machine.
//!
//! | where | what | URL | site |
//! |---|---|---|---|
//! | Cargo's sources | README, CHANGELOG, other Markdown, documentation in `.rs` files | `crate://serde/1.0.228/src/lib.rs` | the crate |
//! | manual pages | the text without its markup | `man:grep(1)` | the page itself |
//! | documentation folders | text, Markdown, HTML | `file:///usr/share/doc/bash/FAQ` | its folder |
//!
//! Sources are read in this order, up to a total that a laptop indexes in seconds. Nothing here is an error: missing
//! folders and odd files are skipped, because the user did not choose them.

use crate::file::{self, Markup};
use crate::folder;
use crate::input::{Input, Meter};
use crate::step::{Place, Step};
use crate::walk::{Found, walk_or_nothing};
use crate::{FileLimits, roff, rust_docs};
use document::Document;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

/// Bytes of text after which reading stops.
const TEXT_BYTES_MAX: u64 = 120_000_000;

/// Number of documents after which reading stops.
const DOCUMENTS_MAX: u64 = 40_000;

/// Lower limit on the words of documentation in a source file that becomes a document.
const DOC_WORDS_MIN: usize = 20;

/// Folders of a machine's documentation. Tests name synthetic ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MachineRoots {
    /// Sources of Cargo's registries: one folder for each registry, which has one for each crate version.
    pub cargo_registry: Option<PathBuf>,
    /// Manual pages: `man1`, `man2`, ...
    pub man: Option<PathBuf>,
    /// Documentation folders, one for each package.
    pub doc: Option<PathBuf>,
}

impl MachineRoots {
    /// Returns the usual places.
    pub fn usual() -> MachineRoots {
        let cargo = std::env::var_os("CARGO_HOME")
            .map(PathBuf::from)
            .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
        MachineRoots {
            cargo_registry: cargo.map(|cargo| cargo.join("registry/src")),
            man: Some(PathBuf::from("/usr/share/man")),
            doc: Some(PathBuf::from("/usr/share/doc")),
        }
    }
}

/// A file and the way it is read.
struct Listed {
    file: Found,
    kind: Kind,
}

enum Kind {
    /// A file of a crate: the crate's name and version, and the file's path in the crate.
    Crate {
        name: String,
        version: String,
        inside: String,
    },
    /// A manual page: its name and section.
    Manual { name: String, section: String },
    /// A file of a documentation folder.
    Plain,
}

/// Reader of a machine's documentation.
pub(crate) struct Machine {
    files: VecDeque<Listed>,
    meter: Meter,
    documents: u64,
    text_bytes: u64,
    place: Place,
}

impl Machine {
    /// Lists the files.
    pub(crate) fn open(roots: &MachineRoots, meter: &Meter) -> Machine {
        let mut files = VecDeque::new();
        if let Some(root) = &roots.cargo_registry {
            list_crates(root, &mut files);
        }
        if let Some(root) = &roots.man {
            list_manual(root, &mut files);
        }
        if let Some(root) = &roots.doc {
            let found = walk_or_nothing(root, is_documentation).files;
            files.extend(found.into_iter().map(|file| Listed {
                file,
                kind: Kind::Plain,
            }));
        }
        Machine {
            files,
            meter: meter.clone(),
            documents: 0,
            text_bytes: 0,
            place: Place::default(),
        }
    }

    /// Returns the total bytes of the files not yet read.
    pub(crate) fn bytes(&self) -> u64 {
        self.files.iter().map(|listed| listed.file.bytes).sum()
    }

    /// Returns the place of the file read last.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// Reads the next document.
    pub(crate) fn next(&mut self) -> Step {
        while let Some(listed) = self.files.pop_front() {
            let before = self.meter.bytes();
            self.place.file = listed.file.path.display().to_string();
            let read = read(&listed, &self.meter);
            self.meter.skip(
                listed
                    .file
                    .bytes
                    .saturating_sub(self.meter.bytes() - before),
            );
            let Some(document) = read else { continue };
            let text_bytes = (document.title.len() + document.body.len()) as u64;
            self.documents += 1;
            self.text_bytes += text_bytes;
            if self.documents >= DOCUMENTS_MAX || self.text_bytes >= TEXT_BYTES_MAX {
                // The remaining files will not be read, so they count as progress.
                self.meter.skip(self.bytes());
                self.files.clear();
            }
            return Step::Good {
                document,
                text_bytes,
            };
        }
        Step::End
    }
}

/// Reads one file; `None` where it has no text.
fn read(listed: &Listed, meter: &Meter) -> Option<Document> {
    let path = &listed.file.path;
    let input = Input::open(path, FileLimits::default(), meter).ok()?;
    let document = match &listed.kind {
        Kind::Plain => folder::read_file(path, input).ok()?.0,
        Kind::Manual { name, section } => {
            let source = file::decode(file::read_bytes(input).ok()?, meter).ok()?;
            let body = roff::read_text(&source);
            let title = format!("{name}({section})");
            Document {
                url: format!("man:{title}"),
                title,
                body,
                ..Document::default()
            }
        }
        Kind::Crate {
            name,
            version,
            inside,
        } => {
            let url = crate_url(name, version, inside);
            let bytes = file::read_bytes(input).ok()?;
            if inside.ends_with(".rs") {
                source_document(url, name, inside, &file::decode(bytes, meter).ok()?)?
            } else {
                let mut document =
                    file::document(url, inside, Markup::Markdown, bytes, meter).ok()?;
                if !document.title.to_lowercase().contains(&name.to_lowercase()) {
                    document.title = format!("{name}: {}", document.title);
                }
                document
            }
        }
    };
    document
        .body
        .chars()
        .any(char::is_alphanumeric)
        .then_some(document)
}

fn source_document(url: String, name: &str, inside: &str, source: &str) -> Option<Document> {
    let body = rust_docs::read_text(source);
    body.split_whitespace().nth(DOC_WORDS_MIN - 1)?;
    let mut title = rust_docs::module_path(&name.replace('-', "_"), inside);
    if let Some(line) = rust_docs::own_first_line(source) {
        title = format!("{title}: {line}");
    }
    Some(Document {
        url,
        title,
        body,
        ..Document::default()
    })
}

/// Returns the percent-encoded URL of a crate's file.
fn crate_url(name: &str, version: &str, inside: &str) -> String {
    let written = format!("crate://{name}/{version}/{inside}");
    url::Url::parse(&written).map_or(written, |url| url.to_string())
}

/// Lists the crates by name, each in its newest version, so that no text occurs twice.
fn list_crates(root: &Path, files: &mut VecDeque<Listed>) {
    let mut newest: BTreeMap<String, (VersionKey, String, PathBuf)> = BTreeMap::new();
    for registry in folders(root) {
        for folder in folders(&registry) {
            let folder_name = folder
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let Some((name, version)) = split_version(&folder_name) else {
                continue;
            };
            let found = (version_key(version), version.to_owned(), folder);
            match newest.get(name) {
                Some(known) if *known >= found => {}
                _ => {
                    newest.insert(name.to_owned(), found);
                }
            }
        }
    }
    for (name, (_, version, root)) in newest {
        let found = walk_or_nothing(&root, is_crate_documentation).files;
        for file in found {
            let Ok(inside) = file.path.strip_prefix(&root) else {
                continue;
            };
            let inside = inside.to_string_lossy().replace('\\', "/");
            // Tests, benchmarks and vendored sources hold no documentation for users of the crate.
            let is_source = inside.ends_with(".rs");
            if is_source && !inside.starts_with("src/") || inside.contains("/tests/") {
                continue;
            }
            let kind = Kind::Crate {
                name: name.clone(),
                version: version.clone(),
                inside,
            };
            files.push_back(Listed { file, kind });
        }
    }
}

/// Returns the folders in a folder; none where it cannot be read.
fn folders(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else {
        return Vec::new();
    };
    let paths = entries.flatten().map(|entry| entry.path());
    let mut folders: Vec<PathBuf> = paths.filter(|path| path.is_dir()).collect();
    folders.sort_unstable();
    folders
}

/// Splits `serde_json-1.0.2` into `serde_json` and `1.0.2`. The version begins after the first dash that digits and a
/// dot follow.
fn split_version(folder: &str) -> Option<(&str, &str)> {
    folder.match_indices('-').find_map(|(at, _)| {
        let version = &folder[at + 1..];
        let digits = version.bytes().take_while(u8::is_ascii_digit).count();
        (at > 0 && digits > 0 && version[digits..].starts_with('.'))
            .then_some((&folder[..at], version))
    })
}

/// Sort key of a version: its numbers, then a release after its pre-releases.
type VersionKey = (Vec<u64>, bool);

fn version_key(version: &str) -> VersionKey {
    let version = version.split('+').next().unwrap_or(version);
    let (numbers, preview) = version.split_once('-').unwrap_or((version, ""));
    (
        numbers
            .split('.')
            .map(|part| part.parse().unwrap_or(0))
            .collect(),
        preview.is_empty(),
    )
}

fn is_crate_documentation(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    if ["license", "licence", "copying", "code_of_conduct"]
        .iter()
        .any(|n| lower.starts_with(n))
    {
        return false;
    }
    lower.ends_with(".rs")
        || lower.ends_with(".md")
        || lower.starts_with("readme")
        || lower.starts_with("changelog")
}

/// Returns whether a file is documentation of a package. Excludes licences and packaging histories, which all look
/// alike.
fn is_documentation(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    Markup::of(name).is_some()
        && !["copyright", "changelog", "licen"]
            .iter()
            .any(|n| lower.starts_with(n))
}

/// Lists the manual pages in the default language.
fn list_manual(root: &Path, files: &mut VecDeque<Listed>) {
    let sections = folders(root);
    let is_section = |path: &&PathBuf| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("man"))
    };
    for folder in sections.iter().filter(is_section) {
        for file in walk_or_nothing(folder, |_| true).files {
            // A link is another name of a page already listed.
            if file.path.is_symlink() {
                continue;
            }
            let file_name = file.path.file_name().unwrap_or_default().to_string_lossy();
            let file_name = file_name.strip_suffix(".gz").unwrap_or(&file_name);
            let Some((name, section)) = file_name.rsplit_once('.') else {
                continue;
            };
            let (name, section) = (name.to_owned(), section.to_owned());
            files.push_back(Listed {
                file,
                kind: Kind::Manual { name, section },
            });
        }
    }
}

#[cfg(test)]
mod tests;
