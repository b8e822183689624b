//! Connection pool of an open loop: the dispatcher writes requests, the receiver reads responses.
//!
//! Every connection lives in a slot with a lock of its own. The *generation* of a slot increases when
//! its connection is closed, so late events of the old connection are not attributed to the new one.
//! All sockets are non-blocking and registered once, edge-triggered.
use crate::clock::Clock;
use crate::response::{Response, ResponseReader};
use crate::sample::Ending;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::io::Errno;
use rustix::net::{
    AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt::set_tcp_nodelay,
};
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A request in flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    pub(crate) arrival_idx: u32,
    pub(crate) query_idx: u32,
    pub(crate) warm_up: bool,
    pub(crate) intended_ns: u64,
    pub(crate) sent_ns: u64,
    pub(crate) new_connection: bool,
}

/// Reference to a connection, valid while the slot has this generation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    slot: u32,
    generation: u32,
}

/// Result of an attempt to send a request.
#[derive(Debug)]
pub(crate) enum Sent {
    /// The request is in flight.
    UnderWay(Place),
    /// The request failed at once; the ticket holds the time of the attempt.
    Ended(Ticket, Ending),
    /// No connection is free, and the limit on connections is reached.
    NoneFree,
}

/// A finished request.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) ticket: Ticket,
    pub(crate) done_ns: u64,
    pub(crate) result: Result<Response, Ending>,
}

#[derive(Debug, Default)]
struct Slot {
    generation: u32,
    connection: Option<Connection>,
}

#[derive(Debug)]
struct Connection {
    stream: TcpStream,
    reader: ResponseReader,
    ticket: Option<Ticket>,
    /// Unwritten request bytes, from an offset.
    unsent: Option<(Arc<[u8]>, usize)>,
    is_established: bool,
}

/// All connections to one address.
#[derive(Debug)]
pub(crate) struct Pool {
    clock: Clock,
    address: SocketAddr,
    epoll: OwnedFd,
    slots: Box<[Mutex<Slot>]>,
    /// Slots without a connection.
    vacant: Mutex<Vec<u32>>,
    /// Connections without a request; some may have been closed since they were listed.
    idle: Mutex<Vec<Place>>,
}

impl Pool {
    pub(crate) fn new(clock: Clock, address: SocketAddr, count: usize) -> Result<Pool, Errno> {
        Ok(Pool {
            clock,
            address,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            slots: (0..count).map(|_| Mutex::default()).collect(),
            vacant: Mutex::new((0..count as u32).rev().collect()),
            idle: Mutex::default(),
        })
    }

    /// Returns the epoll descriptor that the receiver waits on.
    pub(crate) fn epoll(&self) -> &OwnedFd {
        &self.epoll
    }

    /// Sends a request on an idle connection, or on a new one. Sets the ticket's `sent_ns` and
    /// `new_connection`.
    pub(crate) fn send(&self, mut ticket: Ticket, request: &Arc<[u8]>) -> Sent {
        loop {
            let place = lock(&self.idle).pop();
            let Some(place) = place else { break };
            let mut slot = self.slot(place.slot);
            let current = slot.generation == place.generation;
            let Some(connection) = slot.connection.as_mut().filter(|_| current) else {
                continue;
            };
            ticket.sent_ns = self.clock.now_ns();
            connection.ticket = Some(ticket);
            connection.unsent = Some((request.clone(), 0));
            if connection.flush().is_ok() {
                return Sent::UnderWay(place);
            }
            // The server closed the idle connection and has not seen the request: try the next one.
            self.close(place.slot, &mut slot);
        }
        let Some(slot) = lock(&self.vacant).pop() else {
            return Sent::NoneFree;
        };
        ticket.new_connection = true;
        ticket.sent_ns = self.clock.now_ns();
        match self.open(slot, ticket, request) {
            Ok(place) => Sent::UnderWay(place),
            Err(errno) => {
                lock(&self.vacant).push(slot);
                if is_of_client(errno) {
                    return Sent::NoneFree;
                }
                Sent::Ended(ticket, ending_of_connect(errno.into()))
            }
        }
    }

