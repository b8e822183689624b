//! Conversion of failures to gRPC statuses, and back.
//!
//! The variant travels in the details of the status, in one of two forms:
//!
//! ```text
//! call with the metadata `shorttail-details: google.rpc`   google.rpc.Status { ErrorInfo, RetryInfo }
//! call without it (an older front-end)                     Failure of the schema
//! ```
//!
//! The first form is what gRPC clients of any language read. Both have the same names and numbers, and a reader accepts
//! both, so servers and front-ends are updated in any order. The status code serves programs that read neither; the
//! message is for people. A status without details comes from the transport or from an older server; then its code
//! decides.

use crate::encoding::malformed;
use engine::calls::PartError;
use index::IndexError;
use std::collections::HashMap;
use std::time::Duration;
use tonic::metadata::{MetadataMap, MetadataValue};
use tonic::{Code, Request, Status};
use tonic_types::{ErrorDetails, ErrorInfo, StatusExt};
use wire::rpc::Failure;
use wire::rpc::Message;
use wire::rpc::failure::Kind;

/// Metadata of a call whose caller reads [`Form::Google`].
const WANTED: &str = "shorttail-details";
const GOOGLE: &str = "google.rpc";
/// Domain of the reasons of failures, in `ErrorInfo`.
const DOMAIN: &str = "shorttail";
/// Delay before the next attempt at a server with a full queue, in `RetryInfo`.
const RETRY: Duration = Duration::from_secs(1);

/// Form of the details of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::rpc) enum Form {
    /// `Failure` of the schema.
    Schema,
    /// Messages of `google.rpc`.
    Google,
}

impl Form {
    /// Returns the form that the caller with this metadata reads.
    pub(in crate::rpc) fn wanted(metadata: &MetadataMap) -> Form {
        match metadata.get(WANTED) {
            Some(form) if form.as_bytes() == GOOGLE.as_bytes() => Form::Google,
            _ => Form::Schema,
        }
    }
}

/// Asks for details in [`Form::Google`]; the interceptor of all calls.
pub(in crate::rpc) fn wants_google(mut call: Request<()>) -> Result<Request<()>, Status> {
    let form = MetadataValue::from_static(GOOGLE);
    call.metadata_mut().insert(WANTED, form);
    Ok(call)
}

/// Returns the status of a failure, with details in `form`.
pub(in crate::rpc) fn status(error: &PartError, form: Form) -> Status {
    let (code, sent) = sent(error);
    match form {
        Form::Schema => {
            // Front-ends older than `Failure` read numbers from these two messages.
            let message = match error {
                PartError::Overloaded { waiting } => waiting.to_string(),
                PartError::TooLarge { explain, bytes_max } => {
                    format!("{} {bytes_max}", u8::from(*explain))
                }
                _ => error.to_string(),
            };
            Status::with_details(code, message, sent.encode_to_vec().into())
        }
        Form::Google => {
            let mut details = ErrorDetails::new();
            let reason = sent.kind().as_str_name();
            details.set_error_info(reason, DOMAIN, as_metadata(&sent));
            if sent.kind() == Kind::Overloaded {
                details.set_retry_info(Some(RETRY));
            }
            Status::with_error_details(code, error.to_string(), details)
        }
    }
}

/// Returns the status code and the message of a failure.
fn sent(error: &PartError) -> (Code, Failure) {
    let (code, kind) = match error {
        PartError::Index(_) | PartError::Damaged { .. } => (Code::DataLoss, Kind::Damaged),
        PartError::Changed { .. } => (Code::Unavailable, Kind::Changed),
        PartError::Overloaded { .. } => (Code::ResourceExhausted, Kind::Overloaded),
        PartError::Expired => (Code::DeadlineExceeded, Kind::Expired),
        PartError::Cancelled => (Code::Cancelled, Kind::Cancelled),
        PartError::TooLarge { .. } => (Code::OutOfRange, Kind::TooLarge),
        PartError::TooManyBuckets => (Code::OutOfRange, Kind::TooManyBuckets),
        PartError::GenerationGone { .. } => (Code::FailedPrecondition, Kind::GenerationGone),
        PartError::NotServed { .. } => (Code::NotFound, Kind::NotServed),
        PartError::Protocol { .. } => (Code::Internal, Kind::Protocol),
        PartError::Unreachable { .. } => (Code::Unavailable, Kind::Unreachable),
    };
    let mut failure = Failure {
        kind: kind.into(),
        ..Failure::default()
    };
    match error {
        PartError::Index(IndexError::Damaged { path, offset, .. }) => {
            failure.file = path.display().to_string();
            failure.offset = *offset;
        }
        PartError::Damaged { file, offset, .. } => {
            failure.file = file.clone();
            failure.offset = *offset;
        }
        PartError::Overloaded { waiting } => {
            failure.waiting = *waiting as u64;
        }
        PartError::TooLarge { explain, bytes_max } => {
            failure.explain = *explain;
            failure.bytes_max = *bytes_max as u64;
        }
        PartError::GenerationGone { generation } => failure.generation = *generation,
        _ => {}
    }
    (code, failure)
}

