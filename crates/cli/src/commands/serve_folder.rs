//! `shorttail serve` of a folder of indexes: one process, one set of threads, each index at its name.

use super::serve::{ServeArguments, serve_until};
use super::serving::PlacementArguments;
use crate::failure::note;
use crate::interrupt::Interrupt;
use anyhow::bail;
use index::{Index, PreloadParts};
use serve::{CatalogOptions, Server, io_runtime_on};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use vfs::{RealFolder, RealStorage, SharedStorage, StorageFolder};

/// What is loaded into memory of each index, where that is asked for.
const WHOLE: PreloadParts = PreloadParts {
    index: true,
    texts: true,
};

/// Returns whether a directory is a folder of indexes: no index itself, and with one inside, or to be written to.
pub(super) fn is_folder(directory: &Path, is_writable: bool) -> anyhow::Result<bool> {
    if !directory.is_dir() || has_index(Arc::new(RealStorage::open(directory)?)) {
        return Ok(false);
    }
    let folder = RealFolder::open(directory)?;
    let holds_index = |name: &String| folder.open(name).ok().flatten().is_some_and(has_index);
    Ok(folder.list()?.iter().any(holds_index) || is_writable && is_empty_of_files(directory)?)
}

fn has_index(storage: SharedStorage) -> bool {
    matches!(Index::newest_generation(&storage), Ok(Some(_)))
}

/// Returns whether a directory has no files: what is not a folder of indexes is not written to by mistake.
fn is_empty_of_files(directory: &Path) -> anyhow::Result<bool> {
    let storage = RealStorage::open(directory)?;
    Ok(vfs::Storage::list(&storage)?.is_empty())
}

/// Serves the indexes of a folder.
pub(super) fn run(arguments: &ServeArguments, interrupt: &Interrupt) -> anyhow::Result<ExitCode> {
    if arguments.index_servers.is_some() {
        bail!(
            "--index-servers: processes of their own are for one index; leave it out for a folder of indexes"
        );
    }
    let options = arguments.options()?;
    let places = arguments.placement.places(1, options.handlers)?;
    arguments.handlers.warn_of_one_speed(&places);
    let io_cpus = PlacementArguments::io_cpus(&places);
    let handlers = serve::HandlerOptions {
        places: places.first().cloned().unwrap_or_default(),
        ..arguments.handlers.options(&io_cpus)
    };
    crate::kernels::choose()?;
    let folder: Arc<dyn StorageFolder> = Arc::new(RealFolder::open(&arguments.directory)?);
    note(&format!(
        "a folder of indexes: {} of them",
        folder.list()?.len()
    ));
    let preload = arguments.preload.clone();
    let catalog = CatalogOptions {
        open: Box::new(move |_, storage| preload.open_storage(storage, None, WHOLE)),
        writing: arguments.writable.then(|| arguments.writing()),
        looks_for_newer: options.refresh.is_some(),
        observe: observing(&arguments.directory),
        ..CatalogOptions::new(folder)
    };
    let server = Server::bind_catalog(catalog, &options, &handlers, io_runtime_on(&io_cpus)?)?;
    serve_until(server, interrupt)?;
    Ok(ExitCode::SUCCESS)
}

/// Makes the server tell of the crawl in the directory of each index, in builds with the crawler.
#[cfg(feature = "crawler")]
fn observing(folder: &Path) -> Option<Box<serve::ObserveCrawl>> {
    let folder = folder.to_owned();
    Some(Box::new(move |name| {
        Arc::new(super::crawl::DirectoryCrawl(folder.join(name)))
    }))
}

#[cfg(not(feature = "crawler"))]
fn observing(_: &Path) -> Option<Box<serve::ObserveCrawl>> {
    None
}
