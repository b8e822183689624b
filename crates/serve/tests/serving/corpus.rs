//! Small indexes of the tests.
use index::{BuildOptions, Index, Writer};
use proptest::prelude::*;
use serve::api::messages::HitAddress;
use serve::{
    Chunks, Cluster, FrontEnd, FrontEndOptions, Generations, HandlerOptions, InProcessIndexServer,
    IndexServer, SearchError, SearchOptions, Topology,
};
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use tokio::runtime::Runtime;
use vfs::{MemoryStorage, SharedStorage};
use wire::SearchAnswer;

/// Runtime of the searches.
pub(crate) static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| serve::io_runtime().unwrap());

/// Front-end for searches from threads.
pub(crate) struct Searched(pub(crate) FrontEnd);

impl Searched {
    /// Starts servers in this process. Their time limit is that of no test: beside others a search may take long.
    pub(crate) fn start(index: Arc<Index>, topology: &Topology) -> Searched {
        let generations = Generations::fixed(index);
        let handlers = HandlerOptions::default();
        let cluster = Cluster::in_process(&generations, topology, &[], &handlers).unwrap();
        let options = FrontEndOptions {
            timeout: Duration::from_secs(120),
            ..FrontEndOptions::default()
        };
        Searched(FrontEnd::new(cluster, options))
    }

    /// Returns a front-end before given index servers, one for each partition.
    pub(crate) fn before(
        index: &Arc<Index>,
        servers: Vec<(Chunks, Arc<dyn IndexServer>)>,
    ) -> Searched {
        let generations = Generations::fixed(index.clone());
        let cluster = Cluster::of_index_servers(&generations, servers).unwrap();
        Searched(FrontEnd::new(cluster, FrontEndOptions::default()))
    }

    pub(crate) fn search(
        &self,
        query: &str,
        options: &SearchOptions,
    ) -> Result<SearchAnswer, SearchError> {
        RUNTIME.block_on(self.0.search(query, options))
    }
}

impl Searched {
    /// Returns a document as stored.
    pub(crate) fn document(&self, url: &str) -> index::StoredDocument {
        let found = RUNTIME.block_on(self.0.document(url)).unwrap();
        found.unwrap_or_else(|| panic!("no document at {url}"))
    }
}

/// Clauses of the query `alpha`.
pub(crate) fn alpha() -> search::Query {
    search::parse("alpha", text::Analyzer::Plain, search::Operator::And).query
}

/// Returns the address of a hit whose hash is not known.
pub(crate) fn at(segment: u32, doc: index::DocId) -> HitAddress {
    HitAddress {
        url_hash: None,
        segment,
        doc,
    }
}

/// Starts an index server with one handler.
pub(crate) fn index_server(index: &Arc<Index>, chunks: Chunks) -> InProcessIndexServer {
    let options = HandlerOptions {
        handlers: 1,
        ..HandlerOptions::default()
    };
    let generations = Generations::fixed(index.clone());
    InProcessIndexServer::start(generations, chunks, &options, serve::Draining::default()).unwrap()
}

pub(crate) const WORDS: [&str; 6] = ["alpha", "beta", "gamma", "delta", "omega", "zeta"];

/// Returns document `n` of site `site`; the bits of `words` select the words of [`WORDS`] that it
/// holds, twice at odd n.
pub(crate) fn document(n: usize, site: u8, words: u8) -> document::Document {
    let held = WORDS
        .iter()
        .enumerate()
        .filter(|(bit, _)| words >> bit & 1 == 1);
    let mut body: String = held.map(|(_, word)| format!("{word} ")).collect();
    if n % 2 == 1 {
        body = body.repeat(2);
    }
    document::Document {
        url: format!("https://site{site}.example/{n}"),
        title: format!("Title {n}"),
        body: format!("{body}in the text of {n}"),
        fields: fields_of(n),
        ..Default::default()
    }
}

/// Returns the fields of document `n`: numbers that some lack, a list of words, a day, a price.
fn fields_of(n: usize) -> json::Map {
    let langs = ["en", "de", "pt br"];
    let mut fields = json::Map::new();
    if !n.is_multiple_of(5) {
        fields.insert("rank".into(), (n as i64 * 7 % 40 - 8).into());
    }
    let langs = [langs[n % 3], langs[n / 3 % 2]].map(json::Value::from);
    fields.insert("lang".into(), langs.to_vec().into());
    let day = format!("2024-{:02}-{:02}", n % 12 + 1, n % 28 + 1);
    fields.insert("day".into(), day.into());
    fields.insert("price".into(), ((n % 13) as f64 * 0.1).into());
    fields
}

/// Filters, facets and orders by the fields of documents: any of some. Of a single document, some of the fields are unknown.
pub(crate) fn refined() -> impl Strategy<Value = (Vec<String>, Vec<String>, String)> {
    let filters = prop::sample::select(vec![
        "lang:en",
        "rank:>3",
        "-lang:de rank:*",
        "day:2024-03..2024-09",
        "price:0.2",
    ]);
    let facets = prop::sample::select(vec![
        "lang",
        "lang:terms:1",
        "site:terms:3",
        "rank",
        "rank:step:10",
        "day:month",
        "day:stats",
        "price",
        "price:terms:4",
        "rank:ranges:..0;1..9;10..",
        "rank:percentiles:50,99",
        "lang:distinct",
        "site:distinct",
        "day:week:Pacific/Apia",
        "lang:terms:2{rank:stats,day:month{price}}",
        "rank:missing{day:quarter,rank:missing}",
        "site:terms:2{lang:terms:1{rank:step:10{site:distinct}}}",
        "rank:ranges:..0;-3..9;10..{lang,price:terms:2{day:quarter}}",
        "day:month{site:terms:1{price:terms:2{rank:percentiles:50}}}",
    ]);
    let sort = prop::sample::select(vec![
        "",
        "",
        "rank:desc",
        "day,site",
        "lang:desc,price",
        "rank:first",
    ]);
    let owned = |texts: Vec<&str>| texts.into_iter().map(str::to_owned).collect::<Vec<_>>();
    (
        prop::collection::vec(filters, 0..2),
        prop::collection::vec(facets, 0..4),
        sort,
    )
        .prop_map(move |(filters, facets, sort)| (owned(filters), owned(facets), sort.to_owned()))
}

/// Returns an index of documents, in memory.
pub(crate) fn index(
    documents: impl IntoIterator<Item = document::Document>,
    chunks: u32,
) -> Arc<Index> {
    let storage = Arc::new(MemoryStorage::default());
    let options = BuildOptions {
        chunks: Some(chunks),
        partitions: Some(chunks),
        ..Default::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for document in documents {
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
    Arc::new(Index::open(storage).unwrap())
}

/// Adds documents of one word and commits; returns the new generation.
pub(crate) fn commit(storage: &SharedStorage, numbers: std::ops::Range<usize>) {
    let options = BuildOptions {
        chunks: Some(3),
        partitions: Some(3),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for number in numbers {
        writer.add(document(number, (number % 5) as u8, 1)).unwrap();
    }
    writer.commit().unwrap();
}
