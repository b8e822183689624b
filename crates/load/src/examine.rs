//! Parsing of responses into samples, on a separate thread so that parsing never delays a timestamp.
use crate::pool::Ticket;
use crate::response::Response;
use crate::sample::{Ending, Sample};
use crate::{Answer, Live};
use crossbeam_channel::{Receiver, Sender, unbounded};

/// A sample whose body has not yet been parsed.
pub(crate) struct Examined {
    sample: Sample,
    body: Vec<u8>,
}

impl Examined {
    pub(crate) fn never_sent(ticket: Ticket) -> Examined {
        let mut examined = Examined::ended(ticket, None, Err(Ending::Dropped));
        examined.sample.sent_ns = None;
        examined
    }

    pub(crate) fn ended(
        ticket: Ticket,
        done_ns: Option<u64>,
        result: Result<Response, Ending>,
    ) -> Examined {
        let (ending, retry_after_s, body) = match result {
            Ok(response) => (
                Ending::Answered(response.status),
                response.retry_after_s,
                response.body,
            ),
            Err(ending) => (ending, None, Vec::new()),
        };
        Examined {
            sample: Sample {
                arrival_idx: ticket.arrival_idx,
                query_idx: ticket.query_idx,
                warm_up: ticket.warm_up,
                intended_ns: ticket.intended_ns,
                sent_ns: Some(ticket.sent_ns),
                done_ns,
                ending,
                new_connection: ticket.new_connection,
                retry_after_s,
                body_bytes: body.len() as u32,
                answer: None,
            },
            body,
        }
    }
}

/// Sender of samples, for any thread.
#[derive(Clone)]
pub(crate) struct Outbox<'a> {
    sender: Sender<Examined>,
    live: &'a Live,
}

impl<'a> Outbox<'a> {
    pub(crate) fn new(live: &'a Live) -> (Outbox<'a>, Receiver<Examined>) {
        let (sender, receiver) = unbounded();
        (Outbox { sender, live }, receiver)
    }

    pub(crate) fn put(&self, examined: Examined) {
        self.live.end(&examined.sample);
        // The examiner outlives every outbox.
        let _ = self.sender.send(examined);
    }
}

/// Parses bodies until every outbox is dropped; returns the samples by intended instant.
pub(crate) fn examine(inbox: &Receiver<Examined>) -> Vec<Sample> {
    let mut samples: Vec<Sample> = inbox
        .iter()
        .map(|Examined { mut sample, body }| {
            sample.answer = sample.ending.is_answer().then(|| Answer::read(&body));
            sample
        })
        .collect();
    samples.sort_by_key(|sample| (sample.intended_ns, sample.arrival_idx));
    samples
}
