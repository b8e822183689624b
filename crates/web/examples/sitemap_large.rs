//! Reads a made sitemap of MIB mebibytes and prints the peak of resident memory: `sitemap_large MIB`.

use std::io::{BufReader, Read, Write};
use web::sitemap::{Options, SitemapReader};

/// Sitemap that is made as it is read.
struct Made {
    left: u64,
    number: u64,
    ready: Vec<u8>,
}

impl Read for Made {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.ready.is_empty() && self.left > 0 {
            let number = self.number;
            self.number += 1;
            self.ready = match number {
                0 => b"<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">".to_vec(),
                _ => format!(
                    "<url><loc>https://example.com/{number}?{}</loc><lastmod>2026-11-23</lastmod></url>\n",
                    "x".repeat(900)
                )
                .into_bytes(),
            };
            if self.ready.len() as u64 >= self.left {
                self.ready = b"</urlset>".to_vec();
                self.left = 0;
            } else {
                self.left -= self.ready.len() as u64;
            }
        }
        let taken = self.ready.len().min(buffer.len());
        buffer[..taken].copy_from_slice(&self.ready[..taken]);
        self.ready.drain(..taken);
        Ok(taken)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mib: u64 = std::env::args()
        .nth(1)
        .and_then(|text| text.parse().ok())
        .unwrap_or(50);
    let made = Made {
        left: mib << 20,
        number: 0,
        ready: Vec::new(),
    };
    let url = url::Url::parse("https://example.com/sitemap.xml")?;
    let started = std::time::Instant::now();
    let mut reader = SitemapReader::new(BufReader::new(made), &url, Options::default())?;
    while reader.next()?.is_some() {}
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status
        .lines()
        .find(|line| line.starts_with("VmHWM"))
        .unwrap_or("");
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{:?} in {:.2} s; {peak}",
        reader.counts(),
        started.elapsed().as_secs_f64()
    )?;
    Ok(())
}
