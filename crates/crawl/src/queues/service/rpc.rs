//! The calls of URLFrontier.
use super::budget::Answers;
use super::giving::{Listing, count_urls, give_urls, list_urls};
use super::groups::put_groups;
use super::messages::{filter_of, item_of, or, put_of_item, puts_of_batch, queue_named};
use super::shared::{Shared, Turn};
use crate::frontier::FrontierError;
use crate::politeness::TimeMs;
use crate::queues::key::{QueueName, crawl_or_default};
use crate::queues::list::Listed;
use crate::queues::queues::Queues;
use crate::queues::take::Take;
use std::collections::HashMap;
use tonic::{Request, Response, Status, Streaming};
use wire::urlfrontier as api;
use wire::urlfrontier::url_frontier_server::UrlFrontier;

/// Queues or URLs of a list where a client does not say.
const LISTED: usize = 100;
/// Seconds for which a URL is held where a client does not say.
const HOLD_S: usize = 30;

/// The service.
pub(super) struct QueueService {
    pub(super) shared: Shared,
    /// Address of this node.
    pub(super) address: String,
}

impl QueueService {
    /// Runs a call of the queues on a thread that may wait for the disk.
    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Queues, TimeMs) -> Result<T, FrontierError> + Send + 'static,
    ) -> Result<Response<T>, Status> {
        let ended = self.shared.call(Turn::Single, work).await;
        ended.map(Response::new)
    }

    /// Changes the queues and syncs.
    async fn change<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Queues, TimeMs) -> Result<T, FrontierError> + Send + 'static,
    ) -> Result<Response<T>, Status> {
        self.call(move |queues, now| {
            let found = work(queues, now)?;
            queues.sync()?;
            Ok(found)
        })
        .await
    }
}

#[tonic::async_trait]
impl UrlFrontier for QueueService {
    async fn list_nodes(
        &self,
        _: Request<api::Empty>,
    ) -> Result<Response<api::StringList>, Status> {
        let values = vec![self.address.clone()];
        Ok(Response::new(api::StringList { values }))
    }

    async fn list_crawls(
        &self,
        _: Request<api::Local>,
    ) -> Result<Response<api::StringList>, Status> {
        self.call(|queues, _| {
            let values = queues.crawls();
            Ok(api::StringList { values })
        })
        .await
    }

    async fn delete_crawl(
        &self,
        request: Request<api::DeleteCrawlMessage>,
    ) -> Result<Response<api::Long>, Status> {
        let crawl = request.into_inner().value;
        self.change(move |queues, _| {
            let value = queues.delete_crawl(crawl_or_default(&crawl))?;
            Ok(api::Long { value })
        })
        .await
    }

    async fn list_queues(
        &self,
        request: Request<api::Pagination>,
    ) -> Result<Response<api::QueueList>, Status> {
        let page = request.into_inner();
        self.call(move |queues, now| {
            let crawl = crawl_or_default(&page.crawl_id);
            let matching = || queues.queues_of(crawl, page.include_inactive, now);
            let values = matching()
                .skip(page.start as usize)
                .take(or(page.size, LISTED));
            let values: Vec<String> = values.map(|name| name.key.clone()).collect();
            Ok(api::QueueList {
                total: matching().count() as u64,
                start: page.start,
                size: values.len() as u32,
                crawl_id: crawl.to_owned(),
                values,
            })
        })
        .await
    }

    type GetURLsStream = Answers<api::UrlInfo>;

    async fn get_ur_ls(
        &self,
        request: Request<api::GetParams>,
    ) -> Result<Response<Self::GetURLsStream>, Status> {
        let params = request.into_inner();
        let crawl = match params.item {
            Some(api::get_params::Item::CrawlId(crawl)) => {
                Some(crawl_or_default(&crawl).to_owned())
            }
            Some(api::get_params::Item::AnyCrawlId(_)) | None => None,
        };
        if crawl.is_none() && !params.key.is_empty() {
            return Err(Status::invalid_argument(
                "a key needs the crawlID of its queue",
            ));
        }
        let take = Take {
            crawl,
            key: (!params.key.is_empty()).then_some(params.key),
            queues_max: or(params.max_queues, usize::MAX),
            urls_per_queue_max: or(params.max_urls_per_queue, usize::MAX),
            hold_ms: or(params.delay_requestable, HOLD_S) as u64 * 1000,
        };
        give_urls(self.shared.clone(), take)
    }

    type PutURLsStream = Answers<api::AckMessage>;

    async fn put_ur_ls(
        &self,
        request: Request<Streaming<api::UrlItem>>,
    ) -> Result<Response<Self::PutURLsStream>, Status> {
        let acknowledge = |id, statuses: Vec<i32>| api::AckMessage {
            id,
            status: statuses.first().copied().unwrap_or_default(),
        };
        let items = request.into_inner();
        put_groups(self.shared.clone(), items, put_of_item, acknowledge)
    }

    type PutDiscoveredStream = Answers<api::BatchAck>;

    async fn put_discovered(
        &self,
        request: Request<Streaming<api::DiscoveredBatch>>,
    ) -> Result<Response<Self::PutDiscoveredStream>, Status> {
        let acknowledge = |id, statuses| api::BatchAck { id, statuses };
        let batches = request.into_inner();
        put_groups(self.shared.clone(), batches, puts_of_batch, acknowledge)
    }

