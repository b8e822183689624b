//! Sites of a crawl, compiled: which URLs belong to one, and the settings that hold for them.

use super::error::ConfigError;
use super::site::{SiteConfig, is_indexnow_key, seed};
use std::collections::{BTreeMap, HashSet};
use web::address::{CanonicalUrl, ParameterSet, Scope, ScopeForm};

/// Site with its boundary.
#[derive(Debug, Clone)]
struct Site {
    seeds: Vec<CanonicalUrl>,
    scope: Scope,
    config: SiteConfig,
    parameters: ParameterSet,
    origins: HashSet<String>,
}

/// Sites of a crawl.
#[derive(Debug, Clone)]
pub struct Sites {
    sites: Vec<Site>,
    /// Parameters that never changed a text, by origin.
    learnt: BTreeMap<String, ParameterSet>,
}

/// Permission to visit a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// Position of the site that the URL belongs to.
    pub site: usize,
    /// Whether the site is the user's own.
    pub owned: bool,
}

impl Sites {
    pub(super) fn new(configs: Vec<SiteConfig>) -> Result<Sites, ConfigError> {
        let sites = configs.into_iter().map(|config| {
            if config.seeds.is_empty() {
                return Err(ConfigError::NoSeeds("a site"));
            }
            let key = config.indexnow_key.as_deref();
            if key.is_some_and(|key| !config.owned || !is_indexnow_key(key)) {
                return Err(ConfigError::IndexNowKey);
            }
            let parameters = ParameterSet::new(&config.parameters);
            let seeds = config
                .seeds
                .iter()
                .map(|text| Ok(seed(text)?.without(&parameters)))
                .collect::<Result<Vec<_>, ConfigError>>()?;
            Site::new(config, seeds, parameters)
        });
        let sites = sites.collect::<Result<_, _>>()?;
        Ok(Sites {
            sites,
            learnt: BTreeMap::new(),
        })
    }

    /// Returns the seeds of all sites.
    pub fn seeds(&self) -> impl Iterator<Item = &CanonicalUrl> {
        self.sites.iter().flat_map(|site| &site.seeds)
    }

    /// Decides whether a URL may be visited.
    ///
    /// # Errors
    /// The reason of the last site: a rule, or its boundary.
    pub fn admit(&self, url: &CanonicalUrl) -> Result<Admission, String> {
        let mut reason = String::new();
        for (at, site) in self.sites.iter().enumerate() {
            let decision = site.scope.decide(url);
            if decision.allowed {
                return Ok(Admission {
                    site: at,
                    owned: site.config.owned,
                });
            }
            reason = decision.reason.to_string();
        }
        Err(reason)
    }

    /// Drops parameters, given with their origins, beside those of the configuration.
    pub(crate) fn learn(&mut self, parameters: &[(String, String)]) {
        let mut names: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (origin, name) in parameters {
            names.entry(origin).or_default().push(name);
        }
        let sets = names.into_iter();
        self.learnt = sets
            .map(|(origin, names)| (origin.to_owned(), ParameterSet::new(names)))
            .collect();
    }

    /// Returns the URL to visit instead, if it has parameters that were learnt to be without effect. Links are kept as
    /// they stand: what is learnt later must not change what an earlier page said.
    pub(crate) fn without_learnt(&self, url: &CanonicalUrl) -> Option<CanonicalUrl> {
        let parameters = self.learnt.get(url.origin())?;
        Some(url.without(parameters))
    }

    /// Returns the URL without the parameters that its site drops.
    pub fn cleaned(&self, url: CanonicalUrl) -> CanonicalUrl {
        let site = self
            .sites
            .iter()
            .find(|site| !site.parameters.is_empty() && site.scope.decide(&url).allowed);
        match site {
            Some(site) => url.without(&site.parameters),
            None => url,
        }
    }

    /// Returns the site of a URL, if its pages are rendered.
    pub(crate) fn rendered(&self, url: &CanonicalUrl) -> Option<&SiteConfig> {
        let config = &self.sites.get(self.admit(url).ok()?.site)?.config;
        config.render.then_some(config)
    }

    /// Returns whether any site is rendered.
    pub(crate) fn is_any_rendered(&self) -> bool {
        self.sites.iter().any(|site| site.config.render)
    }

    /// Returns the IndexNow key that is configured for the site of a URL.
    pub fn indexnow_key(&self, url: &CanonicalUrl) -> Option<&str> {
        let site = self.sites.get(self.admit(url).ok()?.site)?;
        site.config.indexnow_key.as_deref()
    }

