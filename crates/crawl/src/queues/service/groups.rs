//! Streams of URLs that clients put: what has come is put as a group, synced once, and then acknowledged.
use super::budget::{Answers, Giver, server_ends};
use super::shared::{Shared, Turn};
use crate::frontier::FrontierError;
use crate::queues::put::{Put, PutStatus};
use crate::queues::record::size_bytes;
use tonic::{Response, Status, Streaming};
use wire::urlfrontier::ack_message::Status as Kept;

/// Messages that are put and synced together, at most.
const GROUP_MESSAGES: usize = 1_024;
/// Bytes of URLs from which on a group takes no more messages.
const GROUP_BYTES: usize = 256 << 10;

/// Acknowledgements that wait for the client.
const ACKNOWLEDGED: usize = 64;

/// Messages that are put together: identifier and URLs of each.
type Group = Vec<(String, Vec<Put>)>;

/// Takes each message of a stream apart into its identifier and its URLs, and answers it with `acknowledge`, which gets the
/// identifier and the statuses of the URLs.
///
/// Messages are not read while a group is put, or while acknowledgements are not taken: flow control holds the client back.
pub(super) fn put_groups<M: Send + 'static, A: Send + 'static>(
    shared: Shared,
    mut messages: Streaming<M>,
    take_apart: impl Fn(M) -> (String, Vec<Put>) + Send + Sync + 'static,
    acknowledge: impl Fn(String, Vec<i32>) -> A + Send + Sync + 'static,
) -> Result<Response<Answers<A>>, Status> {
    let (answers, response) = shared.budget.open(ACKNOWLEDGED)?;
    tokio::spawn(async move {
        loop {
            let read = tokio::select! {
                read = next_group(&mut messages, &take_apart) => read,
                () = shared.ended() => (Group::new(), End::Broken(server_ends())),
                () = answers.closed() => return,
            };
            if !put_group(&shared, read.0, &answers, &acknowledge).await {
                return;
            }
            match read.1 {
                End::No => {}
                End::Yes => return,
                End::Broken(status) => {
                    answers.give(Err(status), None).await;
                    return;
                }
            }
        }
    });
    Ok(response)
}

/// Whether a stream ends after a group.
enum End {
    No,
    Yes,
    Broken(Status),
}

/// Waits for a message, and adds those that have come with it.
async fn next_group<M>(
    messages: &mut Streaming<M>,
    take_apart: &impl Fn(M) -> (String, Vec<Put>),
) -> (Group, End) {
    let (mut group, mut bytes) = (Group::new(), 0);
    loop {
        let message = match group.is_empty() {
            true => messages.message().await,
            false => tokio::select! {
                biased;
                message = messages.message() => message,
                () = std::future::ready(()) => return (group, End::No),
            },
        };
        let (id, puts) = match message {
            Ok(Some(message)) => take_apart(message),
            Ok(None) => return (group, End::Yes),
            Err(status) => return (group, End::Broken(status)),
        };
        let sizes = puts.iter().map(|put| size_bytes(&put.url, &put.metadata));
        bytes += sizes.sum::<usize>();
        group.push((id, puts));
        if group.len() == GROUP_MESSAGES || bytes >= GROUP_BYTES {
            return (group, End::No);
        }
    }
}

/// Puts a group and acknowledges its messages; `false` where the client is gone.
async fn put_group<A>(
    shared: &Shared,
    group: Group,
    answers: &Giver<A>,
    acknowledge: &impl Fn(String, Vec<i32>) -> A,
) -> bool {
    if group.is_empty() {
        return true;
    }
    let (ids, messages): (Vec<String>, Vec<Vec<Put>>) = group.into_iter().unzip();
    for (id, statuses) in ids.into_iter().zip(put_all(shared, messages).await) {
        if !answers.give(Ok(acknowledge(id, statuses)), None).await {
            return false;
        }
    }
    true
}

/// Puts the URLs of messages and syncs. Returns a status for each: all `FAIL` where the disk refused.
async fn put_all(shared: &Shared, messages: Vec<Vec<Put>>) -> Vec<Vec<i32>> {
    let counts: Vec<usize> = messages.iter().map(Vec::len).collect();
    let put = shared.call(Turn::Putting, |queues, now| {
        let mut put_one = |put| {
            Ok(match queues.put(put, now)? {
                PutStatus::Ok => Kept::Ok as i32,
                PutStatus::Skipped => Kept::Skipped as i32,
            })
        };
        let messages = messages.into_iter();
        let statuses: Result<Vec<Vec<i32>>, FrontierError> = messages
            .map(|message| message.into_iter().map(&mut put_one).collect())
            .collect();
        let statuses = statuses?;
        queues.sync()?;
        Ok(statuses)
    });
    let failed = |_| {
        let all = |count| vec![Kept::Fail as i32; count];
        counts.into_iter().map(all).collect()
    };
    put.await.unwrap_or_else(failed)
}
