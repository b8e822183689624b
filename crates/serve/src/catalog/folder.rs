//! The indexes of a folder, served by handlers of this process: opened, created and removed.

use super::error::CatalogError;
use super::{Catalog, Folder, Source, names};
use crate::api::error::ServeError;
use crate::http::app::App;
use engine::BackgroundVerifier;
use std::sync::Arc;

impl Catalog {
    /// Starts the verification of files in the background, where the options ask for it.
    pub(crate) fn verify_in_background(self: &Arc<Self>) -> Result<(), ServeError> {
        if let Source::Folder(folder) = &self.source
            && let Some(bytes_per_s) = folder.options.verify_bytes_per_s
        {
            let catalog = Arc::downgrade(self);
            let open = move || {
                let apps = catalog.upgrade()?.indexes.all_open();
                let generations = apps.iter();
                let generations =
                    generations.filter_map(|app| app.front_end.cluster.generations.clone());
                Some(generations.collect())
            };
            let verifier = started(BackgroundVerifier::start(Box::new(open), bytes_per_s))?;
            // A catalog is made once.
            let _ = folder.verifier.set(verifier);
        }
        Ok(())
    }

    /// Opens an index whose entry is locked.
    pub(super) fn opened_in(
        self: &Arc<Self>,
        folder: &Folder,
        name: &Arc<str>,
    ) -> Result<Arc<App>, CatalogError> {
        let unknown = || CatalogError::Unknown {
            name: name.to_string(),
        };
        let storage = names::storage_of(&*folder.options.folder, name)?.ok_or_else(unknown)?;
        let generations = (folder.options.open)(name, storage.clone())?;
        if let Some(verifier) = folder.verifier.get() {
            verifier.watch(&generations);
        }
        let cluster = crate::Cluster::by_handlers(&generations, &folder.handlers)?;
        let app = self.app(name, cluster);
        if let Some(observe) = &folder.options.observe {
            // The index has just been made.
            let _ = app.crawl.set(observe(name));
        }
        if let Some(options) = folder.options.writing.clone() {
            let (weak, runtime) = (Arc::downgrade(&app), self.runtime.clone());
            let catalog = Arc::downgrade(self);
            let has_changes = index::has_changes_beyond(&storage)?;
            app.writer.set_opener(Box::new(move || {
                if let Some(catalog) = catalog.upgrade() {
                    catalog.limit_writers();
                }
                let writer = ingest::LiveWriter::open(storage.clone(), options.clone())?;
                let opened = App::hooked(&weak, &runtime, writer)?;
                // What an ended writer had left in its log is committed now.
                if let Some(app) = weak.upgrade()
                    && let Err(error) = runtime.block_on(app.reload())
                {
                    tracing::warn!(%error, "cannot open what the log had; the next refresh tries again");
                }
                Ok(opened)
            }));
            // What a server that was killed had acknowledged is found from the first request on.
            if has_changes && let Err(error) = app.writer.get() {
                tracing::error!(index = &**name, %error, "the changes of its log are not searched");
            }
        }
        Ok(app)
    }
}

impl Folder {
    /// Commits the first generation of an index.
    pub(super) fn created(
        &self,
        name: &str,
        options: index::BuildOptions,
    ) -> Result<(), CatalogError> {
        let ensure_new = |storage| match index::Index::newest_generation(storage)? {
            None => Ok(()),
            Some(_) => Err(CatalogError::Exists { name: name.into() }),
        };
        let storage = self.options.folder.create(name)?;
        ensure_new(&storage)?;
        let committed = || -> Result<(), CatalogError> {
            let writer = index::Writer::open(storage.clone(), options)?;
            // Another process may have created it before the lock was taken.
            ensure_new(&storage)?;
            writer.commit()?;
            Ok(())
        };
        let committed = committed();
        if let Err(CatalogError::Index { .. }) = committed {
            // A directory that was made for nothing holds the lock of writers at most.
            let is_empty = storage.list()?.len() <= 1
                && storage.list_others()?.is_empty()
                && index::entries_beside(&storage)?.is_empty();
            if is_empty {
                self.options.folder.remove(name)?;
            }
        }
        committed
    }

    /// Removes the files of an index whose entry is locked.
    pub(super) fn removed(&self, name: &str, app: Option<&App>) -> Result<(), CatalogError> {
        let unknown = || CatalogError::Unknown { name: name.into() };
        let storage = names::storage_of(&*self.options.folder, name)?.ok_or_else(unknown)?;
        let entries = index::entries_beside(&storage)?;
        if !entries.is_empty() {
            let name = name.into();
            return Err(CatalogError::HoldsMore { name, entries });
        }
        if let Some(app) = app {
            app.writer.close();
        }
        // Now only another process can have the lock.
        let removed = index::WriteLock::take(&storage).and_then(|_lock| {
            self.options.folder.remove(name)?;
            Ok(())
        });
        if let (Some(app), Err(_)) = (app, &removed) {
            app.writer.allow();
        }
        Ok(removed?)
    }
}

/// Returns a thread that was started.
fn started<T>(thread: std::io::Result<T>) -> Result<T, ServeError> {
    thread.map_err(|source| ServeError::System {
        operation: "start the thread that verifies files",
        source,
    })
}
