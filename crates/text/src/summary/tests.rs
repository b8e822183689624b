//! Tests of summaries: the fast search against the tokenizer, and the guarantees to readers of a summary.
use super::input::Match;
use super::*;
use crate::Pattern;
use crate::language::{Language, Languages};
use proptest::prelude::*;

/// Returns what `word`, `wor*`, `w?rd` or `word~` marks.
fn marked(word: &str) -> Marked {
    match word.strip_suffix('~') {
        Some(term) => Marked::Like(Pattern::near_of_one_initial(term, 1)),
        None if word.contains(['?', '*']) => {
            Pattern::of_wildcard(word).map_or_else(|| Marked::Term(String::new()), Marked::Like)
        }
        None => Marked::Term(word.to_owned()),
    }
}

fn terms(words: &str) -> Vec<SummaryTerm> {
    let weighted = words.split_whitespace().map(|word| SummaryTerm {
        marked: marked(word),
        weight: match word {
            "the" | "of" | "a" | "and" => 0.1,
            _ => 5.0,
        },
    });
    weighted.collect()
}

fn query(analyzer: Analyzer, words: &str, text_bytes: usize) -> SummaryQuery {
    let options = SummaryOptions {
        windows_max: 2,
        text_bytes,
    };
    SummaryQuery::new(analyzer, terms(words), options)
}

fn plain(words: &str, text_bytes: usize, text: &str) -> String {
    query(Analyzer::Plain, words, text_bytes).summarize(text)
}

#[test]
fn a_short_text_is_shown_whole() {
    assert_eq!(
        plain("fox", 300, "The quick  brown\nFOX."),
        "The quick brown <mark>FOX</mark>."
    );
    assert_eq!(plain("fox", 300, ""), "");
    assert_eq!(plain("", 300, " foxes "), "foxes");
}

#[test]
fn without_a_match_the_beginning_is_shown() {
    let text = "  One two three four five six seven eight.";
    assert_eq!(plain("nine", 20, text), "One two three four …");
    assert_eq!(
        plain("nine", 16, &"x".repeat(100)),
        format!("{} …", "x".repeat(16))
    );
}

#[test]
fn windows_show_different_terms_and_start_at_sentences() {
    let filler = "Nothing is said here about it at all. ".repeat(40);
    let text = format!(
        "{filler}The apple is red and round. {filler}An apple again. {filler}Pears are green. {filler}"
    );
    assert_eq!(
        plain("apple pears", 80, &text),
        "… The <mark>apple</mark> is red and round. Nothing is … <mark>Pears</mark> are green. Nothing is said here …"
    );
}

#[test]
fn a_phrase_beats_scattered_words() {
    let filler = "lorem ipsum dolor sit amet ".repeat(30);
    let text =
        format!("{filler}united by the other states {filler}in the united states today {filler}");
    let summary = plain("united states", 60, &text);
    assert!(
        summary.contains("<mark>united</mark> <mark>states</mark>"),
        "{summary}"
    );
}

#[test]
fn stems_and_prefixes_are_marked_as_written() {
    let english = query(Analyzer::English, "die possibl happi*", 300);
    assert_eq!(
        english.summarize("Dying is one possibility; possible happiness another, unhappily."),
        "<mark>Dying</mark> is one <mark>possibility</mark>; <mark>possible</mark> \
         <mark>happiness</mark> another, unhappily."
    );
    assert_eq!(
        plain("kelvin di* café", 300, "\u{212A}elvin Dİyar CAFÉ decaf"),
        "<mark>\u{212A}elvin</mark> <mark>Dİyar</mark> <mark>CAFÉ</mark> decaf"
    );
}

#[test]
fn all_that_is_found_of_compounds_and_pairs_is_marked() {
    let standard = Languages::default().with(Language::English);
    let standard = query(Analyzer::Standard(standard), "email box 東京 京都", 300);
    assert_eq!(
        standard.summarize("E-mails in FooBox; 東京都の東京 boxes"),
        "<mark>E-mails</mark> in <mark>FooBox</mark>; <mark>東京都</mark>の<mark>東京</mark> <mark>boxes</mark>"
    );
}

#[test]
fn no_markup_of_the_text_survives() {
    let text = "<script>alert('x')</script>\0 &amp; \"q\" \u{202E}abc\u{2066} <mark>fox</MARK>";
    assert_eq!(
        plain("fox script", 300, text),
        "&lt;<mark>script</mark>&gt;alert(&#39;x&#39;)&lt;/<mark>script</mark>&gt; &amp;amp; &quot;q&quot; \
         abc &lt;mark&gt;<mark>fox</mark>&lt;/MARK&gt;"
    );
}

