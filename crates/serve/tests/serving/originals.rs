//! Documents that are files: their addresses tell no folder of the server, their files open, and nothing else does.

use crate::http::{Response, Running, options};
use document::Document;
use index::{BuildOptions, Index, Writer};
use serde_json::Value;
use serve::{AddressOptions, FrontEndOptions, ServeOptions, parse_address_map};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use url::Url;
use vfs::MemoryStorage;

/// Files of the index by their paths, with what is in them. Names hold what addresses, pages and queries give a meaning to.
const FILES: [(&str, &str); 9] = [
    ("plain.txt", "owls fly"),
    ("a b/ümläut & co.txt", "owls fly by night"),
    ("a b/100%/x#y?z.txt", "owls see"),
    ("a b/it's \"so\" <b>.html", "<script>alert(1)</script>owls"),
    ("page.html", "<a href='a%20b/x'>owls</a>"),
    ("pages.zip", "PK owls"),
    ("people.csv", "name\nowls\n"),
    ("scan.pdf", "%PDF-1.4 owls"),
    ("empty.txt", ""),
];

/// A folder of files, and an index of them.
pub(crate) struct Files {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) root: PathBuf,
    pub(crate) index: Arc<Index>,
}

impl Files {
    pub(crate) fn new() -> Files {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap().join("hand book");
        let mut urls = Vec::new();
        for (name, content) in FILES {
            let path = root.join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, content).unwrap();
            let url = url_of(&path);
            // Files with several documents are none themselves.
            urls.push(match name {
                "pages.zip" => format!("{url}!/in/b%20c.txt"),
                "people.csv" => format!("{url}#2"),
                _ => url,
            });
        }
        urls.push("file:///elsewhere/of/ann/owls.txt".to_owned());
        urls.push("https://example.org/owls".to_owned());
        let storage = Arc::new(MemoryStorage::default());
        let options = BuildOptions {
            folders: vec![url_of(&root)],
            ..BuildOptions::default()
        };
        let mut writer = Writer::open(storage.clone(), options).unwrap();
        for (number, url) in urls.into_iter().enumerate() {
            let document = Document {
                url,
                title: format!("Owls {number}"),
                body: "owls fly over the wood".to_owned(),
                ..Document::default()
            };
            writer.add(document).unwrap();
        }
        writer.commit().unwrap();
        let index = Arc::new(Index::open(storage).unwrap());
        Files {
            folder,
            root,
            index,
        }
    }

    /// Starts a server with rules, and with originals of the folder where they are wanted.
    pub(crate) fn serve(&self, maps: &[String], has_originals: bool) -> Running {
        let originals = has_originals.then(|| self.root.clone());
        let addresses = AddressOptions {
            maps: maps
                .iter()
                .map(|map| parse_address_map(map).unwrap())
                .collect(),
            originals: originals.into_iter().collect(),
        };
        let options = ServeOptions {
            front_end: FrontEndOptions {
                addresses,
                ..FrontEndOptions::default()
            },
            ..options(1)
        };
        Running::start(Arc::clone(&self.index), &options)
    }

    /// Fails where an answer names the folder, or that of the document elsewhere.
    fn check_hidden(&self, response: &Response) {
        let above = self.folder.path().file_name().unwrap().to_str().unwrap();
        for folder in [above, "elsewhere"] {
            assert!(!response.body.contains(folder), "{}", response.body);
            assert!(!response.head.contains(folder), "{}", response.head);
        }
    }
}

fn url_of(path: &Path) -> String {
    Url::from_file_path(path).unwrap().into()
}

fn search(server: &Running, parameters: &[(&str, &str)]) -> (Response, Value) {
    let mut target = url::form_urlencoded::Serializer::new("/search?".to_owned());
    let target = target.extend_pairs(parameters).finish().replace("?&", "?");
    let response = server.get(&target);
    let answer = serde_json::from_str(&response.body).unwrap();
    (response, answer)
}