    fn open(&self, idx: u32, ticket: Ticket, request: &Arc<[u8]>) -> Result<Place, Errno> {
        let family = match self.address {
            SocketAddr::V4(_) => AddressFamily::INET,
            SocketAddr::V6(_) => AddressFamily::INET6,
        };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(family, SocketType::STREAM, flags, None)?;
        set_tcp_nodelay(&socket, true)?;
        let is_established = match connect(&socket, &self.address) {
            Ok(()) => true,
            Err(Errno::INPROGRESS) => false,
            Err(errno) => return Err(errno),
        };
        let mut slot = self.slot(idx);
        let place = Place {
            slot: idx,
            generation: slot.generation,
        };
        let mut connection = Connection {
            stream: TcpStream::from(socket),
            reader: ResponseReader::default(),
            ticket: Some(ticket),
            unsent: Some((request.clone(), 0)),
            is_established,
        };
        if is_established {
            connection.flush().map_err(|_| Errno::CONNRESET)?;
        }
        let events = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &connection.stream, place.to_event(), events)?;
        slot.connection = Some(connection);
        Ok(place)
    }

    /// Handles an event on a connection: writes the remaining bytes, reads the available ones.
    pub(crate) fn attend(&self, place: Place, buffer: &mut [u8]) -> Option<Finished> {
        let mut slot = self.slot(place.slot);
        let current = slot.generation == place.generation;
        let connection = slot.connection.as_mut().filter(|_| current)?;
        let outcome = connection.attend(buffer);
        let done_ns = self.clock.now_ns();
        let result = match outcome {
            Attended::Waiting => return None,
            Attended::Whole(response) => Ok(response),
            Attended::Over(ending) => Err(ending),
        };
        let ticket = connection.ticket.take();
        // A server may answer before it has read the whole request; the rest would precede the next
        // request.
        let is_clean = ticket.is_some() && connection.unsent.is_none();
        match &result {
            Ok(response) if response.keep_alive && is_clean => {
                lock(&self.idle).push(place);
            }
            _ => self.close(place.slot, &mut slot),
        }
        Some(Finished {
            ticket: ticket?,
            done_ns,
            result,
        })
    }

    /// Cancels a request if it is still in flight at `place`, and closes its connection.
    pub(crate) fn give_up(&self, place: Place, arrival: (bool, u32)) -> Option<Ticket> {
        let mut slot = self.slot(place.slot);
        let current = slot.generation == place.generation;
        let connection = slot.connection.as_ref().filter(|_| current)?;
        let ticket = connection.ticket?;
        if (ticket.warm_up, ticket.arrival_idx) != arrival {
            return None;
        }
        self.close(place.slot, &mut slot);
        Some(ticket)
    }

    /// Cancels every request still in flight.
    pub(crate) fn give_up_all(&self) -> Vec<Ticket> {
        (0..self.slots.len() as u32)
            .filter_map(|idx| {
                let mut slot = self.slot(idx);
                let ticket = slot.connection.as_ref()?.ticket;
                self.close(idx, &mut slot);
                ticket
            })
            .collect()
    }

    /// Closes the connection of a slot; closing the socket also removes it from the epoll set.
    fn close(&self, idx: u32, slot: &mut Slot) {
        slot.connection = None;
        slot.generation = slot.generation.wrapping_add(1);
        lock(&self.vacant).push(idx);
    }

    fn slot(&self, idx: u32) -> MutexGuard<'_, Slot> {
        lock(&self.slots[idx as usize])
    }
}

/// Locks a mutex. No thread panics while holding it, and the state would be consistent even then.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

enum Attended {
    Waiting,
    Whole(Response),
    Over(Ending),
}

impl Connection {
    fn attend(&mut self, buffer: &mut [u8]) -> Attended {
        if !self.is_established {
            match self.stream.take_error() {
                Ok(None) => {}
                Ok(Some(error)) | Err(error) => return Attended::Over(ending_of_connect(error)),
            }
            // The registration of a connecting socket may report an event at once.
            if self.stream.peer_addr().is_err() {
                return Attended::Waiting;
            }
            self.is_established = true;
        }
        // A server may refuse and close before it has read the request; its response is read below.
        let written = self.flush();
        loop {
            match self.stream.read(buffer) {
                Ok(0) => {
                    return match self.reader.end() {
                        Ok(Some(response)) => Attended::Whole(response),
                        _ => Attended::Over(Ending::Closed),
                    };
                }
                Ok(length) => match self.reader.feed(&buffer[..length]) {
                    Ok(Some(response)) => return Attended::Whole(response),
                    Ok(None) => {}
                    Err(_) => return Attended::Over(Ending::Malformed),
                },
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return match written {
                        Ok(()) => Attended::Waiting,
                        Err(_) => Attended::Over(Ending::Closed),
                    };
                }
                Err(_) => return Attended::Over(Ending::Closed),
            }
        }
    }

    /// Writes as much as the socket accepts; the receiver writes the rest.
    fn flush(&mut self) -> std::io::Result<()> {
        while let Some((bytes, from)) = &mut self.unsent {
            match self.stream.write(&bytes[*from..]) {
                Ok(length) => {
                    *from += length;
                    if *from == bytes.len() {
                        self.unsent = None;
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

impl Place {
    fn to_event(self) -> EventData {
        EventData::new_u64(u64::from(self.generation) << 32 | u64::from(self.slot))
    }

    pub(crate) fn of_event(data: EventData) -> Place {
        let data = data.u64();
        Place {
            slot: data as u32,
            generation: (data >> 32) as u32,
        }
    }
}

/// Returns whether an error is a shortage of files, ports or memory on the client.
fn is_of_client(errno: Errno) -> bool {
    [
        Errno::MFILE,
        Errno::NFILE,
        Errno::ADDRNOTAVAIL,
        Errno::NOBUFS,
        Errno::NOMEM,
    ]
    .contains(&errno)
}

/// Maps the error of a failed connect to an ending.
pub(crate) fn ending_of_connect(error: std::io::Error) -> Ending {
    match error.kind() {
        ErrorKind::ConnectionRefused => Ending::Refused,
        ErrorKind::ConnectionReset => Ending::Closed,
        _ => Ending::Unreachable,
    }
}
