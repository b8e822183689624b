//! Vectors of `standard`: what is indexed, what finds what.

use super::*;
use crate::language::Languages;
use proptest::prelude::*;

/// Terms of a text: those of one place divided by a blank, places by `·`.
fn places(languages: Languages, text: &str) -> String {
    places_by(Rules::first(languages), text)
}

fn places_by(rules: Rules, text: &str) -> String {
    let mut places: Vec<String> = Vec::new();
    let count = each_token(rules, text, &mut "left over".to_owned(), |token| {
        assert!(
            text.get(token.start..token.end)
                .is_some_and(|range| !range.is_empty())
        );
        match places.get_mut(token.position as usize) {
            Some(place) => *place = format!("{place} {}", token.term),
            None => {
                assert_eq!(places.len(), token.position as usize);
                places.push(token.term.to_owned());
            }
        }
    });
    assert_eq!(places.len(), count as usize, "{text:?}");
    places.join("·")
}

#[test]
fn terms_before_stemming() {
    for (text, expected) in [
        ("café", "cafe"),
        ("Hitman™", "hitman"),
        ("x²", "x2"),
        ("Ⅳ", "iv"),
        ("don't, don’t", "dont·dont"),
        ("dog's", "dogs dog"),
        ("O’Neill", "oneill o neill"),
        ("l’été", "lete l ete"),
        ("צה״ל", "צהל צה ל"),
        ("e-mail", "email e mail"),
        ("FooBar", "foobar foo bar"),
        ("OpenSSL", "openssl open ssl"),
        (
            "XMLHttp PDFs McDonald",
            "xmlhttp xml http·pdfs·mcdonald mc donald",
        ),
        ("iPhone", "iphone phone"),
        ("a_b1", "ab1 a b1"),
        ("C++", "c++ c"),
        ("C#", "c# c"),
        (".NET", ".net net"),
        ("node.js", "node.js nodejs node js"),
        ("U.S.A.", "u.s.a usa u s a"),
        ("R&D", "r&d r d"),
        ("a@c.org", "a@c.org a c org"),
        ("1,000", "1000"),
        ("1\u{202F}000", "1000"),
        ("1.234,56", "1234.56"),
        ("1.234.567 1.234", "1234567·1.234"),
        ("3.14", "3.14"),
        ("5kg 1,000kg", "5kg 5 kg·1000kg 1000 kg"),
        ("covid19 b12", "covid19 covid 19·b12"),
        ("v1.2.3", "v1.2.3 1.2.3"),
        ("2026-11-22", "20261122 2026 11 22"),
        ("東京都", "東京·京都·都"),
        ("日", "日"),
        ("한국어", "한국·국어·어"),
        ("データ", "デー·ータ·タ"),
        ("東\n京", "東京·京"),
        ("東京ABC", "東京·京·abc"),
        ("สวัสดี", "สวั·วัส·สดี·ดี"),
        ("हिन्दी", "हिन्दी"),
        ("👍🏽", "👍"),
        ("🇩🇪", "🇩🇪"),
        ("🌱plants", "🌱·plants"),
        ("👩🏽\u{200D}💻", "👩\u{200D}💻"),
    ] {
        assert_eq!(places(Languages::default(), text), expected, "{text}");
    }
}

#[test]
fn stems_know_accents_and_do_without() {
    let languages = Languages::default()
        .with(Language::Spanish)
        .with(Language::Russian);
    assert_eq!(
        places(languages, "naciones nación nacion"),
        "nacion·nacion·nacion"
    );
    assert_eq!(places(languages, "книгами книга"), "книг·книг");
    let german = Languages::default().with(Language::German);
    assert_eq!(places(german, "Häuser Haus"), "haus·haus");
    let english = Languages::default().with(Language::English);
    assert_eq!(
        places(english, "Running e-mails OpenSSL's"),
        "run·email e mail·openssl openssl open ssl".replace("openssl openssl", "openssl")
    );
}

