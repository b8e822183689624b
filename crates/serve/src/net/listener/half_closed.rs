//! Connection whose client may have closed its sending side.
//!
//! `shutdown` of the sending side and `close` look alike at first: a FIN arrives. A client that only
//! closed its sending side waits for its answer; one that is gone must not keep a handler busy. A write
//! shows the difference: a client that is gone answers with RST.
//!
//! ```text
//! FIN while a request is worked on
//!   ├─ HTTP/1.0: after QUICK taken for gone        (it knows no interim responses)
//!   └─ HTTP/1.1: after QUICK `100 Continue` is sent
//!         ├─ RST comes: gone, the work is cancelled
//!         └─ nothing comes: the client waits, and gets its answer
//! ```
//!
//! Any client may get `100 Continue` and ignores it (RFC 9110, 15.2); libraries that stumble over other interim responses
//! know this one. Answers that are ready within QUICK come without it.

use super::connection::{Connection, Stage};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Instant, Sleep};

/// Time for an answer after a FIN, before the client is probed.
const QUICK: Duration = Duration::from_millis(10);
/// First interval between two checks of the socket afterwards; doubled each time up to [`LOOK_MAX`].
const LOOK_MIN: Duration = Duration::from_millis(1);
const LOOK_MAX: Duration = Duration::from_millis(16);

const PROBE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Stream that can report a reset by its peer.
pub(super) trait Resettable {
    /// Returns the pending error of the socket, if any.
    fn taken_error(&self) -> Option<io::Error>;
}

impl Resettable for TcpStream {
    fn taken_error(&self) -> Option<io::Error> {
        self.take_error().unwrap_or_else(Some)
    }
}

/// Stream that withholds the FIN of a client while the client is owed an answer.
pub(super) struct HalfClosed<S> {
    stream: S,
    connection: Arc<Connection>,
    ended: Option<Ended>,
}

/// State after the client closed its sending side.
struct Ended {
    next: Pin<Box<Sleep>>,
    pause: Duration,
    is_probed: bool,
}

impl<S> HalfClosed<S> {
    pub(super) fn new(stream: S, connection: Arc<Connection>) -> HalfClosed<S> {
        HalfClosed {
            stream,
            connection,
            ended: None,
        }
    }

    fn noted<T>(&self, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        self.connection.set_write_waits(polled.is_pending());
        polled
    }
}

