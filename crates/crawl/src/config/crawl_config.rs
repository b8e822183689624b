//! Configuration of a whole crawl: reading, defaults, checks.

use super::error::ConfigError;
use super::member::{MemberConfig, check_members};
use super::site::SiteConfig;
use super::sites::Sites;
use fields::Declarations;
use ipnet::IpNet;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A crawl as configured.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CrawlConfig {
    /// Sites to crawl.
    #[serde(rename = "site")]
    pub sites: Vec<SiteConfig>,
    /// Processes that share the hosts of the crawl; none where one process has them all.
    #[serde(rename = "member")]
    pub members: Vec<MemberConfig>,
    /// Time for which a member that has nothing to do waits for members that it cannot reach, in seconds.
    pub members_wait_s: f64,
    /// `User-Agent` of every request. Its first token is the name that robots.txt addresses.
    pub user_agent: String,
    /// Networks of private addresses that may be connected to, as `127.0.0.0/8`. All others are refused.
    pub allow_addresses: Vec<IpNet>,
    /// Chromium, for sites that are rendered. `None`: the first one on the path.
    pub chromium: Option<PathBuf>,
    /// Further arguments of Chromium.
    pub chromium_arguments: Vec<String>,
    /// Time to render a page, in seconds; after it the page is taken as it was fetched.
    pub render_max_s: f64,
    /// Files (PEM) of certificate authorities that are trusted beside those of the web, such as that of an intranet.
    pub authorities: Vec<PathBuf>,
    /// Time between two commits of the index, in seconds.
    pub commit_every_s: f64,
    /// Pages fetched in one run, at most. `None`: no limit.
    pub pages_max: Option<u64>,
    /// Fetches under way over all hosts, at most.
    pub fetches_max: usize,
    /// Links from a seed, at most. Pages farther away are not visited.
    pub depth_max: u16,
    /// Body of a page, in bytes; the rest is cut, and counted.
    pub body_bytes_max: usize,
    /// Shortest time between two requests to a host, in seconds, unless robots.txt asks for more.
    pub gap_s: f64,
    /// Body of a WARC file, in bytes, after which the next file begins.
    pub warc_bytes_max: u64,
    /// Declarations of fields of the index, such as weights.
    pub fields: Declarations,
}

impl Default for CrawlConfig {
    fn default() -> Self {
        CrawlConfig {
            sites: Vec::new(),
            members: Vec::new(),
            members_wait_s: 60.0,
            user_agent: USER_AGENT.to_owned(),
            allow_addresses: Vec::new(),
            chromium: None,
            chromium_arguments: Vec::new(),
            render_max_s: 60.0,
            authorities: Vec::new(),
            commit_every_s: 60.0,
            pages_max: None,
            fetches_max: 64,
            depth_max: 20,
            body_bytes_max: 10 << 20,
            gap_s: 0.5,
            warc_bytes_max: 1 << 30,
            fields: Declarations::default(),
        }
    }
}

/// Name of the crawler. Who crawls the sites of others adds the address of a page that tells who they are.
pub const USER_AGENT: &str = concat!("Shorttail/", env!("CARGO_PKG_VERSION"));

impl CrawlConfig {
    /// Reads a configuration in TOML.
    pub fn from_toml(text: &str) -> Result<CrawlConfig, ConfigError> {
        toml::from_str(text)
            .map_err(|error| ConfigError::Syntax(error.to_string().trim().to_owned()))
    }

    /// Returns the configuration of one site, with defaults.
    pub fn of_seeds(seeds: Vec<String>) -> CrawlConfig {
        CrawlConfig {
            sites: vec![SiteConfig {
                seeds,
                ..SiteConfig::default()
            }],
            ..CrawlConfig::default()
        }
    }

    /// Returns the name that groups of robots.txt address: the first product token of the user agent.
    pub fn product_token(&self) -> &str {
        let end = self
            .user_agent
            .find(|c: char| !(c.is_ascii_alphabetic() || c == '-' || c == '_'));
        &self.user_agent[..end.unwrap_or(self.user_agent.len())]
    }

