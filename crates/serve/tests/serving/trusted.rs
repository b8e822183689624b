//! Answers by values, deletions by query and the result cache over every kind of file that changes under a live server:
//! whole and right, or refused, or flagged.

use crate::http::{Response, Running, options, raw_to};
use document::Document;
use index::{BuildOptions, Pairs, Writer};
use ingest::{LiveOptions, LiveWriter};
use serde_json::{Value, json};
use serve::{Cluster, Generations, HandlerOptions, Server, Topology, io_runtime};
use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use vfs::{
    Fault, FaultKind, FaultyStorage, MemoryStorage, ReadFault, RealStorage, SharedStorage,
    UnmappedStorage,
};

/// Files of an index by their names; a file of another name fails the test.
const KINDS: [&str; 6] = [
    ".index",
    ".documents",
    ".columns",
    ".pairs",
    ".deletions",
    "statistics-",
];
const DOCUMENTS: usize = 600;
const LANGUAGES: [&str; 4] = ["de", "en", "fr", "it"];
const PATIENCE: Duration = Duration::from_secs(30);

const PATHS: [&str; 10] = [
    "/search?q=moon&facet=lang&facet=rank:stats",
    "/search?q=moon&facet=tags:terms:20",
    "/search?q=moon&facet=lang%7Btags:terms:3%7Brank:stats%7D,rank:missing%7D",
    "/search?q=moon&filter=lang:de",
    "/search?q=moon&filter=rank:100..300&facet=lang",
    "/search?q=moon&sort=rank:desc",
    "/search?q=moon&sort=lang,rank&start=10",
    "/search?q=%22to+be%22&per_site=0",
    "/search?q=landing+note3&fields=1",
    "/search?q=lang:fr+tags:t3",
];

fn document(number: usize, version: usize) -> Document {
    let fields = json!({
        "lang": LANGUAGES[number % 4],
        "rank": number * 31 % 577,
        "tags": [format!("t{}", number % 7), format!("t{}", number % 30)],
    });
    Document {
        url: format!("http://s{}.example/{number}", number % 9),
        title: format!("title {number}"),
        body: format!(
            "to be or not to be the moon landing note{} v{version} ",
            number % 50
        )
        .repeat(1 + number % 3),
        fields: json::Value::from(fields).as_object().unwrap().clone(),
        ..Document::default()
    }
}

/// Two servers of an index on disk: one that writes, with a result cache, and one without.
struct Bed {
    directory: tempfile::TempDir,
    server: Running,
    plain: Running,
}

impl Bed {
    fn new() -> Bed {
        let directory = tempfile::tempdir().unwrap();
        let storage: SharedStorage = Arc::new(RealStorage::open(directory.path()).unwrap());
        for (version, numbers) in [0..DOCUMENTS, DOCUMENTS - 60..DOCUMENTS + 40]
            .into_iter()
            .enumerate()
        {
            let layout = BuildOptions {
                chunks: Some(2),
                partitions: Some(2),
                pairs: Some(Pairs::All),
                small_terms_max: Some(0),
                ..BuildOptions::default()
            };
            let mut writer = Writer::open(storage.clone(), layout).unwrap();
            for number in numbers {
                writer.add(document(number, version)).unwrap();
            }
            writer.commit().unwrap();
        }
        let writer = LiveWriter::open(storage.clone(), live()).unwrap();
        Bed {
            directory,
            server: serving(&storage, Some(writer)),
            plain: serving(&storage, None),
        }
    }

    /// Returns the files of the index by kind.
    fn files(&self) -> Vec<(&'static str, PathBuf)> {
        let files = fs::read_dir(self.directory.path()).unwrap();
        let mut found = Vec::new();
        for path in files.map(|file| file.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("MANIFEST-") || name == "writer.lock" {
                continue;
            }
            let kind = KINDS.iter().find(|kind| name.contains(**kind));
            found.push((*kind.unwrap_or_else(|| panic!("{name}: no injury")), path));
        }
        found.sort();
        for kind in KINDS {
            assert!(found.iter().any(|(of, _)| *of == kind), "no file of {kind}");
        }
        found
    }

    /// Asks both servers everything, with `k` hits; returns the answers that differ from `right` without a flag, and how
    /// many were refused or flagged.
    fn wrong(&self, k: usize, right: &[Value]) -> (Vec<String>, usize) {
        let (mut wrong, mut cautious) = (Vec::new(), 0);
        let is_flagged = |answer: &Value| !answer["degraded"].as_array().unwrap().is_empty();
        for server in [&self.plain, &self.server] {
            for (path, right) in PATHS.into_iter().zip(right) {
                match answer(&server.get(&format!("{path}&k={k}"))) {
                    Some(answer) if answer == *right => {}
                    Some(answer) if !is_flagged(&answer) => wrong.push(path.to_owned()),
                    _ => cautious += 1,
                }
            }
        }
        (wrong, cautious)
    }

    /// Returns the right answers with `k` hits, of files that are whole, without a cache.
    fn right(&self, k: usize) -> Vec<Value> {
        let ask = |path| answer(&self.plain.get(&format!("{path}&k={k}")));
        let asked = PATHS.map(|path| ask(path).unwrap_or_else(|| panic!("{path}")));
        asked.to_vec()
    }