fn urls(answer: &Value) -> Vec<&str> {
    let hits = answer["hits"].as_array().unwrap().iter();
    hits.map(|hit| hit["url"].as_str().unwrap()).collect()
}

#[test]
fn no_answer_tells_where_files_are() {
    let files = Files::new();
    let server = files.serve(&[], false);
    let all = ("k", "50");
    for parameters in [
        &[("q", "owls"), all][..],
        &[
            ("q", "owls"),
            all,
            ("explain", "1"),
            ("facet", "site"),
            ("trace", "1"),
        ],
        &[("q", "owls"), ("sort", "site"), all],
        &[
            ("q", "owls site:\"/hand%20book/a%20b\""),
            all,
            ("explain", "1"),
        ],
        &[("q", "owls"), all, ("after", "*")],
    ] {
        let (response, answer) = search(&server, parameters);
        files.check_hidden(&response);
        assert!(!urls(&answer).is_empty(), "{parameters:?} {answer}");
        let page = server.get(&response_target(parameters, "/?"));
        assert_eq!(page.status, 200);
        files.check_hidden(&page);
    }
    let (_, answer) = search(&server, &[("q", "owls"), all]);
    assert!(
        urls(&answer).contains(&"file:///hand%20book/plain.txt"),
        "{answer}"
    );
    assert!(urls(&answer).contains(&"https://example.org/owls"));
    for url in urls(&answer) {
        for form in ["html", "json"] {
            let mut target = url::form_urlencoded::Serializer::new(String::new());
            let target = target.append_pair("url", url).append_pair("format", form);
            let document = server.get(&format!("/document?{}", target.finish()));
            assert_eq!(document.status, 200, "{url}");
            files.check_hidden(&document);
        }
    }
    let titles = server.get("/suggest?q=owl&k=50");
    files.check_hidden(&titles);
    assert!(titles.body.contains("hand%20book/"), "{}", titles.body);
    // A cursor of an order by sites would hold one.
    let (response, _) = search(&server, &[("q", "owls"), ("sort", "site"), ("after", "*")]);
    assert_eq!(response.status, 400);
    files.check_hidden(&response);
}

fn response_target(parameters: &[(&str, &str)], page: &str) -> String {
    let mut target = url::form_urlencoded::Serializer::new(String::new());
    format!("{page}{}", target.extend_pairs(parameters).finish())
}

#[test]
fn sites_as_shown_are_asked_for() {
    let files = Files::new();
    let server = files.serve(&[], false);
    let (_, answer) = search(&server, &[("q", "owls"), ("facet", "site")]);
    let buckets = answer["facets"][0]["buckets"].as_array().unwrap();
    assert!(buckets.len() > 3, "{answer}");
    for bucket in buckets {
        let filter = bucket["filter"].as_str().unwrap();
        if bucket["value"] == "…/ann" {
            assert_eq!(filter, "");
            continue;
        }
        let (_, found) = search(&server, &[("q", "owls"), ("filter", filter), ("k", "50")]);
        assert_eq!(found["total"]["value"], bucket["count"], "{bucket}");
        let site = &found["hits"][0]["site"];
        assert_eq!(*site, bucket["value"]);
    }
}

