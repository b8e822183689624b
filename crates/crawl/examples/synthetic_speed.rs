//! Speed of the synthetic web: pages made, and pages fetched over loopback. Arguments: pages, bytes of a page.

use std::sync::Arc;
use std::time::Instant;

use crawl::fetch::{AddressGuard, FetchOptions, FetchRequest, Fetcher};
use crawl::synthetic::{
    RequestFacts, SyntheticOptions, SyntheticResolver, SyntheticWeb, listen, serve,
};
use url::Url;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let pages: u32 = arguments.next().map_or(Ok(10_000), |text| text.parse())?;
    let page_bytes_mean: usize = arguments.next().map_or(Ok(30_000), |text| text.parse())?;
    let listener = listen(0)?;
    let port = listener.local_addr()?.port();
    let options = SyntheticOptions {
        hosts: 100,
        classes: false,
        page_bytes_mean,
        port,
        ..SyntheticOptions::default()
    };
    let web = Arc::new(SyntheticWeb::new(options));

    let (started, mut bytes) = (Instant::now(), 0);
    for page in 0..pages {
        bytes += web
            .respond(
                &format!("h{}.web.test", page % 100),
                "/",
                0,
                RequestFacts::default(),
            )
            .body
            .len();
    }
    let per_s = f64::from(pages) / started.elapsed().as_secs_f64();
    println!(
        "made: {per_s:.0} pages/s of {} bytes, one core",
        bytes / pages.max(1) as usize
    );

    tokio::spawn(serve(web.clone(), listener, Box::new(std::io::sink())));
    let fetcher = Arc::new(Fetcher::new(FetchOptions {
        guard: AddressGuard::only(vec!["127.0.0.0/8".parse()?]),
        resolver: Arc::new(SyntheticResolver(web.clone())),
        ..FetchOptions::default()
    })?);
    let started = Instant::now();
    let walks: Vec<_> = (0..20)
        .map(|walk| {
            let (fetcher, web) = (fetcher.clone(), web.clone());
            tokio::spawn(async move {
                let Ok(url) = Url::parse(&web.url(walk, "/")) else {
                    return 0;
                };
                let mut fetched = 0;
                for _ in 0..pages / 20 {
                    fetched += u32::from(fetcher.fetch(&FetchRequest::new(&url)).await.is_ok());
                }
                fetched
            })
        })
        .collect();
    let mut fetched = 0;
    for walk in walks {
        fetched += walk.await?;
    }
    let per_s = f64::from(fetched) / started.elapsed().as_secs_f64();
    println!("made, served and fetched: {per_s:.0} pages/s, one core for all, {fetched} pages");
    Ok(())
}
