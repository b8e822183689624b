//! The connections of an open loop: the dispatcher writes requests, the receiver reads responses.
//!
//! Every connection lives in a slot under a lock of its own. A slot's *generation* grows when its
//! connection is closed, so that what is still said about the old connection is not taken for
//! news of the new one. All sockets are non-blocking and registered once, edge-triggered.
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

/// A request that is under way.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ticket {
    pub(crate) arrival_idx: u32,
    pub(crate) query_idx: u32,
    pub(crate) warm_up: bool,
    pub(crate) intended_ns: u64,
    pub(crate) sent_ns: u64,
    pub(crate) new_connection: bool,
}

/// A connection, as long as the slot's generation is this one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    slot: u32,
    generation: u32,
}

/// What became of a request that was to be sent.
#[derive(Debug)]
pub(crate) enum Sent {
    /// It is under way.
    UnderWay(Place),
    /// It ended at once; the ticket says when it was tried.
    Ended(Ticket, Ending),
    /// No connection is free, and no more may be made.
    NoneFree,
}

/// A request that ended.
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
    /// What is still to be written, from an offset.
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
    /// Connections without a request; some may have been closed since.
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

    /// What the receiver waits on.
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
            // The server closed it while it was idle and has not seen the request: try the next.
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

    /// Something happened on a connection: writes what is left, reads what is there.
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
        // A server may answer before it has read all; the rest would stand before the next request.
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

    /// Gives a request up, if it is still the one under way there, and closes its connection.
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

    /// Gives up everything that is still under way.
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

    /// Closing the socket also takes it from the epoll set.
    fn close(&self, idx: u32, slot: &mut Slot) {
        slot.connection = None;
        slot.generation = slot.generation.wrapping_add(1);
        lock(&self.vacant).push(idx);
    }

    fn slot(&self, idx: u32) -> MutexGuard<'_, Slot> {
        lock(&self.slots[idx as usize])
    }
}

/// No thread panics while it holds one of these; and if it did, what it left is still consistent.
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
            // Registering a socket that is still connecting may report it at once.
            if self.stream.peer_addr().is_err() {
                return Attended::Waiting;
            }
            self.is_established = true;
        }
        // A server may refuse and close before it has read the request; what it said is read below.
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

    /// Writes as much as fits; the receiver goes on with the rest.
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

/// Whether this side has no file, port or memory left for another connection.
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

/// What a failed connect means.
pub(crate) fn ending_of_connect(error: std::io::Error) -> Ending {
    match error.kind() {
        ErrorKind::ConnectionRefused => Ending::Refused,
        ErrorKind::ConnectionReset => Ending::Closed,
        _ => Ending::Unreachable,
    }
}
