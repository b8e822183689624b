//! Conversion of failures to gRPC statuses, and back.
//!
//! The variant travels in the details of the status (`Failure` of the schema). The status code serves
//! programs without the schema; the message is for people. A status without details comes from the
//! transport or from an older server; then its code decides.

use crate::api::server_error::ServerError;
use index::IndexError;
use tonic::{Code, Status};
use wire::rpc::Failure;
use wire::rpc::Message;
use wire::rpc::failure::Kind;

/// Returns the status of a failure.
pub(super) fn status(error: &ServerError) -> Status {
    let (code, kind) = match error {
        ServerError::Index(_) | ServerError::Damaged { .. } => (Code::DataLoss, Kind::Damaged),
        ServerError::Changed { .. } => (Code::Unavailable, Kind::Changed),
        ServerError::Overloaded { .. } => (Code::ResourceExhausted, Kind::Overloaded),
        ServerError::Expired => (Code::DeadlineExceeded, Kind::Expired),
        ServerError::Cancelled => (Code::Cancelled, Kind::Cancelled),
        ServerError::TooLarge { .. } => (Code::OutOfRange, Kind::TooLarge),
        ServerError::GenerationGone { .. } => (Code::FailedPrecondition, Kind::GenerationGone),
        ServerError::NotServed { .. } => (Code::NotFound, Kind::NotServed),
        ServerError::Protocol { .. } => (Code::Internal, Kind::Protocol),
        ServerError::Unreachable { .. } => (Code::Unavailable, Kind::Unreachable),
    };
    let mut failure = Failure {
        kind: kind.into(),
        ..Failure::default()
    };
    // Front-ends older than `Failure` read numbers from these two messages.
    let mut message = error.to_string();
    match error {
        ServerError::Index(IndexError::Damaged { path, offset, .. }) => {
            failure.file = path.display().to_string();
            failure.offset = *offset;
        }
        ServerError::Damaged { file, offset, .. } => {
            failure.file = file.clone();
            failure.offset = *offset;
        }
        ServerError::Overloaded { waiting } => {
            failure.waiting = *waiting as u64;
            message = waiting.to_string();
        }
        ServerError::TooLarge { explain, bytes_max } => {
            failure.explain = *explain;
            failure.bytes_max = *bytes_max as u64;
            message = format!("{} {bytes_max}", u8::from(*explain));
        }
        ServerError::GenerationGone { generation } => failure.generation = *generation,
        _ => {}
    }
    Status::with_details(code, message, failure.encode_to_vec().into())
}

/// Returns the failure of a status.
pub(super) fn failure(status: &Status) -> ServerError {
    let sent = match status.details() {
        [] => return of_code(status),
        details => Failure::decode(details),
    };
    let Ok(sent) = sent else {
        return malformed("a failure");
    };
    let reason = || status.message().to_owned();
    match sent.kind() {
        Kind::Damaged => ServerError::Damaged {
            file: sent.file,
            offset: sent.offset,
            reason: reason(),
        },
        Kind::Changed => ServerError::Changed { reason: reason() },
        Kind::Overloaded => ServerError::Overloaded {
            waiting: usize::try_from(sent.waiting).unwrap_or(usize::MAX),
        },
        Kind::Expired => ServerError::Expired,
        Kind::Cancelled => ServerError::Cancelled,
        Kind::TooLarge => ServerError::TooLarge {
            explain: sent.explain,
            bytes_max: usize::try_from(sent.bytes_max).unwrap_or(usize::MAX),
        },
        Kind::GenerationGone => ServerError::GenerationGone {
            generation: sent.generation,
        },
        Kind::NotServed => ServerError::NotServed { reason: reason() },
        Kind::Protocol => ServerError::Protocol { reason: reason() },
        Kind::Unreachable => ServerError::Unreachable { reason: reason() },
        // A newer server sent it; the status code decides.
        Kind::Unknown => of_code(status),
    }
}

fn of_code(status: &Status) -> ServerError {
    let reason = match status.message() {
        "" => format!("gRPC: {}", status.code()),
        message => message.to_owned(),
    };
    match status.code() {
        Code::DataLoss => ServerError::Damaged {
            file: String::new(),
            offset: 0,
            reason,
        },
        Code::ResourceExhausted => ServerError::Overloaded { waiting: 0 },
        Code::DeadlineExceeded => ServerError::Expired,
        Code::NotFound => ServerError::NotServed { reason },
        // The message exceeds the limit of the transport, or the other side cannot read it.
        Code::OutOfRange | Code::InvalidArgument | Code::Unimplemented => {
            ServerError::Protocol { reason }
        }
        _ => ServerError::Unreachable { reason },
    }
}

/// Returns the failure of a server that answered with `what`, which cannot be read.
pub(super) fn malformed(what: &str) -> ServerError {
    ServerError::Protocol {
        reason: format!("it answered with {what} that cannot be read; update the older of both"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_arrives_as_it_was_sent() {
        let reason = || "of a reason".to_owned();
        let all = [
            ServerError::Damaged {
                file: "segment".into(),
                offset: 4096,
                reason: reason(),
            },
            ServerError::Changed { reason: reason() },
            ServerError::Overloaded { waiting: 7 },
            ServerError::Expired,
            ServerError::Cancelled,
            ServerError::TooLarge {
                explain: true,
                bytes_max: 9,
            },
            ServerError::GenerationGone { generation: 3 },
            ServerError::NotServed { reason: reason() },
            ServerError::Protocol { reason: reason() },
            ServerError::Unreachable { reason: reason() },
        ];
        for sent in all {
            let arrived = failure(&status(&sent));
            assert_eq!(format!("{arrived:?}"), format!("{sent:?}"));
        }
    }

    #[test]
    fn damage_is_sent_with_file_and_offset() {
        let sent = ServerError::Index(IndexError::Damaged {
            path: "dir/segment".into(),
            offset: 8192,
            what: "bits".into(),
        });
        match failure(&status(&sent)) {
            ServerError::Damaged {
                file,
                offset,
                reason,
            } => {
                assert_eq!((&*file, offset), ("dir/segment", 8192));
                assert_eq!(reason, sent.to_string());
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn no_text_of_a_message_decides() {
        let code = |code, message: &str| format!("{:?}", failure(&Status::new(code, message)));
        assert_eq!(
            code(Code::ResourceExhausted, "12"),
            format!("{:?}", ServerError::Overloaded { waiting: 0 })
        );
        assert!(code(Code::Unavailable, "no longer has generation 3").starts_with("Unreachable"));
        assert!(code(Code::OutOfRange, "1 4096").starts_with("Protocol"));
        let unreadable = Status::with_details(Code::Unavailable, "", vec![0xff].into());
        assert_eq!(failure(&unreadable).reason(), "unreachable");
    }
}
