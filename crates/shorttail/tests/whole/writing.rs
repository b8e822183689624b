//! Additions, replacements and deletions, until the next opening.

use crate::{Bed, page, urls};
use shorttail::{Document, DocumentOrder, Error, FieldKind, Index, SearchRequest};

fn found(index: &Index, query: &str) -> Vec<String> {
    let request = SearchRequest::new(query).k(1000).sort("price");
    let answer = index.search(request).unwrap();
    urls(&answer).into_iter().map(str::to_owned).collect()
}

#[test]
fn json_of_any_shape_is_read_and_comes_back_as_it_was() {
    let bed = Bed::empty();
    let json = r#"{"id": 7, "headline": "Night", "message": "the disk is full", "level": 3}"#;
    bed.add([Document::from_json(json).unwrap()]);
    let count = |query: &str| bed.index.search(query).unwrap().total.value;
    for query in [
        "disk",
        "message:disk",
        "headline:night",
        "title:night",
        "level:3",
    ] {
        assert_eq!(count(query), 1, "{query}");
    }
    let mut stored = bed.index.document("id:7").unwrap().unwrap();
    assert_eq!(
        stored.fields.keys().collect::<Vec<_>>(),
        ["headline", "level", "message"]
    );
    // Written again, with another text of the field alone: title and body are texts of their own from now on.
    stored
        .fields
        .insert("message".to_owned(), "all is well".into());
    bed.add([stored.clone()]);
    assert_eq!(
        [count("disk"), count("message:disk"), count("message:well")],
        [1, 0, 1]
    );
    stored.fields.insert("_names".to_owned(), 1.into());
    let mut writer = bed.index.writer().unwrap();
    assert!(
        writer
            .add(stored)
            .unwrap_err()
            .to_string()
            .contains("_names")
    );
    assert!(Document::from_json(r#"{"message": "no address"}"#).is_err());
}

#[test]
fn documents_live_until_they_are_deleted() {
    let bed = Bed::empty();
    assert_eq!(bed.index.documents_count(), 0);
    assert_eq!(bed.index.search("tail").unwrap().total.value, 0);
    let one = Document::new("https://a.example/1")
        .body("one tail")
        .field("price", 1);
    let two = Document::new("https://a.example/2")
        .body("two tails")
        .field("price", 2);
    bed.add([one, two.clone().id("2")]);
    assert_eq!(found(&bed.index, "tail"), ["https://a.example/1"]);

    // An update, and an addition.
    let three = Document::new("https://a.example/3")
        .body("a tail")
        .field("price", 3);
    let mut writer = bed.index.writer().unwrap();
    writer.add(two.clone().body("now a tail")).unwrap();
    writer.add(three.clone()).unwrap();
    let commit = writer.commit().unwrap();
    assert_eq!((commit.added, commit.replaced, commit.deleted), (2, 1, 0));
    let all = [
        "https://a.example/1",
        "https://a.example/2",
        "https://a.example/3",
    ];
    assert_eq!(found(&bed.index, "tail"), all);

    let mut writer = bed.index.writer().unwrap();
    writer.delete("https://a.example/1").unwrap();
    writer.delete("https://a.example/nowhere").unwrap();
    let commit = writer.commit().unwrap();
    assert_eq!((commit.deleted, commit.documents_count), (1, 2));
    assert_eq!(found(&bed.index, "tail"), all[1..]);

    let path = bed.directory.path();
    let again = Index::open(path).unwrap();
    assert_eq!(found(&again, "tail"), all[1..]);
    assert_eq!(again.generation(), commit.generation);
    assert_eq!(again.document(all[0]).unwrap(), None);
    assert_eq!(again.document(all[2]).unwrap(), Some(three));
    let fields = again.fields();
    assert_eq!(fields, [("price".to_owned(), FieldKind::Integer)]);

    // Another handle sees commits after a reload.
    bed.add([Document::new("https://a.example/4")
        .body("tail")
        .field("price", 4)]);
    assert_eq!(found(&again, "tail"), all[1..]);
    assert_eq!(again.reload().unwrap(), bed.index.generation());
    assert_eq!(found(&again, "tail").len(), 3);
}

#[test]
fn changes_of_one_writer_take_effect_in_their_order() {
    let bed = Bed::of(6);
    let mut writer = bed.index.writer().unwrap();
    let (old, new) = (page(0).url, "https://a.example/new");
    writer.delete(&old).unwrap();
    writer.add(Document::new(&old).body("again")).unwrap();
    writer.add(Document::new(new).body("first")).unwrap();
    writer.delete(new).unwrap();
    writer.commit().unwrap();
    let body = |url: &str| bed.index.document(url).unwrap().map(|found| found.body);
    assert_eq!(body(&old), Some("again".to_owned()));
    assert_eq!(body(new), None);
    assert_eq!(bed.index.documents_count(), 6);
}

#[test]
fn dropped_writers_change_nothing() {
    let bed = Bed::of(6);
    let before = bed.index.generation();
    let mut writer = bed.index.writer().unwrap();
    writer.add(page(99)).unwrap();
    writer.delete(&page(0).url).unwrap();
    assert!(matches!(bed.index.writer(), Err(Error::Locked { .. })));
    drop(writer);
    assert_eq!(bed.index.reload().unwrap(), before);
    assert_eq!(bed.index.documents_count(), 6);
    assert!(bed.index.writer().is_ok());
}

#[test]
fn an_optimized_index_gives_the_same_answers() {
    let bed = Bed::of(40);
    bed.add((20..60).map(page));
    let answered = || bed.index.search("tail moon").unwrap().hits;
    let before = answered();
    let optimizer = bed.index.optimizer().threads(2);
    let generation = optimizer.order(DocumentOrder::Similarity).run().unwrap();
    assert_eq!(generation, bed.index.generation());
    assert_eq!(answered(), before);
}

#[test]
fn indexes_are_where_they_were_created() {
    let bed = Bed::of(3);
    let path = bed.directory.path();
    assert!(matches!(
        Index::create(path),
        Err(Error::AlreadyExists { .. })
    ));
    assert_eq!(Index::open_or_create(path).unwrap().documents_count(), 3);
    assert_eq!(bed.index.path(), path);
    for missing in [path.join("missing"), std::env::temp_dir()] {
        assert!(matches!(Index::open(missing), Err(Error::NoIndex { .. })));
    }
    let new = Index::open_or_create(path.join("a/b")).unwrap();
    assert_eq!(new.documents_count(), 0);
}