#[test]
fn addresses_are_mapped_where_they_are_shown() {
    let files = Files::new();
    let root = url_of(&files.root);
    let maps = [
        format!("{root}=https://intranet.example/docs"),
        format!("{root}/a%20b=https://other.example"),
        "https://example.org=https://mirror.example/org".to_owned(),
    ];
    let server = files.serve(&maps, true);
    let (response, answer) = search(&server, &[("q", "owls"), ("k", "50"), ("facet", "site")]);
    files.check_hidden(&response);
    let found = urls(&answer);
    for url in [
        "https://intranet.example/docs/plain.txt",
        "https://intranet.example/docs/people.csv#2",
        "https://intranet.example/docs/pages.zip!/in/b%20c.txt",
        "https://other.example/100%25/x%23y%3Fz.txt",
        "https://mirror.example/org/owls",
    ] {
        assert!(found.contains(&url), "{url} {found:?}");
        let mut target = url::form_urlencoded::Serializer::new(String::new());
        let target = format!(
            "/document?format=json&{}",
            target.append_pair("url", url).finish()
        );
        let document: Value = serde_json::from_str(&server.get(&target).body).unwrap();
        assert_eq!(
            (&document["url"], &document["id"]),
            (&url.into(), &url.into())
        );
    }
    let titles = server.get("/suggest?q=owl&k=50");
    let mapped = "https://intranet.example/docs/plain.txt";
    assert!(titles.body.contains(mapped), "{}", titles.body);
    let page = server.get("/?q=owls&k=50");
    assert!(
        page.body
            .contains("href=\"https://intranet.example/docs/plain.txt\"")
    );
    // What has an address of its own needs no other.
    assert!(!page.body.contains("href=\"original/"), "{}", page.body);
}

/// Returns the links of a page to files.
fn links(page: &str) -> Vec<String> {
    let links = page.split("href=\"").skip(1);
    let links = links.map(|rest| rest.split('"').next().unwrap().replace("&#38;", "&"));
    links.filter(|link| link.starts_with("original/")).collect()
}

#[test]
fn hits_of_files_open_them() {
    let files = Files::new();
    let server = files.serve(&[], true);
    let page = server.get("/?q=owls&k=50");
    let links = links(&page.body);
    assert_eq!(links.len(), FILES.len(), "{}", page.body);
    let mut contents = Vec::new();
    for link in &links {
        let base = Url::parse("http://localhost/").unwrap();
        let target = base.join(&link.replace("&#39;", "'")).unwrap();
        let got = server.get(target.path());
        assert_eq!(got.status, 200, "{link}");
        let length = format!("content-length: {}", got.body.len());
        for part in [
            "x-content-type-options: nosniff",
            "etag: \"",
            "last-modified: ",
            "accept-ranges: bytes",
            &length,
        ] {
            assert!(got.head.contains(part), "{link} {}", got.head);
        }
        let is_pdf = link.ends_with(".pdf");
        assert_eq!(
            got.head.contains("content-security-policy: sandbox;"),
            !is_pdf,
            "{}",
            got.head
        );
        assert!(!got.head.contains("allow-scripts"));
        contents.push(got.body);
    }
    let mut expected: Vec<String> = FILES
        .iter()
        .map(|(_, content)| (*content).to_owned())
        .collect();
    contents.sort();
    expected.sort();
    assert_eq!(contents, expected);
    let document = server.get("/document?url=file:///hand%2520book/plain.txt");
    assert!(
        document
            .body
            .contains("href=\"original/hand%20book/plain.txt\""),
        "{}",
        document.body
    );
}

