//! Injuries to index files that servers have open, and their repair.

use anyhow::Context;
use serde_json::Value;
use stats::Random;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::Read;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Upper limit on the time until damage is noticed. Servers examine their files each second, under any load; a busy
/// machine makes them late.
pub(super) const NOTICED_MAX: Duration = Duration::from_secs(15);
/// Metric of the files found damaged.
pub(super) const DAMAGED_FILES: &str = "shorttail_damaged_files";

/// Upper limit on the bytes overwritten or shifted.
const BYTES_MAX: u64 = 64 << 10;
/// Offset of a file's payload, in bytes.
const HEADER_BYTES: usize = 64;

/// Kind of damage to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Injury {
    /// One bit is inverted.
    Flip,
    /// The end is cut off.
    Truncate,
    /// Some bytes are replaced by random ones.
    Overwrite,
    /// Some bytes are moved by one.
    Shift,
    /// No byte is changed, only the permissions: the file must be trusted again.
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

/// Content of an index file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Holds {
    /// Lists or pairs of the segment that has this chunk.
    Segment(u32),
    /// Texts of a segment.
    Texts,
    /// Statistics, which all plans need.
    Statistics,
}

/// An index file with a copy of its undamaged bytes.
#[derive(Debug, Clone)]
pub(super) struct Victim {
    path: PathBuf,
    bytes: Vec<u8>,
    pub(super) holds: Holds,
}

/// Returns all files of the newest generation in a directory that servers read.
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

/// Returns all files of the newest generation by kind, whatever the manifest says of them: by their endings, of
/// statistics by the beginning.
///
/// # Errors
/// A file of a kind that is not among `kinds`, so that nobody injures it, and a kind of which there is no file.
pub(super) fn every_file(
    directory: &Path,
    kinds: &[&'static str],
) -> anyhow::Result<BTreeMap<&'static str, Vec<Victim>>> {
    let mut by_kind: BTreeMap<&'static str, Vec<Victim>> = BTreeMap::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // What no open index reads: manifests and logs are read at opening, and the lock has no content.
        let is_apart = ["MANIFEST-", "log-"]
            .iter()
            .any(|start| name.starts_with(start));
        if is_apart || name == "writer.lock" {
            continue;
        }
        let is_of = |kind: &&&str| match path.extension() {
            Some(ending) => ending == **kind,
            None => name.starts_with(&format!("{kind}-")),
        };
        let kind = kinds.iter().find(is_of);
        let kind = kind.with_context(|| format!("{name}: a file of a kind without an injury"))?;
        by_kind.entry(kind).or_default().push(Victim {
            bytes: fs::read(&path)?,
            path: path.clone(),
            holds: Holds::Texts,
        });
    }
    match kinds.iter().find(|kind| !by_kind.contains_key(**kind)) {
        Some(kind) => anyhow::bail!("the index has no file of the kind {kind}"),
        None => Ok(by_kind),
    }
}

impl Victim {
    /// Returns the name of the file.
    pub(super) fn name(&self) -> String {
        self.path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    }

    /// Damages the file in place, as a program that writes to it would.
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
                // A shift of equal bytes changes nothing.
                if self.read()? == self.bytes {
                    file.write_all_at(&[old[0] ^ 1], at)?;
                }
            }
            Injury::Touch => {}
        }
        Ok(())
    }

    /// Replaces the file by an undamaged one, as in a correct restore from a backup: written under another name first.
    pub(super) fn repair(&self) -> anyhow::Result<()> {
        let fresh = self.path.with_extension("restored");
        fs::write(&fresh, &self.bytes)?;
        fs::set_permissions(&fresh, Permissions::from_mode(0o444))?;
        Ok(fs::rename(fresh, &self.path)?)
    }

    /// Writes the undamaged bytes over the damaged ones.
    pub(super) fn put_back(&self) -> anyhow::Result<()> {
        let file = OpenOptions::new().write(true).open(&self.path)?;
        Ok(file.write_all_at(&self.bytes, 0)?)
    }

    /// Does what [`Victim::repair`] does, unless a commit has removed the file.
    pub(super) fn repair_where_it_is_left(&self) -> anyhow::Result<()> {
        match self.path.exists() {
            true => self.repair(),
            false => Ok(()),
        }
    }

    fn read(&self) -> anyhow::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        File::open(&self.path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }
}
