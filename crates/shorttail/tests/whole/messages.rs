//! Messages of errors: no remedy of the command line.

use crate::{Bed, page};
use shorttail::{CancelToken, Document, Facet, FieldKind, Index, Query, Ranking, SearchRequest};

#[test]
fn no_message_names_a_command_or_its_option() {
    let bed = Bed::of(20);
    let path = bed.directory.path();
    let token = CancelToken::new();
    token.cancel();
    let mut messages = Vec::new();
    let mut refused = |outcome: shorttail::Result<()>| {
        let error = outcome.expect_err("refused");
        let cause = std::error::Error::source(&error).map(ToString::to_string);
        messages.extend(cause.into_iter().chain([error.to_string()]));
    };
    refused(Index::create(path).map(drop));
    refused(Index::open(path.join("nowhere")).map(drop));
    refused(Index::open(std::env::temp_dir()).map(drop));
    refused(
        Index::builder()
            .language("xx")
            .create(path.join("a"))
            .map(drop),
    );
    refused(
        Index::builder()
            .language("en")
            .language("de")
            .create(path.join("a"))
            .map(drop),
    );
    refused(
        Index::builder()
            .field("title", FieldKind::Float)
            .create(path.join("a"))
            .map(drop),
    );
    refused("bm26".parse::<Ranking>().map(drop));
    refused("bm25:k1=x".parse::<Ranking>().map(drop));
    let writer = bed.index.writer().unwrap();
    refused(bed.index.writer().map(drop));
    refused(bed.index.optimizer().run().map(drop));
    drop(writer);
    refused(bed.index.writer().unwrap().add(Document::new("")));
    refused(
        bed.index
            .writer_builder()
            .cancel(&token)
            .open()
            .and_then(|mut writer| writer.add(page(1))),
    );
    for request in [
        SearchRequest::new("moon").after("nonsense"),
        SearchRequest::new("moon").after("*").start(3),
        SearchRequest::new("moon").sort("nowhere"),
        SearchRequest::new("moon").filter("nowhere:3"),
        SearchRequest::new("moon").filter(""),
        SearchRequest::new("moon").facet(Facet::stats("lang")),
        SearchRequest::new("moon").facet(Facet::histogram("price", -1.0)),
        SearchRequest::new(Query::equals("nowhere", 1)),
        SearchRequest::new(Query::text("x").filter().boost(0.0)),
        SearchRequest::new("moon").cancel(&token),
    ] {
        refused(bed.index.search(request).map(drop));
    }
    // Damage.
    for entry in std::fs::read_dir(path).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|kind| kind == "index") {
            std::fs::remove_file(&path).unwrap();
            std::fs::write(&path, "no index").unwrap();
        }
    }
    refused(Index::open(path).map(drop));
    assert!(messages.len() > 20);
    for message in messages {
        let names_a_command = message.contains("--") || message.contains("shorttail ");
        assert!(!names_a_command, "{message}");
    }
}
