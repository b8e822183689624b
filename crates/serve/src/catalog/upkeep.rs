//! Regular work on the indexes of a catalog: newer generations, servers of other processes, writers that nobody uses, indexes
//! beyond what may be open.

use super::error::CatalogError;
use super::{Catalog, Source, beside};
use crate::cluster::health::{PERIOD, Presence, check_all};
use crate::named::OPEN_MAX;
use crate::snapshot::reloads::in_background;
use futures_util::future::join_all;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

/// Pause of writes after which a writer is closed.
const WRITER_PAUSE: Duration = Duration::from_secs(60);
/// Time after its last request in which an index is in use, and its servers are checked several times a second.
const IN_USE: Duration = Duration::from_secs(2);
/// Checks of an index in use for one of another.
const TICKS_OF_IDLE: usize = 8;

/// Upper limit on the writers that are open: each has four threads, and memory for changes.
const WRITERS_MAX: usize = 32;

impl Catalog {
    /// Closes the writers used least recently where too many are open, unless somebody uses them.
    pub(super) fn limit_writers(&self) {
        let apps = self.indexes.all_open().into_iter();
        let mut open: Vec<_> = apps
            .filter_map(|app| Some((app.writer.used()?, app)))
            .collect();
        let surplus = open.len().saturating_sub(WRITERS_MAX - 1);
        open.sort_by_key(|&(used, _)| used);
        for (_, app) in open.iter().take(surplus) {
            app.writer.close_idle(Duration::ZERO);
        }
    }

    /// Checks the servers of other processes: of an index that is in use several times a second, of one that was asked for of
    /// late every two seconds. An index that is gone there, or another one by now, is closed: its next request finds out.
    pub(crate) async fn watch(self: Arc<Self>) {
        let Source::Servers(_) = self.source else {
            return;
        };
        let mut ticks = tokio::time::interval(PERIOD);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        for tick in 0.. {
            ticks.tick().await;
            let indexes = &self.indexes;
            let entries = indexes.entries();
            let has_turn = |at: usize| (at + tick).is_multiple_of(TICKS_OF_IDLE);
            let due = entries.iter().enumerate().filter(|(at, entry)| {
                entry.is_used_within(IN_USE) || has_turn(*at) && entry.is_fresh()
            });
            let fresh = due.map(|(_, entry)| entry);
            let open = fresh.filter_map(|entry| Some((entry, entry.opened()?)));
            join_all(open.map(|(entry, app)| async move {
                if check_all(&app.front_end.cluster).await == Presence::Gone {
                    tracing::info!(index = &*entry.name, "gone, or replaced");
                    indexes.close(&entry.name, &app);
                }
            }))
            .await;
        }
    }

    /// Looks at each interval for newer generations of the indexes of a folder that were asked for of late.
    pub(crate) async fn refresh(self: Arc<Self>, every: Option<Duration>) {
        let (Some(every), Source::Folder(_)) = (every, &self.source) else {
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
        let entries = self.indexes.entries();
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
            for app in catalog.indexes.all_open() {
                app.upkeep();
                app.writer.close_idle(WRITER_PAUSE);
            }
            catalog.close_unused(OPEN_MAX);
            Ok::<(), CatalogError>(())
        });
        // Its failure is a panic, which is logged where it happens.
        let _ = kept.await;
    }

    /// Closes as many indexes as are open beyond `open_max`, those used least recently, unless they are written to.
    pub(super) fn close_unused(&self, open_max: usize) {
        for entry in self.indexes.surplus(open_max) {
            self.indexes.close_where(&entry, |app| {
                let is_unused = app.writer.opened().is_none();
                if is_unused {
                    // A request that has it still must not open a writer beside that of the next one.
                    app.writer.close();
                }
                is_unused
            });
        }
    }
}
