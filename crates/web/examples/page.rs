//! Main text, boilerplate and stated facts of HTML files.
//!
//! `page FILE…` prints each block with its class: `+` main text, `-` boilerplate; then shares of bytes.

use web::charset::decode;
use web::page::{PageOptions, read};

fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).expect("a readable file");
        let page = read(&decode(&bytes, None).text, &PageOptions::default());
        println!("== {path}: {:?}", page.title);
        for block in &page.blocks {
            let class = if block.is_main { '+' } else { '-' };
            println!(
                "{class} {:?} {}",
                block.kind,
                &page.text[block.range.clone()]
            );
        }
        println!(
            "main {} bytes, boilerplate {}, links {}, headings {}, date {:?}, author {:?}, language {:?}",
            page.main_text().len(),
            page.boilerplate_text().len(),
            page.links.len(),
            page.headings().len(),
            page.published,
            page.author,
            page.language,
        );
    }
}
