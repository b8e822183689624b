//! Crawls that several members share: together they do what one process does, each address is visited by one of them, and
//! a loss of power of one loses nothing.

use super::served::{GAP_MS, Served, documents, documents_count, law, new, plain, wait_for};
use crawl::config::{MemberConfig, Within};
use crawl::fetch::Resolve;
use crawl::frontier::State;
use crawl::synthetic::{SyntheticOptions, SyntheticResolver};
use crawl::{Crawl, CrawlConfig, CrawlError, CrawlProgress, CrawlSetup, MemberSetup};
use crawl::{explain, ping, replay};
use index::{BuildOptions, Index};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use vfs::{MemoryStorage, SharedStorage};

/// Members of one crawl of a synthetic web.
struct Members {
    config: CrawlConfig,
    listeners: Vec<Arc<TcpListener>>,
    /// Resolver of the names of the web, if its hosts have names.
    resolver: Option<Arc<dyn Resolve>>,
}

/// Folders of a member.
#[derive(Clone)]
struct Folders {
    crawl: SharedStorage,
    index: SharedStorage,
}

impl Folders {
    fn new() -> Folders {
        Folders {
            crawl: new(),
            index: new(),
        }
    }
}

impl Members {
    fn new(seed: String, names: &[&str]) -> Members {
        let listen = |_| Arc::new(TcpListener::bind("127.0.0.1:0").unwrap());
        let listeners: Vec<_> = names.iter().map(listen).collect();
        let mut config = CrawlConfig::of_seeds(vec![seed]);
        config.sites[0].within = Within::Any;
        config.allow_addresses = vec!["127.0.0.0/8".parse().unwrap()];
        config.gap_s = GAP_MS as f64 / 1000.0;
        let members = names.iter().zip(&listeners);
        config.members = members
            .map(|(name, listener)| MemberConfig {
                name: (*name).to_owned(),
                address: listener.local_addr().unwrap().to_string(),
            })
            .collect();
        Members {
            config,
            listeners,
            resolver: None,
        }
    }

    fn open(&self, at: usize, folders: &Folders) -> Result<Crawl, CrawlError> {
        let setup = CrawlSetup {
            storage: folders.crawl.clone(),
            index: folders.index.clone(),
            build: BuildOptions::default(),
            resolver: self.resolver.clone(),
            watch: false,
            is_read_meanwhile: true,
            member: Some(MemberSetup {
                name: self.config.members[at].name.clone(),
                listener: self.listeners[at].clone(),
            }),
        };
        Crawl::open(self.config.clone(), setup)
    }

    /// Runs a member until the run of all is over, or `is_stopped` says so.
    fn run(&self, at: usize, folders: &Folders, is_stopped: &dyn Fn() -> bool) -> CrawlProgress {
        let crawl = self.open(at, folders).unwrap();
        crawl.run(is_stopped, &mut |_| {}).unwrap()
    }

    /// Runs all members to the end.
    fn run_all(&self, folders: &[Folders]) -> Vec<CrawlProgress> {
        thread::scope(|scope| {
            let run = |(at, folders)| scope.spawn(move || self.run(at, folders, &|| false));
            let runs: Vec<_> = folders.iter().enumerate().map(run).collect();
            runs.into_iter().map(|run| run.join().unwrap()).collect()
        })
    }
}

/// Asserts that the indexes of members hold the documents of the web, each once, and each host in one.
fn assert_shared(served: &Served, folders: &[Folders]) {
    let expected = served.expected();
    let mut hosts = BTreeMap::new();
    let mut found = 0;
    for (at, folders) in folders.iter().enumerate() {
        if Index::newest_generation(&folders.index).unwrap().is_none() {
            continue;
        }
        let own = documents(&folders.index, &expected);
        found += own.len();
        for url in own.keys() {
            let origin = crawl::frontier::origin_of(url).unwrap().to_owned();
            assert_eq!(*hosts.entry(origin).or_insert(at), at, "{url}");
        }
    }
    assert_eq!(found, expected.len());
    let verdict = served.verdict(law());
    assert!(verdict.passes(), "{verdict:?}");
}

#[test]
fn members_do_together_what_one_process_does() {
    let served = Served::start(SyntheticOptions {
        hosts_per_address: 3,
        by_address: false,
        ..plain(30, 6.0)
    });
    let seed = served.web.seeds_url();
    let mut members = Members::new(seed, &["a", "b", "c"]);
    members.resolver = Some(Arc::new(SyntheticResolver(served.web.clone())));
    let folders = [Folders::new(), Folders::new(), Folders::new()];
    let first = members.run_all(&folders);
    assert_shared(&served, &folders);
    for progress in &first {
        assert!(progress.fetched > 0, "{first:?}");
        assert_eq!(progress.failed, 0, "{:?}", progress.notices);
    }
    let sum = |of: fn(&CrawlProgress) -> u64| first.iter().map(of).sum::<u64>();
    assert!(sum(|progress| progress.handed_over) > 0);
    // Nothing is handed over twice without a failure.
    assert_eq!(
        sum(|progress| progress.handed_over),
        sum(|progress| progress.taken_over)
    );

    let again = members.run_all(&folders);
    for progress in &again {
        assert_eq!((progress.added, progress.handed_over), (0, 0), "{again:?}");
        assert!(progress.not_modified > 0);
    }

    // Two of three are not the one that visits it.
    let url = served.expected().pop_first().unwrap();
    for folders in &folders {
        ping(&folders.crawl, std::slice::from_ref(&url)).unwrap();
    }
    let pinged = members.run_all(&folders);
    let handed: u64 = pinged.iter().map(|progress| progress.handed_over).sum();
    assert_eq!(handed, 2, "{pinged:?}");

    let (one, index, replayed) = (new(), new(), new());
    served.crawl(&one, &index);
    let crawls: Vec<SharedStorage> = folders.iter().map(|of| of.crawl.clone()).collect();
    let options = BuildOptions::default();
    replay(&crawls, replayed.clone(), options, &mut |_| {}).unwrap();
    let expected = served.expected();
    assert_eq!(documents_count(&replayed), documents_count(&index));
    assert_eq!(
        documents(&replayed, &expected),
        documents(&index, &expected)
    );

    // Whoever has handed the page over knows whom to ask: the member that visits it, or the one that settled that.
    for start in 0..crawls.len() {
        let mut at = start;
        for asked in 1.. {
            let explained = explain(&crawls[at], &url).unwrap();
            let Some(known) = explained.known.filter(|known| !known.record.indexed) else {
                break;
            };
            assert!(asked < 3 && known.record.state == State::Elsewhere);
            let name = explained.member.unwrap();
            let names = members.config.members.iter();
            at = names
                .map(|member| &member.name)
                .position(|known| *known == name)
                .unwrap();
        }
    }
}