    fn reload(&self) {
        let begun = Instant::now();
        for server in [&self.plain, &self.server] {
            while admin(server, "POST", "/reload", "").status != 200 {
                assert!(begun.elapsed() < PATIENCE, "still damaged");
            }
        }
    }
}

fn live() -> LiveOptions {
    LiveOptions {
        refresh: Duration::from_secs(3600),
        ..LiveOptions::default()
    }
}

fn serving(storage: &SharedStorage, writer: Option<LiveWriter>) -> Running {
    let generations = Generations::open(storage.clone()).unwrap();
    let partitions = generations.newest().layout().partitions as usize;
    let topology = Topology {
        partitions,
        handlers: 1,
        queue_length: 10,
    };
    let cluster = Cluster::in_process(&generations, &topology, &[], &HandlerOptions::default());
    let mut options = options(1);
    options.front_end.cache_bytes = if writer.is_some() { 1 << 20 } else { 0 };
    let server = Server::bind_cluster(cluster.unwrap(), &options, io_runtime().unwrap()).unwrap();
    Running::of(match writer {
        Some(writer) => server.with_writer(writer).unwrap(),
        None => server,
    })
}

/// Returns an answer without times; `None` for a refusal.
fn answer(response: &Response) -> Option<Value> {
    if response.status != 200 {
        return None;
    }
    let mut answer: Value = serde_json::from_str(&response.body).unwrap();
    answer["phases_us"] = Value::Null;
    Some(answer)
}

