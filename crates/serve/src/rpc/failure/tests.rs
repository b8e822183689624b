//! Tests of failures that travel in both forms.
use super::*;

#[test]
fn every_failure_arrives_as_it_was_sent() {
    let reason = || "of a reason".to_owned();
    let all = [
        PartError::Damaged {
            file: "segment".into(),
            offset: 4096,
            reason: reason(),
        },
        PartError::Changed { reason: reason() },
        PartError::Overloaded { waiting: 7 },
        PartError::Expired,
        PartError::Cancelled,
        PartError::TooLarge {
            explain: true,
            bytes_max: 9,
        },
        PartError::GenerationGone { generation: 3 },
        PartError::TooManyBuckets,
        PartError::NotServed { reason: reason() },
        PartError::Protocol { reason: reason() },
        PartError::Unreachable { reason: reason() },
    ];
    for sent in all {
        for form in [Form::Schema, Form::Google] {
            let arrived = failure(&status(&sent, form));
            assert_eq!(format!("{arrived:?}"), format!("{sent:?}"), "{form:?}");
        }
    }
}

#[test]
fn a_caller_gets_the_form_that_it_reads() {
    let call = wants_google(Request::new(())).unwrap();
    assert_eq!(Form::wanted(call.metadata()), Form::Google);
    // An older front-end asks for nothing, and decodes the message of the schema.
    assert_eq!(Form::wanted(&MetadataMap::new()), Form::Schema);
    let sent = PartError::GenerationGone { generation: 3 };
    let read = Failure::decode(status(&sent, Form::Schema).details()).unwrap();
    assert_eq!((read.kind(), read.generation), (Kind::GenerationGone, 3));
    // Any gRPC client reads the other form.
    let google = status(&PartError::Overloaded { waiting: 7 }, Form::Google);
    let details = google.get_error_details();
    let info = details.error_info().unwrap();
    assert_eq!((&*info.reason, &*info.domain), ("OVERLOADED", DOMAIN));
    assert_eq!(info.metadata["waiting"], "7");
    assert_eq!(details.retry_info().unwrap().retry_delay, Some(RETRY));
}

#[test]
fn details_of_others_leave_the_decision_to_the_code() {
    let mut details = ErrorDetails::new();
    details.set_error_info("OVERLOADED", "googleapis.com", HashMap::new());
    let foreign = Status::with_error_details(Code::Unavailable, "down", details.clone());
    assert_eq!(failure(&foreign).reason(), "unreachable");
    details.set_error_info("OF_A_NEWER_SERVER", DOMAIN, HashMap::new());
    let newer = Status::with_error_details(Code::DeadlineExceeded, "late", details);
    assert!(matches!(failure(&newer), PartError::Expired));
}

#[test]
fn damage_is_sent_with_file_and_offset() {
    let sent = PartError::Index(IndexError::Damaged {
        path: "dir/segment".into(),
        offset: 8192,
        what: "bits".into(),
    });
    match failure(&status(&sent, Form::Google)) {
        PartError::Damaged {
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
        format!("{:?}", PartError::Overloaded { waiting: 0 })
    );
    assert!(code(Code::Unavailable, "no longer has generation 3").starts_with("Unreachable"));
    assert!(code(Code::OutOfRange, "1 4096").starts_with("Protocol"));
    let unreadable = Status::with_details(Code::Unavailable, "", vec![0xff].into());
    assert_eq!(failure(&unreadable).reason(), "unreachable");
}
