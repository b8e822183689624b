//! Parts of a crawl made from its configuration, and questions to the crawl of another process.

use super::state::{self, CrawlState, LOCK_NAME, STOP_NAME};
use crate::config::{ConfigError, CrawlConfig, Sites};
use crate::error::CrawlError;
use crate::fetch::{AddressGuard, FetchOptions, Fetcher, Limits, OriginHeaders, Resolve};
use crate::frontier::FrontierOptions;
use crate::politeness::{Law, TimeMs};
use crate::render::{RenderOptions, Renderer, find_program};
use index::BuildOptions;
use jiff::Timestamp;
use std::sync::Arc;
use std::time::Duration;
use tokio_rustls::rustls::pki_types::CertificateDer;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use url::Url;
use vfs::SharedStorage;
use web::address::{CanonicalUrl, path_shape};
use wire::{CrawlProgress, CrawlStatus};
use xxhash_rust::xxh3::xxh3_64;

/// Compiles the sites of a configuration, extended by the redirects of seeds that earlier runs followed.
pub(crate) fn opened_sites(
    config: &CrawlConfig,
    storage: &SharedStorage,
) -> Result<Sites, CrawlError> {
    sites_of_all(config, std::slice::from_ref(storage))
}

/// Compiles the sites of a configuration with what all members of the crawl have learnt of them.
pub(super) fn sites_of_all(
    config: &CrawlConfig,
    storages: &[SharedStorage],
) -> Result<Sites, CrawlError> {
    let mut sites = config.compile()?;
    let mut learnt = Vec::new();
    for storage in storages {
        let state = CrawlState::read(storage)?.unwrap_or_default();
        for (from, to) in &state.followed_seeds {
            if let (Ok(from), Ok(to)) = (CanonicalUrl::parse(from), CanonicalUrl::parse(to)) {
                sites.follow_seed(&from, &to)?;
            }
        }
        learnt.extend(state.learnt_parameters);
    }
    sites.learn(&learnt);
    Ok(sites)
}

/// Returns options of a build with the fields that a configuration declares.
pub(super) fn build_options(config: &CrawlConfig, build: BuildOptions) -> BuildOptions {
    BuildOptions {
        fields: build.fields.overridden_by(&config.fields),
        ..build
    }
}

/// Returns the names of all members of the crawl in `storage`, in order, and the one whose folder it is; no names where
/// one process has the crawl.
pub fn members_of(storage: &SharedStorage) -> Result<(Vec<String>, Option<String>), CrawlError> {
    let state = CrawlState::read(storage)?.unwrap_or_default();
    Ok((state.members, state.member))
}

/// Returns the figures that the last run wrote, which may be running.
pub fn progress_of(storage: &SharedStorage) -> Result<Option<CrawlProgress>, CrawlError> {
    state::read_status(storage)
}

/// Returns the figures that the last run wrote, and whether it runs.
pub fn status_of(storage: &SharedStorage) -> Result<CrawlStatus, CrawlError> {
    // First, so that a run that ends meanwhile is not one that was interrupted.
    let is_running = is_running(storage)?;
    Ok(CrawlStatus {
        progress: progress_of(storage)?.unwrap_or_default(),
        is_running,
    })
}

/// Returns whether a crawl runs in `storage`.
pub fn is_running(storage: &SharedStorage) -> Result<bool, CrawlError> {
    Ok(storage.is_locked(LOCK_NAME)?)
}

