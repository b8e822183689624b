//! The reader of sitemaps on the 95 cases of crawler-commons' own tests.
//!
//! Extensions are compared in the form of crawler-commons, which this file makes of ours.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::collections::HashMap;
use std::io::Read;
use std::path::PathBuf;
use url::Url;
use web::sitemap::{
    Entry, Extension, ExtensionKind, Format, Options, SitemapReader, SubmissionLevel, in_scope,
    is_submitted, parse_rss_date, parse_w3c_date,
};

fn data() -> Option<PathBuf> {
    tier::shared_data("crawler")
}

fn files(folder: &std::path::Path) -> HashMap<String, Vec<u8>> {
    let packed = std::fs::File::open(folder.join("sitemaps.tar.zst")).unwrap();
    let mut decoder = zstd::stream::read::Decoder::new(packed).unwrap();
    decoder.window_log_max(27).unwrap();
    let mut archive = tar::Archive::new(decoder);
    let mut files = HashMap::new();
    for entry in archive.entries().unwrap() {
        let mut entry = entry.unwrap();
        let path = entry.path().unwrap().display().to_string();
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).unwrap();
        files.insert(path.trim_start_matches("./").to_owned(), bytes);
    }
    files
}

fn flag(row: &Value, name: &str) -> bool {
    row[name] == true
}

fn instant(value: &Value) -> Option<Timestamp> {
    value.as_str().map(|text| text.parse().unwrap())
}

/// Compares the parse of a file; returns the difference.
fn parse(row: &Value, bytes: &[u8]) -> Result<(), String> {
    let url = Url::parse(row["url"].as_str().unwrap()).unwrap();
    let options = Options {
        strict_scope: flag(row, "strict"),
        strict_namespace: flag(row, "strict_ns"),
        allow_document_type: flag(row, "allow_doctype"),
        extensions: true,
        ..Options::default()
    };
    let must_fail = row.get("error").is_some();
    let mut reader = match SitemapReader::new(bytes, &url, options) {
        Ok(reader) => reader,
        Err(_) if must_fail => return Ok(()),
        Err(error) => return Err(error.to_string()),
    };
    let mut entries = Vec::new();
    loop {
        match reader.next() {
            Ok(Some(entry)) => entries.push(entry),
            Ok(None) => break,
            Err(_) if must_fail => return Ok(()),
            // What stands before the damage is asked for.
            Err(_) if flag(row, "allow_partial") => break,
            Err(error) => return Err(error.to_string()),
        }
    }
    if must_fail {
        return Err("it is read, and must fail".to_owned());
    }
    let format = match reader.format() {
        Format::Sitemap => "XML",
        Format::Index => "INDEX",
        Format::Rss => "RSS",
        Format::Atom => "ATOM",
        Format::Text => "TEXT",
    };
    if format != row["type"] {
        return Err(format!("{format}, not {}", row["type"]));
    }
    if reader.format() == Format::Rss && reader.lastmod() != instant(&row["lastmod"]) {
        return Err(format!(
            "date {:?}, not {}",
            reader.lastmod(),
            row["lastmod"]
        ));
    }
    let count = row["urls"].as_u64().unwrap() + row["sitemaps"].as_u64().unwrap();
    let items = row["items"].as_array().unwrap();
    if (entries.len() as u64, items.len()) != (count, entries.len()) {
        return Err(format!("{} entries, not {count}", entries.len()));
    }
    for (entry, item) in entries.iter().zip(items) {
        let ours = shown(entry, row);
        let mut theirs = item.clone();
        if let Some(date) = instant(&item["lastmod"]) {
            theirs["lastmod"] = date.to_string().into();
        }
        // A kind of which every extension is empty is left out by us.
        if let Some(kinds) = theirs["ext"].as_object_mut() {
            kinds.retain(|_, list| list.as_array().is_some_and(|list| !list.is_empty()));
            kinds.values_mut().for_each(normalise_dates);
        }
        if theirs["ext"].is_null() || theirs["ext"] == json!({}) {
            theirs.as_object_mut().unwrap().remove("ext");
        }
        if ours != theirs {
            return Err(format!("\n  {ours}\n  {theirs}"));
        }
    }
    Ok(())
}

