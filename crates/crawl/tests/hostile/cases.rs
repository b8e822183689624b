//! Behaviours of hostile servers, and what a fetch from each gives.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use tokio::io::AsyncWriteExt;

/// What the server does after the request head was read.
pub(crate) enum Server {
    /// Sends these bytes and closes.
    Send(Vec<u8>),
    /// Sends these bytes, then waits for the client to close.
    Hold(Vec<u8>),
    /// Sends the first bytes, then the second ones again and again, with a pause in ms between.
    Endless(Vec<u8>, Vec<u8>, u64),
    /// Sends these before the request is read (for TLS), and closes.
    Greet(Vec<u8>),
}
pub(crate) use Server::{Endless, Greet, Hold, Send};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

async fn brotli(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = async_compression::tokio::write::BrotliEncoder::new(Vec::new());
    encoder.write_all(bytes).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder.into_inner()
}

async fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = async_compression::tokio::write::ZstdEncoder::new(Vec::new());
    encoder.write_all(bytes).await.unwrap();
    encoder.shutdown().await.unwrap();
    encoder.into_inner()
}

const TYPE: &str = "Content-Type: text/html\r\n";

/// A page with a head.
pub(crate) fn page(headers: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = format!("HTTP/1.1 200 OK\r\n{TYPE}{headers}\r\n").into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

fn coded(coding: &str, body: &[u8]) -> Vec<u8> {
    page(
        &format!(
            "Content-Encoding: {coding}\r\nContent-Length: {}\r\n",
            body.len()
        ),
        body,
    )
}

/// Name, behaviour and expected outcome.
pub(crate) async fn cases() -> Vec<(&'static str, Server, &'static str)> {
    let zeros = vec![0; 5_000_000];
    // A valid gzip of a million empty blocks: it decodes to nothing.
    let mut hollow = b"\x1f\x8b\x08\0\0\0\0\0\0\x03".to_vec();
    hollow.extend(b"\0\0\0\xff\xff".repeat(1_000_000));
    let ok = |body: &[u8]| page(&format!("Content-Length: {}\r\n", body.len()), body);
    let raw = |text: &str| text.as_bytes().to_vec();
    let head = |lines: &str| format!("HTTP/1.1 200 OK\r\n{TYPE}{lines}\r\n").into_bytes();
    vec![
        ("honest", Send(ok(b"hello")), "page 200 5"),
        (
            "honest gzip",
            Send(coded("gzip", &gzip(b"hello"))),
            "page 200 5",
        ),
        (
            "honest brotli",
            Send(coded("br", &brotli(b"hello").await)),
            "page 200 5",
        ),
        (
            "honest zstd",
            Send(coded("zstd", &zstd(b"hello").await)),
            "page 200 5",
        ),
        (
            "two members of gzip",
            Send(coded("gzip", &[gzip(b"one"), gzip(b"two")].concat())),
            "page 200 6",
        ),
        (
            "honest nested gzip",
            Send(coded("gzip, gzip", &gzip(&gzip(b"hello")))),
            "page 200 5",
        ),
        ("no answer", Hold(vec![]), "timeout head"),
        (
            "head byte by byte",
            Endless(raw("HTTP/1.1 200 OK\r\nX: "), raw("x"), 20),
            "timeout head",
        ),
        (
            "endless status line",
            Endless(raw("HTTP/1.1 200 "), vec![b'x'; 4096], 0),
            "head too large",
        ),
        (
            "endless header",
            Endless(raw("HTTP/1.1 200 OK\r\nX: "), vec![b'x'; 4096], 0),
            "head too large",
        ),
        (
            "endless headers",
            Endless(raw("HTTP/1.1 200 OK\r\n"), raw("X: y\r\n"), 0),
            "head too large",
        ),
        (
            "many headers",
            Send(head(&"X: y\r\n".repeat(100))),
            "head too large",
        ),
        (
            "flood of 100",
            Endless(vec![], raw("HTTP/1.1 100 Continue\r\n\r\n"), 0),
            "head too large",
        ),
        (
            "flood of 103",
            Endless(
                vec![],
                raw("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"),
                0,
            ),
            "head too large",
        ),
        (
            "one 100 before",
            Send([raw("HTTP/1.1 100 Continue\r\n\r\n"), ok(b"hello")].concat()),
            "page 200 5",
        ),
        (
            "101 unasked",
            Hold(raw(
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n",
            )),
            "protocol",
        ),
        (
            "endless body",
            Endless(head(""), vec![b'x'; 16 << 10], 0),
            "page 200 200000 cut",
        ),
        (
            "endless chunks",
            Endless(
                head("Transfer-Encoding: chunked\r\n"),
                raw("4\r\nabcd\r\n"),
                0,
            ),
            "page 200 200000 cut",
        ),
        (
            "endless chunk extension",
            Endless(head("Transfer-Encoding: chunked\r\n"), vec![b'1'; 4096], 0),
            "protocol",
        ),
        ("slow body", Endless(head(""), raw("x"), 20), "too slow"),
        (
            "stalled body",
            Hold(page("Content-Length: 100\r\n", b"hello")),
            "too slow",
        ),
        (
            "steady body for ever",
            Endless(head(""), vec![b'x'; 700], 20),
            "timeout whole",
        ),
        ("gzip bomb", Send(coded("gzip", &gzip(&zeros))), "bomb"),
        (
            "brotli bomb",
            Send(coded("br", &brotli(&zeros).await)),
            "bomb",
        ),
        (
            "zstd bomb",
            Send(coded("zstd", &zstd(&zeros).await)),
            "bomb",
        ),
        (
            "nested bomb",
            Send(coded("gzip, gzip", &gzip(&gzip(&zeros)))),
            "bomb",
        ),
        (
            "bomb in the middle layer",
            Send(coded("gzip, gzip", &gzip(&hollow))),
            "bomb",
        ),
        (
            "many codings",
            Send(coded("gzip, gzip, gzip", &gzip(&gzip(&gzip(b"hello"))))),
            "protocol",
        ),
        ("unknown coding", Send(coded("lzma", b"hello")), "protocol"),
        (
            "coding not applied",
            Send(coded("gzip", b"<p>hello")),
            "page 200 8",
        ),
        (
            "gzip of garbage",
            Send(coded("gzip", b"\x1f\x8bgarbage garbage")),
            "protocol",
        ),
        (
            "gzip cut off",
            Send(coded("gzip", &gzip(b"hello hello hello")[..20])),
            "page 200 17 damaged",
        ),
        (
            "length too long",
            Send(page("Content-Length: 100\r\n", b"hello")),
            "page 200 5 disconnected",
        ),
        (
            "length too long, nothing sent",
            Send(page("Content-Length: 100\r\n", b"")),
            "protocol",
        ),
        (
            "length too short",
            Send(page("Content-Length: 3\r\n", b"hello")),
            "page 200 3",
        ),
        (
            "negative length",
            Send(page("Content-Length: -5\r\n", b"hello")),
            "protocol",
        ),
        (
            "two lengths",
            Send(page(
                "Content-Length: 5\r\nContent-Length: 6\r\n",
                b"hello!",
            )),
            "protocol",
        ),
        (
            "huge length",
            Hold(page("Content-Length: 18446744073709551614\r\n", b"hello")),
            "head too large",
        ),
        (
            "length beyond 64 bits",
            Send(page(
                "Content-Length: 99999999999999999999999\r\n",
                b"hello",
            )),
            "protocol",
        ),
        (
            "chunk size is no number",
            Send(page("Transfer-Encoding: chunked\r\n", b"zz\r\nhello\r\n")),
            "protocol",
        ),
        (
            "chunk size overflows",
            Send(page(
                "Transfer-Encoding: chunked\r\n",
                b"fffffffffffffffff\r\nhello",
            )),
            "protocol",
        ),
        (
            "chunks without end",
            Send(page("Transfer-Encoding: chunked\r\n", b"5\r\nhello\r\n")),
            "page 200 5 disconnected",
        ),
        (
            "chunk longer than stated",
            Send(page(
                "Transfer-Encoding: chunked\r\n",
                b"2\r\nhello\r\n0\r\n\r\n",
            )),
            "page 200 2 disconnected",
        ),
        (
            "redirect to metadata",
            Send(raw(
                "HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
            )),
            "redirect 302 0",
        ),
        (
            "redirect to file",
            Send(raw(
                "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\n\r\n",
            )),
            "bad redirect",
        ),
        (
            "redirect to javascript",
            Send(raw(
                "HTTP/1.1 302 Found\r\nLocation: javascript:alert(1)\r\n\r\n",
            )),
            "bad redirect",
        ),
        (
            "redirect to data",
            Send(raw(
                "HTTP/1.1 302 Found\r\nLocation: data:text/html,x\r\n\r\n",
            )),
            "bad redirect",
        ),
        (
            "redirect without location",
            Send(raw("HTTP/1.1 302 Found\r\nContent-Length: 2\r\n\r\nhi")),
            "page 302 2",
        ),
        (
            "redirect with endless body",
            Endless(
                raw("HTTP/1.1 302 Found\r\nLocation: /a\r\n\r\n"),
                vec![b'x'; 4096],
                0,
            ),
            "redirect 302 16384 cut",
        ),
        ("no status line", Send(raw("\r\n\r\n")), "protocol"),
        ("HTTP/0.9", Send(raw("<html>hello</html>")), "protocol"),
        (
            "HTTP/9.9",
            Send(raw("HTTP/9.9 200 OK\r\n\r\nhello")),
            "protocol",
        ),
        (
            "status of four digits",
            Send(raw("HTTP/1.1 2000 OK\r\n\r\nhello")),
            "protocol",
        ),
        (
            "status 000",
            Send(raw("HTTP/1.1 000 OK\r\n\r\nhello")),
            "protocol",
        ),
        (
            "other protocol",
            Send(raw("SSH-2.0-OpenSSH_9.6\r\n")),
            "protocol",
        ),
        (
            "TLS at a plain port",
            Greet(vec![0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3]),
            "protocol",
        ),
        ("closed at once", Send(vec![]), "protocol"),
        (
            "closed in the status line",
            Send(raw("HTTP/1.1 2")),
            "protocol",
        ),
        (
            "closed in a header",
            Send(raw("HTTP/1.1 200 OK\r\nContent-Ty")),
            "protocol",
        ),
        ("closed after the head", Send(head("")), "page 200 0"),
        (
            "image as type",
            Endless(
                raw("HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n"),
                vec![b'x'; 4096],
                0,
            ),
            "skipped 200 0",
        ),
        (
            "image called html",
            Send(page("Content-Length: 4\r\n", b"\x89PNG")),
            "page 200 4",
        ),
        (
            "NUL in a header",
            Send(head("X: a\0b\r\nContent-Length: 0\r\n")),
            "protocol",
        ),
        (
            "204 with body",
            Send(raw(
                "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
            )),
            "page 204 0",
        ),
        (
            "304 without condition",
            Send(raw("HTTP/1.1 304 Not Modified\r\n\r\n")),
            "protocol",
        ),
    ]
}
