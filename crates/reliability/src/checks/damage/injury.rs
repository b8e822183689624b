//! Injuries to the files of an index that servers have open, and their repair.

use crate::random::Random;
use anyhow::Context;
use serde_json::Value;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Read;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// Bytes that are overwritten or shifted at most.
const BYTES_MAX: u64 = 64 << 10;
/// Where the payload of a file begins.
const HEADER_BYTES: usize = 64;

/// What is done to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Injury {
    /// One bit is turned over.
    Flip,
    /// The end is cut off.
    Truncate,
    /// Some bytes are replaced by random ones.
    Overwrite,
    /// Some bytes are moved by one.
    Shift,
    /// No byte is changed, only the rights: the file must be trusted again.
    Touch,
}

impl Injury {
    pub(super) const ALL: [Injury; 5] = [
        Injury::Flip,
        Injury::Truncate,
        Injury::Overwrite,
        Injury::Shift,
        Injury::Touch,
    ];
}

/// What a file of an index is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Lists or pairs of a segment, which has this chunk.
    Segment(u32),
    /// The texts of a segment.
    Texts,
    /// What all plans are made with.
    Statistics,
}

/// A file of an index, and a copy of it as it was.
#[derive(Debug, Clone)]
pub(super) struct Victim {
    path: PathBuf,
    bytes: Vec<u8>,
    pub(super) holds: Holds,
}

/// All files that servers read of the newest generation in a directory.
pub(super) fn victims(directory: &Path) -> anyhow::Result<Vec<Victim>> {
    let names =
        fs::read_dir(directory)?.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let manifest = names.filter(|name| name.starts_with("MANIFEST-")).max();
    let manifest = fs::read(directory.join(manifest.context("there is no manifest")?))?;
    let payload = manifest
        .get(HEADER_BYTES..)
        .context("the manifest is too short")?;
    let mut values = serde_json::Deserializer::from_slice(payload).into_iter::<Value>();
    let manifest = values.next().context("the manifest is empty")??;
    let mut victims = Vec::new();
    let mut add = |file: &Value, holds: Holds| -> anyhow::Result<()> {
        if let Some(name) = file["name"].as_str() {
            let path = directory.join(name);
            victims.push(Victim {
                bytes: fs::read(&path)?,
                path,
                holds,
            });
        }
        Ok(())
    };
    for segment in manifest["segments"].as_array().into_iter().flatten() {
        let chunk = segment["chunk"]
            .as_u64()
            .context("a segment of several chunks")?;
        let holds = Holds::Segment(chunk as u32);
        add(&segment["index"], holds)?;
        add(&segment["pairs"], holds)?;
        add(&segment["documents"], Holds::Texts)?;
    }
    add(&manifest["statistics"], Holds::Statistics)?;
    Ok(victims)
}

impl Victim {
    /// The name of the file.
    pub(super) fn name(&self) -> String {
        self.path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }

    /// Hurts the file where it is, as a program that writes to it would.
    pub(super) fn hurt(&self, injury: Injury, random: &mut Random) -> anyhow::Result<()> {
        let is_writable = fs::metadata(&self.path)?.permissions().mode() & 0o200 != 0;
        if injury == Injury::Touch {
            let mode = if is_writable { 0o444 } else { 0o644 };
            return Ok(fs::set_permissions(
                &self.path,
                Permissions::from_mode(mode),
            )?);
        }
        if !is_writable {
            fs::set_permissions(&self.path, Permissions::from_mode(0o644))?;
        }
        let file = OpenOptions::new().write(true).open(&self.path)?;
        let length = self.bytes.len() as u64;
        let at = random.below(length - 1);
        let count = (1 + random.below(BYTES_MAX)).min(length - 1 - at);
        let old = &self.bytes[at as usize..(at + count) as usize];
        match injury {
            Injury::Flip => file.write_all_at(&[old[0] ^ 1 << random.below(8)], at)?,
            Injury::Truncate => file.set_len(at)?,
            Injury::Overwrite => {
                let new: Vec<u8> = old
                    .iter()
                    .map(|byte| byte ^ (1 + random.below(255)) as u8)
                    .collect();
                file.write_all_at(&new, at)?;
            }
            Injury::Shift => {
                file.write_all_at(old, at + 1)?;
                // Bytes that are all alike are no different after it.
                if self.read()? == self.bytes {
                    file.write_all_at(&[old[0] ^ 1], at)?;
                }
            }
            Injury::Touch => {}
        }
        Ok(())
    }

    /// Puts a whole file in its place, as a person who restores it from a backup should: under another name first.
    pub(super) fn repair(&self) -> anyhow::Result<()> {
        let fresh = self.path.with_extension("restored");
        fs::write(&fresh, &self.bytes)?;
        fs::set_permissions(&fresh, Permissions::from_mode(0o444))?;
        Ok(fs::rename(fresh, &self.path)?)
    }

    fn read(&self) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(&self.path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
