//! Place of the journal of changed settings.

use anyhow::Context;
use std::path::PathBuf;

/// Returns the path of the journal of changed settings, in the user's folder for the state of programs.
pub(super) fn path() -> anyhow::Result<PathBuf> {
    let state = std::env::var_os("XDG_STATE_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/state"));
    let state = state.filter(|path| path.is_absolute()).or_else(home);
    let state = state.context("neither HOME nor XDG_STATE_HOME is set; set one of them")?;
    Ok(state.join("shorttail/settings.journal"))
}
