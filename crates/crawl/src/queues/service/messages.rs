//! Messages of URLFrontier to what the queues take, and back.
use crate::queues::key::{QueueName, crawl_or_default};
use crate::queues::list::{Listed, UrlFilter};
use crate::queues::put::Put;
use crate::queues::record::Metadata;
use std::collections::HashMap;
use tonic::Status;
use wire::urlfrontier as api;

pub(super) fn queue_named(crawl: &str, key: &str) -> Result<QueueName, Status> {
    let name = QueueName::of(crawl, key, "");
    name.ok_or_else(|| Status::invalid_argument("the queue needs a key of at most 255 characters"))
}

fn metadata_of(metadata: HashMap<String, api::StringList>) -> Metadata {
    let mut metadata: Metadata = metadata
        .into_iter()
        .map(|(key, list)| (key, list.values))
        .collect();
    metadata.sort();
    metadata
}

fn put_of(info: api::UrlInfo, due_s: Option<u64>) -> Put {
    Put {
        url: info.url,
        key: info.key,
        crawl: info.crawl_id,
        metadata: metadata_of(info.metadata),
        due_s,
    }
}

/// Takes an item apart into its identifier, the URL if it has none, and its URL.
pub(super) fn put_of_item(item: api::UrlItem) -> (String, Vec<Put>) {
    let put = match item.item {
        Some(api::url_item::Item::Discovered(found)) => {
            put_of(found.info.unwrap_or_default(), None)
        }
        Some(api::url_item::Item::Known(known)) => put_of(
            known.info.unwrap_or_default(),
            Some(known.refetchable_from_date),
        ),
        // Has no URL, so it is skipped.
        None => Put::default(),
    };
    let id = match item.id.is_empty() {
        true => put.url.clone(),
        false => item.id,
    };
    (id, vec![put])
}

pub(super) fn puts_of_batch(batch: api::DiscoveredBatch) -> (String, Vec<Put>) {
    let puts = batch.items.into_iter().map(|info| put_of(info, None));
    (batch.id, puts.collect())
}

pub(super) fn info_of(queue: QueueName, url: String, metadata: Metadata) -> api::UrlInfo {
    let metadata = metadata.into_iter();
    api::UrlInfo {
        url,
        key: queue.key,
        crawl_id: queue.crawl,
        metadata: metadata
            .map(|(key, values)| (key, api::StringList { values }))
            .collect(),
    }
}

pub(super) fn item_of(listed: Listed) -> api::UrlItem {
    let record = listed.record;
    let info = info_of(listed.queue, listed.url, record.metadata);
    let known = api::KnownUrlItem {
        info: Some(info),
        refetchable_from_date: record.due_s,
    };
    api::UrlItem {
        item: Some(api::url_item::Item::Known(known)),
        id: String::new(),
        creation_date: record.created_s,
    }
}

pub(super) fn filter_of(
    crawl: &str,
    key: String,
    contains: Option<String>,
    ignores_case: Option<bool>,
) -> UrlFilter {
    UrlFilter {
        crawl: crawl_or_default(crawl).to_owned(),
        key: (!key.is_empty()).then_some(key),
        contains: contains.filter(|text| !text.trim().is_empty()),
        ignores_case: ignores_case.unwrap_or_default(),
    }
}

/// Returns the number that a client set, or `unset` for 0.
pub(super) fn or(number: u32, unset: usize) -> usize {
    match number {
        0 => unset,
        number => number as usize,
    }
}
