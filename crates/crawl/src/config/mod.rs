//! Configuration of a crawl: sites with their seeds, boundaries and manners, and limits of the whole.
//!
//! Example:
//!
//! ```toml
//! commit_every_s = 60
//! [[site]]
//! seeds = ["https://docs.example.org/"]
//! rules = [{ deny = "/old/" }, { deny = ".zip" }]
//! [[site]]
//! seeds = ["http://intranet.example.org/"]
//! owned = true
//! headers = { Authorization = "Bearer 123" }
//! ```

mod crawl_config;
mod error;
mod member;
mod site;
mod sites;

pub use crawl_config::{CrawlConfig, USER_AGENT};
pub use error::ConfigError;
pub use member::MemberConfig;
pub(crate) use site::is_indexnow_key;
pub use site::{SiteConfig, seed};
pub use sites::{Admission, Sites};
pub use web::address::{RuleForm, Within};
