//! Memory limit for large answers that slow readers have not taken, over all connections and for each
//! client.
//!
//! The system takes the first part of an answer into a socket's buffer, which is small here; the rest
//! stays in this process until the client has read it. Without a limit, readers that stop would fill
//! the memory of the server.

use super::client::ClientAddress;
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Size below which answers are not counted, in bytes: the system takes them at once.
pub(super) const LARGE_BYTES: usize = 64 << 10;
/// Divisor of the whole limit that gives the limit of one client.
const SHARE_OF_CLIENT: usize = 8;

/// Bytes that wait for slow readers, with their limits.
#[derive(Debug)]
pub(super) struct Output {
    bytes_max: usize,
    waiting: Mutex<Waiting>,
}

#[derive(Debug, Default)]
struct Waiting {
    bytes: usize,
    of_clients: HashMap<ClientAddress, usize>,
}

/// Limit that an answer would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TooMuch {
    /// Limit of one client.
    OfClient,
    /// Limit over all clients.
    OfAll,
}

/// Reservation for the bytes of an answer, released when dropped.
#[derive(Debug)]
pub(super) struct Room {
    output: Arc<Output>,
    client: Option<ClientAddress>,
    bytes: usize,
}

impl Output {
    pub(super) fn new(bytes_max: usize) -> Arc<Output> {
        Arc::new(Output {
            bytes_max,
            waiting: Mutex::default(),
        })
    }

    /// Reserves room for an answer. `client` is `None` where only the limit over all clients holds. A
    /// single answer always has room while no other waits, whatever its size.
    pub(super) fn room(
        self: &Arc<Self>,
        client: Option<ClientAddress>,
        bytes: usize,
    ) -> Result<Room, TooMuch> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let is_over = |used: usize, max: usize| used > 0 && used.saturating_add(bytes) > max;
        if is_over(waiting.bytes, self.bytes_max) {
            return Err(TooMuch::OfAll);
        }
        if let Some(client) = client {
            let used = waiting.of_clients.entry(client).or_default();
            if is_over(*used, self.bytes_max / SHARE_OF_CLIENT) {
                return Err(TooMuch::OfClient);
            }
            *used += bytes;
        }
        waiting.bytes += bytes;
        Ok(Room {
            output: Arc::clone(self),
            client,
            bytes,
        })
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let waiting = self.output.waiting.lock();
        let mut waiting = waiting.unwrap_or_else(PoisonError::into_inner);
        waiting.bytes -= self.bytes;
        if let Some(client) = self.client
            && let Some(used) = waiting.of_clients.get_mut(&client)
        {
            *used -= self.bytes;
            if *used == 0 {
                waiting.of_clients.remove(&client);
            }
        }
    }
}

/// Wraps the bytes of an answer so that they release their reservation when the system has taken the
/// last of them.
pub(super) fn held(bytes: Bytes, room: Room) -> Bytes {
    struct Held {
        bytes: Bytes,
        _room: Room,
    }
    impl AsRef<[u8]> for Held {
        fn as_ref(&self) -> &[u8] {
            &self.bytes
        }
    }
    Bytes::from_owner(Held { bytes, _room: room })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_bounded_and_comes_back() {
        let output = Output::new(800);
        let client = |n: u8| Some(ClientAddress::of([192, 0, 2, n].into()));
        let first = output.room(client(1), 60).unwrap();
        assert_eq!(output.room(client(1), 60).unwrap_err(), TooMuch::OfClient);
        // The second is another client's, the third has no limit of its own.
        let second = output.room(client(2), 60).unwrap();
        let third = output.room(None, 600).unwrap();
        assert_eq!(output.room(client(3), 90).unwrap_err(), TooMuch::OfAll);
        drop(held(Bytes::from_static(b"x"), third));
        // The answer is larger than the limit, but no other waits.
        let large = output.room(client(3), 200).unwrap();
        drop((first, second, large));
        let waiting = output.waiting.lock().unwrap();
        assert!(waiting.bytes == 0 && waiting.of_clients.is_empty());
    }
}
