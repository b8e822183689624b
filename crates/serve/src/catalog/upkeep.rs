//! Regular work on the indexes of a catalog: newer generations, writers that nobody uses, indexes beyond what may be open.

use super::{Catalog, CatalogError, beside};
use crate::snapshot::reloads::in_background;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Pause of writes after which a writer is closed.
const WRITER_PAUSE: Duration = Duration::from_secs(60);
/// Upper limit on the indexes that are open: each takes a few dozen of the mappings that the kernel allows a process.
const OPEN_MAX: usize = 2_000;

/// Upper limit on the writers that are open: each has four threads, and memory for changes.
const WRITERS_MAX: usize = 32;

impl Catalog {
    /// Closes the writers used least recently where too many are open, unless somebody uses them.
    pub(super) fn limit_writers(&self) {
        let apps = self.open_apps().into_iter();
        let mut open: Vec<_> = apps
            .filter_map(|app| Some((app.writer.used()?, app)))
            .collect();
        let surplus = open.len().saturating_sub(WRITERS_MAX - 1);
        open.sort_by_key(|&(used, _)| used);
        for (_, app) in open.iter().take(surplus) {
            app.writer.close_idle(Duration::ZERO);
        }
    }

    /// Looks at each interval for newer generations of the indexes that were asked for of late.
    pub(crate) async fn refresh(self: Arc<Self>, every: Option<Duration>) {
        let Some(every) = every else {
            return;
        };
        let mut failures = HashMap::new();
        loop {
            tokio::time::sleep(every).await;
            let catalog = Arc::clone(&self);
            // One thread for all indexes; its priority must not stay with a thread that opens some.
            let looked = in_background(move || {
                catalog.look(&mut failures);
                failures
            });
            failures = looked.await.unwrap_or_default();
        }
    }

    /// Opens newer generations. A failure that repeats is logged once.
    fn look(&self, failures: &mut HashMap<Arc<str>, String>) {
        let mut known = std::mem::take(failures);
        let entries = self.all_entries();
        for entry in entries.iter().filter(|entry| entry.is_fresh()) {
            let Some(app) = entry.opened() else {
                continue;
            };
            // Not by way of `App::reload`, which starts a thread for each.
            let Err(error) = self.runtime.block_on(app.front_end.reload()) else {
                continue;
            };
            let (name, error) = (Arc::clone(&entry.name), error.to_string());
            if known.remove(&name).as_ref() != Some(&error) {
                tracing::warn!(index = &*name, %error, "cannot refresh; the index served before goes on being served");
            }
            failures.insert(name, error);
        }
    }

    /// Folds metrics, closes writers that nobody uses, and the indexes used least recently where too many are open.
    pub(crate) async fn keep_up(self: &Arc<Self>) {
        let catalog = Arc::clone(self);
        let kept = beside(move || {
            catalog.server.metrics.upkeep();
            let apps = catalog.open_apps();
            for app in &apps {
                app.upkeep();
                app.writer.close_idle(WRITER_PAUSE);
            }
            let surplus = apps.len().saturating_sub(OPEN_MAX);
            drop(apps);
            catalog.close_unused(surplus);
            Ok::<(), CatalogError>(())
        });
        // Its failure is a panic, which is logged where it happens.
        let _ = kept.await;
    }

    /// Closes some indexes, those used least recently, unless somebody uses them.
    pub(super) fn close_unused(&self, count: usize) {
        if count == 0 {
            return;
        }
        let mut entries = self.all_entries();
        entries.sort_by_cached_key(|entry| entry.used_ms());
        for entry in entries.iter().take(count) {
            let Some(mut state) = entry.try_state() else {
                continue;
            };
            if let Some(app) = &state.app
                && app.writer.opened().is_none()
            {
                // A request that has it still must not open a writer beside that of the next one.
                app.writer.close();
                state.app = None;
                state.is_gone = true;
                self.forget(entry);
            }
        }
    }
}
