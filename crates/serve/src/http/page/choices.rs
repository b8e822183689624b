//! Chosen values of a facet: one filter of a field, whose alternatives the page adds and takes away.
//!
//! ```text
//! lang:en                   one value chosen
//! lang:en OR lang:"pt br"   several: documents with any of them
//! ```

/// Stands between alternatives.
const OR: &str = " OR ";

/// Returns the clauses of a filter that chooses values of `field`; none where it is another filter.
pub(super) fn alternatives<'a>(filter: &'a str, field: &str) -> Vec<&'a str> {
    let is_choice = |clause: &&str| {
        let test = clause
            .strip_prefix(field)
            .and_then(|rest| rest.strip_prefix(':'));
        // A keyword in quotation marks may hold anything but these.
        test.is_some() && clause.matches('"').count().is_multiple_of(2)
    };
    let clauses: Vec<&str> = filter.split(OR).collect();
    match clauses.iter().all(is_choice) {
        true => clauses,
        false => Vec::new(),
    }
}

/// Returns the filter that chooses another value, too.
pub(super) fn with_alternative(filter: &str, clause: &str) -> String {
    format!("{filter}{OR}{clause}")
}

/// Returns the filter without a value; `None` where no other is chosen.
pub(super) fn without_alternative(filter: &str, field: &str, clause: &str) -> Option<String> {
    let kept = alternatives(filter, field).into_iter();
    let kept: Vec<&str> = kept.filter(|other| *other != clause).collect();
    (!kept.is_empty()).then(|| kept.join(OR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alternatives_are_added_and_taken_away() {
        let both = with_alternative("lang:en", "lang:\"pt br\"");
        assert_eq!(both, "lang:en OR lang:\"pt br\"");
        assert_eq!(alternatives(&both, "lang"), ["lang:en", "lang:\"pt br\""]);
        assert_eq!(
            without_alternative(&both, "lang", "lang:en").as_deref(),
            Some("lang:\"pt br\"")
        );
        assert_eq!(without_alternative("lang:en", "lang", "lang:en"), None);
        assert_eq!(alternatives("lang:en price:3", "price"), [""; 0]);
        assert_eq!(alternatives("lang:\"a OR lang:b\"", "lang"), [""; 0]);
        assert_eq!(alternatives("language:en", "lang"), [""; 0]);
    }

    #[test]
    fn choices_are_filters_of_their_field() {
        let schema = [("lang", fields::FieldType::Keyword)].into_iter().collect();
        let parsed =
            search::parse_filter("lang:en OR lang:\"pt br\"", text::Analyzer::Plain, &schema);
        let Ok(search::Query::Filter(filter)) = parsed else {
            panic!("no filter");
        };
        let search::Query::Boolean {
            optional, required, ..
        } = *filter
        else {
            panic!("no alternatives");
        };
        assert_eq!((optional.len(), required.len()), (2, 0));
    }
}
