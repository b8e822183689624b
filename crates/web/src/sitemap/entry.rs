//! Entries of sitemaps and feeds.

use jiff::Timestamp;
use url::Url;

/// Format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A sitemap in XML.
    Sitemap,
    /// An index of sitemaps.
    Index,
    /// RSS 0.9 to 2.0.
    Rss,
    /// Atom.
    Atom,
    /// A list of URLs.
    Text,
}

/// One URL of a sitemap, a feed or a list, or one sitemap of an index.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The URL, without its fragment.
    pub loc: Url,
    /// Time of the last change, where it is given and readable.
    pub lastmod: Option<Timestamp>,
    /// Frequency of change.
    pub changefreq: Option<ChangeFrequency>,
    /// Priority from 0 to 1; the protocol's default is 0.5.
    pub priority: Option<f32>,
    /// Whether the URL lies below the sitemap's folder, as the protocol asks. Always true in an index.
    pub in_scope: bool,
    /// Images, news, videos and other languages, where asked for.
    pub extensions: Vec<Extension>,
}

/// Frequency of change that a sitemap names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChangeFrequency {
    /// Changes at each visit.
    Always,
    /// Once an hour.
    Hourly,
    /// Once a day.
    Daily,
    /// Once a week.
    Weekly,
    /// Once a month.
    Monthly,
    /// Once a year.
    Yearly,
    /// Archived.
    Never,
}

impl ChangeFrequency {
    /// Parses a name in any case.
    pub fn parse(name: &str) -> Option<ChangeFrequency> {
        Some(match name.trim().to_ascii_lowercase().as_str() {
            "always" => ChangeFrequency::Always,
            "hourly" => ChangeFrequency::Hourly,
            "daily" => ChangeFrequency::Daily,
            "weekly" => ChangeFrequency::Weekly,
            "monthly" => ChangeFrequency::Monthly,
            "yearly" => ChangeFrequency::Yearly,
            "never" => ChangeFrequency::Never,
            _ => return None,
        })
    }
}

/// Kind of an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExtensionKind {
    /// An image on the page.
    Image,
    /// A news article.
    News,
    /// A video on the page.
    Video,
    /// The page in another language or form.
    Link,
    /// The page is for mobile devices.
    Mobile,
    /// Structured data about the page.
    PageMap,
}

/// Extension of an entry: the elements below one, flat, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extension {
    /// Kind.
    pub kind: ExtensionKind,
    /// The elements. A link is one, of its attributes.
    pub fields: Vec<Field>,
}

/// Element of an extension.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Field {
    /// Name without its prefix.
    pub name: String,
    /// Text, with runs of white space joined.
    pub value: String,
    /// Attributes.
    pub attributes: Vec<(String, String)>,
}

impl Field {
    /// Returns the value of an attribute.
    pub fn attribute(&self, name: &str) -> Option<&str> {
        let mut attributes = self.attributes.iter();
        attributes
            .find(|(known, _)| known == name)
            .map(|(_, value)| value.as_str())
    }
}

/// Entry that is being read.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) loc: String,
    /// Address that counts where `loc` is empty: the id of a feed's item, or bare text.
    pub(crate) second_loc: String,
    pub(crate) lastmod: Option<Timestamp>,
    pub(crate) changefreq: Option<ChangeFrequency>,
    pub(crate) priority: Option<f32>,
    pub(crate) extensions: Vec<Extension>,
}

impl Draft {
    /// Returns the entry; `None` where its address is none.
    pub(crate) fn entry(self) -> Option<Entry> {
        let loc = super::urls::loc(&self.loc).or_else(|| super::urls::loc(&self.second_loc))?;
        Some(Entry {
            loc,
            lastmod: self.lastmod,
            changefreq: self.changefreq,
            priority: self.priority,
            in_scope: true,
            extensions: self.extensions,
        })
    }
}
