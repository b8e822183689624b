//! Messages and mailboxes: subject, text, fields and attachments.

use crate::made;
use crate::support::{bad, documents, pool, results};
use corpus::Extracted;

#[test]
fn a_message_is_its_text_and_its_attachments_are_documents() {
    let bytes = made::message("and tea");
    let found = documents("a.eml", &bytes);
    let found: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|(path, title, body)| (&**path, &**title, &**body))
        .collect();
    assert_eq!(
        found,
        [
            ("", "Über den Luchs", "café and tea"),
            ("report.docx", "Lynx & owl", "attached\nA note."),
            ("notes.txt", "Some notes", "Some notes"),
        ]
    );
    let results = results(&pool(), "a.eml", &bytes);
    let Extracted::Document { fields, .. } = &results[0] else {
        panic!()
    };
    assert_eq!(fields["from"], "Jörg <joerg@example.org>");
    assert_eq!(fields["to"], "Ann <ann@example.org>, bob@example.org");
    assert_eq!(fields["date"], "2024-05-01T10:00:00+02:00");
    assert!(results.contains(&Extracted::LeftOut {
        name: "cat.png".to_owned()
    }));
}

#[test]
fn every_message_of_a_mailbox_is_a_document() {
    let found = documents("in.mbox", &made::mailbox());
    let found: Vec<(&str, &str, &str)> = found
        .iter()
        .map(|(path, title, body)| (&**path, &**title, &**body))
        .collect();
    assert_eq!(
        found,
        [
            (
                "1",
                "One",
                "First text.\nFrom here on it is not a new message."
            ),
            ("2", "Two", "Second\nFrom the start."),
        ]
    );
    let zipped = made::zip(&[
        ("in.mbox", &made::mailbox()),
        ("a.eml", &made::message("x")),
    ]);
    let paths: Vec<String> = documents("mail.zip", &zipped)
        .into_iter()
        .map(|one| one.0)
        .collect();
    let expected = [
        "in.mbox!/1",
        "in.mbox!/2",
        "a.eml",
        "a.eml!/report.docx",
        "a.eml!/notes.txt",
    ];
    assert_eq!(paths, expected);
}

#[test]
fn what_is_no_mail_says_so() {
    let found = bad(&pool(), "a.eml", b"just words\n\nand more");
    assert_eq!(
        found[0].1,
        "not a message: it has no sender, subject, date or type"
    );
    let found = bad(&pool(), "a.mbox", b"just words");
    assert_eq!(found[0].1, "not a mailbox: it does not begin with `From `");
}
