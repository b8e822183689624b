//! Contract of the output of `model simulate --handlers`.

use crate::model::model;

#[test]
fn handlers_that_share_queries() {
    let fixed = "simulate --mean 0.3 --shape lognormal --variation 6.73 --max 20 --range 115 --queries 4000 --runs 3";
    let simulate = |more: &str| model(&format!("{fixed} {more}"));
    let lines = simulate(
        "--handlers 2,4 --policy fifo,least-left --loads 0.3,0.6 --quantile 0.5,0.99 --json",
    )
    .ends(0)
    .json_lines();
    let names: Vec<String> = lines
        .iter()
        .map(|line| {
            format!(
                "{} {} {:.1}",
                line["handlers"],
                line["policy"],
                line["load"].as_f64().unwrap()
            )
        })
        .collect();
    let expected: Vec<String> = ["2", "4"]
        .iter()
        .flat_map(|handlers| {
            ["fifo:1", "least-left"]
                .map(|policy| ["0.3", "0.6"].map(|load| format!("{handlers} \"{policy}\" {load}")))
        })
        .flatten()
        .collect();
    assert_eq!(names, expected);
    let p99_ms = |line: usize| lines[line]["quantiles"][1]["ms"].as_f64().unwrap();
    for (fifo, least_left) in [(0, 2), (1, 3), (4, 6), (5, 7)] {
        assert!(p99_ms(least_left) < 0.8 * p99_ms(fifo));
        assert_eq!(lines[fifo]["helps_per_query"], 0.0);
        assert!(lines[least_left]["helps_per_query"].as_f64() > Some(0.0));
    }
    // Threads finish in any order, and the figures are the same.
    let table = || {
        simulate("--handlers 2 --policy all --loads 0.4")
            .ends(0)
            .stdout
    };
    let one = table();
    assert_eq!(one, table());
    for said in [
        "2 handlers, p99 in ms",
        "load 0.40",
        "target:20ms",
        "fifo:2",
        "ranges of 115 µs",
    ] {
        assert!(one.contains(said), "{said:?} is missing: {one}");
    }
    let overloaded = simulate("--handlers 1 --rate 5000").ends(0).stdout;
    assert!(
        overloaded.contains("overloaded") && overloaded.contains("5,000/s"),
        "{overloaded}"
    );
    let late = simulate("--handlers 2 --loads 0.9 --deadline 5")
        .ends(0)
        .stdout;
    assert!(late.contains("help-if-idle: answered in part"), "{late}");

    model("simulate --mean 1 --policy sjf").fails_saying(&["--policy sjf needs --handlers"]);
    simulate("--handlers 2 --little 3").fails_saying(&["--little is 3"]);
    simulate("--handlers 2 --efficiency 2").fails_saying(&["efficiency"]);
    for (more, said) in [
        ("--handlers 2 --cores 4", "cannot be used with"),
        ("--loads 0.5", "--handlers"),
        ("--handlers 2 --loads 0.9..0.1", "0.1..0.9/5"),
        ("--handlers 2 --policy fifo,nope", "no policy `nope`"),
        ("--handlers 2 --replay", "cannot be used with"),
    ] {
        let run = simulate(more).ends(2);
        assert!(run.stderr.contains(said), "{said:?} is missing: {run:#?}");
    }
}