/// Returns whether a query of one word, in any form, finds a document.
fn finds(languages: Languages, query: &str, document: &str) -> bool {
    finds_by(Rules::first(languages), query, document)
}

fn finds_by(rules: Rules, query: &str, document: &str) -> bool {
    let mut tokens: Vec<(String, u32)> = Vec::new();
    each_token(rules, document, &mut String::new(), |token| {
        tokens.push((token.term.to_owned(), token.position));
    });
    let holds = |ways: &[Way], is_prefix: bool| {
        let has = |term: &str, at: u32| {
            let is = |known: &str| known == term || is_prefix && known.starts_with(term);
            tokens
                .iter()
                .any(|(known, position)| *position == at && is(known))
        };
        let last = tokens.iter().map(|(_, position)| *position).max();
        (0..=last.unwrap_or(0)).any(|from| {
            ways.iter()
                .any(|way| (from..).zip(way).all(|(at, term)| has(term, at)))
        })
    };
    match query
        .strip_prefix('"')
        .and_then(|query| query.strip_suffix('"'))
    {
        Some(phrase) => holds(&query::phrase_ways(rules, phrase), false),
        None => {
            let words = query::query_words(rules, query);
            assert!(!words.is_empty(), "{query}");
            words.iter().all(|word| holds(&word.forms, word.is_prefix))
        }
    }
}

#[test]
fn what_finds_what() {
    let none = Languages::default();
    for (query, document) in [
        ("cafe", "café"),
        ("cafe\u{301}", "café"),
        ("email", "e-mail"),
        ("e-mail", "e mail"),
        ("e-mail", "email"),
        ("mail", "e-mail"),
        ("\"foo bar\"", "FooBar"),
        ("\"use foobar now\"", "use FooBar now"),
        ("\"use foo bar now\"", "use FooBar now"),
        ("\"use FooBar now\"", "use foo bar now"),
        ("FooBar", "foo bar"),
        ("5 kg", "5kg"),
        ("5kg", "5 kg"),
        ("C", "C++"),
        ("c++", "C++"),
        ("net", ".NET"),
        ("nodejs", "node.js"),
        ("node.js", "nodejs"),
        ("dont", "don't"),
        ("don’t", "don't"),
        ("dogs", "dog's"),
        ("1000", "1,000"),
        ("usa", "U.S.A."),
        ("U.S.A.", "USA"),
        ("京都", "東京都"),
        ("都", "東京都"),
        ("京", "東京都"),
        ("한국", "한국어를"),
        ("\"東京都 の\"", "東京都 の"),
        ("สวัส", "สวัสดี"),
        ("👍", "👍🏽"),
    ] {
        assert!(finds(none, query, document), "{query} finds {document}");
    }
    for (query, document) in [
        ("C++", "C"),
        ("東都", "東京都"),
        ("иод", "йод"),
        ("วิทย", "วิทยุ"),
        ("1.2", "1.2.3"),
        ("हिन", "हिन्दी"),
        ("\"東京都 の\"", "東京都の"),
        ("\"foo baz\"", "FooBar"),
    ] {
        assert!(
            !finds(none, query, document),
            "{query} does not find {document}"
        );
    }
    let french = Languages::default().with(Language::French);
    for (query, document) in [
        ("canción", "canciones"),
        ("cancion", "canción"),
        ("canción", "cancion"),
        ("mangé", "mangées"),
        ("mange", "mangé"),
        ("été", "l'été"),
    ] {
        let spanish = Languages::default().with(Language::Spanish);
        let languages = if query.contains("canc") {
            spanish
        } else {
            french
        };
        assert!(
            finds(languages, query, document),
            "{query} finds {document}"
        );
    }
}