#[test]
fn parts_and_copies_of_files() {
    let files = Files::new();
    let server = files.serve(&[], true);
    let ask = |method: &str, headers: &str| {
        server.raw(
            format!(
                "{method} /original/hand%20book/plain.txt HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{headers}\r\n"
            )
            .as_bytes(),
        )
    };
    let whole = ask("GET", "");
    assert_eq!((whole.status, &*whole.body), (200, "owls fly"));
    let head = ask("HEAD", "");
    assert_eq!((head.status, &*head.body), (200, ""));
    assert!(head.head.contains("content-length: 8"), "{}", head.head);
    let part = ask("GET", "Range: bytes=5-\r\n");
    assert_eq!((part.status, &*part.body), (206, "fly"));
    assert!(
        part.head.contains("content-range: bytes 5-7/8"),
        "{}",
        part.head
    );
    let beyond = ask("GET", "Range: bytes=8-\r\n");
    assert_eq!(beyond.status, 416);
    assert!(
        beyond.head.contains("content-range: bytes */8"),
        "{}",
        beyond.head
    );
    let tag = whole
        .head
        .lines()
        .find_map(|line| line.strip_prefix("etag: "))
        .unwrap();
    let copy = ask("GET", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!((copy.status, &*copy.body), (304, ""));
    std::fs::write(files.root.join("plain.txt"), "owls fly on").unwrap();
    let changed = ask("GET", &format!("If-None-Match: {tag}\r\n"));
    assert_eq!((changed.status, &*changed.body), (200, "owls fly on"));
    let stale = ask("GET", &format!("Range: bytes=5-\r\nIf-Range: {tag}\r\n"));
    assert_eq!((stale.status, &*stale.body), (200, "owls fly on"));
    // Answers of a proxy are compressed by it; ranges are of the file itself.
    let coded = ask("GET", "Accept-Encoding: gzip\r\n");
    assert_eq!(coded.body, "owls fly on");
    assert_eq!(ask("POST", "").status, 405);
}

#[cfg(unix)]
#[test]
fn nothing_else_is_sent() {
    use std::os::unix::fs::symlink;
    let files = Files::new();
    let outside = files.folder.path().join("secret.txt");
    std::fs::write(&outside, "secret").unwrap();
    std::fs::write(files.root.join("unindexed.txt"), "secret").unwrap();
    std::fs::write(files.root.join(".hidden"), "secret").unwrap();
    let server = files.serve(&[], true);
    let folder = files.root.display().to_string();
    for path in [
        "",
        "/",
        "/hand%20book",
        "/hand%20book/",
        "/hand%20book/a%20b",
        "/hand%20book/a%20b/",
        "/hand%20book/unindexed.txt",
        "/hand%20book/.hidden",
        "/hand%20book/../secret.txt",
        "/hand%20book/%2e%2e/secret.txt",
        "/hand%20book/..%2fsecret.txt",
        "/hand%20book/a%20b/..%2fplain.txt",
        "/hand%20book/a%20b/../plain.txt",
        "/hand%20book/a%20b%2f100%25%2fx",
        "/hand%20book//plain.txt",
        "/hand%20book/./plain.txt",
        "/hand%20book/plain.txt/",
        "/hand%20book/plain.txt%00",
        "/hand%20book/plain.txt%00.html",
        "/hand%20book/plain.txt!/x",
        "/hand%20book/plain.txt%23x",
        "/hand%20book/pages.zip",
        "/hand%20book/pages.zip!/../plain.txt",
        "/hand%20book/%70lain.txt",
        "/hand%20book\\plain.txt",
        "/etc/passwd",
        "//etc/passwd",
        "/~0123456789abcdef/owls.txt",
        &folder.replace(' ', "%20"),
        &format!("{}/plain.txt", folder.replace(' ', "%20")),
    ] {
        let got = server.get(&format!("/original{path}"));
        let is_refused = matches!(got.status, 400 | 404);
        assert!(is_refused, "{path}: {} {}", got.status, got.body);
        assert!(
            !got.body.contains("secret\n") && !got.body.contains("root:"),
            "{path}"
        );
        files.check_hidden(&got);
    }
    // What has become a link since, or is gone, is not sent.
    let plain = files.root.join("plain.txt");
    std::fs::remove_file(&plain).unwrap();
    assert_eq!(server.get("/original/hand%20book/plain.txt").status, 404);
    symlink(&outside, &plain).unwrap();
    assert_eq!(server.get("/original/hand%20book/plain.txt").status, 404);
    std::fs::rename(files.root.join("a b"), files.folder.path().join("moved")).unwrap();
    symlink(files.folder.path().join("moved"), files.root.join("a b")).unwrap();
    let inner = "/original/hand%20book/a%20b/100%25/x%23y%3Fz.txt";
    assert_eq!(server.get(inner).status, 404);
    // Without the option no file is.
    let without = files.serve(&[], false);
    assert_eq!(without.get("/original/hand%20book/page.html").status, 404);
}
