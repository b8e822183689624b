//! A cluster of many indexes: each is created, searched by name through other processes, and dropped while all of them run.

use crate::clusters::Part;
use crate::serving::{Serving, get, without_times};
use crate::serving_folder::asked;
use crate::support::{Bench, command, document, json_lines, shorttail};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// Waits until a condition holds.
#[track_caller]
fn wait_for(mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < until, "it never holds");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// Returns an answer without its times; `None` where there is none.
fn answer(address: &str, target: &str) -> Option<Value> {
    let (status, body) = get(address, target);
    let answer = serde_json::from_str(&body).unwrap();
    status.contains("200").then(|| without_times(answer))
}

#[test]
fn indexes_of_a_cluster_come_and_go_by_name() {
    let bench = Bench::new();
    let folder = bench.path("indexes");
    std::fs::create_dir(&folder).unwrap();
    let folder = folder.to_str().unwrap();
    let writer = Serving::of(command([
        "serve",
        folder,
        "--writable",
        "--listen",
        "127.0.0.1:0",
    ]));
    let start = |role: &str, listen: &str| {
        Part::start(&[role, folder, "--refresh", "100ms", "--listen", listen])
    };
    let mut searches = [
        start("index-server", "127.0.0.1:0"),
        start("index-server", "127.0.0.1:0"),
    ];
    let texts = start("document-server", "127.0.0.1:0");
    let server = |kind: &str, part: &Part| format!("[[{kind}]]\naddress = \"{}\"\n", part.1);
    let file = [
        server("index-server", &searches[0]),
        server("index-server", &searches[1]),
        server("document-server", &texts),
    ];
    let file = bench.file("cluster.toml", file.concat());
    let front_end = Serving::of(command([
        "front-end",
        "--cluster",
        file.to_str().unwrap(),
        "--listen",
        "127.0.0.1:0",
    ]));
    let listed = || answer(&front_end.address, "/indexes").unwrap()["indexes"].clone();
    assert_eq!(listed(), json!([]));
    assert!(front_end.get("/mail/search?q=hunt").0.contains("404"));

    let body = json_lines(&[
        document("http://a.example/1", "Lynxes", "they hunt at night"),
        document("http://a.example/2", "Foxes", "they hunt at dawn"),
    ]);
    for (name, settings) in [
        ("mail", r#"{"analyzer": "english", "chunks": 3}"#),
        ("news", ""),
    ] {
        assert_eq!(
            asked(&writer.admin, "PUT", &format!("/{name}"), settings).0,
            201
        );
        let target = format!("/{name}/documents?refresh=now");
        assert_eq!(asked(&writer.admin, "POST", &target, &body).0, 200);
    }
    let search = "/mail/search?q=hunting&explain=1&facet=site";
    let expected = answer(&writer.address, search).unwrap();
    assert_eq!(expected["total"]["value"], 2);
    assert_eq!(answer(&front_end.address, search).unwrap(), expected);
    assert_eq!(
        answer(&front_end.address, "/news/search?q=hunting").unwrap()["total"]["value"],
        0
    );
    let names: Vec<_> = listed()
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].clone())
        .collect();
    assert_eq!(names, ["mail", "news"]);
    let metrics = get(&front_end.admin, "/metrics").1;
    assert!(
        metrics.contains("shorttail_documents{index=\"mail\"} 2"),
        "{metrics}"
    );
    let run = shorttail(["top", &front_end.admin, "--once", "--json"]).ends(0);
    assert_eq!(run.json_lines()[0]["indexes"].as_array().unwrap().len(), 2);

    // What is written afterwards is found, though nobody reloads.
    let more = json_lines(&[document("http://a.example/3", "Owls", "they hunt too")]);
    asked(&writer.admin, "POST", "/mail/documents?refresh=now", &more);
    wait_for(|| answer(&front_end.address, search).unwrap()["total"]["value"] == 3);
    let expected = answer(&writer.address, search).unwrap();
    wait_for(|| answer(&front_end.address, search).as_ref() == Some(&expected));

    // Each index server is killed and comes back at its address; the other one answers meanwhile.
    for server in &mut searches {
        let address = server.1.clone();
        let _ = server.0.kill();
        let _ = server.0.wait();
        for _ in 0..10 {
            assert_eq!(answer(&front_end.address, search).unwrap(), expected);
        }
        *server = start("index-server", &address);
        // The front-end takes it back within a few checks.
        std::thread::sleep(Duration::from_secs(1));
    }
    assert_eq!(answer(&front_end.address, search).unwrap(), expected);

    assert_eq!(asked(&writer.admin, "DELETE", "/mail", "").0, 200);
    wait_for(|| front_end.get("/mail/search?q=hunting").0.contains("404"));
    assert_eq!(listed()[0]["name"], "news");
    assert_eq!(
        answer(&front_end.address, "/news/search?q=hunt").unwrap()["total"]["value"],
        2
    );
    let refused = asked(&front_end.admin, "PUT", "/mail", "");
    assert!(refused.0 == 404 && refused.1.to_string().contains("serve --writable"));
}

#[test]
fn a_refresh_is_for_folders() {
    let bench = Bench::indexed(&[document("http://a.example/1", "Lynxes", "they hunt")]);
    for kind in ["index-server", "document-server"] {
        let run = bench.run(kind, &["--refresh", "1s", "--listen", "127.0.0.1:0"]);
        run.fails_saying(&["--refresh", "folder"]);
    }
}
