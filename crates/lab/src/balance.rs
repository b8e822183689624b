//! How do the postings of each term lie over partitions? The program is asked; it reads the index.
use crate::LabError;
use crate::ask::ask;
use load::Live;
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// An index over some partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Balance {
    /// Documents of each partition.
    pub(crate) documents: Vec<u64>,
    pub(crate) distributions: Vec<Distribution>,
}

/// Terms whose postings lie alike.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Distribution {
    /// In each partition.
    pub(crate) postings: Vec<u64>,
    /// How many terms have these.
    pub(crate) terms: u64,
}

#[derive(Deserialize)]
struct Head {
    documents: Vec<u64>,
}

impl Balance {
    /// Of an index over so many partitions; fails where it has fewer chunks.
    pub(crate) fn of(
        binary: &Path,
        index: &Path,
        partitions: u32,
        live: &Live,
    ) -> Result<Balance, LabError> {
        let name = format!("shorttail lab balance {}", index.display());
        let mut command = Command::new(binary);
        command.args(["lab", "balance"]).arg(index);
        command.args(["--json", "--partitions", &partitions.to_string()]);
        let said = ask(&mut command, &name, live)?;
        Balance::parse(&said.stdout).map_err(|error| LabError::Program {
            command: name,
            reason: format!("its output is not understood: {error}"),
        })
    }

    fn parse(text: &str) -> Result<Balance, serde_json::Error> {
        let mut lines = text.lines();
        let Head { documents } = serde_json::from_str(lines.next().unwrap_or_default())?;
        let distributions = lines.map(serde_json::from_str);
        Ok(Balance {
            documents,
            distributions: distributions.collect::<Result<_, _>>()?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read() {
        let text = "{\"documents\":[3,4]}\n{\"postings\":[1,0],\"terms\":12}\n";
        let expected = Balance {
            documents: vec![3, 4],
            distributions: vec![Distribution {
                postings: vec![1, 0],
                terms: 12,
            }],
        };
        assert_eq!(Balance::parse(text).unwrap(), expected);
        assert!(Balance::parse("").is_err());
        assert!(Balance::parse("{\"documents\":[1]}\nhalf").is_err());
    }
}
