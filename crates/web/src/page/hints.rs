//! Hints of what an element is for, from the words of its class, id and role.

use super::names::{self, Shown};

/// Set of hints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hints(pub(super) u16);

impl Hints {
    /// Holds the text of the page.
    pub(super) const CONTENT: Self = Self(1);
    /// Declared as the text of an article (`itemprop=articleBody` and the like).
    pub(super) const BODY: Self = Self(1 << 1);
    /// Ways through the site.
    pub(super) const NAVIGATION: Self = Self(1 << 2);
    /// Comments of readers.
    pub(super) const COMMENTS: Self = Self(1 << 3);
    /// Buttons to share or follow.
    pub(super) const SHARE: Self = Self(1 << 4);
    /// Other pages, recommended.
    pub(super) const RELATED: Self = Self(1 << 5);
    /// Beside the text.
    pub(super) const SIDE: Self = Self(1 << 6);
    /// Below the text.
    pub(super) const FOOTER: Self = Self(1 << 7);
    /// Above the text.
    pub(super) const HEADER: Self = Self(1 << 8);
    /// Advertisement.
    pub(super) const ADVERT: Self = Self(1 << 9);
    /// Author, date, tags.
    pub(super) const BYLINE: Self = Self(1 << 10);
    /// Subscription, login, consent, dialogs.
    pub(super) const DIALOG: Self = Self(1 << 11);
    /// Caption or credit of a picture.
    pub(super) const CAPTION: Self = Self(1 << 12);
    /// Not shown.
    pub(super) const HIDDEN: Self = Self(1 << 13);
    /// The main part of the page by its element or role.
    pub(super) const MAIN: Self = Self(1 << 14);
    /// Text that is shown later: when a reader unfolds it, or a script moves it to its place.
    pub(super) const UNFOLDS: Self = Self(1 << 15);

