//! Record of how tests of values ran, on demand: per segment, in which way, over how many documents.

use crate::plan::node::ValueNode;
use std::cell::RefCell;
use std::fmt;

/// Way in which a test of values ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FilterWay {
    /// The search was led by the list of the documents that pass.
    List,
    /// The search was led by a scan of the column.
    ColumnScan,
    /// The values of candidates were looked up.
    Probe,
    /// The column was scanned for the bits of windows of documents, where all matches were wanted.
    Bits,
}

/// Run of a test of values on one segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterRun {
    /// Id of the segment.
    pub segment: u32,
    /// Name of the field.
    pub field: String,
    /// The test, as it is written.
    pub test: String,
    /// Way in which the test ran.
    pub way: FilterWay,
    /// Documents listed, scanned or looked up.
    pub candidates: u64,
    /// Documents that passed the test.
    pub passed: u64,
}

thread_local! {
    static RUNS: RefCell<Option<Vec<FilterRun>>> = const { RefCell::new(None) };
}

impl fmt::Display for FilterWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Runs a search on this thread and returns how its tests of values ran, by segment.
pub fn watch_filters<R>(search: impl FnOnce() -> R) -> (R, Vec<FilterRun>) {
    let before = RUNS.replace(Some(Vec::new()));
    let result = search();
    let runs = RUNS.replace(before).unwrap_or_default();
    (result, FilterRun::merged(runs))
}

impl FilterRun {
    /// Adds up the runs of each test, segment and way.
    pub fn merged(mut runs: Vec<FilterRun>) -> Vec<FilterRun> {
        runs.sort_by(|a, b| a.key().cmp(&b.key()));
        runs.dedup_by(|later, first| {
            let is_same = later.key() == first.key();
            if is_same {
                first.candidates += later.candidates;
                first.passed += later.passed;
            }
            is_same
        });
        runs
    }

    fn key(&self) -> (u32, &str, &str, FilterWay) {
        (self.segment, &self.field, &self.test, self.way)
    }
}

impl fmt::Display for FilterRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FilterRun {
            segment,
            field,
            test,
            way,
            candidates,
            passed,
        } = self;
        write!(
            f,
            "{field}:{test} in segment {segment}: {way}, {passed} of {candidates} documents passed"
        )
    }
}

impl FilterWay {
    const ALL: [FilterWay; 4] = [
        FilterWay::List,
        FilterWay::ColumnScan,
        FilterWay::Probe,
        FilterWay::Bits,
    ];

    /// Returns the name.
    pub fn name(self) -> &'static str {
        match self {
            FilterWay::List => "list",
            FilterWay::ColumnScan => "column scan",
            FilterWay::Probe => "probe",
            FilterWay::Bits => "bits",
        }
    }

    /// Returns the way with a name.
    pub fn of_name(name: &str) -> Option<FilterWay> {
        FilterWay::ALL.into_iter().find(|way| way.name() == name)
    }
}

/// Counters of a test of values that is open on a segment. They are recorded as it is closed.
#[derive(Debug)]
pub(crate) struct OpenFilter<'a> {
    node: &'a ValueNode,
    segment: u32,
    way: FilterWay,
    pub(crate) candidates: u64,
    pub(crate) passed: u64,
}

impl<'a> OpenFilter<'a> {
    pub(crate) fn new(node: &'a ValueNode, segment: u32, way: FilterWay) -> OpenFilter<'a> {
        OpenFilter {
            node,
            segment,
            way,
            candidates: 0,
            passed: 0,
        }
    }

    /// Sets that the bits of windows are wanted.
    pub(crate) fn is_for_bits(&mut self) {
        self.way = FilterWay::Bits;
    }
}

impl Drop for OpenFilter<'_> {
    fn drop(&mut self) {
        if self.candidates == 0 {
            return;
        }
        RUNS.with_borrow_mut(|runs| {
            if let Some(runs) = runs {
                runs.push(FilterRun {
                    segment: self.segment,
                    field: self.node.field.clone(),
                    test: self.node.test.to_string(),
                    way: self.way,
                    candidates: self.candidates,
                    passed: self.passed,
                });
            }
        });
    }
}
