//! Seats for connections: their number for each client, and the choice of the one that gives way to a
//! newcomer.
//!
//! A full listener that refused newcomers could be blocked by any client with enough idle connections.
//! So an idle connection is closed instead: the longest idle one, of the client with the most
//! connections. A newcomer is refused only if every connection is busy, or if its own client has all
//! its seats in use and busy.

use super::client::ClientAddress;
use super::connection::Connection;
use super::limits::ConnectionLimits;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Idle time below which a connection counts as busy: its client may be about to send the next request.
const IDLE_MIN: Duration = Duration::from_millis(50);

/// Connections of a listener.
#[derive(Debug)]
pub(super) struct Seats {
    limits: ConnectionLimits,
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    count: usize,
    /// Connections by client; no list is empty.
    clients: HashMap<ClientAddress, Vec<Arc<Connection>>>,
}

/// Seat of one connection, released when dropped.
#[derive(Debug)]
pub(super) struct Seat {
    seats: Arc<Seats>,
    client: ClientAddress,
    pub(super) connection: Arc<Connection>,
}

impl Seats {
    pub(super) fn new(limits: &ConnectionLimits) -> Arc<Seats> {
        Arc::new(Seats {
            limits: limits.clone(),
            table: Mutex::default(),
        })
    }

    /// Takes a seat for a connection from `peer`, and closes an idle connection if needed; `None` if no
    /// seat can be freed.
    pub(super) fn take(self: &Arc<Self>, peer: IpAddr) -> Option<Seat> {
        let client = ClientAddress::of(peer);
        let now = Instant::now();
        let mut table = self.table();
        let own = table.clients.get(&client).map_or(0, Vec::len);
        if self.limits.is_limited(peer) && own >= self.limits.connections_per_client {
            table.make_room_among(client, now)?;
        } else if table.count >= self.limits.connections_max {
            table.make_room(now)?;
        }
        let connection = Arc::new(Connection::new());
        table
            .clients
            .entry(client)
            .or_default()
            .push(Arc::clone(&connection));
        table.count += 1;
        Some(Seat {
            seats: Arc::clone(self),
            client,
            connection,
        })
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// Closes the longest idle connection of the client with the most connections among those with an
    /// idle one.
    fn make_room(&mut self, now: Instant) -> Option<()> {
        let with_idle = self.clients.iter().filter_map(|(client, connections)| {
            let (_, idle) = longest_idle(connections, now)?;
            Some((connections.len(), idle, *client))
        });
        let (.., client) = with_idle.max()?;
        self.make_room_among(client, now)
    }

    /// Closes the longest idle connection of one client.
    fn make_room_among(&mut self, client: ClientAddress, now: Instant) -> Option<()> {
        let connections = self.clients.get(&client)?;
        let (connection, _) = longest_idle(connections, now)?;
        let connection = Arc::clone(connection);
        // A request may have arrived in this instant.
        connection.close().then(|| self.remove(client, &connection))
    }

    /// Removes a connection if it is still listed.
    fn remove(&mut self, client: ClientAddress, connection: &Arc<Connection>) {
        let Some(connections) = self.clients.get_mut(&client) else {
            return;
        };
        let at = connections
            .iter()
            .position(|one| Arc::ptr_eq(one, connection));
        if let Some(at) = at {
            connections.swap_remove(at);
            self.count -= 1;
        }
        if connections.is_empty() {
            self.clients.remove(&client);
        }
    }
}

fn longest_idle(
    connections: &[Arc<Connection>],
    now: Instant,
) -> Option<(&Arc<Connection>, Duration)> {
    let idle = connections
        .iter()
        .filter_map(|one| Some((one, one.idle_for(now)?)));
    idle.max_by_key(|(_, idle)| *idle)
        .filter(|(_, idle)| *idle >= IDLE_MIN)
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.seats.table().remove(self.client, &self.connection);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seats(connections_max: usize, connections_per_client: usize) -> Arc<Seats> {
        Seats::new(&ConnectionLimits {
            connections_max,
            connections_per_client,
            ..ConnectionLimits::default()
        })
    }

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    fn pause() {
        std::thread::sleep(IDLE_MIN + Duration::from_millis(10));
    }

    #[test]
    fn the_longest_idle_of_the_client_with_most_gives_way() {
        let seats = seats(4, 4);
        let alone = seats.take(ip("192.0.2.1")).unwrap();
        let many: Vec<Seat> = (0..3)
            .map(|_| seats.take(ip("192.0.2.2")).unwrap())
            .collect();
        // All connections have been idle for too short a time.
        assert!(seats.take(ip("192.0.2.3")).is_none());
        pause();
        // A busy connection stays, though it is older.
        let answered = many[0].connection.begin(true).unwrap();
        let newcomer = seats.take(ip("192.0.2.3")).unwrap();
        assert!(alone.connection.idle_for(Instant::now()).is_some());
        assert!(many[1].connection.begin(true).is_none(), "it is closed");
        assert!(many[2].connection.idle_for(Instant::now()).is_some());
        drop(answered);
        drop(many);
        assert_eq!(seats.table().count, 2);
        drop((alone, newcomer));
        let table = seats.table();
        assert!(table.count == 0 && table.clients.is_empty());
    }

    #[test]
    fn a_client_over_its_share_makes_room_itself() {
        let seats = seats(100, 2);
        let other = seats.take(ip("192.0.2.1")).unwrap();
        // Addresses of one /64 count as one client.
        let first = seats.take(ip("2001:db8::1")).unwrap();
        let second = seats.take(ip("2001:db8::2")).unwrap();
        pause();
        let busy = [&first, &second].map(|seat| seat.connection.begin(true).unwrap());
        assert!(seats.take(ip("2001:db8::3")).is_none());
        drop(busy);
        pause();
        let third = seats.take(ip("2001:db8::3")).unwrap();
        assert!(other.connection.begin(true).is_some());
        assert_eq!(seats.table().count, 3);
        drop((first, second, third));
    }

    #[test]
    fn loopback_and_proxies_have_no_share_unless_asked() {
        let seats_of = |limits: ConnectionLimits| {
            let seats = Seats::new(&ConnectionLimits {
                connections_per_client: 1,
                ..limits
            });
            move |peer: &str| {
                let first = seats.take(ip(peer));
                first.is_some() && seats.take(ip(peer)).is_some()
            }
        };
        let usual = seats_of(ConnectionLimits::default());
        assert!(usual("127.0.0.1") && usual("::1") && !usual("192.0.2.1"));
        let strict = seats_of(ConnectionLimits {
            loopback_is_limited: true,
            ..ConnectionLimits::default()
        });
        assert!(!strict("127.0.0.1"));
        let mut behind = ConnectionLimits::default();
        behind.trusted_proxies.networks = vec!["192.0.2.0/24".parse().unwrap()];
        let behind = seats_of(behind);
        assert!(behind("192.0.2.1") && !behind("198.51.100.1"));
    }
}
