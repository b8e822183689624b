//! Body of a request with a time limit: it may be behind a least rate by some seconds, however it is sent.
//!
//! Only the time that is spent waiting for the client counts. The connection knows it too, so that a client that sends
//! slowly gives its seat to a newcomer as an idle one does.

use super::connection::Connection;
use super::limits::ConnectionLimits;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep};

/// Failure of a body that comes too slowly.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the body comes too slowly")]
pub(crate) struct TooSlow;

impl TooSlow {
    /// Returns whether this is the cause of an error.
    pub(crate) fn is_within(error: &(dyn std::error::Error + 'static)) -> bool {
        let mut next = Some(error);
        while let Some(error) = next {
            if error.is::<TooSlow>() {
                return true;
            }
            next = error.source();
        }
        false
    }
}

/// Body that fails with [`TooSlow`].
pub(super) struct TimedBody<B = Incoming> {
    body: B,
    connection: Arc<Connection>,
    /// Time that the body may be behind, and the rate in bytes a second.
    behind_max: Duration,
    bytes_s_min: u64,
    waited: Duration,
    bytes: u64,
    /// Begin of the wait for the client, and its end.
    waiting: Option<(Instant, Pin<Box<Sleep>>)>,
}

impl<B> TimedBody<B> {
    pub(super) fn new(
        body: B,
        connection: &Arc<Connection>,
        limits: &ConnectionLimits,
    ) -> TimedBody<B> {
        TimedBody {
            body,
            connection: Arc::clone(connection),
            behind_max: limits.body_behind_max,
            bytes_s_min: limits.body_bytes_s_min.max(1),
            waited: Duration::ZERO,
            bytes: 0,
            waiting: None,
        }
    }
}

impl<B> Body for TimedBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if let Poll::Ready(frame) = Pin::new(&mut self.body).poll_frame(context) {
            if let Some((since, _)) = self.waiting.take() {
                self.waited += since.elapsed();
            }
            let frame = frame.map(|frame| frame.map_err(Into::into));
            if let Some(Ok(frame)) = &frame {
                self.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
            }
            self.connection.body_came(self.waited, self.bytes);
            return Poll::Ready(frame);
        }
        if self.waiting.is_none() {
            let due = Duration::from_millis(self.bytes.saturating_mul(1000) / self.bytes_s_min);
            let left = (self.behind_max + due).saturating_sub(self.waited);
            let now = Instant::now();
            self.waiting = Some((now, Box::pin(tokio::time::sleep_until(now + left))));
            self.connection.waits_for_body();
        }
        if let Some((_, end)) = &mut self.waiting {
            ready!(end.as_mut().poll(context));
        }
        Poll::Ready(Some(Err(Box::new(TooSlow))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl<B> Drop for TimedBody<B> {
    fn drop(&mut self) {
        // Whoever works on a request without its body waits for no client.
        self.connection.body_came(Duration::ZERO, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;
    use std::convert::Infallible;

    /// Body of frames that come at given times, in seconds.
    struct Timed(VecDeque<(Instant, usize)>, Pin<Box<Sleep>>);

    impl Timed {
        fn of(frames: &[(u64, usize)]) -> Timed {
            let now = Instant::now();
            let at = |&(seconds, bytes)| (now + Duration::from_secs(seconds), bytes);
            Timed(
                frames.iter().map(at).collect(),
                Box::pin(tokio::time::sleep_until(now)),
            )
        }
    }

    impl Body for Timed {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            let Some(&(at, bytes)) = self.0.front() else {
                return Poll::Ready(None);
            };
            self.1.as_mut().reset(at);
            ready!(self.1.as_mut().poll(context));
            self.0.pop_front();
            Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![0; bytes])))))
        }
    }

    /// Returns the bytes of a body, and whether it was too slow.
    async fn read(frames: &[(u64, usize)]) -> (usize, bool) {
        let connection = Arc::new(Connection::new());
        let limits = ConnectionLimits {
            body_behind_max: Duration::from_secs(10),
            body_bytes_s_min: 1000,
            ..ConnectionLimits::default()
        };
        let mut body = TimedBody::new(Timed::of(frames), &connection, &limits);
        let mut bytes = 0;
        loop {
            let next = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context));
            match next.await {
                None => return (bytes, false),
                Some(Ok(frame)) => bytes += frame.data_ref().map_or(0, Bytes::len),
                Some(Err(error)) => return (bytes, TooSlow::is_within(&*error)),
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_may_be_behind_its_rate_for_a_while() {
        assert_eq!(read(&[(9, 1), (9, 1)]).await, (2, false));
        assert_eq!(read(&[(11, 1)]).await, (0, true));
        // A byte now and then is no progress.
        let drips: Vec<_> = (0..100).map(|second| (second, 1)).collect();
        let (bytes, is_slow) = read(&drips).await;
        assert!(is_slow && bytes <= 12, "{bytes}");
        // At its rate a body may take any time.
        let steady: Vec<_> = (0..100).map(|second| (second, 1000)).collect();
        assert_eq!(read(&steady).await, (100_000, false));
        assert_eq!(
            read(&[(1, 20_000), (29, 1), (30, 1)]).await,
            (20_002, false)
        );
    }
}
