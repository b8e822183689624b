//! Seats for connections: their number for each client, and the choice of the one that gives way to a
//! newcomer.
//!
//! A full listener that refused newcomers could be blocked by any client with enough idle connections.
//! So an idle connection is closed instead: the longest idle one, of the client with the most
//! connections. A connection whose client sends the body of its request slowly counts as idle for the time by which the
//! body is late. If every connection is busy, or if its own client has all its seats in use and busy, a newcomer gets
//! one of a few seats for health checks, where any other request is refused. They go to the newest: there is always one, once the
//! clients before it have had some milliseconds to send their requests.

use super::client::ClientAddress;
use super::connection::Connection;
use super::limits::ConnectionLimits;
use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Idle time below which a connection counts as busy: its client may be about to send the next request.
const IDLE_MIN: Duration = Duration::from_millis(50);
/// Seats for health checks beyond the limit.
const HEALTH_SEATS: usize = 128;
/// Time for which a seat for health checks is kept: a client sends its request after it is connected, and many may connect at
/// once.
const HEALTH_MIN: Duration = Duration::from_millis(20);

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
    /// Connections for health checks.
    for_health: Vec<Arc<Connection>>,
}

/// Seat of one connection, released when dropped.
#[derive(Debug)]
pub(super) struct Seat {
    seats: Arc<Seats>,
    client: ClientAddress,
    pub(super) connection: Arc<Connection>,
    /// Whether this seat answers nothing but health checks.
    pub(super) is_for_health: bool,
}

/// Reason for which there is no seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Full {
    /// Every connection is busy.
    Busy,
    /// All seats for health checks are new; the oldest may be given to another client after this time.
    For(Duration),
}

impl Seats {
    pub(super) fn new(limits: &ConnectionLimits) -> Arc<Seats> {
        Arc::new(Seats {
            limits: limits.clone(),
            table: Mutex::default(),
        })
    }

    /// Takes a seat for a connection from `peer`, and closes an idle connection if needed.
    ///
    /// # Errors
    /// No seat can be freed, not even one for health checks.
    pub(super) fn take(self: &Arc<Self>, peer: IpAddr) -> Result<Seat, Full> {
        let client = ClientAddress::of(peer);
        let now = Instant::now();
        let mut table = self.table();
        let own = table.clients.get(&client).map_or(0, Vec::len);
        let has_room = if self.limits.is_limited(peer) && own >= self.limits.connections_per_client
        {
            table.make_room_among(client, now).is_some()
        } else {
            table.count < self.limits.connections_max || table.make_room(now).is_some()
        };
        let connection = Arc::new(Connection::new());
        if has_room {
            let connections = table.clients.entry(client).or_default();
            connections.push(Arc::clone(&connection));
            table.count += 1;
        } else {
            table.make_room_for_health(now)?;
            table.for_health.push(Arc::clone(&connection));
        }
        Ok(Seat {
            seats: Arc::clone(self),
            client,
            connection,
            is_for_health: !has_room,
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
            let (_, idle) = longest_idle(connections, now).filter(|(_, idle)| *idle >= IDLE_MIN)?;
            Some((connections.len(), idle, *client))
        });
        let (.., client) = with_idle.max()?;
        self.make_room_among(client, now)
    }

    /// Closes the longest idle connection of one client.
    fn make_room_among(&mut self, client: ClientAddress, now: Instant) -> Option<()> {
        let connections = self.clients.get(&client)?;
        let (connection, _) =
            longest_idle(connections, now).filter(|(_, idle)| *idle >= IDLE_MIN)?;
        let connection = Arc::clone(connection);
        // A request may have arrived in this instant.
        connection.close().then(|| self.remove(client, &connection))
    }

    /// Closes the longest idle connection of those for health checks, if they are too many.
    fn make_room_for_health(&mut self, now: Instant) -> Result<(), Full> {
        if self.for_health.len() < HEALTH_SEATS {
            return Ok(());
        }
        let (connection, idle) = longest_idle(&self.for_health, now).ok_or(Full::Busy)?;
        let early = HEALTH_MIN.saturating_sub(idle);
        if early > Duration::ZERO {
            return Err(Full::For(early));
        }
        let connection = Arc::clone(connection);
        if !connection.close() {
            return Err(Full::Busy);
        }
        self.for_health.retain(|one| !Arc::ptr_eq(one, &connection));
        Ok(())
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
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut table = self.seats.table();
        match self.is_for_health {
            true => table
                .for_health
                .retain(|one| !Arc::ptr_eq(one, &self.connection)),
            false => table.remove(self.client, &self.connection),
        }
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
        assert!(seats.take(ip("192.0.2.3")).unwrap().is_for_health);
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
        assert!(seats.take(ip("2001:db8::3")).unwrap().is_for_health);
        drop(busy);
        pause();
        let third = seats.take(ip("2001:db8::3")).unwrap();
        assert!(other.connection.begin(true).is_some());
        assert_eq!(seats.table().count, 3);
        drop((first, second, third));
    }

    /// Takes a seat as the accept loop does.
    fn take_later(seats: &Arc<Seats>, peer: &str) -> Seat {
        loop {
            match seats.take(ip(peer)) {
                Ok(seat) => return seat,
                Err(Full::For(time)) => std::thread::sleep(time),
                Err(Full::Busy) => panic!("every connection is busy"),
            }
        }
    }

    #[test]
    fn a_seat_for_health_checks_goes_to_the_newest() {
        let seats = seats(1, 100);
        let only = seats.take(ip("192.0.2.1")).unwrap();
        let busy = only.connection.begin(true).unwrap();
        let silent: Vec<Seat> = (0..3 * HEALTH_SEATS)
            .map(|_| take_later(&seats, "192.0.2.2"))
            .collect();
        let check = take_later(&seats, "192.0.2.3");
        // However many come at once, its client has time to send the request.
        let others = (0..HEALTH_SEATS).map_while(|_| seats.take(ip("192.0.2.2")).ok());
        let others: Vec<Seat> = others.collect();
        assert!(others.len() < HEALTH_SEATS);
        assert!(check.is_for_health && check.connection.begin(true).is_some());
        assert_eq!(seats.table().for_health.len(), HEALTH_SEATS);
        drop((silent, check, others, busy, only));
        let table = seats.table();
        assert!(table.count == 0 && table.for_health.is_empty());
    }

    #[test]
    fn a_body_that_is_late_gives_way_and_a_prompt_one_does_not() {
        let seats = seats(2, 2);
        let (late, prompt) = (
            seats.take(ip("192.0.2.1")).unwrap(),
            seats.take(ip("192.0.2.2")).unwrap(),
        );
        let working = [&late, &prompt].map(|seat| seat.connection.begin(true).unwrap());
        // The body of the first is as late as it is: a few bytes in a second. That of the second is read.
        late.connection.body_came(Duration::from_secs(1), 100);
        late.connection.waits_for_body();
        prompt.connection.body_came(Duration::from_secs(1), 1 << 20);
        let newcomer = seats.take(ip("192.0.2.3")).unwrap();
        assert!(!newcomer.is_for_health);
        assert!(
            !prompt
                .connection
                .is(super::super::connection::Stage::Closed)
        );
        drop(working);
        assert!(late.connection.begin(true).is_none(), "it is closed");
        drop((late, prompt, newcomer));
        assert_eq!(seats.table().count, 0);
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
                let second = seats.take(ip(peer));
                first.is_ok_and(|seat| !seat.is_for_health)
                    && second.is_ok_and(|seat| !seat.is_for_health)
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
