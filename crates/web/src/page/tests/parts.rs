//! Tests of the parts of a page that its names, its scripts and its kind make main text.

use super::*;

#[test]
fn names_hide_what_they_say_alone() {
    let is_shown = |class: &str| {
        let other = format!("{PROSE} {PROSE} {PROSE} {PROSE} {PROSE}");
        let html = format!("<p>{other}</p><div class='{class}'>A short answer, yes.</div>");
        page(&html).main_text().contains("yes")
    };
    for class in [
        "overflow-hidden",
        "field field--label-hidden",
        "elementor-hidden-mobile",
        "elementor-invisible",
        "hidden lg:block",
        "hidden-xs hidden-sm hidden-md",
        "hidden-md-down",
        "hide-for-small-only",
        "print:hidden",
        "hide-on-mobile",
        "no-js-hidden",
        "max-lg:hidden",
        "data-[state=closed]:hidden",
        "collapse hidden",
        "item__adF2E",
        "w-2a872ad3",
        "elementor-widget",
        "side-by-side",
        "left-side-text",
        "tab-content tabs",
        "print:break-inside-avoid",
    ] {
        assert!(is_shown(class), "{class}");
    }
    for class in [
        "hidden",
        "is-hidden",
        "js-hidden",
        "visually-hidden",
        "visually-hidden-focusable",
        "sr-only",
        "srOnly",
        "invisible",
        "lg:hidden",
        "sm:hidden",
        "hidden-lg",
        "hide-on-desktop",
        "hide-for-large",
        "hidden-md-up",
        "ad",
        "adSlot",
        "widget widget_x",
        "side",
    ] {
        assert!(!is_shown(class), "{class}");
    }
}

#[test]
fn what_unfolds_or_comes_late_is_main_text() {
    let prose = format!("{PROSE} {PROSE} {PROSE}");
    let answer = "Yes, it is, and it was.";
    for attributes in [
        "class=faq__answer style='display: none'",
        "class=accordion-body hidden",
        "role=tabpanel aria-hidden=true",
        "hidden id=S:1f",
    ] {
        check(
            &format!("<p>{prose}</p><div {attributes}><p>{answer}</p></div>"),
            &format!("{prose}\n{answer}"),
            "",
        );
    }
    check(
        &format!("<p>{prose}</p><div style='display: none'><p>{answer}</p></div>"),
        &prose,
        answer,
    );
}

#[test]
fn a_discussion_is_main_text_with_its_comments() {
    let posts = format!(
        "<article><p>Asked: {PROSE}</p></article><div class=comments><article class=comment><p>One says: {PROSE}</p></article>\
         <article class=comment><p>Another says: {PROSE} {PROSE} {PROSE}</p></article></div>"
    );
    let asked = format!("Asked: {PROSE}");
    let all = format!("{asked}\nOne says: {PROSE}\nAnother says: {PROSE} {PROSE} {PROSE}");
    for html in [
        format!("<body itemtype=https://schema.org/QAPage>{posts}"),
        format!(
            "<div itemscope itemtype='http://schema.org/DiscussionForumPosting/'>{posts}</div>"
        ),
        format!(
            "<script type=application/ld+json>{{\"@type\":\"DiscussionForumPosting\"}}</script>{posts}"
        ),
    ] {
        check(&html, &all, "");
    }
    // Comments of an article are not its text.
    assert_eq!(page(&posts).main_text(), asked);
}

#[test]
fn articles_that_are_parts_stay_together() {
    let part = |i: usize| format!("<article><p>{i}: {PROSE}</p></article>");
    let found = page(&format!(
        "<div>{}</div>",
        (0..6).map(part).collect::<String>()
    ));
    assert_eq!(found.main_text().lines().count(), 6);
    // One that has much of the prose is whole.
    let long = format!("<article><p>{PROSE} {PROSE} {PROSE} {PROSE}</p></article>");
    let found = page(&format!("<div>{long}{}</div>", part(1)));
    assert_eq!(found.main_text().lines().count(), 1);
}