/// Pieces that meet in all orders.
pub(super) fn any_text() -> impl Strategy<Value = String> {
    let pieces = "[a-zA-Z]{1,3}|[0-9]{1,3}|[-_'’.,&@+#: \n\u{202F}]|[éßÉЖжйωΣשא\u{301}\u{AD}\u{200D}]|[東京ひカｶﾞ한국\u{1112}\u{1161}]|[สวัี]|[👍🏽🇩🇪\u{FE0F}]|[½⅟٢०𝟐㎏ʼʻ´．－٬٫ŉ]";
    proptest::collection::vec(pieces, 0..24).prop_map(|pieces| pieces.concat())
}

pub(super) fn all_rules(text: &str) -> impl Iterator<Item = Rules> {
    all_languages(text).flat_map(|languages| [Rules::first(languages), Rules::second(languages)])
}

fn all_languages(text: &str) -> impl Iterator<Item = Languages> {
    let one = text.len() % Language::all().len();
    let languages = Language::all()
        .nth(one)
        .map(|language| Languages::default().with(language));
    [Languages::default(), Language::all().collect()]
        .into_iter()
        .chain(languages)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn terms_that_begin_with_wanted_bytes_are_all_found(
        pieces in proptest::collection::vec((any_text(), "[ \n.,'_&@+#(/-]{0,3}"), 1..8),
        wanted in "[a-z0-9]{1,4}",
    ) {
        let text: String = pieces.into_iter().flat_map(|(text, between)| [text, between]).collect();
        let mut starts = [false; 256];
        wanted.bytes().for_each(|byte| starts[usize::from(byte)] = true);
        let english = Languages::default().with(Language::English);
        let all_rules = [Rules::first, Rules::second].map(|edition| [edition(Languages::default()), edition(english)]);
        for rules in all_rules.into_iter().flatten() {
            let mut buffer = String::new();
            let mut all = Vec::new();
            each_token(rules, &text, &mut buffer, |token| {
                if starts[usize::from(token.term.as_bytes()[0])] {
                    all.push((token.term.to_owned(), token.start, token.end));
                }
            });
            let mut found = Vec::new();
            each_token_starting(rules, &text, &mut buffer, &starts, |_| true, |_| true, |of| {
                let (term, start, end) = match of {
                    Found::Written(_) => return,
                    Found::Token(token) => (token.term.to_owned(), token.start, token.end),
                    Found::Word(at) => {
                        let word = &text[at.clone()];
                        let term = term_of_word(rules, word, &mut String::new()).to_owned();
                        (term, at.start, at.end)
                    }
                };
                if starts[usize::from(term.as_bytes()[0])] {
                    found.push((term, start, end));
                }
            });
            prop_assert_eq!(found, all);
        }
    }

    #[test]
    fn any_text_has_terms_in_order(text in any_text(), other in any::<String>()) {
        for text in [&text, &other] {
            for rules in all_rules(text) {
                let mut next = 0;
                let count = each_token(rules, text, &mut String::new(), |token| {
                    assert!(token.position == next || token.position + 1 == next, "{text:?}");
                    assert!(!token.term.is_empty() && token.term.len() <= TERM_BYTES_MAX);
                    next = token.position + 1;
                });
                prop_assert_eq!(count, next);
            }
        }
    }

    /// Every word finds the document it stands in, and a phrase of all of it too.
    #[test]
    fn a_text_finds_itself(text in any_text()) {
        for rules in all_rules(&text) {
            for word in query::query_words(rules, &text) {
                prop_assert!(word.forms.iter().all(|form| !form.is_empty()));
            }
            if !query::query_words(rules, &text).is_empty() {
                prop_assert!(finds_by(rules, &text, &text), "{text:?}");
                prop_assert!(finds_by(rules, &format!("\"{text}\""), &text), "{text:?}");
            }
        }
    }

    #[test]
    fn substrings_of_letters_are_found_where_they_stand(
        text in "[東京都ひカ한국]{1,12}", query in "[東京都ひカ한국]{1,4}"
    ) {
        for rules in [Rules::first(Languages::default()), Rules::second(Languages::default())] {
            prop_assert_eq!(finds_by(rules, &query, &text), text.contains(&query));
        }
    }
}

