//! Rules of relevance over HTTP: set without indexing, searched with at once, refused with reasons, kept.

use crate::http::Running;
use crate::writing::{send, sent, total, writing};
use index::{Index, Texts, Writer};
use serde_json::{Value, json};

fn answer(server: &Running, parameters: &str) -> Value {
    serde_json::from_str(&server.get(&format!("/search?{parameters}")).body).unwrap()
}

#[test]
fn rules_are_replaced_and_obeyed_without_indexing() {
    for partitions in [1, 2] {
        let (storage, server) = writing(partitions, Texts::Stored);
        let document = |url, body| json!({ "url": url, "title": "t", "body": body }).to_string();
        let bodies = [
            document("u:tv", "a television set"),
            document("u:tube", "an old telly of new york"),
        ];
        sent(
            &server,
            "POST",
            "/documents?refresh=now",
            &bodies.join("\n"),
            200,
        );
        assert_eq!(sent(&server, "GET", "/rules", "", 200), json!({}));
        assert_eq!(total(&server, "telly"), 1);

        let rules = json!({ "synonyms": ["telly, television"], "stop_words": ["the"] });
        let set = sent(&server, "PUT", "/rules", &rules.to_string(), 200);
        assert_eq!(set["generation"], 3);
        assert_eq!(sent(&server, "GET", "/rules", "", 200), rules);
        assert_eq!(total(&server, "telly"), 2);
        assert_eq!(total(&server, "the+telly"), 2);
        assert_eq!(total(&server, "telly&rules=0"), 1);
        assert_eq!(total(&server, "%22telly%22"), 1);
        // The word as typed comes first, and synonyms are marked.
        let found = answer(&server, "q=telly&explain=1");
        assert_eq!(found["rules"], json!(["synonym: telly -> television"]));
        let hits: Vec<&str> = (found["hits"].as_array().unwrap().iter())
            .map(|hit| hit["url"].as_str().unwrap())
            .collect();
        assert_eq!(hits, ["u:tube", "u:tv"]);
        let summary = found["hits"][1]["summary"].as_str().unwrap();
        assert!(summary.contains("<mark>television</mark>"), "{summary}");
        let explanation = found["hits"][1]["explanation"].to_string();
        assert!(explanation.contains("telly -> television"), "{explanation}");
        assert_eq!(answer(&server, "q=telly").get("rules"), None);

        // Documents and merges keep them; other rules take their place.
        sent(
            &server,
            "POST",
            "/documents?refresh=now",
            &document("u:3", "television"),
            200,
        );
        assert_eq!(total(&server, "telly"), 3);
        sent(
            &server,
            "PUT",
            "/rules",
            "{\"synonyms\": [\"x -> new york\"]}",
            200,
        );
        assert_eq!((total(&server, "telly"), total(&server, "x")), (1, 1));
        assert_eq!(
            Index::open(storage.clone()).unwrap().rules().synonyms.len(),
            1
        );
        sent(&server, "PUT", "/rules", "{}", 200);
        assert_eq!(total(&server, "x"), 0);

        // A deletion by query deletes what it names.
        sent(&server, "PUT", "/rules", &rules.to_string(), 200);
        let deleted = sent(&server, "POST", "/delete-by-query?q=telly", "", 200);
        assert_eq!(deleted["deleted"], 1);

        drop(server);
        Writer::open(storage.clone(), Default::default())
            .unwrap()
            .commit()
            .unwrap();
        let kept = Index::open(storage).unwrap();
        assert_eq!(json!(**kept.rules()), rules);
    }
}

#[test]
fn rules_that_are_none_are_refused_with_their_place() {
    let (storage, server) = writing(1, Texts::Stored);
    let before = Index::open(storage.clone()).unwrap().generation();
    for (body, status, part) in [
        ("", 400, "EOF"),
        ("[]", 400, "body is no rules"),
        ("{\"synonyms\": [\"tv\"]}", 400, "names no synonym"),
        ("{\"pin\": []}", 400, "unknown field `pin`"),
        (&"x".repeat((1 << 19) + 1), 413, "262144"),
    ] {
        let refused = send(&server, "PUT", "/rules", "", body.as_bytes());
        assert_eq!(refused.status, status, "{}", refused.body);
        assert!(refused.body.contains(part), "{}", refused.body);
    }
    assert_eq!(Index::open(storage).unwrap().generation(), before);
    // Not at the public address.
    assert_eq!(server.get("/rules").status, 404);
}

#[test]
fn writers_at_once_get_one_set_of_rules_each() {
    let (storage, server) = writing(2, Texts::Stored);
    std::thread::scope(|scope| {
        for number in 0..4 {
            let server = &server;
            scope.spawn(move || {
                let rules = json!({ "synonyms": [format!("w{number}, v{number}")] }).to_string();
                sent(server, "PUT", "/rules", &rules, 200);
                let document = json!({ "url": format!("u:w{number}"), "body": "w" }).to_string();
                sent(server, "POST", "/documents?refresh=now", &document, 200);
            });
        }
    });
    let index = Index::open(storage).unwrap();
    assert_eq!(index.rules().synonyms.len(), 1);
    assert_eq!(index.statistics().documents_count(), 16);
    assert_eq!(
        sent(&server, "GET", "/rules", "", 200),
        json!(**index.rules())
    );
}
