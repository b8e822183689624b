//! Crawl of sites with `spider`, each from its root: links are followed within the host, bodies are written to one file.
//!
//! `crawl-spider ROOT…`

use spider::tokio;
use spider::website::Website;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::sync::{Arc, Mutex};

/// Requests to a host at a time.
const REQUESTS_MAX: usize = 8;
/// Pages that may wait to be written: a crawl that is ahead by more drops them.
const WAITING_MAX: usize = 16_384;

#[tokio::main]
async fn main() -> io::Result<()> {
    let file = Arc::new(Mutex::new(BufWriter::new(File::create("pages.bin")?)));
    let crawls = std::env::args().skip(1).map(|root| tokio::spawn(crawl(root, file.clone())));
    for crawl in crawls.collect::<Vec<_>>() {
        crawl.await??;
    }
    Ok(())
}

async fn crawl(root: String, file: Arc<Mutex<BufWriter<File>>>) -> io::Result<()> {
    let mut site = Website::new(&root);
    site.with_respect_robots_txt(true)
        .with_delay(0)
        .with_concurrency_limit(Some(REQUESTS_MAX));
    let mut pages = site.subscribe(WAITING_MAX);
    let writer = tokio::spawn(async move {
        while let Ok(page) = pages.recv().await {
            let mut file = file.lock().map_err(|_| io::Error::other("a writer failed"))?;
            file.write_all(page.get_html_bytes_u8())?;
        }
        io::Result::Ok(())
    });
    site.crawl().await;
    site.unsubscribe();
    writer.await?
}