/// Whatever took time that grows with the square of the length would not end.
#[test]
fn hostile_texts_take_linear_time() {
    let distinct: String = (0..200_000)
        .map(|n| format!("Ab{}", char::from(b'a' + n as u8 % 26)))
        .collect();
    let repeated = [
        "a",
        "aB",
        "Ab",
        "1.",
        "1,000,",
        "a-",
        "a.",
        "'a",
        "a\u{301}",
        "\u{301}",
        "東",
        "東\n",
        "ｶﾞ",
        "กั",
        "👨\u{200D}",
        "🇩",
        "C++",
        ".a",
        "é",
        "é-",
        "\u{202F}1",
        "&@",
        "x²",
        "½",
        "a½-",
        "aBc-",
    ];
    let texts = repeated.map(|piece| piece.repeat(1_000_000 / piece.len()));
    for text in texts.iter().chain([&distinct]) {
        let languages: Languages = [Language::English, Language::Russian].into_iter().collect();
        // The runs of sixteen parts of a compound, which begins anew then, are 51 times as long as it.
        for (rules, times) in [
            (Rules::first(languages), 20),
            (Rules::second(languages), 60),
        ] {
            let mut bytes = 0;
            each_token(rules, text, &mut String::new(), |token| {
                bytes += token.term.len()
            });
            assert!(bytes <= times * text.len() + TERM_BYTES_MAX);
        }
    }
    for piece in repeated {
        let query = piece.repeat(16_384 / piece.len());
        for typed in [
            query.clone(),
            format!("{piece} ").repeat(16_384 / (piece.len() + 1)),
        ] {
            for (rules, ways_max) in [
                (Rules::first(Languages::default()), 8),
                (Rules::second(Languages::default()), 40),
            ] {
                query::query_words(rules, &typed);
                assert!(query::phrase_ways(rules, &typed).len() <= ways_max);
            }
        }
    }
}

#[test]
fn terms_of_the_second_edition() {
    let rules = Rules::second(Languages::default());
    for (text, expected) in [
        ("café don't dog's", "cafe·dont·dogs dog"),
        ("e-mail FooBar", "email e mail·foobar foo bar"),
        ("iPhone PDFs a_b1", "iphone phone·pdfs·ab1 a ab b1"),
        ("node.js", "node.js nodejs node js"),
        ("temp_dir", "tempdir temp dir"),
        ("get_temp_dir", "gettempdir get temp dir gettemp tempdir"),
        (
            "XMLHttpRequest",
            "xmlhttprequest xml http request xmlhttp httprequest",
        ),
        (
            "www.example.com",
            "www.example.com wwwexamplecom www example com wwwexample examplecom",
        ),
        ("2026-11-22", "2026-11-22 20261122 2026 11 22 2026-11 11-22"),
        ("a@c.org R&D", "a@c.org a c org a@c corg·r&d r d"),
        ("foo-C++", "foo-c++ fooc foo c c++"),
        (".NET-Core", ".net-core netcore net core .net"),
        (
            "5kg v1.2.3 b12 covid19",
            "5kg 5 kg·v1.2.3 1.2.3·b12·covid19 covid 19",
        ),
        ("٢٠٢٤ २०२४ ๒๐๒๔ 𝟐𝟎𝟐𝟒 ２０２４", "2024·2024·2024·2024·2024"),
        ("١٬٠٠٠ ٣٫١٤ ⒈ ⑴", "1000·3.14·1·1"),
        ("½ 1½ ⅞ ⅟8", "1-2 1 2·1-1-2 1 2 1-1 1-2·7-8 7 8·1-8 1 8"),
        (
            "п\u{2BC}ять Hawai\u{2BB}i don\u{B4}t",
            "пять п ять·hawaii hawai i·dont",
        ),
        ("ŉ", "n"),
        (
            "5㎏ №7 ｎｏｄｅ．ｊｓ",
            "5kg 5 kg·no7 no 7·node.js nodejs node js",
        ),
    ] {
        assert_eq!(places_by(rules, text), expected, "{text}");
    }
}

