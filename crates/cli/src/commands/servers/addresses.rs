//! Options of the addresses of documents that servers show, and of the files that they send.

use anyhow::{Context, bail};
use serve::{AddressMap, AddressOptions, parse_address_map};
use std::path::{Path, PathBuf};

/// How addresses of documents are shown, and which files are sent.
#[derive(Debug, clap::Args)]
pub(crate) struct AddressArguments {
    /// Show addresses that begin in one way as if they began in another: file:///srv/docs=https://intranet/docs; may be
    /// repeated, the longest beginning wins
    #[arg(long = "map", value_name = "FROM=TO", value_parser = parse_address_map, help_heading = "Addresses and files of documents")]
    maps: Vec<AddressMap>,
    /// Send the files of documents below a folder of this machine, at /original/, and link hits to them; may be repeated
    #[arg(
        long,
        value_name = "FOLDER",
        help_heading = "Addresses and files of documents"
    )]
    originals: Vec<PathBuf>,
}

impl AddressArguments {
    pub(crate) fn options(&self) -> anyhow::Result<AddressOptions> {
        let originals = self.originals.iter().map(|path| folder(path));
        Ok(AddressOptions {
            maps: self.maps.clone(),
            originals: originals.collect::<anyhow::Result<_>>()?,
        })
    }
}

/// Returns the real path of a folder, as the addresses of documents have it.
fn folder(path: &Path) -> anyhow::Result<PathBuf> {
    let real = std::fs::canonicalize(path);
    let real = real.with_context(|| format!("--originals: {}", path.display()))?;
    if !real.is_dir() {
        bail!("--originals: {}: not a folder", path.display());
    }
    Ok(real)
}
