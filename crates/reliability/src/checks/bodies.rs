//! Bodies that are small as sent and large in a server: of any shape, they keep the limit on memory.
//!
//! Each shape is one body for a server that writes, compressed, of up to 256 MiB. Memory is the peak of the process
//! while it is read, over that before. Damaged ones must be refused, others answered.

use super::settings::Run;
use crate::client::{get, send_body};
use crate::process::Process;
use crate::stage::Stage;
use crate::verdict::Verdict;
use anyhow::Context;
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;

const MEMORY_MB_MAX: f64 = 64.0;
/// Size of the blocks that a body repeats; each is a member of the gzip stream.
const BLOCK_BYTES: usize = 1 << 20;
const SMALL_BLOCKS: usize = 6;
const FULL_BLOCKS: usize = 255;
/// Blocks of shapes that are documents: they are written to the disk and indexed, which takes its time.
const WRITTEN_BLOCKS_MAX: usize = 48;

/// Body of one shape.
struct Shape {
    name: &'static str,
    method: &'static str,
    /// Begin, what is repeated in blocks, and end.
    begin: &'static str,
    unit: String,
    end: &'static str,
    status: u16,
    /// Bytes of its largest document.
    largest: usize,
    /// Whether it has documents.
    is_written: bool,
}

/// Runs one process, and sends it a body of each shape.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("bodies", run.seed);
    let stage = Stage::set(500, 1).await?;
    let server = stage.serve(&["--writable", "--handlers", "1"]).await?;
    let admin = server.admin.context("no admin address")?;
    // The first refresh reads parts of the program and of the index for the first time.
    let first = br#"{"url":"u:0","title":"first"}"#;
    send_body(admin, "POST", "/documents?refresh=now", "", first).await?;
    // What is said to be small must be seen to be large.
    let blocks = match run.sabotage {
        true => WRITTEN_BLOCKS_MAX,
        false => run.size(SMALL_BLOCKS, FULL_BLOCKS),
    };
    let shapes = shapes(run.sabotage);
    let (mut worst, mut otherwise, mut examples) = (0.0f64, 0, Vec::new());
    for shape in &shapes {
        let blocks = match shape.is_written {
            true => blocks.min(WRITTEN_BLOCKS_MAX),
            false => blocks,
        };
        let body = shape.gzip(blocks)?;
        let (status, memory_mb) = sent(&server, shape, &body).await?;
        let largest = shape.largest.min(blocks * BLOCK_BYTES);
        let over = memory_mb - 2.0 * largest as f64 / 1e6;
        let line = format!(
            "{}: {} bytes as sent, {blocks} MiB decompressed, {status}, {memory_mb:.1} MB",
            shape.name,
            body.len()
        );
        if run.full {
            eprintln!("{line}");
        }
        if status != shape.status || over > MEMORY_MB_MAX {
            examples.push(line);
        }
        otherwise += u64::from(status != shape.status);
        worst = worst.max(over);
    }
    let found = get(server.address, "/search?q=first").await?;
    verdict.count = format!("{} bodies of {blocks} MiB", shapes.len());
    verdict.at_most(
        "memory + MB beyond twice the largest document",
        worst,
        MEMORY_MB_MAX,
    );
    verdict.none("answered with another status", otherwise);
    verdict.none("searches failed", u64::from(found.status != 200));
    verdict.tell(examples);
    Ok(verdict)
}

/// Sends a body; returns the status of its answer, and the peak of memory meanwhile.
async fn sent(server: &Process, shape: &Shape, body: &[u8]) -> anyhow::Result<(u16, f64)> {
    let admin = server.admin.context("no admin address")?;
    server.forget_peak()?;
    let before = server.resident_bytes()?;
    let gzip = "content-encoding: gzip\r\n";
    let answered = send_body(admin, shape.method, "/documents", gzip, body).await;
    let (status, _) = answered.with_context(|| shape.name)?;
    let peak = server.resident_peak_bytes()?.saturating_sub(before);
    Ok((status, peak as f64 / 1e6))
}

fn shapes(sabotage: bool) -> Vec<Shape> {
    let shape = |name, method, parts: (&'static str, String, &'static str), status| Shape {
        name,
        method,
        begin: parts.0,
        unit: parts.1,
        end: parts.2,
        status,
        largest: 0,
        is_written: name.contains("documents"),
    };
    let text = |unit: &str| ("", unit.to_owned(), "");
    // Documents of one address: what is measured is the body, not the index.
    let short: String = (0..2_000)
        .map(|number| format!("{{\"url\":\"u:{number}\",\"title\":\"t\"}}\n"))
        .collect();
    let large = format!(
        "{{\"url\":\"u:1\",\"body\":\"{}\"}}\n",
        "word ".repeat((BLOCK_BYTES - 100) / 5)
    );
    let mut shapes = vec![
        shape("empty objects", "POST", text("{}\n"), 400),
        shape("short lines that are no JSON", "POST", text("x\n"), 400),
        shape("URLs to delete", "DELETE", text("a\n"), 200),
        shape("blank lines", "POST", text("\n"), 400),
        shape(
            "short patches",
            "PATCH",
            text("{\"url\":\"u:none\"}\n"),
            400,
        ),
        shape("short documents", "POST", text(&short), 200),
        shape(
            "array of empty objects",
            "POST",
            ("[{}", ",{}".into(), "]"),
            400,
        ),
        shape(
            "array of URLs",
            "DELETE",
            ("[\"a\"", ",\"a\"".into(), "]"),
            200,
        ),
        shape(
            "array of URLs without an end",
            "DELETE",
            ("[\"a\"", ",\"a\"".into(), ""),
            400,
        ),
    ];
    // Each is one entry, which is skipped beyond 64 MiB.
    for (name, method, unit) in [
        ("one line", "POST", "x"),
        ("open brackets", "POST", "["),
        ("a string without an end", "DELETE", "[\"a"),
    ] {
        let mut one = shape(name, method, text(unit), 400);
        one.largest = 64 << 20;
        shapes.push(one);
    }
    let mut documents = shape("documents of 1 MB", "POST", text(&large), 200);
    documents.largest = BLOCK_BYTES;
    shapes.push(documents);
    if sabotage {
        // One document that cannot be cut, said to be small.
        let one = ("{\"url\":\"u:1\",\"body\":\"", "word ".to_owned(), "\"}");
        return vec![shape("one document", "POST", one, 200)];
    }
    shapes
}

impl Shape {
    /// Returns the compressed body, with about `blocks` MiB of units.
    fn gzip(&self, blocks: usize) -> anyhow::Result<Vec<u8>> {
        let member = |text: &[u8]| -> anyhow::Result<Vec<u8>> {
            let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
            gzip.write_all(text)?;
            Ok(gzip.finish()?)
        };
        let units = (BLOCK_BYTES / self.unit.len()).max(1);
        let block = member(self.unit.repeat(units).as_bytes())?;
        let mut body = member(self.begin.as_bytes())?;
        for _ in 0..blocks {
            body.extend_from_slice(&block);
        }
        body.extend(member(self.end.as_bytes())?);
        Ok(body)
    }
}
