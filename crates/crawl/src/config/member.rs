//! Members of a crawl: processes that share its hosts.

use super::error::ConfigError;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Process that has a part of the hosts of a crawl.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemberConfig {
    /// Name, which decides which hosts the member has, and stays.
    pub name: String,
    /// Address at which it listens for the others, as `host:port`. May change from run to run.
    pub address: String,
}

/// Checks names and addresses.
pub(super) fn check_members(members: &[MemberConfig]) -> Result<(), ConfigError> {
    let fail = |what: String| Err(ConfigError::Member(what));
    if members.len() == 1 {
        return fail("a single member".to_owned());
    }
    let mut names = HashSet::new();
    for MemberConfig { name, address } in members {
        if name.is_empty() || name.contains(char::is_control) {
            return fail(format!("{name:?} is no name"));
        }
        if !names.insert(name) {
            return fail(format!("the name {name:?} is given twice"));
        }
        let port = address
            .rsplit_once(':')
            .map(|(_, port)| port.parse::<u16>());
        if !matches!(port, Some(Ok(_))) {
            return fail(format!("{address:?} is no address"));
        }
    }
    Ok(())
}