#[test]
fn runs_of_parts_are_found() {
    let rules = Rules::second(Languages::default());
    for (query, document) in [
        ("temp_dir", "sys_get_temp_dir"),
        ("\"temp dir\"", "sys_get_temp_dir"),
        ("\"get temp dir\"", "sys_get_temp_dir"),
        ("\"call get temp dir now\"", "call sys_get_temp_dir_x now"),
        ("HttpRequest", "XMLHttpRequest"),
        ("2020-07-13", "file_2020-07-13T10.pdf"),
        ("\"2020 07 13\"", "2020-07-13"),
        ("20200713", "2020-07-13"),
        ("2020-07-13", "20200713"),
        ("\"a b-c d\"", "a-b c-d"),
        ("a-b-c", "a b-c"),
        ("1/2", "½"),
        ("\"1/2 cup\"", "½ cup"),
        ("½", "1/2"),
        ("½", "1\u{2044}2"),
        ("\"1 1/2 cups\"", "1½ cups"),
        ("1½", "1 1/2"),
        ("2024", "٢٠٢٤"),
        ("٢٠٢٤", "2024"),
        ("R&D", "R&D-department"),
        ("c++", "foo-C++"),
        ("c.org", "a@c.org"),
        ("c@d.org", "b.c@d.org"),
        ("\"foo bar baz\"", "fooBarBaz"),
        ("п'ять", "п\u{2BC}ять"),
        ("hawaii", "Hawai\u{2BB}i"),
        ("\"5 kg\"", "5kg"),
    ] {
        assert!(finds_by(rules, query, document), "{query} finds {document}");
    }
    for (query, document) in [
        ("\"1 2\"", "12"),
        ("½", "12"),
        ("12", "½"),
        ("12", "a-1-2"),
        ("tempget", "sys_get_temp_dir"),
        ("get_dir", "sys_get_temp_dir"),
        ("\"foo-bar\"", "foo"),
        ("\"see foo-bar\"", "see foo"),
    ] {
        assert!(
            !finds_by(rules, query, document),
            "{query} does not find {document}"
        );
    }
}

/// Returns the writings of a compound of one part a letter, in lower case, of which each may be a run.
fn runs_of_letters(letters: &str) -> Vec<&str> {
    let ends = 1..=letters.len();
    ends.flat_map(|end| (0..end).map(move |start| &letters[start..end]))
        .collect()
}

proptest! {
    /// The runs of a compound are found, and no other words of these letters.
    #[test]
    fn words_of_parts_are_runs(compound in "[a-c]([-_.'][a-c]){0,6}", word in "[a-c]{1,4}", ties in "[-_.]{3}") {
        let letters: String = compound.chars().filter(char::is_ascii_alphabetic).collect();
        let rules = Rules::second(Languages::default());
        let is_run = runs_of_letters(&letters).contains(&word.as_str());
        prop_assert_eq!(finds_by(rules, &word, &compound), is_run, "{} in {}", word, compound);
        let typed: String = word.chars().zip(ties.chars().chain(['-'])).flat_map(|(letter, tie)| [tie, letter]).skip(1).collect();
        prop_assert_eq!(finds_by(rules, &typed, &compound), is_run, "{} in {}", typed, compound);
        let phrase: Vec<String> = word.chars().map(String::from).collect();
        let phrase = format!("\"{}\"", phrase.join(" "));
        prop_assert_eq!(finds_by(rules, &phrase, &compound), is_run, "{} in {}", phrase, compound);
    }
}
