//! Link graph: pages that link to a page, the texts of these links, and PageRank.
//!
//! Links of the pages of one host to a page of another count together as one link, so that a host cannot vote often.
//! Within a host each page has its own vote. PageRank (Page & Brin 1998) takes ten rounds with damping 0.85; ranks have
//! the mean 1. Linear in the links; 12 bytes of memory a link beside the texts.

use std::collections::HashMap;

const ROUNDS: usize = 10;
const DAMPING: f64 = 0.85;
/// Texts of links kept of a page.
const ANCHORS_MAX: usize = 10;

/// Page of the graph.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Node {
    pub(super) host: u32,
    /// Targets with the texts of the links.
    pub(super) links: Vec<(u32, String)>,
}

/// Inlinks, rank and link texts of a page.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Standing {
    /// Pages that link to it.
    pub(super) inlinks: u32,
    /// PageRank, of mean 1.
    pub(super) rank: f64,
    /// Texts of links to it, those of most hosts first.
    pub(super) anchors: Vec<String>,
}

/// Link of one page to another with its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Edge {
    from: u32,
    to: u32,
    weight: f32,
}

/// Returns inlinks, rank and link texts of each page. Links of a page to itself do not count.
pub(super) fn standings(nodes: &[Node]) -> Vec<Standing> {
    let edges = edges(nodes);
    let mut standings = vec![Standing::default(); nodes.len()];
    for edge in &edges {
        standings[edge.to as usize].inlinks += 1;
    }
    for (standing, rank) in standings.iter_mut().zip(ranks(nodes.len(), &edges)) {
        standing.rank = rank;
    }
    anchors(nodes, &mut standings);
    standings
}

/// Returns the links, sorted by their source and target, each once.
fn edges(nodes: &[Node]) -> Vec<Edge> {
    let mut edges = Vec::new();
    // Pages of a host that link to a page of another.
    let mut votes: HashMap<(u32, u32), u32> = HashMap::new();
    for (from, node) in nodes.iter().enumerate() {
        let mut targets: Vec<u32> = node.links.iter().map(|link| link.0).collect();
        targets.sort_unstable();
        targets.dedup();
        for to in targets.into_iter().filter(|&to| to as usize != from) {
            if nodes[to as usize].host != node.host {
                *votes.entry((node.host, to)).or_default() += 1;
            }
            edges.push(Edge {
                from: from as u32,
                to,
                weight: 1.0,
            });
        }
    }
    for edge in &mut edges {
        let host = nodes[edge.from as usize].host;
        if let Some(&votes) = votes.get(&(host, edge.to)) {
            edge.weight = 1.0 / votes as f32;
        }
    }
    edges
}

fn ranks(pages: usize, edges: &[Edge]) -> Vec<f64> {
    let mut out = vec![0.0; pages];
    for edge in edges {
        out[edge.from as usize] += f64::from(edge.weight);
    }
    let mut ranks = vec![1.0; pages];
    for _ in 0..ROUNDS {
        let lost = ranks.iter().zip(&out).filter(|(_, out)| **out == 0.0);
        let lost: f64 = lost.map(|(rank, _)| rank).sum();
        let base = 1.0 - DAMPING + DAMPING * lost / pages.max(1) as f64;
        let mut next = vec![base; pages];
        for edge in edges {
            let from = edge.from as usize;
            next[edge.to as usize] += DAMPING * ranks[from] * f64::from(edge.weight) / out[from];
        }
        ranks = next;
    }
    ranks
}

fn anchors(nodes: &[Node], standings: &mut [Standing]) {
    let mut texts: Vec<(u32, &str, u32)> = Vec::new();
    for (from, node) in nodes.iter().enumerate() {
        let links = node.links.iter();
        let other = links.filter(|(to, text)| *to as usize != from && !text.is_empty());
        texts.extend(other.map(|(to, text)| (*to, text.as_str(), node.host)));
    }
    texts.sort_unstable();
    texts.dedup();
    for of_page in texts.chunk_by(|a, b| a.0 == b.0) {
        let counted = of_page.chunk_by(|a, b| a.1 == b.1);
        let mut counted: Vec<(usize, &str)> =
            counted.map(|hosts| (hosts.len(), hosts[0].1)).collect();
        counted.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(b.1)));
        let first = counted.into_iter().take(ANCHORS_MAX);
        standings[of_page[0].0 as usize].anchors = first.map(|(_, text)| text.to_owned()).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn node(host: u32, links: &[(u32, &str)]) -> Node {
        let links = links.iter().map(|(to, text)| (*to, (*text).to_owned()));
        Node {
            host,
            links: links.collect(),
        }
    }

    /// Slow twin: the matrix of all pairs.
    fn ranks_by_matrix(nodes: &[Node]) -> Vec<f64> {
        let n = nodes.len();
        let links = |from: usize, to: usize| {
            from != to && nodes[from].links.iter().any(|link| link.0 as usize == to)
        };
        let weight = |from: usize, to: usize| {
            if !links(from, to) {
                return 0.0;
            }
            if nodes[from].host == nodes[to].host {
                return 1.0;
            }
            let of_host = (0..n).filter(|&page| nodes[page].host == nodes[from].host);
            1.0 / of_host.filter(|&page| links(page, to)).count() as f64
        };
        let mut ranks = vec![1.0; n];
        for _ in 0..ROUNDS {
            let next = (0..n).map(|to| {
                let votes = (0..n).map(|from| {
                    let out: f64 = (0..n).map(|to| weight(from, to)).sum();
                    let share = if out == 0.0 {
                        1.0 / n as f64
                    } else {
                        weight(from, to) / out
                    };
                    ranks[from] * share
                });
                1.0 - DAMPING + DAMPING * votes.sum::<f64>()
            });
            ranks = next.collect();
        }
        ranks
    }

    #[test]
    fn a_host_votes_once_and_its_texts_count_once() {
        let nodes = [
            node(0, &[(2, "manual"), (3, "shop")]),
            node(0, &[(2, "manual")]),
            node(1, &[]),
            node(2, &[(2, "the guide")]),
            node(3, &[(2, "the guide"), (4, "me")]),
        ];
        let found = standings(&nodes);
        assert_eq!(found[2].inlinks, 4);
        assert_eq!(found[2].anchors, ["the guide", "manual"]);
        assert_eq!((found[4].inlinks, found[4].anchors.len()), (0, 0));
        assert!(found[2].rank > found[3].rank && found[3].rank > found[4].rank);
    }

    proptest! {
        #[test]
        fn ranks_equal_those_of_the_matrix(pages in prop::collection::vec((0u32..3, prop::collection::vec(0u32..12, 0..6)), 1..12)) {
            let n = pages.len() as u32;
            let nodes: Vec<Node> = pages.iter().map(|(host, links)| Node {
                host: *host,
                links: links.iter().map(|to| (to % n, String::new())).collect(),
            }).collect();
            let (fast, slow) = (standings(&nodes), ranks_by_matrix(&nodes));
            for (fast, slow) in fast.iter().zip(&slow) {
                prop_assert!((fast.rank - slow).abs() < 1e-5, "{} {}", fast.rank, slow);
            }
            let sum: f64 = fast.iter().map(|page| page.rank).sum();
            prop_assert!((sum - f64::from(n)).abs() < 1e-4);
        }
    }
}
