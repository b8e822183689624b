//! Properties of the mapper of request threads, over scripts of events with lost and damaged lines.

use proptest::prelude::*;
use schedule::CpuSet;
use schedule::hurry::{
    BigCore, Exchange, Line, Lines, LittleThread, Mapper, MapperSettings, Move, Noted, Reason,
    Rule, exchanges,
};
use std::collections::BTreeMap;

/// Step of a script.
#[derive(Debug, Clone)]
enum Step {
    /// A line; the mapper learns of its thread if it is new.
    Line { tid: u32, rid: u8 },
    /// A thread ends.
    Gone(u32),
    /// Time passes, then a sampling instant.
    Sample { after_ms: u64 },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (1u32..9, 0u8..12).prop_map(|(tid, rid)| Step::Line { tid, rid }),
        1 => (1u32..9).prop_map(Step::Gone),
        4 => (0u64..60).prop_map(|after_ms| Step::Sample { after_ms }),
    ]
}

fn rule() -> impl Strategy<Value = Rule> {
    prop_oneof![Just(Rule::AsPublished), Just(Rule::Mended)]
}

fn cores(cpus: std::ops::Range<u32>) -> CpuSet {
    cpus.collect()
}

/// Cores of threads, kept from the moves alone: what a program that carries them out knows.
#[derive(Default)]
struct Kept(BTreeMap<u32, u32>);