fn shown(entry: &Entry, row: &Value) -> Value {
    let mut item = Map::new();
    item.insert("url".to_owned(), entry.loc.as_str().into());
    if !entry.in_scope {
        item.insert("valid".to_owned(), false.into());
    }
    if let Some(date) = entry.lastmod {
        item.insert("lastmod".to_owned(), date.to_string().into());
    }
    if let Some(frequency) = entry.changefreq {
        let name = format!("{frequency:?}").to_uppercase();
        item.insert("changefreq".to_owned(), name.into());
    }
    if let Some(priority) = entry.priority.filter(|&priority| priority != 0.5) {
        let priority: f64 = priority.to_string().parse().unwrap();
        item.insert("priority".to_owned(), priority.into());
    }
    let mut kinds = Map::new();
    for wanted in row["extensions"].as_array().into_iter().flatten() {
        let kind = match wanted.as_str().unwrap() {
            "IMAGE" => ExtensionKind::Image,
            "NEWS" => ExtensionKind::News,
            "VIDEO" => ExtensionKind::Video,
            "LINKS" => ExtensionKind::Link,
            "MOBILE" => ExtensionKind::Mobile,
            _ => ExtensionKind::PageMap,
        };
        let of_kind = entry.extensions.iter().filter(|one| one.kind == kind);
        let mut list: Value = of_kind.map(extension).collect::<Vec<_>>().into();
        normalise_dates(&mut list);
        if list != json!([]) {
            kinds.insert(wanted.as_str().unwrap().to_owned(), list);
        }
    }
    if !kinds.is_empty() {
        item.insert("ext".to_owned(), kinds.into());
    }
    item.into()
}

/// Writes the dates of a list of extensions as instants.
fn normalise_dates(list: &mut Value) {
    for one in list.as_array_mut().unwrap() {
        for (name, values) in one.as_object_mut().unwrap() {
            for value in values.as_array_mut().unwrap() {
                // Runs of white space are joined by us.
                let text = value.as_str().unwrap().to_owned();
                let words: Vec<_> = text.split_whitespace().collect();
                *value = words.join(" ").into();
                let date = parse_w3c_date(&text);
                if name.ends_with("_date")
                    && let Some(date) = date
                {
                    *value = date.to_string().into();
                }
            }
        }
    }
}

/// Returns an extension as crawler-commons shows it.
fn extension(extension: &Extension) -> Value {
    let mut map = Map::new();
    let mut add = |name: &str, value: String| {
        let list = map.entry(name).or_insert_with(|| json!([]));
        list.as_array_mut().unwrap().push(value.into());
    };
    let mut data_object = String::new();
    for field in &extension.fields {
        let (value, name) = (field.value.clone(), &*field.name);
        match (extension.kind, name) {
            (ExtensionKind::Link, _) => {
                for (name, value) in &field.attributes {
                    match &**name {
                        "href" => add("href", value.clone()),
                        name => add(&format!("params.{name}"), value.clone()),
                    }
                }
            }
            (ExtensionKind::PageMap, "DataObject") => {
                let part = |name| field.attribute(name).unwrap_or("");
                data_object = format!("{}::{}", part("type"), part("id"));
            }
            (ExtensionKind::PageMap, _) => {
                let name = field.attribute("name").unwrap_or("");
                // An attribute of a page map stands in `value`, or as text.
                let value = field.attribute("value").unwrap_or(&value);
                add(&data_object, format!("{name}: {value}"));
            }
            // Not kept by crawler-commons: access, segments, and what belongs to a series.
            (_, "publication" | "access" | "content_segment_loc" | "tvshow") => {}
            (_, "show_title" | "video_type" | "episode_title" | "premier_date") => {}
            (_, "season_number" | "episode_number") => {}
            (_, "keywords" | "genres" | "stock_tickers") => {
                let parts = value.split(',').map(str::trim);
                parts
                    .filter(|part| !part.is_empty())
                    .for_each(|part| add(name, part.to_owned()));
            }
            (ExtensionKind::Video, "tag") => add("tags", value),
            (ExtensionKind::Video, "family_friendly" | "requires_subscription" | "live") => {
                let name = if name == "live" { "is_live" } else { name };
                let is_yes = value.eq_ignore_ascii_case("yes");
                add(name, is_yes.to_string());
            }
            (ExtensionKind::Video, "restriction") => {
                let allows = field.attribute("relationship") == Some("allow");
                let name = if allows {
                    "allowed_countries"
                } else {
                    "restricted_countries"
                };
                value
                    .split_whitespace()
                    .for_each(|country| add(name, country.to_owned()));
            }
            (ExtensionKind::Video, "price") => {
                let part = |name| field.attribute(name).unwrap_or("null").to_owned();
                // A price that is no number is "nu" there, and stays as written here.
                let value = if value.parse::<f64>().is_err() {
                    "nu".to_owned()
                } else {
                    value
                };
                let kind = field.attribute("type").unwrap_or("own");
                let (currency, resolution) = (part("currency"), part("resolution"));
                add(
                    "prices",
                    format!(
                        "value: {value}, currency: {currency}, type: {kind}, resolution: {resolution}"
                    ),
                );
            }
            (ExtensionKind::Video, "uploader" | "gallery_loc") => {
                let (other, attribute) = match name {
                    "uploader" => ("uploader_info", "info"),
                    _ => ("gallery_title", "title"),
                };
                if let Some(info) = field.attribute(attribute) {
                    add(other, info.to_owned());
                }
                add(name, value);
            }
            _ if value.is_empty() => {}
            _ => add(name, value),
        }
    }
    map.into()
}

