//! Turns of files: a number of them at a time, in the order in which they were started.
//!
//! The order matters: results are taken in it, so a file that others wait for never waits for them.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
struct State {
    next: u64,
    waiting: BTreeSet<u64>,
    active: usize,
}

/// Turns of one pool.
#[derive(Debug, Default, Clone)]
pub(crate) struct Turns(Arc<(Mutex<State>, Condvar)>);

impl Turns {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a place behind all that wait.
    pub(crate) fn ticket(&self) -> Ticket {
        let mut state = self.lock();
        let number = state.next;
        state.next += 1;
        state.waiting.insert(number);
        Ticket {
            turns: self.clone(),
            number,
            entered: false,
        }
    }
}

/// Place of one file: it waits, then it is active until it is dropped.
pub(crate) struct Ticket {
    turns: Turns,
    number: u64,
    entered: bool,
}

impl Ticket {
    /// Waits for the turn: fewer than `max` are active, and none that waits was started earlier.
    pub(crate) fn enter(&mut self, max: usize) {
        let waits =
            |state: &mut State| state.active >= max || state.waiting.first() != Some(&self.number);
        let guard = self.turns.0.1.wait_while(self.turns.lock(), waits);
        let mut state = guard.unwrap_or_else(PoisonError::into_inner);
        state.waiting.remove(&self.number);
        state.active += 1;
        self.entered = true;
        self.turns.0.1.notify_all();
    }
}

impl Drop for Ticket {
    fn drop(&mut self) {
        let mut state = self.turns.lock();
        match self.entered {
            true => state.active -= 1,
            false => drop(state.waiting.remove(&self.number)),
        }
        self.turns.0.1.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn turns_come_in_the_order_of_the_tickets() {
        let turns = Turns::default();
        let mut first = turns.ticket();
        first.enter(1);
        let (said, heard) = channel();
        let tickets: Vec<_> = (0..4).map(|number| (number, turns.ticket())).collect();
        let threads: Vec<_> = tickets
            .into_iter()
            .rev()
            .map(|(number, mut ticket)| {
                let said = said.clone();
                thread::spawn(move || {
                    // One that is given up does not stop the others.
                    if number != 1 {
                        ticket.enter(1);
                        said.send(number).unwrap();
                    }
                })
            })
            .collect();
        assert!(heard.recv_timeout(Duration::from_millis(50)).is_err());
        drop((first, said));
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(heard.iter().collect::<Vec<_>>(), [0, 2, 3]);
        assert_eq!(turns.lock().active, 0);
    }
}