/// Asks the running crawl to end. It commits the index, and the next run goes on.
pub fn request_stop(storage: &SharedStorage) -> Result<(), CrawlError> {
    match storage.create(STOP_NAME) {
        Ok(file) => Ok(file.finish()?),
        // Asked already.
        Err(_) if storage.open(STOP_NAME).is_ok() => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Returns an instant as RFC 3339, in seconds.
pub fn time_text(at: TimeMs) -> String {
    let seconds = i64::try_from(at.0 / 1000).unwrap_or(i64::MAX);
    Timestamp::from_second(seconds).map_or_else(|_| "never".to_owned(), |at| at.to_string())
}

/// Returns the time of the system's clock.
pub(crate) fn now() -> TimeMs {
    TimeMs(u64::try_from(Timestamp::now().as_millisecond()).unwrap_or(0))
}

/// Returns the time rounded up, for the end of a visit: a pause that begins with it is not short by a fraction of a
/// millisecond.
pub(super) fn ended_now() -> TimeMs {
    now().plus_ms(1)
}

fn shape_of(url: &str) -> u64 {
    CanonicalUrl::parse(url).map_or(0, |url| xxh3_64(coarse(&path_shape(&url)).as_bytes()))
}

/// Cuts a shape after three folders and three parameters, and takes no account of case: traps go ever deeper.
fn coarse(shape: &str) -> String {
    let (path, query) = shape.split_once('?').unwrap_or((shape, ""));
    let folders: Vec<&str> = path.split('/').take(5).collect();
    let names: Vec<&str> = query.split('&').take(3).collect();
    format!("{}?{}", folders.join("/"), names.join("&")).to_lowercase()
}

fn law(config: &CrawlConfig) -> Law {
    Law {
        gap_ms_min: (config.gap_s * 1000.0) as u64,
        ..Law::default()
    }
}

pub(super) fn frontier_options(config: &CrawlConfig, sites: &Sites) -> FrontierOptions {
    FrontierOptions {
        law: law(config),
        shape: shape_of,
        owned: sites.owned_origins().map(str::to_owned).collect(),
        ..FrontierOptions::default()
    }
}

/// Returns the renderer, if a site is rendered.
pub(super) fn renderer(
    config: &CrawlConfig,
    sites: &Sites,
    fetcher: &Arc<Fetcher>,
) -> Result<Option<Renderer>, CrawlError> {
    if !sites.is_any_rendered() {
        return Ok(None);
    }
    let program = config.chromium.clone().or_else(find_program);
    let options = RenderOptions {
        program: program.ok_or(CrawlError::NoChromium)?,
        arguments: config.chromium_arguments.clone(),
        user_agent: config.user_agent.clone(),
        product_token: config.product_token().to_owned(),
        page_max: Duration::from_secs_f64(config.render_max_s),
        law: law(config),
        html_bytes_max: config.body_bytes_max,
        browsers_max: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let renderer = Renderer::new(options, fetcher.clone());
    renderer
        .map(Some)
        .map_err(|error| CrawlError::Render(error.to_string()))
}

pub(crate) fn fetch_options(
    config: &CrawlConfig,
    sites: &Sites,
    resolver: Option<Arc<dyn Resolve>>,
) -> Result<FetchOptions, ConfigError> {
    let defaults = FetchOptions::default();
    let headers = sites
        .origins_with_headers()
        .filter_map(|(origin, headers)| {
            let parsed = headers
                .iter()
                .filter_map(|(name, value)| Some((name.parse().ok()?, value.parse().ok()?)));
            Some(OriginHeaders {
                origin: Url::parse(origin).ok()?,
                headers: parsed.collect(),
            })
        });
    let mut authorities = Vec::new();
    for path in &config.authorities {
        let failed = |source| {
            let path = path.clone();
            ConfigError::Authority { path, source }
        };
        for certificate in CertificateDer::pem_file_iter(path).map_err(failed)? {
            authorities.push(certificate.map_err(failed)?);
        }
    }
    Ok(FetchOptions {
        authorities,
        user_agent: config.user_agent.clone(),
        limits: Limits {
            body_bytes_max: config.body_bytes_max,
            ..Limits::default()
        },
        guard: AddressGuard::new(config.allow_addresses.clone()),
        resolver: resolver.unwrap_or(defaults.resolver.clone()),
        headers: headers.collect(),
        ..defaults
    })
}
