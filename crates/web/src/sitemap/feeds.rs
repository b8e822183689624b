//! Elements of sitemaps and feeds: what each means where it stands.

use super::dates::{parse_rss_date, parse_w3c_date};
use super::entry::{ChangeFrequency, Draft, Extension, ExtensionKind, Field, Format};
use jiff::Timestamp;

/// Upper limit on the bytes of a text that is kept.
const TEXT_BYTES_MAX: usize = 8 << 10;

/// Upper limit on the extensions of an entry, and on the elements of one; further ones are dropped.
const EXTENSIONS_MAX: usize = 1_000;

/// Namespaces of extensions. The last part of a name, its version, is left out.
const EXTENSIONS: [(&str, ExtensionKind); 6] = [
    (
        "www.google.com/schemas/sitemap-image/",
        ExtensionKind::Image,
    ),
    ("www.google.com/schemas/sitemap-news/", ExtensionKind::News),
    (
        "www.google.com/schemas/sitemap-video/",
        ExtensionKind::Video,
    ),
    (
        "www.google.com/schemas/sitemap-mobile/",
        ExtensionKind::Mobile,
    ),
    (
        "www.google.com/schemas/sitemap-pagemap/",
        ExtensionKind::PageMap,
    ),
    ("www.w3.org/1999/xhtml", ExtensionKind::Link),
];

/// Meaning of an element's namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Space {
    /// The sitemap's or feed's own, or none, or an unknown one.
    Own,
    /// Element of an extension.
    Extension(ExtensionKind),
    /// A known one of other elements.
    Other,
}

impl Space {
    /// Returns the meaning of a namespace, or of a prefix that nothing declares.
    pub(crate) fn of(name: &str, is_prefix: bool) -> Space {
        if is_prefix {
            return match name {
                "image" => Space::Extension(ExtensionKind::Image),
                "news" => Space::Extension(ExtensionKind::News),
                "video" => Space::Extension(ExtensionKind::Video),
                "xhtml" => Space::Extension(ExtensionKind::Link),
                "mobile" => Space::Extension(ExtensionKind::Mobile),
                _ => Space::Other,
            };
        }
        let name = name.strip_prefix("https://").unwrap_or(name);
        let name = name.strip_prefix("http://").unwrap_or(name);
        let mut known = EXTENSIONS.iter();
        if let Some((_, kind)) = known.find(|(start, _)| name.starts_with(start)) {
            return Space::Extension(*kind);
        }
        let is_other = name.starts_with("www.w3.org/2001/XInclude")
            || name.starts_with("search.yahoo.com/mrss")
            || name.starts_with("www.itunes.com/");
        match is_other {
            true => Space::Other,
            false => Space::Own,
        }
    }
}

/// Text that is being gathered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Loc,
    SecondLoc,
    Date,
    RssDate,
    ChangeFrequency,
    Priority,
    FeedDate,
    FeedBuildDate,
    Extension,
}

/// State between the elements of a file.
#[derive(Debug)]
pub(crate) struct Elements {
    format: Format,
    wants_extensions: bool,
    depth: usize,
    draft: Option<(usize, Draft)>,
    target: Option<(usize, Target)>,
    text: String,
    extension_depth: Option<usize>,
    published: Option<Timestamp>,
    built: Option<Timestamp>,
}

impl Elements {
    pub(crate) fn new(format: Format, wants_extensions: bool) -> Elements {
        Elements {
            format,
            wants_extensions,
            depth: 1,
            draft: None,
            target: None,
            text: String::new(),
            extension_depth: None,
            published: None,
            built: None,
        }
    }

    /// Returns the date of the feed itself.
    pub(crate) fn feed_date(&self) -> Option<Timestamp> {
        self.published.or(self.built)
    }

