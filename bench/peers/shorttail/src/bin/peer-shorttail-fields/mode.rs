//! What is done for every query of a run.

use crate::Result;
use fields::Schema;
use search::Operator;
use std::path::Path;

/// Mode of a run: `OP:COLLECTORS[:FILTER]`, such as `and:top10+count+facet-blogger:date10`.
pub(crate) struct Mode {
    /// Operator between the words.
    pub(crate) operator: Operator,
    /// Whether the ten best hits are wanted.
    pub(crate) has_hits: bool,
    /// Whether the exact count is wanted.
    pub(crate) is_counted: bool,
    /// Whether the ten newest are wanted.
    pub(crate) is_sorted: bool,
    /// Facets, as users write them.
    pub(crate) facets: Vec<String>,
    /// Field and test of the filter, as users write them.
    pub(crate) filter: Option<(String, String)>,
}

impl Mode {
    /// Reads a mode; `filters` is the file of filters: name, field, value or first day, last day.
    pub(crate) fn parse(text: &str, filters: &Path) -> Result<Mode> {
        let mut parts = text.split(':');
        let operator = match parts.next() {
            Some("and") => Operator::And,
            Some("or") => Operator::Or,
            _ => return Err(format!("`{text}` has no operator").into()),
        };
        let mut mode = Mode {
            operator,
            has_hits: false,
            is_counted: false,
            is_sorted: false,
            facets: Vec::new(),
            filter: None,
        };
        for collector in parts.next().unwrap_or_default().split('+') {
            match collector {
                "top10" => mode.has_hits = true,
                "count" => mode.is_counted = true,
                "sort-date" => mode.is_sorted = true,
                "hist-year" => mode.facets.push("date:step:365d".to_owned()),
                "hist-month" => mode.facets.push("date:step:30d".to_owned()),
                "stats-words" => mode.facets.push("words:stats".to_owned()),
                other => match other.strip_prefix("facet-") {
                    Some(field) => mode.facets.push(format!("{field}:terms:10")),
                    None => return Err(format!("there is no collector `{other}`").into()),
                },
            }
        }
        if let Some(name) = parts.next() {
            mode.filter = Some(filter(name, filters)?);
        }
        Ok(mode)
    }

    /// Returns the test of the filter.
    pub(crate) fn query(&self, schema: &Schema) -> Result<Option<search::Query>> {
        let Some((field, test)) = &self.filter else {
            return Ok(None);
        };
        let kind = schema.get(field).ok_or("a filter of no field")?;
        Ok(Some(search::Query::Value {
            field: field.clone(),
            test: fields::Test::parse(kind, test)?,
        }))
    }
}

/// Returns field and test of a filter, by its name.
fn filter(name: &str, filters: &Path) -> Result<(String, String)> {
    for line in std::fs::read_to_string(filters)?.lines() {
        if let [own, field, low, high] = line.split('\t').collect::<Vec<_>>()[..]
            && own == name
        {
            let test = match high {
                "" => low.to_owned(),
                high => format!("{low}..{high}"),
            };
            return Ok((field.to_owned(), test));
        }
    }
    Err(format!("there is no filter `{name}`").into())
}
