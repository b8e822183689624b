//! Archives, mail and PDF as sources: found by their words, named where they are damaged, read in a confined child.

use crate::support::{Bench, command, finished, shorttail, shorttail_reading, urls};
use std::process::Stdio;

/// Returns a tar archive of these members.
fn tar(members: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, text) in members {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..108].copy_from_slice(b"0000644\0");
        header[124..136].copy_from_slice(format!("{:011o}\0", text.len()).as_bytes());
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend_from_slice(&header);
        archive.extend_from_slice(text.as_bytes());
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

/// Returns a PDF of one page with these words.
fn pdf(words: &str) -> String {
    let page = format!("BT /F1 12 Tf 72 720 Td ({words}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{page}\nendstream", page.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>"
            .to_owned(),
    ];
    let mut pdf = "%PDF-1.4\n".to_owned();
    let mut table = "0000000000 65535 f \n".to_owned();
    for (number, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", pdf.len());
        pdf += &format!("{} 0 obj\n{object}\nendobj\n", number + 1);
    }
    let start = pdf.len();
    pdf + &format!(
        "xref\n0 6\n{table}trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    )
}

#[test]
fn containers_in_a_folder_are_found_by_their_words() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("docs")).unwrap();
    let archive = tar(&[
        ("notes/owl.txt", "The owl hunts at night"),
        ("photo.png", "PNG"),
        ("../escaped.txt", "no"),
    ]);
    bench.file("docs/old notes.tar", archive);
    bench.file("docs/heron.pdf", pdf("A heron waits in the reeds"));
    bench.file("docs/broken.pdf", "%PDF-1.4 and nothing more");
    bench.file(
        "docs/stork.eml",
        "From: ann@example.org\nSubject: Storks\n\nThe stork returns in April.\n",
    );
    let run = bench.index(&bench.path("docs"), &[]).ends(0);
    assert!(run.stdout.contains("documents  3\n"), "{run:#?}");
    assert!(run.stdout.contains("bad        2\n"), "{run:#?}");
    for part in [
        "broken.pdf: the PDF is damaged",
        "old notes.tar!/../escaped.txt: its path has a part `.` or `..`",
        "1 .png",
    ] {
        assert!(run.stderr.contains(part), "{part:?} is missing: {run:#?}");
    }
    for (words, url) in [
        ("heron reeds", "/docs/heron.pdf"),
        ("owl night", "/docs/old%20notes.tar!/notes/owl.txt"),
        ("stork april", "/docs/stork.eml"),
    ] {
        let answer = bench.answer(words, &[]);
        let urls = urls(&answer);
        assert!(urls.len() == 1 && urls[0].ends_with(url), "{urls:?}");
    }
    let place = "broken.pdf: ";
    bench
        .index(&bench.path("docs"), &["--strict"])
        .fails_saying(&[place]);
}

#[test]
fn a_container_is_a_source_by_itself() {
    let bench = Bench::new();
    let source = bench.file("heron.pdf", pdf("A heron waits"));
    bench.index(&source, &[]).ends(0);
    let source = bench.file("empty.tar", tar(&[]));
    bench
        .index(&source, &[])
        .fails_saying(&["no good document"]);
    assert_eq!(urls(&bench.answer("heron", &[])).len(), 1);
}

#[test]
fn the_child_is_no_command_for_people() {
    for shown in [shorttail(["--help"]), shorttail(["completions", "bash"])] {
        assert!(!shown.ends(0).stdout.contains("extract-child"));
    }
    let run = shorttail(["extract-child"]).ends(2);
    assert!(
        run.stderr.contains("is started by other commands"),
        "{run:#?}"
    );
    let limits = ["extract-child", "536870912", "30"];
    assert_eq!(shorttail_reading(limits, b"").ends(0).stdout, "\"ready\"\n");
    // A parent that has gone ends it, whatever it was sent.
    let run = command(limits).stdin(Stdio::null()).output().unwrap();
    finished(run).ends(0);
    assert_eq!(
        shorttail_reading(limits, b"\xff\xff\xff\xff")
            .ends(1)
            .stdout,
        "\"ready\"\n"
    );
}
