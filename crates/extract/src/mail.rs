//! Messages and mailboxes: subject, text and attachments.

use crate::budget::read_document;
use crate::fault::Fault;
use crate::item::{Item, Work};
use crate::members::Members;
use crate::protocol::TEXT_BYTES_MAX;
use json::{Map, Value};
use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders, PartType};
use std::io::{BufRead, BufReader, Read};

/// Reads a message: a document of its text, and one for each attachment whose kind is read.
pub(crate) fn read_message(item: &Item, bytes: Vec<u8>, work: &mut Work) -> Result<(), Fault> {
    let message = MessageParser::default().parse(&bytes);
    let message = message.filter(|message| {
        let has_date = message.date().is_some() || message.content_type().is_some();
        message.from().is_some() || message.subject().is_some() || has_date
    });
    let Some(message) = message else {
        return Err(Fault::bad(
            "not a message: it has no sender, subject, date or type",
        ));
    };
    let title = message.subject().unwrap_or_default().trim().to_owned();
    work.results
        .document(item.path, title, text(&message), fields(&message))?;
    let members = Members::of(item)?;
    for (number, part) in message.attachments().enumerate() {
        let name = attachment_name(part, number + 1);
        members.read(&name, work, |_| Ok(part.contents().to_vec()))?;
    }
    Ok(())
}

/// Returns the text of a message: its plain parts, and those that come as HTML alone.
fn text(message: &Message) -> String {
    let mut text = String::new();
    for part in message.text_bodies() {
        match &part.body {
            PartType::Html(html) => {
                let page = corpus::text_document("part.html", html.as_bytes().to_vec());
                if let Some(Ok(page)) = page {
                    text.push_str(&page.body);
                }
            }
            PartType::Text(words) => text.push_str(words.trim()),
            _ => {}
        }
        text.push('\n');
    }
    text.truncate(text.trim_end().len());
    text.replace("\r\n", "\n")
}

fn fields(message: &Message) -> Map<String, Value> {
    let mut fields = Map::new();
    // A damaged header may name a day that no month has.
    let date = message.date().filter(|date| date.is_valid());
    let date = date.map(|date| date.to_rfc3339());
    for (name, value) in [
        ("from", message.from().map(addresses)),
        ("to", message.to().map(addresses)),
        ("cc", message.cc().map(addresses)),
        ("date", date),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            fields.insert(name.to_owned(), value.into());
        }
    }
    fields
}

/// Formats addresses: `Ann <ann@example.org>, bob@example.org`.
fn addresses(addresses: &Address) -> String {
    let formatted = addresses
        .iter()
        .filter_map(|one| match (one.name(), one.address()) {
            (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
            (Some(one), None) | (None, Some(one)) => Some(one.to_owned()),
            (None, None) => None,
        });
    formatted.collect::<Vec<_>>().join(", ")
}

/// Returns the name of an attachment without folders; an unnamed one gets a name by its type.
fn attachment_name(part: &MessagePart, number: usize) -> String {
    let named = part.attachment_name().unwrap_or_default();
    let named = named.rsplit(['/', '\\']).next().unwrap_or_default();
    if !named.is_empty() {
        return named.to_owned();
    }
    let ending = match &part.body {
        PartType::Text(_) => "txt",
        PartType::Html(_) => "html",
        PartType::Message(_) => "eml",
        _ => {
            let subtype = part.content_type().and_then(|kind| kind.subtype());
            subtype.unwrap_or("bin")
        }
    };
    format!("part-{number}.{ending}")
}

/// Reads a mailbox: each message is a member, named by its number.
pub(crate) fn read_mailbox(item: &Item, stream: impl Read, work: &mut Work) -> Result<(), Fault> {
    let members = Members::of(item)?;
    let mut lines = BufReader::with_capacity(64 << 10, stream);
    let mut message = Vec::new();
    let (mut number, mut after_blank) = (0u32, true);
    loop {
        let mut line = Vec::new();
        let max = TEXT_BYTES_MAX as u64 + 1;
        let read = (&mut lines).take(max).read_until(b'\n', &mut line);
        read.map_err(|error| Fault::of(&error, "the mailbox"))?;
        let starts = after_blank && line.starts_with(b"From ");
        if (starts || line.is_empty()) && number > 0 {
            let bytes = std::mem::take(&mut message);
            members.read_as(&number.to_string(), "message.eml", work, |_| {
                read_document(&bytes[..], "the message")
            })?;
        }
        if line.is_empty() {
            return Ok(());
        }
        after_blank = matches!(&line[..], b"\n" | b"\r\n");
        if starts {
            number += 1;
        } else if number == 0 {
            return Err(Fault::bad("not a mailbox: it does not begin with `From `"));
        } else if message.len() <= TEXT_BYTES_MAX {
            // What is beyond the limit of a document is dropped here, and the message is named as too long.
            message.extend_from_slice(unquoted(&line));
        }
    }
}

/// Removes the `>` that a mailbox puts before lines that begin with `From `.
fn unquoted(line: &[u8]) -> &[u8] {
    let quotes = line.iter().take_while(|&&byte| byte == b'>').count();
    match quotes > 0 && line[quotes..].starts_with(b"From ") {
        true => &line[1..],
        false => line,
    }
}
