//! Rules of relevance: kept by every commit, whole after a loss of power, refused where they are damaged.

use fields::Rules;
use index::{BuildOptions, Index, OptimizeOptions, Writer, check, optimize};
use std::sync::Arc;
use testkit::size;
use vfs::{MemoryStorage, SharedStorage};

fn rules(line: &str) -> Arc<Rules> {
    let rules = serde_json::json!({ "stop_words": ["the"], "synonyms": [line] });
    Arc::new(Rules::of_json(rules.to_string().as_bytes()).unwrap())
}

fn commit(storage: &SharedStorage, rules: Option<&Arc<Rules>>, documents: std::ops::Range<usize>) {
    let options = BuildOptions {
        rules: rules.cloned(),
        ..BuildOptions::default()
    };
    let mut writer = Writer::open(storage.clone(), options).unwrap();
    for number in documents {
        let document = document::Document {
            url: format!("u:{number}"),
            body: format!("body {number}"),
            ..document::Document::default()
        };
        writer.add(document).unwrap();
    }
    writer.commit().unwrap();
}

fn kept(storage: &SharedStorage) -> Arc<Rules> {
    Arc::clone(Index::open(storage.clone()).unwrap().rules())
}

#[test]
fn rules_stay_until_others_take_their_place() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let (first, second) = (rules("tv, telly"), rules("a -> b"));
    commit(&storage, None, 0..2);
    assert!(kept(&storage).is_empty());
    commit(&storage, Some(&first), 0..0);
    assert_eq!(kept(&storage), first);
    commit(&storage, None, 1..4);
    assert_eq!(kept(&storage), first);
    optimize(storage.clone(), &OptimizeOptions::default(), &|_| {}).unwrap();
    assert_eq!(kept(&storage), first);
    commit(&storage, Some(&second), 4..5);
    assert_eq!(kept(&storage), second);
    commit(&storage, Some(&Arc::default()), 0..0);
    assert!(kept(&storage).is_empty());
    assert_eq!(
        Index::open(storage).unwrap().statistics().documents_count(),
        5
    );
}

#[test]
fn a_power_loss_leaves_the_rules_before_or_the_new_ones() {
    let disk = MemoryStorage::recording();
    let shared: SharedStorage = Arc::new(disk.clone());
    commit(&shared, Some(&rules("tv, telly")), 0..3);
    let acknowledged = disk.operations();
    commit(&shared, Some(&rules("a -> b")), 0..0);
    for operation in acknowledged..=disk.operations() {
        for seed in 0..size(2, 25) {
            let found: SharedStorage = Arc::new(disk.power_loss_after(operation, seed));
            let index = Index::open(found.clone()).unwrap();
            let expected = match index.generation() {
                1 => rules("tv, telly"),
                _ => rules("a -> b"),
            };
            assert_eq!(*index.rules(), expected, "after {operation}, seed {seed}");
            assert_eq!(index.statistics().documents_count(), 3);
            if operation == disk.operations() {
                assert_eq!(index.generation(), 2);
            }
        }
    }
}

#[test]
fn damaged_rules_are_found() {
    let storage = MemoryStorage::default();
    let shared: SharedStorage = Arc::new(storage.clone());
    commit(&shared, Some(&rules("tv, telly")), 0..1);
    let mut manifest = storage.read_raw("MANIFEST-1").unwrap();
    let at = manifest.windows(5).position(|bytes| bytes == b"telly");
    manifest[at.unwrap()] ^= 1;
    storage.write_raw("MANIFEST-1", manifest);
    let refused = Index::open(shared.clone()).unwrap_err().to_string();
    assert!(refused.contains("MANIFEST-1"), "{refused}");
    let damages = match check(shared, 10) {
        Ok((_, damages)) => damages,
        Err(damage) => vec![damage],
    };
    assert!(
        damages
            .iter()
            .any(|damage| damage.to_string().contains("MANIFEST-1")),
        "{damages:?}"
    );
}

#[test]
fn rules_beyond_the_limits_are_refused() {
    let storage: SharedStorage = Arc::new(MemoryStorage::default());
    let beyond = Rules {
        stop_words: vec!["two words".to_owned()],
        ..Rules::default()
    };
    let options = BuildOptions {
        rules: Some(Arc::new(beyond)),
        ..BuildOptions::default()
    };
    let refused = Writer::open(storage, options).err().unwrap().to_string();
    assert!(refused.contains("give one word in each"), "{refused}");
}