    /// Returns whether any of `other` is set.
    pub(super) fn any(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns the hints that are not in `other`.
    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the hints that are in `other`.
    pub(super) const fn only(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Both sets together.
    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Words read of one value.
const WORDS_MAX: usize = 32;

/// Returns the hints of a class, id or role: its words end at `-`, `_`, white space and capital letters.
pub(super) fn of_value(value: &str) -> Hints {
    let (mut hints, mut words, mut is_wide) = (Hints::default(), 0, false);
    for name in value.split_ascii_whitespace() {
        // A condition says when a style holds, not what the element is for.
        if memchr::memchr2(b':', b'[', name.as_bytes()).is_some() {
            match names::of_condition(name) {
                Shown::No => hints = hints.with(Hints::HIDDEN),
                Shown::Wide => is_wide = true,
                Shown::Unsaid => {}
            }
            continue;
        }
        hints = hints.with(of_name(name, &mut words));
    }
    if is_wide {
        hints = hints.without(Hints::HIDDEN);
    }
    hints
}

/// Returns the hints of one name, of as many words as `words` leaves.
fn of_name(name: &str, words: &mut usize) -> Hints {
    let bytes = name.as_bytes();
    let (mut hints, mut at, mut is_first) = (Hints::default(), 0, true);
    while at < bytes.len() && *words < WORDS_MAX {
        if !bytes[at].is_ascii_alphabetic() {
            at += 1;
            continue;
        }
        let mut lower = [0u8; 20];
        let (start, mut length) = (at, 0);
        while at < bytes.len() && bytes[at].is_ascii_alphabetic() {
            let capital =
                bytes[at].is_ascii_uppercase() && at > start && bytes[at - 1].is_ascii_lowercase();
            if capital {
                break;
            }
            if length < lower.len() {
                lower[length] = bytes[at].to_ascii_lowercase();
                length += 1;
            }
            at += 1;
        }
        *words += 1;
        let mut found = of_word(&lower[..length]);
        if found != Hints::default() {
            if found.any(Hints::HIDDEN) && !names::hides(name, start, at) {
                found = Hints::default();
            }
            if length <= 3 && is_code(bytes, start, at) {
                found = Hints::default();
            }
            // `widget` and `side` behind another word are of builders of pages, and of layouts.
            let is_by = bytes[at..].starts_with(b"-by");
            if matches!(&lower[..length], b"widget" | b"side") && (!is_first || is_by) {
                found = Hints::default();
            }
            hints = hints.with(found);
        }
        is_first = false;
    }
    hints
}

/// Returns whether letters beside digits, or before lone capitals, are a part of a code such as `item__adF2E`.
fn is_code(name: &[u8], start: usize, end: usize) -> bool {
    let before = start.checked_sub(1).map(|at| name[at]);
    let after = name.get(end).copied();
    let is_digit = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_digit());
    let is_capital = |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_uppercase());
    let is_lone = is_capital(after) && !name.get(end + 1).is_some_and(|b| b.is_ascii_lowercase());
    is_digit(before) || is_digit(after) || is_lone
}

#[rustfmt::skip]
fn of_word(word: &[u8]) -> Hints {
    match word {
        b"articlebody" | b"entrycontent" | b"postcontent" | b"articlecontent" | b"storybody" | b"articletext"
        | b"posttext" | b"storytext" => Hints::CONTENT.with(Hints::BODY),
        b"article" | b"body" | b"content" | b"entry" | b"hentry" | b"main" | b"post" | b"story" | b"text"
        | b"blog" | b"document" | b"markdown" | b"prose" => Hints::CONTENT,
        b"nav" | b"navbar" | b"navigation" | b"menu" | b"submenu" | b"breadcrumb" | b"breadcrumbs" | b"pagination"
        | b"pager" | b"sitemap" | b"toolbar" | b"skip" | b"crumbs" | b"menubar" => Hints::NAVIGATION,
        b"comment" | b"comments" | b"disqus" | b"respond" | b"commentlist" | b"discussion" | b"replies"
        | b"livefyre" | b"viafoura" | b"coral" => Hints::COMMENTS,
        b"share" | b"sharing" | b"social" | b"addthis" | b"sharedaddy" | b"shares" | b"sharebar" | b"socialmedia"
        | b"addtoany" | b"sharethis" | b"follow" | b"sns" => Hints::SHARE,
        b"related" | b"recommended" | b"recommendations" | b"recommendation" | b"outbrain" | b"taboola"
        | b"popular" | b"trending" | b"recirc" | b"recirculation" | b"readnext" | b"teaser" | b"teasers"
        | b"readmore" | b"suggested" | b"relatedposts" | b"mostread" | b"upnext" | b"onward" | b"zergnet"
        | b"promo" | b"promos" | b"promotion" | b"yarpp" | b"relcontent" | b"similar" => Hints::RELATED,
        b"sidebar" | b"aside" | b"rail" | b"widget" | b"widgets" | b"complementary" | b"side" => Hints::SIDE,
        b"footer" | b"foot" | b"colophon" | b"copyright" | b"contentinfo" | b"disclaimer" | b"legal"
        | b"bottombar" => Hints::FOOTER,
        b"header" | b"masthead" | b"banner" | b"branding" | b"topbar" => Hints::HEADER,
        b"ad" | b"ads" | b"advert" | b"advertisement" | b"advertising" | b"adsbygoogle" | b"sponsor"
        | b"sponsored" | b"dfp" | b"adslot" | b"advertorial" | b"adbox" | b"adunit" | b"gpt" => Hints::ADVERT,
        b"byline" | b"author" | b"authors" | b"dateline" | b"timestamp" | b"date" | b"pubdate" | b"tags" | b"tag"
        | b"category" | b"categories" | b"meta" | b"bio" | b"biography" | b"postmeta" | b"published" | b"kicker"
        | b"taglist" | b"topics" | b"about" | b"contributor" => Hints::BYLINE,
        b"newsletter" | b"subscribe" | b"subscription" | b"signup" | b"login" | b"signin" | b"modal" | b"popup"
        | b"overlay" | b"cookie" | b"cookies" | b"consent" | b"gdpr" | b"dialog" | b"alertdialog" | b"paywall"
        | b"register" | b"registration" | b"donate" | b"donation" | b"print" | b"printonly" | b"feedback"
        | b"search" | b"survey" | b"poll" | b"quiz" | b"noprint" | b"cta" => Hints::DIALOG,
        b"caption" | b"credit" | b"figcaption" | b"captions" | b"credits" | b"slideshow" | b"gallery"
        | b"carousel" | b"slider" | b"photo" | b"lightbox" | b"video" | b"player" => Hints::CAPTION,
        b"accordion" | b"accordions" | b"collapse" | b"collapsible" | b"expander" | b"expandable" | b"faq" | b"faqs"
        | b"region" | b"toggle" | b"tabpanel" => Hints::UNFOLDS,
        b"hidden" | b"hide" | b"invisible" | b"visuallyhidden" | b"sr" => Hints::HIDDEN,
        _ => Hints::default(),
    }
}