    /// Returns the position of a member.
    ///
    /// # Errors
    /// No such member.
    pub fn member_at(&self, name: &str) -> Result<usize, ConfigError> {
        let names: Vec<&str> = self.members.iter().map(|member| &*member.name).collect();
        let at = names.iter().position(|known| *known == name);
        at.ok_or_else(|| ConfigError::NoMember {
            name: name.to_owned(),
            members: match names.is_empty() {
                true => "none".to_owned(),
                false => names.join(", "),
            },
        })
    }

    /// Compiles the sites.
    ///
    /// # Errors
    /// No seeds; seeds, rules or members that are none; numbers out of range.
    pub fn compile(&self) -> Result<Sites, ConfigError> {
        let ranges = [
            ("commit_every_s", self.commit_every_s, 0.1, "0.1 and more"),
            ("gap_s", self.gap_s, 0.0, "0 and more"),
            ("members_wait_s", self.members_wait_s, 0.0, "0 and more"),
            ("render_max_s", self.render_max_s, 1.0, "1 and more"),
            ("fetches_max", self.fetches_max as f64, 1.0, "1 and more"),
        ];
        for (name, value, least, range) in ranges {
            if !value.is_finite() || value < least {
                return Err(ConfigError::Range { name, value, range });
            }
        }
        check_members(&self.members)?;
        if self.sites.is_empty() {
            return Err(ConfigError::NoSeeds("the configuration"));
        }
        Sites::new(self.sites.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::super::seed;
    use super::*;

    #[test]
    fn a_configuration_is_read() {
        let config = CrawlConfig::from_toml(
            "commit_every_s = 5\nallow_addresses = ['10.0.0.0/8']\nfields.rank = { type = 'f64', prior = { weight = 0 } }\n[[site]]\nseeds = ['docs.example.org/a/']\nwithin = 'path'\nrules = [{ deny = '.zip' }]\n",
        )
        .unwrap();
        assert_eq!(config.commit_every_s, 5.0);
        let declared = config.fields.iter().next().unwrap();
        assert_eq!(declared.0, "rank");
        assert_eq!(declared.1.prior, Some(fields::DeclaredPrior::Off));
        assert_eq!(config.product_token(), "Shorttail");
        let sites = config.compile().unwrap();
        let admits = |url: &str| sites.admit(&seed(url).unwrap()).is_ok();
        assert!(admits("https://docs.example.org/a/b"));
        assert!(!admits("https://docs.example.org/b"));
        assert!(!admits("https://docs.example.org/a/b.zip"));
    }

    #[test]
    fn mistakes_are_named() {
        let told = |text: &str| match CrawlConfig::from_toml(text) {
            Ok(config) => config.compile().err().map(|error| error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        assert!(told("sites = 1").unwrap().contains("sites"));
        assert!(told("").unwrap().contains("no seeds"));
        assert!(told("[[site]]\nowned = true").unwrap().contains("no seeds"));
        assert!(
            told("gap_s = -1\n[[site]]\nseeds = ['a.b']")
                .unwrap()
                .contains("gap_s")
        );
        assert!(told("[[site]]\nseeds = ['ftp://a.b/']").is_some());
        assert!(
            told("[[site]]\nseeds = ['a.b']\nrules = [{ deny = 'x' }]")
                .unwrap()
                .contains('x')
        );
        for site in [
            "owned = true\nindexnow_key = 'short'",
            "owned = true\nindexnow_key = 'not a key'",
            "indexnow_key = 'abcd1234'",
        ] {
            let told = told(&format!("[[site]]\nseeds = ['a.b']\n{site}"));
            assert!(told.unwrap().contains("indexnow_key"), "{site}");
        }
        let member =
            |name, address| format!("[[member]]\nname = '{name}'\naddress = '{address}'\n");
        let site = "[[site]]\nseeds = ['a.b']";
        for (members, part) in [
            (member("a", "h:1"), "2 or more"),
            (member("a", "h:1") + &member("a", "h:2"), "twice"),
            (member("a", "h:1") + &member("", "h:2"), "name"),
            (member("a", "h:1") + &member("b", "h"), "host:port"),
        ] {
            let told = told(&(members + site)).unwrap();
            assert!(told.contains(part), "{told}");
        }
        assert_eq!(
            told(&(member("a", "h:1") + &member("b", "h:2") + site)),
            None
        );
        assert_eq!(told(site), None);
    }
}