impl Kept {
    /// Carries out a move. No big core may have two threads at any moment.
    fn carry_out(&mut self, moved: &Move, big: &CpuSet) {
        assert_eq!(self.0.insert(moved.tid, moved.to), moved.from);
        let on_it = self.0.values().filter(|&&core| core == moved.to).count();
        assert!(on_it == 1 || !big.contains(moved.to), "{moved:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn big_cores_have_one_thread_and_the_others_take_their_places(
        rule in rule(), big in 1u32..4, little in 1u32..4, steps in prop::collection::vec(step(), 1..120)
    ) {
        let (big, little) = (cores(0..big), cores(10..10 + little));
        let settings = MapperSettings { rule, threads_max: 6, requests_max: 7, age_max_ms: 400, ..Default::default() };
        let mut mapper = Mapper::new(&big, &little, settings).unwrap();
        let mut kept = Kept::default();
        let mut begun: BTreeMap<u32, (u8, u64)> = BTreeMap::new();
        let mut now_ms = 1_000;
        for step in steps {
            match step {
                Step::Line { tid, rid } => {
                    if let Ok(Some(placed)) = mapper.add(tid) {
                        kept.carry_out(&placed, &big);
                    }
                    let text = rid.to_string();
                    let noted = mapper.line(&Line { tid, rid: &text, ms: now_ms }, now_ms);
                    prop_assert_eq!(noted == Noted::Unknown, !kept.0.contains_key(&tid));
                    match noted {
                        Noted::Begun | Noted::EndedLost => { begun.insert(tid, (rid, now_ms)); }
                        Noted::Ended => begun.retain(|_, request| request.0 != rid),
                        _ => {}
                    }
                }
                Step::Gone(tid) => {
                    mapper.forget(tid);
                    kept.0.remove(&tid);
                    begun.remove(&tid);
                }
                Step::Sample { after_ms } => {
                    now_ms += after_ms;
                    begun.retain(|_, request| rule == Rule::AsPublished || now_ms - request.1 < 400);
                    let mut moves = Vec::new();
                    mapper.sample(now_ms, &mut moves);
                    for (idx, moved) in moves.iter().enumerate() {
                        match &moved.reason {
                            Reason::MadeRoom => {
                                // The next move takes the core that this thread left, from where it goes.
                                let next = &moves[idx + 1];
                                prop_assert_eq!((Some(next.to), next.from), (moved.from, Some(moved.to)));
                                let age = |tid: u32| begun.get(&tid).map(|request| now_ms - request.1);
                                if rule == Rule::Mended {
                                    prop_assert!(age(moved.tid) < age(next.tid), "an older request is demoted");
                                }
                            }
                            Reason::Long { elapsed_ms, .. } => {
                                prop_assert!(*elapsed_ms > 50.0 && big.contains(moved.to));
                                prop_assert!(moved.from.is_some_and(|core| little.contains(core)));
                            }
                            Reason::Placed => prop_assert!(false, "a sample places no thread"),
                        }
                        kept.carry_out(moved, &big);
                    }
                }
            }
            prop_assert!(mapper.threads().eq(kept.0.iter().map(|(&tid, &core)| (tid, core))));
            prop_assert!(kept.0.len() <= 6 && mapper.requests_count() <= 7);
            if rule == Rule::Mended {
                prop_assert!(mapper.requests_count() <= kept.0.len(), "a thread has one request");
            }
        }
    }

    /// After any loss, one whole request of each thread makes the mended table right again.
    #[test]
    fn lost_lines_are_made_good_by_the_next_request(
        lines in prop::collection::vec((1u32..5, any::<bool>()), 0..60)
    ) {
        let settings = MapperSettings { age_max_ms: 1_000_000, ..Default::default() };
        let mut mapper = Mapper::new(&cores(0..1), &cores(1..3), settings).unwrap();
        let mut rids = 0;
        let mut say = |mapper: &mut Mapper, tid: u32, begins: bool, ends: bool| {
            rids += 1;
            mapper.add(tid).unwrap();
            let rid = rids.to_string();
            for _ in 0..usize::from(begins) + usize::from(ends) {
                mapper.line(&Line { tid, rid: &rid, ms: 5 }, 5);
            }
        };
        for (tid, first) in lines {
            say(&mut mapper, tid, first, !first);
        }
        for tid in 1..5 {
            say(&mut mapper, tid, true, true);
        }
        prop_assert_eq!(mapper.requests_count(), 0);
    }

    /// The twin tries every pair, the best first.
    #[test]
    fn exchanges_equal_their_slow_twin(
        rule in rule(),
        little in prop::collection::vec(0u32..200, 0..6),
        big in prop::collection::vec(prop::option::of(0u32..200), 0..4),
    ) {
        let mut requests: Vec<LittleThread> = (0..).zip(&little)
            .map(|(id, &age)| LittleThread { id, elapsed_ms: f64::from(age) }).collect();
        let mut free: Vec<BigCore> = (0..).zip(&big)
            .map(|(core, age)| BigCore { core, elapsed_ms: age.map(f64::from) }).collect();
        let mut twin = Vec::new();
        let (mut left, mut cores) = (requests.clone(), free.clone());
        while let Some(at) = (0..left.len()).rev().max_by(|&a, &b| left[a].elapsed_ms.total_cmp(&left[b].elapsed_ms)) {
            let request = left.remove(at);
            let age = |core: &BigCore| core.elapsed_ms.unwrap_or(-1.0);
            let core = match rule {
                Rule::AsPublished => (0..cores.len()).next(),
                Rule::Mended => (0..cores.len()).min_by(|&a, &b| age(&cores[a]).total_cmp(&age(&cores[b])))
                    .filter(|&core| age(&cores[core]) < request.elapsed_ms),
            };
            if let Some(core) = core.filter(|_| request.elapsed_ms > 50.0) {
                twin.push(Exchange { little: request.id, big: cores.remove(core).core });
            }
        }
        let mut found = Vec::new();
        exchanges(rule, 50.0, &mut requests, &mut free, &mut found);
        prop_assert_eq!(found, twin);
    }

    /// Lines do not depend on how the stream is cut, and no bytes panic.
    #[test]
    fn any_bytes_in_any_pieces_give_the_same_lines(
        bytes in prop::collection::vec(prop_oneof![3 => b'0'..=b'9', 2 => Just(b';'), 2 => Just(b'\n'), 1 => any::<u8>()], 0..600),
        cuts in prop::collection::vec(0usize..600, 0..8),
    ) {
        let read = |pieces: &[&[u8]]| {
            let (mut lines, mut found) = (Lines::default(), Vec::new());
            for piece in pieces {
                lines.feed(piece, |line| found.push(line.to_vec()));
            }
            (found, lines.too_long())
        };
        let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
        cuts.extend([0, bytes.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
        let (found, too_long) = read(&[&bytes]);
        prop_assert_eq!(&read(&pieces), &(found.clone(), too_long));
        for line in found {
            if let Ok(parsed) = Line::parse(&line) {
                let again = format!("{};{};{}", parsed.tid, parsed.rid, parsed.ms);
                prop_assert_eq!(Line::parse(again.as_bytes()), Ok(parsed));
            }
        }
    }
}
