//! Facets: counts of the values of a field over all matches.

use crate::Value;
use std::fmt;
use std::fmt::Display;

/// Facet to count over all matches of a query.
///
/// ```
/// use shorttail::{Document, Facet, Index};
/// # let directory = tempfile::tempdir()?;
/// # let index = Index::create(directory.path())?;
/// # let mut writer = index.writer()?;
/// # for (number, lang) in ["en", "en", "de"].into_iter().enumerate() {
/// #     writer.add(Document::new(format!("https://a.example/{number}")).body("a tail").field("lang", lang))?;
/// # }
/// # writer.commit()?;
/// let counts = index.aggregate("tail", [Facet::terms("lang", 10)])?;
/// let buckets: Vec<_> = counts[0].buckets.iter().map(|one| (&one.value, one.count)).collect();
/// assert_eq!(buckets, [(&"en".into(), 2), (&"de".into(), 1)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facet {
    text: String,
    within: Vec<Facet>,
}

/// Period of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum Period {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
}

impl Facet {
    /// Returns the facet of the `n` most frequent values; `site` is a field of every index.
    pub fn terms(field: impl Display, n: usize) -> Facet {
        Facet::of(format!("{field}:terms:{n}"))
    }

    /// Returns the facet of the number of distinct values.
    pub fn distinct(field: impl Display) -> Facet {
        Facet::of(format!("{field}:distinct"))
    }

    /// Returns the facet of number, least, greatest, sum and mean of the values.
    pub fn stats(field: impl Display) -> Facet {
        Facet::of(format!("{field}:stats"))
    }

    /// Returns the facet of the values that shares of all values, in percent, do not exceed.
    pub fn percentiles(field: impl Display, percents: &[f64]) -> Facet {
        Facet::of(format!("{field}:percentiles:{}", listed(percents, ",")))
    }

    /// Returns the histogram of a field of numbers, in steps of a width.
    pub fn histogram(field: impl Display, width: f64) -> Facet {
        Facet::of(format!("{field}:step:{width}"))
    }

    /// Returns the histogram of a field of dates, in periods of the calendar in UTC.
    pub fn calendar(field: impl Display, period: Period) -> Facet {
        Facet::of(format!("{field}:{}", period.name()))
    }

    /// Returns the histogram of a field of dates in a time zone, as `Europe/Berlin`.
    pub fn calendar_in(field: impl Display, period: Period, zone: impl Display) -> Facet {
        Facet::of(format!("{field}:{}:{zone}", period.name()))
    }

    /// Returns the facet of ranges, each written `low..high`, with one end left out for no limit: `..10`, `10..20`.
    pub fn ranges(field: impl Display, ranges: &[&str]) -> Facet {
        Facet::of(format!("{field}:ranges:{}", listed(ranges, ";")))
    }

    /// Returns the facet of the documents without a value, in one bucket.
    pub fn missing(field: impl Display) -> Facet {
        Facet::of(format!("{field}:missing"))
    }

    /// Adds a facet that is counted within each bucket, over its documents. Facets of terms, histograms, ranges and missing values have buckets;
    /// up to four facets are within each other.
    ///
    /// ```
    /// use shorttail::{Facet, Period};
    /// let years = Facet::calendar("date", Period::Year).with(Facet::stats("price"));
    /// let facet = Facet::terms("site", 5).with(years).with(Facet::distinct("lang"));
    /// assert_eq!(facet.to_string(), "site:terms:5{date:year{price:stats},lang:distinct}");
    /// ```
    #[must_use]
    pub fn with(mut self, facet: Facet) -> Facet {
        self.within.push(facet);
        self
    }

    fn of(text: String) -> Facet {
        Facet {
            text,
            within: Vec::new(),
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.to_string()
    }
}

impl fmt::Display for Facet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match self.within.is_empty() {
            true => Ok(()),
            false => write!(f, "{{{}}}", listed(&self.within, ",")),
        }
    }
}

impl Period {
    fn name(self) -> &'static str {
        match self {
            Period::Year => "year",
            Period::Quarter => "quarter",
            Period::Month => "month",
            Period::Week => "week",
            Period::Day => "day",
            Period::Hour => "hour",
        }
    }
}

fn listed(items: &[impl Display], separator: &str) -> String {
    let items: Vec<String> = items.iter().map(ToString::to_string).collect();
    items.join(separator)
}

/// Counts of a facet.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct FacetCounts {
    /// Name of the field.
    pub field: String,
    /// The facet in full.
    pub facet: String,
    /// Values, ranges or intervals with their counts. The most frequent values first; histograms in the order of values,
    /// without empty intervals; ranges in the order of the request.
    pub buckets: Vec<Bucket>,
    /// Sum of the counts of values that are not among the buckets; for facets of terms.
    pub others: u64,
    /// Number of distinct values; for facets of terms and of that number.
    pub distinct: Option<u64>,
    /// Matches, in the bucket where the facet is within one, that have a value.
    pub documents: u64,
    /// Matches that have none.
    pub missing: u64,
    /// Figures of a facet of statistics; `None` where no match has a value.
    pub stats: Option<Stats>,
    /// Percents with their values.
    pub percentiles: Vec<(f64, Value)>,
}

/// Value, range or interval of a facet.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Bucket {
    /// The value, the start of the interval, or the range as asked for.
    pub value: Value,
    /// Matches with such a value.
    pub count: u64,
    /// Filter for these matches, in the language of queries; empty where none can be written.
    pub filter: String,
    /// Counts of the facets within the bucket, in the order of the request.
    pub facets: Vec<FacetCounts>,
}

/// Statistics of the values of a field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// Number of values.
    pub count: u64,
    /// Least value.
    pub min: Value,
    /// Greatest value.
    pub max: Value,
    /// Sum; `None` for dates.
    pub sum: Option<Value>,
    /// Mean.
    pub mean: Option<Value>,
}

impl FacetCounts {
    pub(crate) fn of(counted: wire::FacetAnswer) -> FacetCounts {
        let bucket = |bucket: wire::FacetBucket| Bucket {
            value: bucket.value.into(),
            count: bucket.count,
            filter: bucket.filter,
            facets: bucket.facets.into_iter().map(FacetCounts::of).collect(),
        };
        let percentile = |one: wire::FacetPercentile| (one.percent, one.value.into());
        FacetCounts {
            field: counted.field,
            facet: counted.facet,
            buckets: counted.buckets.into_iter().map(bucket).collect(),
            others: counted.others,
            distinct: counted.distinct,
            documents: counted.documents,
            missing: counted.missing,
            stats: counted.stats.map(|stats| Stats {
                count: stats.count,
                min: stats.min.into(),
                max: stats.max.into(),
                sum: stats.sum,
                mean: stats.mean.map(Value::from),
            }),
            percentiles: counted.percentiles.into_iter().map(percentile).collect(),
        }
    }
}
