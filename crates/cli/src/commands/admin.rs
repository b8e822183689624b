//! How a server is administered: options, and the line that says where.

use serve::{AdminAddress, AdminOptions, AdminToken, Server};
use std::io::Write;
use std::path::PathBuf;

/// Where a server is administered.
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct AdminArguments {
    /// The address of /metrics and of POST /reload; off for none [default: loopback, at the port after
    /// that of --listen or a free one]
    #[arg(long, value_name = "ADDRESS")]
    admin: Option<String>,
    /// A file with the token, of 16 bytes at least, that administrators send as Authorization: Bearer TOKEN;
    /// needed where --admin is not loopback
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
}

impl AdminArguments {
    /// The options; an error where the token cannot be used.
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

/// Says where a server is administered, and then where it listens: who waits for that line has seen the other.
pub(crate) fn print_addresses(server: &Server) -> std::io::Result<()> {
    if let Some(address) = server.admin_address() {
        writeln!(std::io::stdout(), "admin on http://{address}")?;
    }
    super::serving::print_address("http://", server.address())
}
