//! Options of the admin address of a server, and the output of its addresses.

use serve::{AdminAddress, AdminOptions, AdminToken, Server};
use std::io::Write;
use std::path::PathBuf;

/// Admin address and its token.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct AdminArguments {
    /// Address of /metrics and of POST /reload, or off [default: loopback, at the port after that of --listen
    /// or a free one]
    #[arg(long, value_name = "ADDRESS", help_heading = "Administration")]
    admin: Option<String>,
    /// File with the token, of at least 16 bytes, that administrators send as Authorization: Bearer TOKEN;
    /// required if --admin is not a loopback address
    #[arg(long, value_name = "FILE", help_heading = "Administration")]
    admin_token_file: Option<PathBuf>,
}

impl AdminArguments {
    /// Returns the options; an error if the token cannot be used.
    pub(crate) fn options(&self) -> anyhow::Result<AdminOptions> {
        let token = self.admin_token_file.as_deref().map(AdminToken::read);
        Ok(AdminOptions {
            address: match self.admin.as_deref() {
                None => AdminAddress::Beside,
                Some("off") => AdminAddress::Off,
                Some(address) => AdminAddress::At(address.to_owned()),
            },
            token: token.transpose()?,
        })
    }
}

/// Prints the admin address of a server, then the address that it listens on: a program that waits for the second
/// line has read both.
pub(crate) fn print_addresses(server: &Server) -> std::io::Result<()> {
    if let Some(address) = server.admin_address() {
        writeln!(std::io::stdout(), "admin on http://{address}")?;
    }
    super::serving::print_address("http://", server.address())
}
