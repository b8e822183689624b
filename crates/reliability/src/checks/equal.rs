//! Check `equal`: separate processes answer byte for byte as one process does.

use super::settings::Run;
use crate::client::{Client, search_path, without_phases};
use crate::stage::{Stage, questions};
use crate::verdict::Verdict;
use testkit::MadeUp;

/// Parameters, one of which each query gets.
const PARAMETERS: [&str; 13] = [
    "",
    "&any=1&per_site=2",
    "&per_site=2",
    "&per_site=1&k=20",
    "&start=10&k=10&per_site=2",
    "&any=1&start=95&k=5",
    "&explain=1&k=3&per_site=2",
    "&ranking=tfidf",
    "&ranking=dirichlet:mu=300",
    "&count=none&any=1",
    "&k=0",
    "&k=200&any=1",
    "&partial=0&timeout=5s",
];
/// Requests that are refused, or odd.
const ODD: [&str; 9] = [
    "/search",
    "/search?q=",
    "/search?q=zada&k=1001",
    "/search?q=zada&start=10000",
    "/search?q=zada&colour=red",
    "/search?q=zada&timeout=soon",
    "/search?q=%22zada+%28%28",
    "/search?q=-zada",
    "/document?url=http://site1.test/no-such-page",
];

/// Runs 2 index servers × 2 replicas, 2 document servers of a part each and a front-end, against one process.
pub(super) async fn run(run: &Run) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::new("equal", run.seed);
    let stage = Stage::set(3_000, 8).await?;
    let one_process = stage.serve(&[]).await?;
    let mut index_servers = Vec::new();
    let mut document_servers = Vec::new();
    for part in stage.parts(2) {
        for _ in 0..2 {
            index_servers.push((part.clone(), stage.server("index-server", &part).await?));
        }
        document_servers.push((part.clone(), stage.server("document-server", &part).await?));
    }
    let index_addresses: Vec<_> = index_servers
        .iter()
        .map(|(part, server)| (part.clone(), server.address))
        .collect();
    let document_addresses: Vec<_> = document_servers
        .iter()
        .map(|(part, server)| (part.clone(), server.address))
        .collect();
    let front_end = stage
        .front_end(&index_addresses, &document_addresses, &[])
        .await?;
    if run.sabotage {
        // Kills both replicas of one part of the index.
        for (_, server) in &mut index_servers[..2] {
            server.kill().await?;
        }
    }

    let queries: Vec<String> = MadeUp::default().queries(run.size(300, 3_000)).collect();
    let plain = queries
        .iter()
        .zip(PARAMETERS.iter().cycle())
        .map(|(query, parameters)| search_path(query, parameters));
    let phrases = queries
        .iter()
        .filter(|query| query.contains(' '))
        .step_by(5)
        .map(|query| search_path(&format!("\"{query}\""), "&any=1"));
    let documents = (0..20).map(|number| {
        let url = format!("http://site{number}.test/{number}");
        format!("/document?url={url}")
    });
    let paths = plain
        .chain(phrases)
        .chain(documents)
        .chain(ODD.map(String::from));
    let questions = questions(one_process.address, paths).await?;
    let mut client = Client::new(front_end.address);
    let (mut unequal, mut lost, mut refusals, mut hits) = (0, 0, 0u32, 0u32);
    for question in &questions {
        refusals += u32::from(question.status >= 400);
        hits += u32::from(
            question
                .expected
                .windows(8)
                .any(|bytes| bytes == b"\"score\":"),
        );
        match client.get(&question.path).await {
            Ok(answered) => {
                let body = comparable(&question.path, &without_phases(&answered.body));
                let expected = comparable(&question.path, &question.expected);
                if answered.status != question.status || body != expected {
                    unequal += 1;
                    verdict.tell([difference(&question.path, &expected, &body)]);
                }
            }
            Err(reason) => {
                lost += 1;
                verdict.tell([format!("{}: {reason:?}", question.path)]);
            }
        }
    }
    verdict.count = format!("{} requests", questions.len());
    verdict.none("unequal", unequal);
    verdict.none("lost", lost);
    verdict.at_least("with hits", hits.into(), questions.len() as f64 / 3.0);
    verdict.at_least("refusals", refusals.into(), 5.0);
    Ok(verdict)
}

/// Removes the total where the count was not requested: it is then a lower bound, which depends on how far each part
/// searched, and so on the number of parts.
fn comparable(path: &str, body: &[u8]) -> Vec<u8> {
    const END: &[u8] = b",\"exact\":false";
    const KEY: &[u8] = b"\"total\":{";
    let at = |bytes: &[u8]| body.windows(bytes.len()).position(|one| one == bytes);
    match (path.contains("count=none"), at(KEY), at(END)) {
        (true, Some(from), Some(to)) if from < to => [&body[..from], &body[to..]].concat(),
        _ => body.to_vec(),
    }
}

/// Describes the first difference of two answers, with its surroundings.
fn difference(path: &str, expected: &[u8], body: &[u8]) -> String {
    let same = expected
        .iter()
        .zip(body)
        .take_while(|(one, other)| one == other);
    let from = same.count().saturating_sub(60);
    let around = |bytes: &[u8]| {
        let end = bytes.len().min(from + 140);
        String::from_utf8_lossy(&bytes[from.min(end)..end]).into_owned()
    };
    format!(
        "{path}: {:?} instead of {:?}",
        around(body),
        around(expected)
    )
}
