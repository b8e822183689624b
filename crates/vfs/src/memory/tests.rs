//! Tests of power losses: synced bytes stay, and nothing unwritten appears.
use super::*;
use std::io::Write;

fn write(disk: &MemoryStorage, name: &str, bytes: &[u8]) -> Result<(), StorageError> {
    let mut file = disk.create(name)?;
    file.write_all(bytes)
        .map_err(|error| StorageError::from_io("write", Path::new(name), error))?;
    file.finish()
}

/// Commits as an index does: each step is durable before the next one relies on it.
fn commit(disk: &MemoryStorage, generation: u8) -> Result<(), StorageError> {
    write(disk, &format!("segment-{generation}"), &[generation; 5000])?;
    disk.sync_directory()?;
    write(disk, "pending", &[generation; 100])?;
    disk.rename("pending", "MANIFEST")?;
    disk.sync_directory()?;
    if generation > 1 {
        disk.remove(&format!("segment-{}", generation - 1))?;
    }
    Ok(())
}

#[test]
fn commits_in_the_right_order_survive_a_power_loss_after_any_operation() {
    let disk = MemoryStorage::recording();
    let mut acknowledged = vec![(0, 0)];
    for generation in 1..=4 {
        commit(&disk, generation).unwrap();
        acknowledged.push((disk.operations(), generation));
    }
    let mut outcomes = BTreeSet::new();
    for operation in 0..=disk.operations() {
        let done = acknowledged.iter().rfind(|(at, _)| *at <= operation);
        let done = done.map_or(0, |(_, generation)| *generation);
        for seed in 0..50 {
            let found = disk.power_loss_after(operation, seed);
            let generation = match found.read_raw("MANIFEST") {
                None => 0,
                Some(manifest) => {
                    assert_eq!(manifest, [manifest[0]; 100], "{operation} {seed}");
                    let segment = found.read_raw(&format!("segment-{}", manifest[0])).unwrap();
                    assert_eq!(segment, [manifest[0]; 5000], "{operation} {seed}");
                    manifest[0]
                }
            };
            assert!(
                generation == done || generation == done + 1,
                "after operation {operation}, seed {seed}: {generation}, acknowledged {done}"
            );
            outcomes.insert((operation, generation));
        }
    }
    // Between a rename and its sync, both outcomes occur.
    assert!(outcomes.len() > disk.operations() + 1);
}

#[test]
fn a_name_without_a_sync_of_the_directory_may_be_lost() {
    let disk = MemoryStorage::new();
    write(&disk, "A", b"synced").unwrap();
    assert_eq!(disk.power_loss(0).files(), [""; 0]);
    assert_eq!(disk.power_loss(1).files(), ["A"]);
    disk.sync_directory().unwrap();
    assert_eq!(disk.power_loss(0).read_raw("A").unwrap(), b"synced");

    disk.rename("A", "B").unwrap();
    assert_eq!(disk.power_loss(0).files(), ["A"]);
    assert_eq!(disk.power_loss(1).files(), ["B"]);
    disk.sync_directory().unwrap();
    disk.remove("B").unwrap();
    assert_eq!(disk.files(), [""; 0]);
    assert_eq!(disk.power_loss(0).read_raw("B").unwrap(), b"synced");
    disk.sync_directory().unwrap();
    assert_eq!(disk.power_loss(0).files(), [""; 0]);
}

#[test]
fn changes_of_names_are_lost_each_for_itself() {
    let disk = MemoryStorage::new();
    for name in ["A", "B", "C"] {
        write(&disk, name, name.as_bytes()).unwrap();
    }
    let found: BTreeSet<Vec<String>> = (0..200).map(|seed| disk.power_loss(seed).files()).collect();
    assert_eq!(found.len(), 8, "every subset");
    for seed in 0..200 {
        assert_eq!(disk.power_loss(seed).files(), disk.power_loss(seed).files());
    }
}

#[test]
fn unsynced_content_is_kept_dropped_torn_or_zeroed() {
    let disk = MemoryStorage::new();
    let mut file = disk.create("A").unwrap();
    file.write_all(&[7; 2000]).unwrap();
    file.flush().unwrap();
    disk.sync_directory().unwrap();
    let (mut lost, mut kept, mut torn, mut zeros, mut sectors) = (0, 0, 0, 0, 0);
    for seed in 0..200 {
        let bytes = disk.power_loss(seed).read_raw("A").unwrap();
        match (bytes.len(), bytes.iter().filter(|&&byte| byte == 0).count()) {
            (0, _) => lost += 1,
            (2000, 0) => kept += 1,
            (2000, 2000) => zeros += 1,
            (2000, n) => {
                assert!(n % 512 == 0 || (n + 48) % 512 == 0, "{n} zeros");
                sectors += 1;
            }
            (_, 0) => torn += 1,
            other => panic!("{other:?}"),
        }
    }
    for count in [lost, kept, torn, zeros, sectors] {
        assert!(count > 10, "{lost} {kept} {torn} {zeros} {sectors}");
    }
    file.write_all(&[8; 10]).unwrap();
    file.finish().unwrap();
    for seed in 0..50 {
        assert_eq!(disk.power_loss(seed).read_raw("A").unwrap().len(), 2010);
    }
}

#[test]
fn a_disk_found_is_durable_and_records_again() {
    let disk = MemoryStorage::recording();
    write(&disk, "A", b"1").unwrap();
    let found = disk.power_loss(1);
    assert_eq!(found.operations(), 0);
    found.remove("A").unwrap();
    assert_eq!(found.operations(), 1);
    assert_eq!(found.power_loss(0).files(), ["A"]);
    assert_eq!(found.power_loss_after(0, 1).files(), ["A"]);
    assert_eq!(found.power_loss_after(1, 1).files(), [""; 0]);
    // The first disk knows nothing of it.
    assert_eq!(disk.files(), ["A"]);
}

#[test]
fn damage_is_durable_and_clones_share_the_disk() {
    let disk = MemoryStorage::new();
    let clone = disk.clone();
    clone.write_raw("A", *b"damage");
    assert_eq!(&disk.open("A").unwrap()[..], b"damage");
    assert_eq!(disk.power_loss(0).read_raw("A").unwrap(), b"damage");
    assert_eq!(disk.read_raw("B"), None);
    // A file that lost its name while it was written is nobody's concern.
    let mut file = disk.create("B").unwrap();
    disk.remove("B").unwrap();
    disk.sync_directory().unwrap();
    file.write_all(b"x").unwrap();
    file.finish().unwrap();
    assert_eq!(disk.files(), ["A"]);
}

#[test]
fn what_was_synced_survives_and_the_rest_may_not() {
    let disk = MemoryStorage::recording();
    let mut file = disk.create("log").unwrap();
    disk.sync_directory().unwrap();
    file.write_all(b"one").unwrap();
    file.sync().unwrap();
    file.write_all(b"two").unwrap();
    file.flush().unwrap();
    assert_eq!(disk.power_loss(0).read_raw("log").unwrap(), b"one");
    assert_eq!(disk.power_loss(1).read_raw("log").unwrap(), b"onetwo");
    for seed in 2..50 {
        let found = disk.power_loss(seed).read_raw("log").unwrap();
        assert!(found.starts_with(b"one"), "{found:?}");
    }
    file.sync().unwrap();
    assert_eq!(disk.power_loss(0).read_raw("log").unwrap(), b"onetwo");
}