    /// Returns the headers that are configured for an origin.
    pub fn headers(&self, origin: &str) -> Option<&BTreeMap<String, String>> {
        let site = self
            .sites
            .iter()
            .find(|site| site.origins.contains(origin))?;
        (!site.config.headers.is_empty()).then_some(&site.config.headers)
    }

    /// Returns the origins of the seeds of the user's own sites.
    pub fn owned_origins(&self) -> impl Iterator<Item = &str> {
        let owned = self.sites.iter().filter(|site| site.config.owned);
        owned.flat_map(|site| site.seeds.iter().map(CanonicalUrl::origin))
    }

    /// Returns the origins that have headers, with these.
    pub fn origins_with_headers(&self) -> impl Iterator<Item = (&str, &BTreeMap<String, String>)> {
        let sites = self
            .sites
            .iter()
            .filter(|site| !site.config.headers.is_empty());
        sites.flat_map(|site| {
            let origins = site.origins.iter();
            origins.map(|origin| (origin.as_str(), &site.config.headers))
        })
    }

    /// Extends the sites that have the seed `from` by the target of its redirect: `example.org` that redirects to
    /// `www.example.org` is what the user meant. Only within the same registrable domain. Returns whether a site changed.
    pub fn follow_seed(
        &mut self,
        from: &CanonicalUrl,
        to: &CanonicalUrl,
    ) -> Result<bool, ConfigError> {
        let mut changed = false;
        for site in &mut self.sites {
            let is_new = site.seeds.contains(from) && !site.seeds.contains(to);
            if !is_new || from.site() != to.site() || site.scope.decide(to).allowed {
                continue;
            }
            let mut seeds = site.seeds.clone();
            seeds.push(to.clone());
            *site = Site::new(site.config.clone(), seeds, site.parameters.clone())?;
            changed = true;
        }
        Ok(changed)
    }
}

impl Site {
    fn new(
        config: SiteConfig,
        seeds: Vec<CanonicalUrl>,
        parameters: ParameterSet,
    ) -> Result<Site, ConfigError> {
        let form = ScopeForm {
            within: config.within,
            rules: config.rules.clone(),
        };
        // Of the configured seeds alone: a redirect does not get the user's credentials.
        let origins = seeds
            .iter()
            .take(config.seeds.len())
            .map(|url| url.origin().to_owned());
        Ok(Site {
            origins: origins.collect(),
            scope: Scope::new(&seeds, form)?,
            seeds,
            config,
            parameters,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::CrawlConfig;
    use super::*;

    #[test]
    fn a_redirected_seed_extends_its_site_within_the_domain() {
        let mut sites = CrawlConfig::of_seeds(vec!["http://example.org".into()])
            .compile()
            .unwrap();
        let [from, www, other, inner] = [
            "http://example.org/",
            "https://www.example.org/",
            "https://example.com/",
            "https://www.example.org/a",
        ]
        .map(|url| CanonicalUrl::parse(url).unwrap());
        assert!(!sites.follow_seed(&from, &other).unwrap());
        assert!(sites.admit(&other).is_err() && sites.admit(&inner).is_err());
        assert!(sites.follow_seed(&from, &www).unwrap());
        assert!(sites.admit(&inner).is_ok() && sites.admit(&from).is_ok());
        assert!(!sites.follow_seed(&from, &www).unwrap());
    }

    #[test]
    fn learnt_parameters_are_dropped_on_their_origin() {
        let config = CrawlConfig::of_seeds(vec!["http://example.org".into()]);
        let mut sites = config.compile().unwrap();
        sites.learn(&[("http://example.org".into(), "visit".into())]);
        let visited = |url: &str| sites.without_learnt(&CanonicalUrl::parse(url).unwrap());
        let other = visited("http://example.org/?a=1&visit=9").unwrap();
        assert_eq!(other.as_str(), "http://example.org/?a=1");
        assert_eq!(visited("http://example.com/?visit=9"), None);
    }

    #[test]
    fn headers_go_to_the_origins_of_seeds_alone() {
        let config = CrawlConfig::from_toml("[[site]]\nseeds = ['https://a.example.org/x']\nwithin = 'site'\nheaders = { Authorization = 'b' }").unwrap();
        let sites = config.compile().unwrap();
        assert!(sites.headers("https://a.example.org").is_some());
        for other in [
            "http://a.example.org",
            "https://example.org",
            "https://b.example.org",
        ] {
            assert!(sites.headers(other).is_none(), "{other}");
        }
    }
}
