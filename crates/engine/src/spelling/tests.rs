use super::*;
use crate::calls::NearWord;

fn word(documents: u64, near: &[(&str, u64, u32)]) -> TypedWord {
    let near = near.iter().map(|&(written, documents, cost)| NearWord {
        written: written.to_owned(),
        documents,
        cost,
    });
    TypedWord {
        documents,
        near: near.collect(),
    }
}

fn texts(text: &str, typed: &[TypedWord]) -> Vec<String> {
    let spelling = Spelling::of(text, Analyzer::English).unwrap();
    let candidates = spelling.candidates(typed);
    candidates.into_iter().map(|one| one.text).collect()
}

#[test]
fn the_other_words_and_blanks_stay_as_typed() {
    let near = [("receive", 9, 500)];
    assert_eq!(
        texts("Recieve  LETTER x1 ", &[word(0, &near), word(7, &[])]),
        ["receive  LETTER x1 "]
    );
    assert!(texts("letter zzzzz", &[word(9, &[]), word(0, &[])]).is_empty());
}

#[test]
fn combinations_come_by_their_rarest_word_and_their_cost() {
    let solar = word(0, &[("solar", 50, 500), ("polar", 40, 900)]);
    let sails = word(0, &[("sails", 20, 500), ("sale", 5, 500)]);
    assert_eq!(
        texts("solat saild", &[solar.clone(), sails.clone()]),
        ["solar sails", "solar sale", "polar sails", "polar sale"]
    );
    // A known word that is rare beside one of them is changed with the unknown ones.
    let rare = word(2, &[("sails", 200, 500)]);
    assert_eq!(
        texts("solat saild", &[solar.clone(), rare])[0],
        "solar sails"
    );
    let many = [solar.clone(), solar.clone(), solar.clone(), solar];
    assert!(texts("solat solat solat solat", &many).is_empty());
}

#[test]
fn one_known_word_is_changed_where_all_are_known_but_apart() {
    let their = word(90, &[("there", 80, 650)]);
    let form = word(20, &[("from", 70, 500), ("farm", 30, 900)]);
    assert_eq!(
        texts(
            "their form was lost",
            &[their, form, word(50, &[]), word(60, &[])]
        ),
        [
            "their from was lost",
            "there form was lost",
            "their farm was lost"
        ]
    );
}

#[test]
fn what_has_syntax_or_no_letters_is_left_alone() {
    for text in [
        "\"a phrase\"",
        "a -b",
        "site:x word",
        "123 45",
        "a b",
        "word AND other",
        "",
        "/reg.*/ex",
        "[a TO b]",
        "wor* word",
        "東京",
    ] {
        assert!(Spelling::of(text, Analyzer::English).is_none(), "{text}");
    }
    let spelling = Spelling::of("x86 machne", Analyzer::Plain).unwrap();
    assert_eq!(spelling.words()[..], ["machne".to_owned()]);
}