fn admin(server: &Running, method: &str, target: &str, body: &str) -> Response {
    let admin = server.admin();
    let request = format!(
        "{method} {target} HTTP/1.1\r\nHost: {admin}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    raw_to(admin, request.as_bytes())
}

fn json(response: &Response) -> Value {
    serde_json::from_str(&response.body).unwrap_or_default()
}

fn flip(path: &Path, at: usize) {
    fs::set_permissions(path, Permissions::from_mode(0o644)).unwrap();
    let byte = fs::read(path).unwrap()[at];
    let file = OpenOptions::new().write(true).open(path).unwrap();
    file.write_all_at(&[byte ^ 2], at as u64).unwrap();
}

#[test]
fn no_answer_that_counts_as_whole_rests_on_changed_bytes() {
    let bed = Bed::new();
    let decide = || {
        admin(
            &bed.server,
            "POST",
            "/delete-by-query?q=lang:de&dry_run=1",
            "",
        )
    };
    let would_delete = json(&decide())["would_delete"].clone();
    assert_eq!(would_delete, json!(160));
    let mut cautious_by_kind = std::collections::BTreeMap::new();
    // Another number of hits for each injury, so that no answer is in the cache before it.
    let mut k = 10;
    for (kind, path) in bed.files() {
        let bytes = fs::read(&path).unwrap().len();
        for at in [70, bytes / 3, bytes / 2, bytes - 70] {
            k += 1;
            let right = bed.right(k);
            let place = format!("byte {at} of {}", path.display());
            flip(&path, at);
            let (wrong, cautious) = bed.wrong(k, &right);
            assert_eq!(wrong, [""; 0], "{place}");
            *cautious_by_kind.entry(kind).or_insert(0) += cautious;
            let decided = decide();
            match decided.status {
                200 => assert_eq!(json(&decided)["would_delete"], would_delete, "{place}"),
                status => assert_eq!(status, 503, "{place}: {}", decided.body),
            }
            // From the cache, where it was taken.
            assert_eq!(bed.wrong(k, &right).0, [""; 0], "again: {place}");
            flip(&path, at);
            bed.reload();
            assert_eq!(bed.wrong(k, &right).0, [""; 0], "mended: {place}");
        }
    }
    // Each kind that answers read is noticed; deletions are in memory.
    for kind in KINDS.into_iter().filter(|kind| *kind != ".deletions") {
        assert!(cautious_by_kind[kind] > 0, "{kind}: {cautious_by_kind:?}");
    }
}

#[test]
fn a_deletion_over_a_changed_file_deletes_nothing_and_says_so() {
    let bed = Bed::new();
    let path = "/delete-by-query?q=lang:de";
    let dry = format!("{path}&dry_run=1");
    assert_eq!(
        json(&admin(&bed.server, "POST", &dry, ""))["would_delete"],
        160
    );
    let files = bed.files();
    let mut columns = files.iter().filter(|(kind, _)| *kind == ".columns");
    let (_, column) = columns.next().unwrap();
    let bytes = fs::read(column).unwrap().len();
    flip(column, bytes / 2);
    for _ in 0..3 {
        let refused = admin(&bed.server, "POST", path, "");
        assert_eq!(refused.status, 503, "{}", refused.body);
        assert!(
            refused.body.contains("nothing was deleted"),
            "{}",
            refused.body
        );
    }
    let logs = fs::read_dir(bed.directory.path()).unwrap();
    let mut logs = logs.map(|file| file.unwrap().file_name());
    assert!(!logs.any(|name| name.to_string_lossy().starts_with("log-")));
    flip(column, bytes / 2);
    let deleted = admin(&bed.server, "POST", &format!("{path}&refresh=now"), "");
    assert_eq!(
        (deleted.status, &json(&deleted)["deleted"]),
        (200, &json!(160))
    );
    let rest = json(&admin(
        &bed.server,
        "POST",
        "/delete-by-query?q=lang:en&dry_run=1",
        "",
    ));
    assert_eq!(rest["would_delete"], 160);
}

#[test]
fn a_server_killed_before_starts_on_a_full_disk() {
    let disk = MemoryStorage::new();
    let storage: SharedStorage = Arc::new(disk.clone());
    let mut writer = Writer::open(storage.clone(), BuildOptions::default()).unwrap();
    (0..20).for_each(|number| writer.add(document(number, 0)).unwrap());
    writer.commit().unwrap();
    let writer = LiveWriter::open(storage, live()).unwrap();
    let put = |number| ingest::Change::Put(document(number, 1)).into();
    writer.apply((20..30).map(put).collect()).unwrap();
    // As a kill leaves it: the log has what no generation has.
    let left = disk.power_loss(3);
    drop(writer);
    let faulty = FaultyStorage::new(Arc::new(left), Fault::from_then_on(0, FaultKind::Full));
    let storage: SharedStorage = Arc::new(faulty.clone());
    let writer = LiveWriter::open_without_room(storage.clone(), live()).unwrap();
    let server = serving(&storage, Some(writer));
    let total = || answer(&server.get("/search?q=moon")).unwrap()["total"]["value"].clone();
    assert_eq!(total(), 20);
    let line = json!({ "url": "http://s.example/new", "body": "moon" }).to_string();
    for (method, target, body) in [
        ("POST", "/documents", line.as_str()),
        ("DELETE", "/documents?url=http://s0.example/0", ""),
        ("POST", "/delete-by-query?q=moon", ""),
        ("GET", "/documents?url=http://s0.example/0", ""),
    ] {
        let refused = admin(&server, method, target, body);
        assert_eq!(refused.status, 507, "{method} {target}: {}", refused.body);
        assert!(
            refused.body.contains("nothing was changed"),
            "{}",
            refused.body
        );
        assert!(refused.head.contains("retry-after"), "{}", refused.head);
    }
    let health = admin(&server, "GET", "/healthz", "");
    assert_eq!(health.status, 200);
    assert!(
        health.body.starts_with("ok, but nothing is written"),
        "{}",
        health.body
    );
    let metrics = admin(&server, "GET", "/metrics", "").body;
    assert!(metrics.contains("shorttail_writer_failing 1"), "{metrics}");
    faulty.mend();
    let begun = Instant::now();
    while admin(&server, "POST", "/documents?refresh=now", &line).status != 200 {
        assert!(begun.elapsed() < PATIENCE, "writing does not resume");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(total(), 31);
    assert_eq!(admin(&server, "GET", "/healthz", "").body, "ok\n");
}

#[test]
fn a_storage_without_an_answer_for_now_is_unavailable_and_not_damaged() {
    let disk = MemoryStorage::new();
    let build = BuildOptions {
        chunks: Some(2),
        partitions: Some(2),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(Arc::new(disk.clone()), build).unwrap();
    for number in 0..6_000 {
        let url = format!("http://s{}.example/{number}", number % 7);
        let body = format!("moon own{number} and word{}", number % 997);
        let made = Document {
            url,
            body,
            ..Document::default()
        };
        writer.add(made).unwrap();
    }
    writer.commit().unwrap();
    let unmapped = UnmappedStorage::new(Arc::new(disk));
    let storage: SharedStorage = Arc::new(unmapped.clone());
    let server = serving(&storage, None);
    unmapped.fail_each(1, ReadFault::Unavailable);
    for query in ["moon", "own77", "and OR word7"] {
        let target = format!("/search?q={}", query.replace(' ', "+"));
        let refused = server.get(&target);
        assert_eq!(refused.status, 503, "{query}: {}", refused.body);
        assert!(!refused.body.contains("memory/"), "{}", refused.body);
    }
    // Some answers are whole, some lack a part, and none is wrong.
    unmapped.fail_each(4, ReadFault::Unavailable);
    for number in (0..6_000).step_by(331) {
        let response = server.get(&format!("/search?q=own{number}"));
        let Some(found) = answer(&response) else {
            assert_eq!(response.status, 503, "{}", response.body);
            continue;
        };
        let degraded = found["degraded"].as_array().map_or(0, Vec::len);
        assert!(found["total"]["value"] == 1 || degraded > 0, "{found}");
        assert!(!response.body.contains("\"damaged\""), "{found}");
    }
    unmapped.mend();
    let found = answer(&server.get("/search?q=moon")).unwrap();
    assert_eq!(found["total"]["value"], 6_000);
    assert_eq!(found["degraded"].as_array().map_or(0, Vec::len), 0);
    let metrics = admin(&server, "GET", "/metrics", "").body;
    assert!(metrics.contains("shorttail_damaged_files 0"), "{metrics}");
}