/// Returns the fields of a failure that its kind has, by their names in the schema.
fn as_metadata(failure: &Failure) -> HashMap<String, String> {
    let fields = match failure.kind() {
        Kind::Damaged => vec![
            ("file", failure.file.clone()),
            ("offset", failure.offset.to_string()),
        ],
        Kind::Overloaded => vec![("waiting", failure.waiting.to_string())],
        Kind::TooLarge => vec![
            ("explain", failure.explain.to_string()),
            ("bytes_max", failure.bytes_max.to_string()),
        ],
        Kind::GenerationGone => vec![("generation", failure.generation.to_string())],
        _ => Vec::new(),
    };
    let named = |(name, value): (&str, String)| (name.to_owned(), value);
    fields.into_iter().map(named).collect()
}

/// Returns the failure that `ErrorInfo` describes; a field that is absent or unreadable is 0.
fn from_info(info: &ErrorInfo) -> Failure {
    let text = |name: &str| info.metadata.get(name).map_or("", String::as_str);
    let number = |name: &str| text(name).parse().unwrap_or(0);
    Failure {
        kind: Kind::from_str_name(&info.reason).unwrap_or_default().into(),
        file: text("file").to_owned(),
        offset: number("offset"),
        waiting: number("waiting"),
        explain: text("explain") == "true",
        bytes_max: number("bytes_max"),
        generation: number("generation"),
    }
}

/// Returns the failure of a status.
pub(in crate::rpc) fn failure(status: &Status) -> PartError {
    let info = status.get_details_error_info();
    let sent = match (info, status.details()) {
        (Some(info), _) if info.domain == DOMAIN => Ok(from_info(&info)),
        // A proxy between the servers has failed, and says why in its own way.
        (Some(_), _) | (None, []) => return of_code(status),
        (None, details) => Failure::decode(details),
    };
    let Ok(sent) = sent else {
        return malformed("a failure");
    };
    let reason = || status.message().to_owned();
    match sent.kind() {
        Kind::Damaged => PartError::Damaged {
            file: sent.file,
            offset: sent.offset,
            reason: reason(),
        },
        Kind::Changed => PartError::Changed { reason: reason() },
        Kind::Overloaded => PartError::Overloaded {
            waiting: usize::try_from(sent.waiting).unwrap_or(usize::MAX),
        },
        Kind::Expired => PartError::Expired,
        Kind::Cancelled => PartError::Cancelled,
        Kind::TooLarge => PartError::TooLarge {
            explain: sent.explain,
            bytes_max: usize::try_from(sent.bytes_max).unwrap_or(usize::MAX),
        },
        Kind::TooManyBuckets => PartError::TooManyBuckets,
        Kind::GenerationGone => PartError::GenerationGone {
            generation: sent.generation,
        },
        Kind::NotServed => PartError::NotServed { reason: reason() },
        Kind::Protocol => PartError::Protocol { reason: reason() },
        Kind::Unreachable => PartError::Unreachable { reason: reason() },
        // A newer server sent it; the status code decides.
        Kind::Unknown => of_code(status),
    }
}

fn of_code(status: &Status) -> PartError {
    let reason = match status.message() {
        "" => format!("gRPC: {}", status.code()),
        message => message.to_owned(),
    };
    match status.code() {
        Code::DataLoss => PartError::Damaged {
            file: String::new(),
            offset: 0,
            reason,
        },
        Code::ResourceExhausted => PartError::Overloaded { waiting: 0 },
        Code::DeadlineExceeded => PartError::Expired,
        Code::NotFound => PartError::NotServed { reason },
        // The message exceeds the limit of the transport, or the other side cannot read it.
        Code::OutOfRange | Code::InvalidArgument | Code::Unimplemented => {
            PartError::Protocol { reason }
        }
        _ => PartError::Unreachable { reason },
    }
}

#[cfg(test)]
mod tests;
