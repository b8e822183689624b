//! Write timeout of a connection.

use std::pin::Pin;
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio_io_timeout::TimeoutWriter;

/// Returns a stream that fails when a write makes no progress within `timeout`. Each write that takes a byte restarts
/// the time, so a slow reader is served as long as it reads; reads have no limit here.
pub(crate) fn with_write_timeout<S: AsyncWrite>(
    stream: S,
    timeout: Duration,
) -> Pin<Box<TimeoutWriter<S>>> {
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(timeout));
    Box::pin(stream)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_is_left() {
        let (ours, mut theirs) = duplex(64);
        let mut ours = with_write_timeout(ours, Duration::from_secs(10));
        ours.write_all(&[1; 64]).await.unwrap();
        let begun = Instant::now();
        let error = ours.write_all(&[2; 64]).await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), 10);
        let mut read = [0; 64];
        theirs.read_exact(&mut read).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_reader_is_not() {
        let (ours, mut theirs) = duplex(64);
        let mut ours = with_write_timeout(ours, Duration::from_secs(10));
        let writing = tokio::spawn(async move { ours.write_all(&[3; 640]).await });
        let mut read = [0; 64];
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_secs(9)).await;
            theirs.read_exact(&mut read).await.unwrap();
        }
        writing.await.unwrap().unwrap();
    }
}
