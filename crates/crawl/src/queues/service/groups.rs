//! Streams of URLs that clients put: what has come is put as a group, synced once, and then acknowledged.
use super::shared::{Answers, Shared};
use crate::frontier::FrontierError;
use crate::queues::put::{Put, PutStatus};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::Streaming;
use wire::urlfrontier::ack_message::Status;

/// Messages that are put and synced together, at most.
const GROUP_MESSAGES: usize = 1_024;

/// Takes each message of a stream apart into its identifier and its URLs, and answers it with `acknowledge`, which gets the
/// identifier and the statuses of the URLs.
pub(super) fn put_groups<M: Send + 'static, A: Send + 'static>(
    shared: Shared,
    mut messages: Streaming<M>,
    take_apart: impl Fn(M) -> (String, Vec<Put>) + Send + 'static,
    acknowledge: impl Fn(String, Vec<i32>) -> A + Send + 'static,
) -> Answers<A> {
    let (received, mut waiting) = mpsc::channel(GROUP_MESSAGES);
    let (answers, stream) = mpsc::channel(GROUP_MESSAGES);
    let broken = answers.clone();
    tokio::spawn(async move {
        loop {
            match messages.message().await {
                Ok(Some(message)) => {
                    if received.send(message).await.is_err() {
                        return;
                    }
                }
                Ok(None) => return,
                Err(status) => {
                    let _ = broken.send(Err(status)).await;
                    return;
                }
            }
        }
    });
    tokio::task::spawn_blocking(move || {
        let mut group = Vec::new();
        while waiting.blocking_recv_many(&mut group, GROUP_MESSAGES) > 0 {
            let (ids, messages): (Vec<String>, Vec<Vec<Put>>) =
                group.drain(..).map(&take_apart).unzip();
            for (id, statuses) in ids.into_iter().zip(put_all(&shared, messages)) {
                let answer = Ok(acknowledge(id, statuses));
                if answers.blocking_send(answer).is_err() {
                    return;
                }
            }
        }
    });
    ReceiverStream::new(stream)
}

/// Puts the URLs of messages and syncs. Returns a status for each: all `FAIL` where the disk refused.
fn put_all(shared: &Shared, messages: Vec<Vec<Put>>) -> Vec<Vec<i32>> {
    let counts: Vec<usize> = messages.iter().map(Vec::len).collect();
    let put = shared.with(|queues, now| {
        let mut put_one = |put| {
            Ok(match queues.put(put, now)? {
                PutStatus::Ok => Status::Ok as i32,
                PutStatus::Skipped => Status::Skipped as i32,
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
        let all = |count| vec![Status::Fail as i32; count];
        counts.into_iter().map(all).collect()
    };
    put.unwrap_or_else(failed)
}