fn date(row: &Value, name: &str, parse: fn(&str) -> Option<Timestamp>) -> Result<(), String> {
    let text = row[name].as_str().unwrap_or("");
    let found = parse(text);
    // An RSS date that cannot be read stays as it is there.
    let expected = row["instant"].as_str().and_then(|text| text.parse().ok());
    match found == expected {
        true => Ok(()),
        false => Err(format!("{text}: {found:?}")),
    }
}

fn submission(row: &Value) -> Result<(), String> {
    let url = |value: &Value| Url::parse(value.as_str().unwrap()).unwrap();
    let strings = |name: &str| row[name].as_array().unwrap().iter();
    let hosts: Vec<_> = strings("announced_by")
        .map(|host| host.as_str().unwrap())
        .collect();
    let level = match row["level"].as_str().unwrap() {
        "host" => SubmissionLevel::Host,
        "private domain" => SubmissionLevel::PrivateDomain,
        _ => SubmissionLevel::IcannDomain,
    };
    let is_kept = |listed: &&Value| is_submitted(&url(&row["url"]), &url(listed), &hosts, level);
    let kept = strings("listed").filter(is_kept).count();
    match row["kept"] == kept {
        true => Ok(()),
        false => Err(format!("{kept} kept, not {}", row["kept"])),
    }
}

#[test]
fn cases_of_crawler_commons() {
    let Some(folder) = data() else { return };
    let files = files(&folder);
    let rows = std::fs::read_to_string(folder.join("sitemaps-expected.jsonl")).unwrap();
    let (mut count, mut failures) = (0, Vec::new());
    for line in rows.split('\n').filter(|line| !line.is_empty()) {
        let row: Value = serde_json::from_str(line).unwrap();
        let result = if let Some(file) = row["file"].as_str() {
            parse(&row, &files[file])
        } else if row.get("w3c_date").is_some() {
            date(&row, "w3c_date", parse_w3c_date)
        } else if row.get("rss_date").is_some() {
            date(&row, "rss_date", parse_rss_date)
        } else if row.get("in_scope").is_some() {
            let url = |name: &str| Url::parse(row[name].as_str().unwrap()).unwrap();
            match in_scope(&url("base"), &url("url")) == flag(&row, "in_scope") {
                true => Ok(()),
                false => Err("scope".to_owned()),
            }
        } else {
            submission(&row)
        };
        count += 1;
        if let Err(reason) = result {
            failures.push(format!("{}: {reason}", row["source"]));
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {count}\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert_eq!(count, 95);
}
