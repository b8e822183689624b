//! Messages of schemas and rules: what a server that parses queries needs to know of an index.

use fields::{FieldType, Rules, Schema};
use wire::rpc;

/// Returns the text of rules; empty for none.
pub(super) fn rules_message(rules: &Rules) -> String {
    match rules.is_empty() {
        true => String::new(),
        // They have no value that JSON lacks.
        false => serde_json::to_string(rules).unwrap_or_default(),
    }
}

/// Returns the rules of a status. A newer server may have further kinds of them, which cannot be obeyed here: then none are.
pub(super) fn rules(message: &str) -> Rules {
    match message.is_empty() {
        true => Rules::default(),
        false => Rules::of_json(message.as_bytes()).unwrap_or_default(),
    }
}

/// Returns the message of a schema.
pub(super) fn schema_message(schema: &Schema) -> Vec<rpc::FieldType> {
    let one = |(name, kind): (&str, FieldType)| {
        let searched = schema.searched(name);
        let analyzer = searched.and_then(|searched| searched.analyzer);
        rpc::FieldType {
            name: name.to_owned(),
            r#type: kind.name().to_owned(),
            number: searched.map_or(0, |searched| searched.number.into()),
            analyzer: analyzer.map_or(String::new(), |analyzer| analyzer.name()),
            in_text: schema.is_in_text(name),
        }
    };
    schema.iter().map(one).collect()
}

/// Returns the schema of a status, without weights: the servers that plan have them.
pub(super) fn schema(fields: Vec<rpc::FieldType>) -> Schema {
    let mut schema = Schema::default();
    for field in fields {
        // A newer server may have further types, which cannot be asked for from here.
        let Some(kind) = FieldType::of_name(&field.r#type) else {
            continue;
        };
        if !schema.add(&field.name, kind) {
            continue;
        }
        if field.in_text {
            schema.search_in_text(&field.name);
        } else if field.number > 0 {
            let number = u8::try_from(field.number).unwrap_or(u8::MAX);
            schema.search_words_as(&field.name, number);
            if let Ok(analyzer) = field.analyzer.parse() {
                schema.analyze_with(&field.name, analyzer);
            }
        }
    }
    schema
}
