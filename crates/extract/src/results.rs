//! Results of the child, as lines of JSON on standard output.

use crate::confinement::Limits;
use crate::fault::Fault;
use crate::protocol::{Reply, TEXT_BYTES_MAX};
use json::{Map, Value};
use std::io::{self, BufWriter, Write};

/// Writer of results to standard output.
pub(crate) struct Results {
    out: BufWriter<io::Stdout>,
    limits: Limits,
}

impl Results {
    /// Creates the writer.
    pub(crate) fn new(limits: Limits) -> Results {
        Results {
            out: BufWriter::with_capacity(64 << 10, io::stdout()),
            limits,
        }
    }

    /// Reports a document.
    pub(crate) fn document(
        &mut self,
        path: &str,
        title: String,
        body: String,
        fields: Map<String, Value>,
    ) -> Result<(), Fault> {
        if body.len() + title.len() > TEXT_BYTES_MAX {
            return Err(Fault::bad(format!(
                "more than {TEXT_BYTES_MAX} bytes of text"
            )));
        }
        let path = path.to_owned();
        self.result(&Reply::Document {
            path,
            title,
            body,
            fields,
        })
    }

    /// Reports a document that cannot be read.
    pub(crate) fn bad(&mut self, path: &str, reason: String) -> Result<(), Fault> {
        let path = path.to_owned();
        self.result(&Reply::Bad { path, reason })
    }

    /// Reports a member whose name is not that of a document.
    pub(crate) fn left_out(&mut self, name: &str) -> Result<(), Fault> {
        let name = name.to_owned();
        self.result(&Reply::LeftOut { name })
    }

    fn result(&mut self, reply: &Reply) -> Result<(), Fault> {
        let written = self.write(reply).and_then(|()| self.start_document());
        written.map_err(|error| Fault::File(format!("cannot write: {error}")))
    }

    /// Allows the next document its processor time.
    pub(crate) fn start_document(&mut self) -> io::Result<()> {
        self.limits.next_document().map_err(io::Error::other)
    }

    /// Writes a line.
    pub(crate) fn write(&mut self, reply: &Reply) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, reply)?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}