    /// Processes the beginning of an element. Returns an entry that it ends.
    pub(crate) fn start(
        &mut self,
        space: Space,
        name: &str,
        attributes: impl FnOnce() -> Vec<(String, String)>,
    ) -> Option<Draft> {
        self.depth += 1;
        // Elements inside an address are a mistake; their text is the address's.
        if self.target.is_some() {
            return None;
        }
        match (self.format, space) {
            (Format::Sitemap | Format::Index, Space::Own) => self.start_own(name, attributes),
            (Format::Sitemap, Space::Extension(kind)) => {
                self.start_extension(kind, name, attributes);
                None
            }
            (Format::Rss | Format::Atom, Space::Own) => self.start_feed(name, attributes),
            _ => None,
        }
    }

    fn start_own(
        &mut self,
        name: &str,
        attributes: impl FnOnce() -> Vec<(String, String)>,
    ) -> Option<Draft> {
        if self.extension_depth.is_some() {
            // Pages in another language may stand without a namespace of their own.
            self.start_extension(ExtensionKind::PageMap, name, attributes);
            return None;
        }
        match name {
            "url" | "sitemap" => return self.open(),
            "loc" => {
                // A second address in one entry begins another.
                let is_filled = |(_, draft): &(usize, Draft)| !draft.loc.is_empty();
                let ended = match &self.draft {
                    Some(draft) if !is_filled(draft) => None,
                    Some((depth, _)) => {
                        let depth = *depth;
                        let ended = self.draft.replace((depth, Draft::default()));
                        ended.map(|(_, draft)| draft)
                    }
                    None => {
                        self.draft = Some((self.depth - 1, Draft::default()));
                        None
                    }
                };
                self.gather(Target::Loc);
                return ended;
            }
            "lastmod" => self.gather(Target::Date),
            "changefreq" => self.gather(Target::ChangeFrequency),
            "priority" => self.gather(Target::Priority),
            _ => {}
        }
        None
    }

    fn start_extension(
        &mut self,
        kind: ExtensionKind,
        name: &str,
        attributes: impl FnOnce() -> Vec<(String, String)>,
    ) {
        let Some((_, draft)) = &mut self.draft else {
            return;
        };
        if !self.wants_extensions {
            return;
        }
        if self.extension_depth.is_none() {
            if draft.extensions.len() < EXTENSIONS_MAX {
                let mut fields = Vec::new();
                if kind == ExtensionKind::Link {
                    fields.push(Field {
                        name: name.to_owned(),
                        value: String::new(),
                        attributes: attributes(),
                    });
                }
                draft.extensions.push(Extension { kind, fields });
                self.extension_depth = Some(self.depth);
            }
            return;
        }
        if let Some(extension) = draft.extensions.last_mut()
            && extension.fields.len() < EXTENSIONS_MAX
        {
            extension.fields.push(Field {
                name: name.to_owned(),
                value: String::new(),
                attributes: attributes(),
            });
            // Elements that hold others have no text that counts.
            if !matches!(name, "publication" | "tvshow" | "DataObject") {
                self.gather(Target::Extension);
            }
        }
    }

    fn start_feed(
        &mut self,
        name: &str,
        attributes: impl FnOnce() -> Vec<(String, String)>,
    ) -> Option<Draft> {
        let is_atom = self.format == Format::Atom;
        match name {
            "item" if !is_atom => return self.open(),
            "entry" if is_atom => return self.open(),
            _ => {}
        }
        if self.draft.is_none() {
            match name {
                "pubDate" => self.gather(Target::FeedDate),
                "lastBuildDate" => self.gather(Target::FeedBuildDate),
                _ => {}
            }
            return None;
        }
        match (is_atom, name) {
            (true, "link") => self.atom_link(&attributes()),
            (true, "updated") => self.gather(Target::Date),
            (true, "published") if self.is_undated() => self.gather(Target::Date),
            (false, "link") => self.gather(Target::Loc),
            (false, "guid") => self.gather(Target::SecondLoc),
            (false, "pubDate") => self.gather(Target::RssDate),
            (false, "date") if self.is_undated() => self.gather(Target::Date),
            _ => {}
        }
        None
    }