    async fn get_stats(
        &self,
        request: Request<api::QueueWithinCrawlParams>,
    ) -> Result<Response<api::Stats>, Status> {
        let params = request.into_inner();
        self.call(move |queues, now| {
            let crawl = crawl_or_default(&params.crawl_id).to_owned();
            let key = (!params.key.is_empty()).then_some(params.key.as_str());
            let counts = queues.counts(&crawl, key, now);
            Ok(api::Stats {
                size: counts.active,
                in_process: u32::try_from(counts.held).unwrap_or(u32::MAX),
                counts: HashMap::from([
                    ("completed".to_owned(), counts.completed),
                    ("active_queues".to_owned(), counts.active_queues),
                ]),
                number_of_queues: counts.queues,
                crawl_id: crawl,
            })
        })
        .await
    }

    async fn delete_queue(
        &self,
        request: Request<api::QueueWithinCrawlParams>,
    ) -> Result<Response<api::Long>, Status> {
        let params = request.into_inner();
        let name = queue_named(&params.crawl_id, &params.key)?;
        self.change(move |queues, _| {
            let value = queues.delete_queue(&name)?;
            Ok(api::Long { value })
        })
        .await
    }

    async fn block_queue_until(
        &self,
        request: Request<api::BlockQueueParams>,
    ) -> Result<Response<api::Empty>, Status> {
        let params = request.into_inner();
        let name = queue_named(&params.crawl_id, &params.key)?;
        self.change(move |queues, _| {
            queues.block_until(&name, params.time)?;
            Ok(api::Empty {})
        })
        .await
    }

    async fn set_active(
        &self,
        request: Request<api::Active>,
    ) -> Result<Response<api::Empty>, Status> {
        let is_active = request.into_inner().state;
        self.call(move |queues, _| {
            queues.set_active(is_active);
            Ok(api::Empty {})
        })
        .await
    }

    async fn get_active(&self, _: Request<api::Local>) -> Result<Response<api::Boolean>, Status> {
        self.call(|queues, _| {
            Ok(api::Boolean {
                state: queues.is_active(),
            })
        })
        .await
    }

    async fn set_delay(
        &self,
        request: Request<api::QueueDelayParams>,
    ) -> Result<Response<api::Empty>, Status> {
        let params = request.into_inner();
        let name = match params.key.is_empty() {
            true => None,
            false => Some(queue_named(&params.crawl_id, &params.key)?),
        };
        self.change(move |queues, _| {
            queues.set_delay(name.as_ref(), params.delay_requestable)?;
            Ok(api::Empty {})
        })
        .await
    }

    async fn set_log_level(
        &self,
        _: Request<api::LogLevelParams>,
    ) -> Result<Response<api::Empty>, Status> {
        let reason = "this frontier has no log whose level could be set";
        Err(Status::unimplemented(reason))
    }

    async fn set_crawl_limit(
        &self,
        request: Request<api::CrawlLimitParams>,
    ) -> Result<Response<api::Empty>, Status> {
        let params = request.into_inner();
        let name = queue_named(&params.crawl_id, &params.key)?;
        self.change(move |queues, _| {
            queues.set_limit(&name, params.limit)?;
            Ok(api::Empty {})
        })
        .await
    }

    async fn get_url_status(
        &self,
        request: Request<api::UrlStatusRequest>,
    ) -> Result<Response<api::UrlItem>, Status> {
        let params = request.into_inner();
        let queue = QueueName::of(&params.crawl_id, &params.key, &params.url)
            .ok_or_else(|| Status::invalid_argument("the URL has no host, and no key is given"))?;
        let found = self.call(move |queues, _| {
            let record = queues.record(&queue, &params.url);
            Ok(record.map(|record| Listed {
                queue,
                url: params.url,
                record,
            }))
        });
        match found.await?.into_inner() {
            Some(listed) => Ok(Response::new(item_of(listed))),
            None => Err(Status::not_found("the URL is not known in this queue")),
        }
    }

    type ListURLsStream = Answers<api::UrlItem>;

    async fn list_ur_ls(
        &self,
        request: Request<api::ListUrlParams>,
    ) -> Result<Response<Self::ListURLsStream>, Status> {
        let params = request.into_inner();
        let filter = filter_of(
            &params.crawl_id,
            params.key,
            params.filter,
            params.ignore_case,
        );
        let listing = Listing {
            filter,
            skipped: params.start as usize,
            left: or(params.size, LISTED),
        };
        list_urls(self.shared.clone(), listing)
    }

    async fn count_ur_ls(
        &self,
        request: Request<api::CountUrlParams>,
    ) -> Result<Response<api::Long>, Status> {
        let params = request.into_inner();
        let filter = filter_of(
            &params.crawl_id,
            params.key,
            params.filter,
            params.ignore_case,
        );
        let value = count_urls(&self.shared, filter).await?;
        Ok(Response::new(api::Long { value }))
    }

    async fn purge_ur_ls(
        &self,
        request: Request<api::PurgeUrlParams>,
    ) -> Result<Response<api::Long>, Status> {
        const DAY_S: u64 = 86_400;
        let params = request.into_inner();
        let filter = filter_of(&params.crawl_id, params.key, None, None);
        self.change(move |queues, now| {
            let created_s = (now.0 / 1000).saturating_sub(u64::from(params.days) * DAY_S);
            let value = queues.purge(&filter, created_s)?;
            Ok(api::Long { value })
        })
        .await
    }
}