#[test]
fn only_two_characters_lower_case_to_ascii_from_beyond() {
    // The search for ASCII words relies on this.
    let odd: Vec<char> = ('\u{80}'..=char::MAX)
        .filter(|wide| wide.to_lowercase().any(|lower| lower.is_ascii()))
        .collect();
    assert_eq!(odd, ['\u{130}', '\u{212A}']);
}

#[test]
fn a_text_of_one_frequent_word_and_strange_weights() {
    let text = "the ".repeat(50_000);
    let strange = [f32::NAN, f32::INFINITY, -1.0, 0.0, f32::MAX];
    let strange = strange.map(|weight| SummaryTerm {
        marked: marked(if weight == 0.0 { "the*" } else { "the" }),
        weight,
    });
    for options in [0, 1, 2, 100].map(|windows_max| SummaryOptions {
        windows_max,
        text_bytes: 40,
    }) {
        let summary =
            SummaryQuery::new(Analyzer::Plain, strange.to_vec(), options).summarize(&text);
        assert!(
            summary.contains("<mark>the</mark> <mark>the</mark>"),
            "{summary}"
        );
    }
}

/// Returns the whole text as a reader sees it.
fn collapsed(text: &str) -> String {
    let whole = windows::Window {
        start: 0,
        end: text.len(),
    };
    let mut out = String::new();
    render::window_html(text, &whole, &[], &mut out);
    unescaped(&out)
}

fn unescaped(html: &str) -> String {
    let entities = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ];
    let bare = html.replace("<mark>", "").replace("</mark>", "");
    entities.iter().fold(bare, |text, (entity, character)| {
        text.replace(entity, character)
    })
}

fn found(query: &SummaryQuery, text: &str, fast: bool) -> Vec<Match> {
    let mut scratch = SummaryScratch::default();
    if fast {
        query.matcher.find(text, &mut scratch);
    } else {
        query.matcher.find_by_tokens(text, &mut scratch);
    }
    scratch.matches
}

fn assert_good(analyzer: Analyzer, words: &str, text: &str, text_bytes: usize, windows_max: usize) {
    let options = SummaryOptions {
        windows_max,
        text_bytes,
    };
    let query = SummaryQuery::new(analyzer, terms(words), options);
    let matches = found(&query, text, true);
    assert_eq!(matches, found(&query, text, false), "{words:?} in {text:?}");

    assert_found_in_pieces(&query, text, &matches);

    let windows = windows::choose(text, &matches, &query.scoring, options);
    assert!(windows.len() <= windows_max.max(1));
    let mut visible_bytes = 0;
    let mut marks_count = 0;
    for window in &windows {
        let mut html = String::new();
        render::window_html(text, window, &matches, &mut html);
        let piece = unescaped(&html);
        visible_bytes += piece.len();
        assert!(collapsed(text).contains(&piece), "{piece:?} of {text:?}");
        let marked = assert_marks(&query, analyzer, &html, text_bytes);
        let inside = |found: &&Match| (window.start..window.end).contains(&found.start);
        let mut words: Vec<usize> = matches
            .iter()
            .filter(inside)
            .map(|found| found.start)
            .collect();
        words.dedup();
        match analyzer.shares_places() {
            // Pairs of letters that overlap have one mark.
            true => assert!(marked <= words.len() && (marked > 0) != words.is_empty()),
            false => assert_eq!(marked, words.len(), "{html:?} of {text:?}"),
        }
        marks_count += marked;
    }
    for pair in windows.windows(2) {
        assert!(pair[0].end < pair[1].start);
    }
    // One character is shown even where none fits.
    let bytes_max = text_bytes.max(16) + 4 * windows.len();
    assert!(
        visible_bytes <= bytes_max,
        "{visible_bytes} of {text_bytes}: {text:?}"
    );
    assert_eq!(marks_count > 0, !matches.is_empty());

    let summary = query.summarize(text);
    assert_eq!(summary, render::html(text, &windows, &matches));
    let without_marks = summary.replace("<mark>", "").replace("</mark>", "");
    assert!(
        !without_marks.contains(['<', '>', '"', '\'', '\0', '\u{202E}']),
        "{summary}"
    );
}

/// Checks that the matches of the pieces of a text are those of the text.
fn assert_found_in_pieces(query: &SummaryQuery, text: &str, matches: &[Match]) {
    for count in [1, 2, 5, 40] {
        let pieces = pieces_of(text, count);
        assert!((1..=count).contains(&pieces.len()));
        assert_eq!(
            (pieces[0].start, pieces[pieces.len() - 1].end),
            (0, text.len())
        );
        assert!(pieces.windows(2).all(|pair| pair[0].end == pair[1].start));
        let found: Vec<PieceMatches> = pieces
            .into_iter()
            .map(|piece| query.find_in_piece(text, piece))
            .collect();
        let whole: Vec<Match> = found.iter().flat_map(|piece| piece.0.clone()).collect();
        assert_eq!(whole, matches, "{text:?} in {count} pieces");
        let summary = query.summary_of_pieces(text, &found);
        assert_eq!(summary, query.summary(text));
        assert_eq!(summary.is_matched, !matches.is_empty());
    }
}

