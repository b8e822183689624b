//! Ownership of hosts and addresses: buckets, each owned by the member with the greatest hash of both (rendezvous hashing,
//! Thaler and Ravishankar 1998). A function of the names alone: the order and the addresses of members change nothing.
use std::net::IpAddr;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Buckets of hosts.
const BUCKETS: u64 = 1_024;

/// Owners of all buckets, as one member sees them.
#[derive(Debug, Clone)]
pub(crate) struct Ownership {
    names: Vec<String>,
    own: usize,
    owners: Vec<usize>,
}

impl Ownership {
    /// `own` is the position in `names` of the member that asks.
    pub(crate) fn new(names: Vec<String>, own: usize) -> Ownership {
        let owner = |bucket: u64| {
            let weight = |at: &usize| xxh3_64_with_seed(names[*at].as_bytes(), bucket);
            (0..names.len()).max_by_key(weight).unwrap_or(own)
        };
        Ownership {
            owners: (0..BUCKETS).map(owner).collect(),
            names,
            own,
        }
    }

    /// Returns the member that looks the address of a host up.
    pub(crate) fn of_host(&self, host: &str) -> usize {
        self.owner(host.as_bytes())
    }

    /// Returns the member that visits the hosts of an address.
    pub(crate) fn of_address(&self, address: IpAddr) -> usize {
        match address.to_canonical() {
            IpAddr::V4(address) => self.owner(&address.octets()),
            IpAddr::V6(address) => self.owner(&address.octets()),
        }
    }

    fn owner(&self, bytes: &[u8]) -> usize {
        self.owners[(xxh3_64(bytes) % BUCKETS) as usize]
    }

    pub(crate) fn own(&self) -> usize {
        self.own
    }

    pub(crate) fn own_name(&self) -> &str {
        &self.names[self.own]
    }

    pub(crate) fn name(&self, at: usize) -> &str {
        &self.names[at]
    }

    /// Returns the position of a name.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// Returns a hash of all names, which all members of a crawl have in common.
    pub(crate) fn crawl(&self) -> u64 {
        let mut names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        names.sort_unstable();
        xxh3_64(names.join("\n").as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ownership(names: &[&str]) -> Ownership {
        Ownership::new(names.iter().map(|&name| name.to_owned()).collect(), 0)
    }

    fn owners(ownership: &Ownership) -> impl Iterator<Item = &str> {
        (0..2_000).map(|host| ownership.name(ownership.of_host(&format!("h{host}.example"))))
    }

    #[test]
    fn members_have_about_as_many_hosts() {
        let ownership = ownership(&["a", "b", "c", "d"]);
        for name in ["a", "b", "c", "d"] {
            let hosts = owners(&ownership).filter(|owner| *owner == name).count();
            assert!((400..600).contains(&hosts), "{name}: {hosts}");
        }
    }

    #[test]
    fn the_order_of_members_changes_nothing_and_a_new_one_takes_its_part_alone() {
        let (three, turned) = (ownership(&["a", "b", "c"]), ownership(&["c", "a", "b"]));
        assert!(owners(&three).eq(owners(&turned)));
        assert_eq!(three.crawl(), turned.crawl());
        let four = ownership(&["a", "b", "c", "d"]);
        assert_ne!(three.crawl(), four.crawl());
        for (before, after) in owners(&three).zip(owners(&four)) {
            assert!(before == after || after == "d", "{before} {after}");
        }
    }

    #[test]
    fn an_address_has_one_owner_in_both_notations() {
        let ownership = ownership(&["a", "b", "c"]);
        for last in 0..200 {
            let plain: IpAddr = format!("10.0.0.{last}").parse().unwrap();
            let mapped: IpAddr = format!("::ffff:10.0.0.{last}").parse().unwrap();
            assert_eq!(ownership.of_address(plain), ownership.of_address(mapped));
        }
    }
}