impl<S: AsyncWrite + Resettable + Unpin> HalfClosed<S> {
    /// Returns ready when the end may be reported: no answer is due any more, or the client is gone.
    fn poll_ended(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let ended = self.ended.get_or_insert_with(|| Ended {
            next: Box::pin(tokio::time::sleep_until(Instant::now() + QUICK)),
            pause: LOOK_MIN,
            is_probed: false,
        });
        loop {
            // A body that is still waited for will not come.
            if !self.connection.is_owing() || self.connection.is_receiving() {
                return Poll::Ready(Ok(()));
            }
            ready!(ended.next.as_mut().poll(context));
            if let Some(error) = self.stream.taken_error() {
                return Poll::Ready(Err(error));
            }
            if self.connection.may_interim() {
                if !ended.is_probed {
                    ended.is_probed = true;
                    match Pin::new(&mut self.stream).poll_write(context, PROBE) {
                        Poll::Ready(Ok(written)) if written == PROBE.len() => {}
                        Poll::Ready(Err(error)) => return Poll::Ready(Err(error)),
                        // A partial write would corrupt the stream. There is room unless the client has stopped reading.
                        _ => return Poll::Ready(Ok(())),
                    }
                }
            } else if self.connection.is(Stage::Working) {
                return Poll::Ready(Ok(()));
            }
            ended.next.as_mut().reset(Instant::now() + ended.pause);
            ended.pause = (ended.pause * 2).min(LOOK_MAX);
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Resettable + Unpin> AsyncRead for HalfClosed<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ended.is_none() {
            let before = buffer.filled().len();
            let has_room = buffer.remaining() > 0;
            ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
            if buffer.filled().len() > before || !has_room {
                return Poll::Ready(Ok(()));
            }
        }
        self.poll_ended(context)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for HalfClosed<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.noted(polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(context, parts);
        self.noted(polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

    /// Stream with a simulated reset by its peer.
    struct Faked(DuplexStream, Arc<AtomicBool>);

    impl Resettable for Faked {
        fn taken_error(&self) -> Option<io::Error> {
            let is_reset = self.1.load(Ordering::SeqCst);
            is_reset.then(|| io::ErrorKind::BrokenPipe.into())
        }
    }

    impl AsyncRead for Faked {
        fn poll_read(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            buffer: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_read(context, buffer)
        }
    }

    impl AsyncWrite for Faked {
        fn poll_write(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
            bytes: &[u8],
        ) -> Poll<io::Result<usize>> {
            Pin::new(&mut self.0).poll_write(context, bytes)
        }
        fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_flush(context)
        }
        fn poll_shutdown(
            mut self: Pin<&mut Self>,
            context: &mut Context<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.0).poll_shutdown(context)
        }
    }

    struct Staged {
        client: DuplexStream,
        server: HalfClosed<Faked>,
        connection: Arc<Connection>,
        reset: Arc<AtomicBool>,
    }

    fn staged() -> Staged {
        let (client, server) = duplex(1024);
        let (connection, reset) = (Arc::new(Connection::new()), Arc::<AtomicBool>::default());
        Staged {
            client,
            server: HalfClosed::new(Faked(server, reset.clone()), connection.clone()),
            connection,
            reset,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_is_told_at_once_between_requests() {
        let mut staged = staged();
        staged.client.shutdown().await.unwrap();
        let begun = Instant::now();
        assert_eq!(staged.server.read(&mut [0; 8]).await.unwrap(), 0);
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn who_waits_is_probed_and_answered() {
        let mut staged = staged();
        let working = staged.connection.begin(true).unwrap();
        staged.client.shutdown().await.unwrap();
        let begun = Instant::now();
        let mut server = staged.server;
        let reading = tokio::spawn(async move { server.read(&mut [0; 8]).await });
        let mut probe = [0; PROBE.len()];
        staged.client.read_exact(&mut probe).await.unwrap();
        assert_eq!((&probe[..], begun.elapsed()), (PROBE, QUICK));
        tokio::time::sleep(Duration::from_secs(5)).await;
        assert!(!reading.is_finished());
        drop(working);
        assert_eq!(reading.await.unwrap().unwrap(), 0);
    }

    #[tokio::test(start_paused = true)]
    async fn the_end_within_a_body_is_told_when_the_body_is_waited_for() {
        let mut staged = staged();
        let _working = staged.connection.begin(true).unwrap();
        staged.connection.waits_for_body();
        staged.client.shutdown().await.unwrap();
        let begun = Instant::now();
        assert_eq!(staged.server.read(&mut [0; 8]).await.unwrap(), 0);
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_gone_is_noticed_soon_after_the_probe() {
        let mut staged = staged();
        let _working = staged.connection.begin(true).unwrap();
        staged.client.shutdown().await.unwrap();
        let begun = Instant::now();
        let reset = staged.reset;
        let mut client = staged.client;
        tokio::spawn(async move {
            client.read_exact(&mut [0; PROBE.len()]).await.unwrap();
            reset.store(true, Ordering::SeqCst);
        });
        assert!(staged.server.read(&mut [0; 8]).await.is_err());
        assert!(begun.elapsed() < Duration::from_millis(15));
    }

    #[tokio::test(start_paused = true)]
    async fn an_old_client_is_taken_for_gone_after_a_moment() {
        let mut staged = staged();
        let _working = staged.connection.begin(false).unwrap();
        staged.client.shutdown().await.unwrap();
        let begun = Instant::now();
        assert_eq!(staged.server.read(&mut [0; 8]).await.unwrap(), 0);
        assert_eq!(begun.elapsed(), QUICK);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_put_into_an_answer() {
        let mut staged = staged();
        let answering = staged.connection.begin(true).unwrap();
        answering.responds();
        staged.client.shutdown().await.unwrap();
        let mut server = staged.server;
        let reading = tokio::spawn(async move { server.read(&mut [0; 8]).await });
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(!reading.is_finished(), "the rest of the answer is owed");
        drop(answering);
        assert_eq!(reading.await.unwrap().unwrap(), 0);
        let mut read = Vec::new();
        staged.client.read_to_end(&mut read).await.unwrap();
        assert!(read.is_empty());
    }
}
