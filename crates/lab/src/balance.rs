//! Distribution of each term's postings over partitions, as reported by the program under test.
use crate::LabError;
use crate::ask::ask;
use load::Live;
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// Distribution of postings in an index over a number of partitions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Balance {
    /// Documents in each partition.
    pub(crate) documents: Vec<u64>,
    pub(crate) distributions: Vec<Distribution>,
}

/// Terms with the same distribution of postings.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct Distribution {
    /// Postings in each partition.
    pub(crate) postings: Vec<u64>,
    /// Number of terms with this distribution.
    pub(crate) terms: u64,
}

#[derive(Deserialize)]
struct Head {
    documents: Vec<u64>,
}

impl Balance {
    /// Reads the balance of an index over `partitions` partitions; fails if the index has fewer chunks.
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
