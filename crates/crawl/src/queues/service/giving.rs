//! Streams of URLs that are given or listed: read in small steps, each when the client has taken what came before.
use super::budget::{Answers, Giver, Share, server_ends};
use super::messages::{info_of, item_of};
use super::shared::{Shared, Turn};
use crate::queues::list::{Listed, UrlFilter};
use crate::queues::record::size_bytes;
use crate::queues::take::{BATCH_BYTES, Given, Take};
use std::future::Future;
use tonic::{Response, Status};
use wire::urlfrontier as api;

/// URLs that a step of a list looks at, so that no list keeps the queues for long.
pub(super) const STEP_URLS: usize = 1_024;

/// Opens a stream, and gives until `giving` ends, the client is gone or the server ends. A stream that is broken off ends with
/// the reason, never as if it were whole.
fn stream<T: Send + 'static, F: Future<Output = Result<(), Status>> + Send>(
    shared: Shared,
    giving: impl FnOnce(Shared, Giver<T>) -> F + Send + 'static,
) -> Result<Response<Answers<T>>, Status> {
    let (giver, response) = shared.budget.open(1)?;
    tokio::spawn(async move {
        let (ended, last) = (shared.clone(), giver.clone());
        let given = tokio::select! {
            given = giving(shared, giver) => given,
            () = ended.ended() => Err(server_ends()),
        };
        if let Err(status) = given {
            last.give(Err(status), None).await;
        }
    });
    Ok(response)
}

/// Gives a batch; `false` where the client is gone. Each URL has its part of the batch's share of the budget.
async fn give_all<T>(giver: &Giver<T>, batch: Vec<(T, usize)>, mut share: Share) -> bool {
    for (answer, bytes) in batch {
        let part = share.part(bytes);
        if !giver.give(Ok(answer), part).await {
            return false;
        }
    }
    true
}

/// Gives URLs that are due.
pub(super) fn give_urls(
    shared: Shared,
    take: Take,
) -> Result<Response<Answers<api::UrlInfo>>, Status> {
    stream(shared, |shared, giver| async move {
        let taking = shared.call(Turn::Giving, move |queues, _| Ok(queues.taking(take)));
        let mut taking = taking.await?;
        loop {
            // Room for a batch, and for the URL that ends it. What is taken is held for the client, and so is not read twice.
            let share = giver.share(2 * BATCH_BYTES).await?;
            let step = shared.call(Turn::Giving, move |queues, now| {
                let given = queues.take(&mut taking, now);
                Ok((given, taking))
            });
            let given;
            (given, taking) = step.await?;
            if given.is_empty() || !give_all(&giver, infos(given), share).await {
                return Ok(());
            }
        }
    })
}

fn infos(given: Vec<Given>) -> Vec<(api::UrlInfo, usize)> {
    let infos = given.into_iter().map(|given| {
        let bytes = size_bytes(&given.url, &given.metadata);
        (info_of(given.queue, given.url, given.metadata), bytes)
    });
    infos.collect()
}

/// A list that is read in steps.
pub(super) struct Listing {
    pub(super) filter: UrlFilter,
    /// URLs that are passed over first.
    pub(super) skipped: usize,
    /// URLs that are listed after these.
    pub(super) left: usize,
}

/// Result of one step through a list.
struct Step {
    found: Vec<Listed>,
    skipped: usize,
    /// Key of the last URL that was looked at; `None` at the end of the list.
    last: Option<Vec<u8>>,
    /// Bytes of the first URL where there was no room for it.
    needed_bytes: Option<usize>,
}

/// Lists URLs.
pub(super) fn list_urls(
    shared: Shared,
    mut listing: Listing,
) -> Result<Response<Answers<api::UrlItem>>, Status> {
    stream(shared, |shared, giver| async move {
        let (mut last, mut room) = (None::<Vec<u8>>, BATCH_BYTES);
        while listing.left > 0 {
            let share = giver.share(room).await?;
            let step = step(&shared, &listing, last.clone(), room).await?;
            // One URL alone is larger than a batch: it is read again when there is room for it.
            if let Some(needed) = step.needed_bytes {
                room = needed;
                continue;
            }
            room = BATCH_BYTES;
            listing.skipped -= step.skipped;
            listing.left -= step.found.len();
            let items = step.found.into_iter().map(|listed| {
                let bytes = size_bytes(&listed.url, &listed.record.metadata);
                (item_of(listed), bytes)
            });
            if !give_all(&giver, items.collect(), share).await || step.last.is_none() {
                break;
            }
            last = step.last;
        }
        Ok(())
    })
}

/// Reads the next step of a list, of at most `room` bytes.
async fn step(
    shared: &Shared,
    listing: &Listing,
    last: Option<Vec<u8>>,
    room: usize,
) -> Result<Step, Status> {
    let (filter, left) = (listing.filter.clone(), listing.left);
    let to_skip = listing.skipped;
    shared
        .call(Turn::Giving, move |queues, _| {
            let (mut found, mut skipped, mut needed_bytes) = (Vec::new(), 0, None);
            let (mut bytes, mut before_last) = (0, None);
            let next = queues.urls_step(&filter, last.as_deref(), STEP_URLS, |listed: Listed| {
                if skipped < to_skip {
                    skipped += 1;
                    return true;
                }
                let size = size_bytes(&listed.url, &listed.record.metadata);
                if bytes + size > room {
                    if found.is_empty() {
                        needed_bytes = Some(size);
                    }
                    // The step ends before this URL.
                    before_last = found.last().map(key_of);
                    return false;
                }
                bytes += size;
                found.push(listed);
                found.len() < left
            });
            let is_cut = before_last.is_some();
            Ok(Step {
                found,
                skipped,
                last: if is_cut { before_last } else { next },
                needed_bytes,
            })
        })
        .await
}

fn key_of(listed: &Listed) -> Vec<u8> {
    listed.queue.url_key(&listed.url)
}

/// Returns the number of URLs that pass, looked at in steps.
pub(super) async fn count_urls(shared: &Shared, filter: UrlFilter) -> Result<u64, Status> {
    let (mut count, mut last) = (0, None::<Vec<u8>>);
    loop {
        let filter = filter.clone();
        let step = shared.call(Turn::Giving, move |queues, _| {
            let mut count = 0;
            let next = queues.urls_step(&filter, last.as_deref(), STEP_URLS, |_| {
                count += 1;
                true
            });
            Ok((count, next))
        });
        let (of_step, next) = step.await?;
        count += of_step;
        if next.is_none() {
            return Ok(count);
        }
        last = next;
    }
}