#[test]
fn a_loss_of_power_of_a_member_loses_nothing() {
    let served = Served::start(plain(16, 10.0));
    let members = Members::new(served.web.seeds_url(), &["a", "b"]);
    let steady = Folders::new();
    let mut disks = (MemoryStorage::new(), MemoryStorage::new());
    let is_over = AtomicBool::new(false);
    let folders = thread::scope(|scope| {
        let (members, steady, is_over) = (&members, &steady, &is_over);
        let other = scope.spawn(move || {
            let progress = members.run(1, steady, &|| false);
            is_over.store(true, Ordering::SeqCst);
            progress
        });
        for losses in 1..=6 {
            let (crawl, index) = (Arc::new(disks.0.clone()), Arc::new(disks.1.clone()));
            let folders = Folders {
                crawl: crawl.clone(),
                index: index.clone(),
            };
            let requests = served.requests_count() + 12;
            let after = std::sync::Mutex::new(None);
            members.run(0, &folders, &|| {
                let is_time = served.requests_count() >= requests;
                if is_time {
                    // Nothing is acknowledged after this.
                    let index = index.power_loss(losses);
                    after
                        .lock()
                        .unwrap()
                        .get_or_insert((crawl.power_loss(losses), index));
                }
                is_time
            });
            match after.into_inner().unwrap() {
                Some(after) => {
                    // What was sent before the loss is at the server, busy as it may be, before the next start.
                    thread::sleep(Duration::from_millis(10 * GAP_MS));
                    disks = after;
                }
                None => break,
            }
        }
        let folders = Folders {
            crawl: Arc::new(disks.0.clone()),
            index: Arc::new(disks.1.clone()),
        };
        members.run(0, &folders, &|| false);
        wait_for("the end of the other member", || {
            is_over.load(Ordering::SeqCst)
        });
        other.join().unwrap();
        folders
    });
    assert_shared(&served, &[folders, steady]);
}

#[test]
fn a_member_that_is_alone_goes_on_when_the_others_are_there() {
    let served = Served::start(plain(12, 4.0));
    let mut members = Members::new(served.web.seeds_url(), &["a", "b"]);
    members.config.members_wait_s = 0.5;
    // The other one does not answer: nobody takes its connections.
    let absent = members.listeners.pop().unwrap();
    let port = absent.local_addr().unwrap();
    drop(absent);
    let folders = [Folders::new(), Folders::new()];
    let alone = members.run(0, &folders[0], &|| false);
    let told = alone
        .notices
        .iter()
        .any(|notice| notice.contains("cannot be reached: b"));
    assert!(told, "{:?}", alone.notices);
    members
        .listeners
        .push(Arc::new(TcpListener::bind(port).unwrap()));
    members.config.members_wait_s = 60.0;
    members.run_all(&folders);
    assert_shared(&served, &folders);
}

#[test]
fn folders_and_members_that_do_not_belong_together_are_refused() {
    let seed = "http://127.0.0.1:9/".to_owned();
    let members = Members::new(seed.clone(), &["a", "b"]);
    let folders = Folders::new();
    members.run(0, &folders, &|| true);
    let refused = |at: usize, members: &Members| match members.open(at, &folders) {
        Err(CrawlError::OtherMember { found, asked, .. }) => format!("{found}; {asked}"),
        other => panic!("{:?}", other.err()),
    };
    assert_eq!(
        refused(1, &members),
        "that of a among a, b; that of b among a, b"
    );
    let more = Members::new(seed.clone(), &["a", "b", "c"]);
    assert_eq!(
        refused(0, &more),
        "that of a among a, b; that of a among a, b, c"
    );

    let mut unnamed = members.config.clone();
    unnamed.members[0].name = "x".to_owned();
    let nameless = Members {
        config: unnamed,
        listeners: members.listeners.clone(),
        resolver: None,
    };
    let Err(CrawlError::OtherMember { .. }) = nameless.open(0, &folders) else {
        panic!("a member of another crawl");
    };
    let mut folder = vec![folders.crawl.clone()];
    let other = Folders::new();
    more.run(1, &other, &|| true);
    folder.push(other.crawl);
    let options = BuildOptions::default();
    let replayed = replay(&folder, new(), options, &mut |_| {});
    assert!(matches!(replayed, Err(CrawlError::OtherMember { .. })));
}
