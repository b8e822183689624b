//! Untrusted bytes in arguments and documents.

use crate::support::{Bench, document, small_corpus};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;

#[test]
fn any_query_is_answered() {
    let bench = Bench::indexed(&small_corpus());
    let queries: Vec<Vec<u8>> = vec![
        b"".to_vec(),
        b" ".to_vec(),
        b"\xff\xfe ice \x80".to_vec(),
        b"\x1b]0;owned\x07 ice".to_vec(),
        b"\"".to_vec(),
        b"\"ice\"~99999999999999999999".to_vec(),
        b"title: - -- OR OR () ) ( * ~ : \\".to_vec(),
        b"*".to_vec(),
        "(".repeat(50_000).into_bytes(),
        "(ice ".repeat(10_000).into_bytes(),
        "-".repeat(100_000).into_bytes(),
        "ice ".repeat(25_000).into_bytes(),
        "\u{202e}\u{0}ice".replace('\0', "\u{1}").into_bytes(),
        "\u{10ffff}\u{feff}\u{300}".to_owned().into_bytes(),
    ];
    for query in queries {
        let query = OsString::from_vec(query);
        let run = bench
            .run("search", &[OsStr::new("--json"), OsStr::new("--"), &query])
            .ends(0);
        assert_eq!(run.json_lines().len(), 1);
        let run = bench.run("search", &[OsStr::new("--"), &query]).ends(0);
        let printed = run.stdout.clone() + &run.stderr;
        assert!(
            printed.chars().all(|c| c == '\n' || !c.is_control()),
            "{run:#?}"
        );
    }
}

#[test]
fn any_argument_is_refused_in_words() {
    let bench = Bench::indexed(&small_corpus());
    let odd = OsString::from_vec(b"\xff\xfe\x1b[2J".to_vec());
    for subcommand in ["index", "search", "serve", "bench", "check", "demo", ""] {
        for option in [
            "-k", "--listen", "--mode", "--into", "--memory", "--start", "",
        ] {
            if (subcommand, option) == ("demo", "--into") {
                continue; // a directory may have any name
            }
            let run = crate::support::shorttail([OsStr::new(subcommand), OsStr::new(option), &odd]);
            assert_ne!(run.code, 0, "{subcommand} {option}: {run:#?}");
        }
    }
    bench.index(odd.as_ref(), &[]).ends(1);
}

#[test]
fn documents_cannot_reach_the_terminal() {
    let bench = Bench::indexed(&[
        document(
            "http://a.example/\u{1b}[31m\u{7}",
            "\u{1b}]0;owned\u{7}<mark>word</mark>\r\n\u{9b}2J",
            "word \u{1b}[2J\u{8}\u{202e}reversed <script>alert(1)</script> &lt;",
        ),
        document("http://b.example/", "", "word"),
    ]);
    let run = bench.run("search", &["word", "--explain"]).ends(0);
    assert!(
        run.stdout.chars().all(|c| c == '\n' || !c.is_control()),
        "{run:#?}"
    );
    assert!(!run.stdout.contains('\u{202e}'), "{run:#?}");
    assert!(run.stdout.contains("2 documents match"), "{run:#?}");
}
