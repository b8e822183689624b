//! Receiver of submissions for the user's own sites: checks the key, then leaves a ping for the crawl.

use super::Verdict;
use super::key_files::{KeyFiles, Proof};
use super::submission::Submission;
use crate::config::{CrawlConfig, Sites};
use crate::error::CrawlError;
use crate::fetch::{
    AcceptedTypes, FetchOptions, FetchRequest, Fetched, Fetcher, Limits, Outcome, Resolve,
};
use crate::run::{fetch_options, leave_ping, now, opened_sites, pings_waiting};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use subtle::ConstantTimeEq;
use tokio::runtime::Runtime;
use url::Url;
use vfs::SharedStorage;
use web::address::CanonicalUrl;

/// Time limit of a request for a key file, in milliseconds, and limit on the file, in bytes.
const KEY_FILE_MS_MAX: u64 = 10_000;
const KEY_FILE_BYTES_MAX: usize = 1_024;
/// Submissions that wait for the crawl. A crawl that runs takes them every second.
const WAITING_MAX: usize = 1_000;

/// Receiver of the submissions to one crawl. Calls wait for sites and for the disk.
pub struct IndexNow {
    config: CrawlConfig,
    storage: SharedStorage,
    fetcher: Fetcher,
    key_files: Mutex<KeyFiles>,
    /// There until the drop.
    runtime: Option<Runtime>,
}

impl IndexNow {
    /// Prepares to receive for the crawl in `storage`, as `config` says. `resolver` is that of the crawl.
    ///
    /// # Errors
    /// A configuration that cannot be used; no thread for requests.
    pub fn new(
        config: CrawlConfig,
        storage: SharedStorage,
        resolver: Option<Arc<dyn Resolve>>,
    ) -> Result<IndexNow, CrawlError> {
        let sites = config.compile()?;
        let options = fetch_options(&config, &sites, resolver)?;
        let fetcher = Fetcher::new(FetchOptions {
            limits: Limits {
                whole_ms: KEY_FILE_MS_MAX,
                body_bytes_max: KEY_FILE_BYTES_MAX,
                ..options.limits.clone()
            },
            ..options
        })?;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .thread_name("indexnow-keys")
            .build()
            .map_err(CrawlError::Threads)?;
        Ok(IndexNow {
            config,
            storage,
            fetcher,
            key_files: Mutex::default(),
            runtime: Some(runtime),
        })
    }

    /// Takes the submission in the query of a GET.
    pub fn take_query(&self, query: &str) -> Verdict {
        self.take(Submission::of_query(query))
    }

    /// Takes the submission in the body of a POST.
    pub fn take_body(&self, body: &[u8]) -> Verdict {
        self.take(Submission::of_body(body))
    }

    fn take(&self, read: Result<Submission, Verdict>) -> Verdict {
        let checked = read.and_then(|submission| {
            // A seed may have been redirected since, which extends its site.
            let sites = opened_sites(&self.config, &self.storage).map_err(failed)?;
            self.admitted(&sites, &submission)
        });
        checked.unwrap_or_else(|verdict| verdict)
    }

    fn admitted(&self, sites: &Sites, submission: &Submission) -> Result<Verdict, Verdict> {
        let is_own = |url: &&CanonicalUrl| sites.admit(url).is_ok_and(|site| site.owned);
        let urls: Vec<&CanonicalUrl> = submission.urls.iter().filter(is_own).collect();
        let Some(first) = urls.first() else {
            return Err(Verdict::NotOurs(format!(
                "{}: no site of this crawl that is its user's own has this URL (owned = true)",
                submission.urls[0]
            )));
        };
        let key = submission.key.as_bytes();
        let own = sites.indexnow_key(first);
        if urls.iter().any(|url| sites.indexnow_key(url) != own) {
            let reason = "the URLs are of sites with different keys; submit them apart";
            return Err(Verdict::WrongKey(reason.to_owned()));
        }
        match own {
            Some(own) if bool::from(own.as_bytes().ct_eq(key)) => {}
            Some(_) => {
                let reason = "the key is not that of the configuration (indexnow_key)";
                return Err(Verdict::WrongKey(reason.to_owned()));
            }
            None => self.prove(submission)?,
        }
        if pings_waiting(&self.storage).map_err(failed)? >= WAITING_MAX {
            return Err(Verdict::TooMany { retry_after_s: 60 });
        }
        leave_ping(&self.storage, urls.iter().copied()).map_err(failed)?;
        Ok(Verdict::Accepted {
            urls: urls.len(),
            left_out: submission.urls.len() - urls.len(),
        })
    }

    /// Checks the key by its file on the site.
    fn prove(&self, submission: &Submission) -> Result<(), Verdict> {
        let (file, key) = (submission.key_file.as_str(), submission.key.as_str());
        let origin = submission.key_file.origin();
        match self.key_files().look(file, origin, key, now()) {
            Proof::Proved => return Ok(()),
            Proof::Later { retry_after_s } => return Err(Verdict::TooMany { retry_after_s }),
            Proof::Request => {}
        }
        let url = Url::parse(file).map_err(|error| Verdict::Malformed(error.to_string()))?;
        let request = FetchRequest {
            accepted: AcceptedTypes::Any,
            ..FetchRequest::new(&url)
        };
        let Some(runtime) = &self.runtime else {
            return Err(Verdict::Failed("the receiver has ended".to_owned()));
        };
        let fetched = runtime.block_on(self.fetcher.fetch(&request));
        let fetched = fetched.map_err(|error| Verdict::KeyUnavailable(error.to_string()))?;
        match fetched.status {
            429 | 500..=599 => {
                let reason = format!("{file}: status {}", fetched.status);
                Err(Verdict::KeyUnavailable(reason))
            }
            _ if has_key(&fetched, key) => {
                self.key_files().proved(file, key, now());
                Ok(())
            }
            status => Err(Verdict::WrongKey(format!(
                "{file}: status {status}, and not the key alone; put a text file there whose only line is the key"
            ))),
        }
    }

    fn key_files(&self) -> MutexGuard<'_, KeyFiles> {
        self.key_files
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for IndexNow {
    fn drop(&mut self) {
        // A server drops it on a thread that must not wait.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn failed(error: CrawlError) -> Verdict {
    Verdict::Failed(error.to_string())
}

fn has_key(fetched: &Fetched, key: &str) -> bool {
    let is_whole = fetched.status == 200 && fetched.truncated.is_none();
    let text = fetched.body.trim_ascii();
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    is_whole && fetched.outcome == Outcome::Page && text == key.as_bytes()
}