#[test]
fn a_long_text_is_cut_into_equal_pieces_and_one_without_blanks_into_one() {
    let text = "word and ".repeat(1000);
    let pieces = pieces_of(&text, 9);
    assert_eq!(pieces.len(), 9);
    assert!(
        pieces
            .iter()
            .all(|piece| (995..=1005).contains(&piece.len()))
    );
    assert_eq!(pieces_of(&"x".repeat(9000), 9).len(), 1);
    assert_eq!(pieces_of("", 9).len(), 1);
}

/// Checks that every mark holds one word that the query matches, and counts the marks.
fn assert_marks(query: &SummaryQuery, analyzer: Analyzer, html: &str, text_bytes: usize) -> usize {
    let mut pieces = html.split("<mark>");
    let mut marks_count = 0;
    pieces.next();
    for piece in pieces {
        let (word, rest) = piece.split_once("</mark>").expect("marks are balanced");
        let is_cut = word.len() + 4 > text_bytes / 8;
        let terms_count = analyzer.terms(word).len();
        assert!(terms_count == 1 || analyzer.shares_places() && (terms_count > 1 || is_cut));
        // The end of a window may cut a compound.
        let is_cut = is_cut || analyzer.shares_places() && rest.is_empty();
        assert!(is_cut || !found(query, word, false).is_empty(), "{word:?}");
        assert!(!rest.contains("</mark>"));
        marks_count += 1;
    }
    marks_count
}

fn any_analyzer() -> impl Strategy<Value = Analyzer> {
    let standard = |language| Analyzer::Standard(Languages::default().with(language));
    prop_oneof![
        2 => Just(Analyzer::Plain),
        2 => Just(Analyzer::English),
        2 => Just(standard(Language::English)),
        1 => (0..Language::all().len()).prop_map(move |number| {
            standard(Language::all().nth(number).unwrap_or(Language::Dutch))
        }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn prose_is_summarized_well(
        analyzer in any_analyzer(),
        words in "((the|of|a|i|k|die|possibl|happi|fox|foxes|kelvin|café|caf|ski|sky|東京|京都|한국|email|box|foobar|c\\+\\+|ив|i\u{307}|di)[*~]? ){0,6}",
        text in "((the|The|of|a|I|k|K|\u{212A}|dying|dies|possibility|happily|happy|fox|FOX|foxes|\u{212A}elvin|café|caf|CAFÉ|skis|skies|東京|東京都|Ив|İ|Dİ|dim|and|nothing|wordly|e-mail|FooBar|foo-box|C\\+\\+|한국어|[a-z]{1,40})([ .,;'_@+#-]|\\.\\.\\.|--|\\. |\n\n|  |\u{202E}|\0|é|<b>|’|’s |\u{301})){0,80}",
        text_bytes in 0usize..200,
        windows_max in 0usize..5,
    ) {
        assert_good(analyzer, &words, &text, text_bytes, windows_max);
    }

    #[test]
    fn any_text_is_summarized(
        analyzer in any_analyzer(),
        words in "([a-z0-9éкİ]{1,2}([*~]|[?]a)? ){0,4}",
        text in any::<String>(),
        text_bytes in 0usize..40,
        windows_max in 0usize..5,
    ) {
        assert_good(analyzer, &words, &text, text_bytes, windows_max);
    }

    #[test]
    fn anything_may_be_a_term(
        analyzer in any_analyzer(),
        mut wanted in proptest::collection::vec((any::<String>(), 0u8..9, any::<f32>()), 0..40),
        of_text in 0u8..9,
        text in any::<String>(),
    ) {
        wanted.extend(text.split(' ').take(3).map(|word| (word.to_lowercase(), of_text, 1.0)));
        let terms = wanted.into_iter().map(|(term, kind, weight)| SummaryTerm {
            marked: match kind {
                0 => Marked::Term(term),
                1 => Marked::Like(Pattern::Prefix(term)),
                2 => Marked::Like(Pattern::of_wildcard(&format!("{term}?")).unwrap_or(Pattern::Prefix(term))),
                3 | 4 => Marked::Like(Pattern::near(&term, kind - 2)),
                5 | 6 => Marked::Like(Pattern::near_start(&term, kind - 5)),
                _ => Marked::Like(Pattern::near_of_one_initial(&term, kind - 6)),
            },
            weight,
        });
        let query = SummaryQuery::new(analyzer, terms.collect(), SummaryOptions::default());
        prop_assert_eq!(found(&query, &text, true), found(&query, &text, false));
        query.summarize(&text);
    }
}