    fn is_undated(&self) -> bool {
        self.draft
            .as_ref()
            .is_some_and(|(_, draft)| draft.lastmod.is_none())
    }

    /// Takes the first link to the page itself.
    fn atom_link(&mut self, attributes: &[(String, String)]) {
        let value = |name: &str| {
            let found = attributes.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        if let Some((_, draft)) = &mut self.draft
            && let Some(address) = value("href")
            && matches!(value("rel"), None | Some("alternate" | ""))
            && draft.loc.is_empty()
        {
            draft.loc = address.to_owned();
        }
    }

    fn open(&mut self) -> Option<Draft> {
        let before = self.draft.replace((self.depth, Draft::default()));
        self.extension_depth = None;
        before.map(|(_, draft)| draft)
    }

    fn gather(&mut self, target: Target) {
        self.text.clear();
        self.target = Some((self.depth, target));
    }

    /// Processes a piece of text.
    pub(crate) fn text(&mut self, text: &str) {
        if self.target.is_some() {
            push_bounded(&mut self.text, text);
        } else if self.format == Format::Index
            && let Some((depth, draft)) = &mut self.draft
            && *depth == self.depth
        {
            // A sitemap without `loc`.
            push_bounded(&mut draft.second_loc, text);
        }
    }

    /// Processes the end of an element. Returns the entry that it ends.
    pub(crate) fn end(&mut self) -> Option<Draft> {
        let depth = self.depth;
        self.depth = self.depth.saturating_sub(1);
        if let Some((at, target)) = self.target {
            if at >= depth {
                self.target = None;
                self.gathered(target);
            }
            return None;
        }
        if self.extension_depth.is_some_and(|at| at >= depth) {
            self.extension_depth = None;
            return None;
        }
        match &self.draft {
            Some((at, _)) if *at >= depth => self.draft.take().map(|(_, draft)| draft),
            _ => None,
        }
    }

    /// Returns the entry that the end of the file leaves open, with a whole address.
    pub(crate) fn finish(&mut self, text_is_whole: bool) -> Option<Draft> {
        if let Some((_, target)) = self.target.take()
            && text_is_whole
        {
            self.gathered(target);
        }
        self.draft.take().map(|(_, draft)| draft)
    }

    fn gathered(&mut self, target: Target) {
        let text = std::mem::take(&mut self.text);
        let value = text.trim();
        match target {
            Target::FeedDate => self.published = parse_rss_date(value),
            Target::FeedBuildDate => self.built = parse_rss_date(value),
            _ => {}
        }
        let Some((_, draft)) = &mut self.draft else {
            return;
        };
        match target {
            Target::Loc => draft.loc = value.to_owned(),
            Target::SecondLoc => draft.second_loc = value.to_owned(),
            Target::Date => draft.lastmod = parse_w3c_date(value),
            Target::RssDate => draft.lastmod = parse_rss_date(value),
            Target::ChangeFrequency => draft.changefreq = ChangeFrequency::parse(value),
            Target::Priority => {
                let priority = value.parse().ok();
                draft.priority = priority.filter(|priority| (0.0..=1.0).contains(priority));
            }
            Target::Extension => {
                let extension = draft.extensions.last_mut();
                if let Some(field) = extension.and_then(|one| one.fields.last_mut()) {
                    field.value = value.split_whitespace().collect::<Vec<_>>().join(" ");
                }
            }
            Target::FeedDate | Target::FeedBuildDate => {}
        }
    }
}

/// Adds as much of `more` as the limit allows.
fn push_bounded(text: &mut String, more: &str) {
    let left = TEXT_BYTES_MAX.saturating_sub(text.len());
    let mut end = left.min(more.len());
    while !more.is_char_boundary(end) {
        end -= 1;
    }
    text.push_str(&more[..end]);
}
