//! Number of distinct values of a field.

use crate::distinct::DistinctValues;
use crate::facet::bytes::{Reader, Writer};
use crate::facet::coded::CodedValues;
use crate::facet::kind::{FigureKind, FigureState, Kind, WEIGHT_BYTES};
use crate::field_type::FieldType;
use crate::test::BadTest;
use wire::FacetAnswer;

/// Weight of the registers of an estimate, which no exact set exceeds: a part may be exact where the whole is not.
const ESTIMATE_WEIGHT: u64 = (1 << 14) / WEIGHT_BYTES;

/// Number of distinct values.
#[derive(Debug, Clone, PartialEq)]
pub struct Distinct;

impl Kind for Distinct {
    fn read(_: FieldType, name: &str, argument: &str) -> Option<Result<Distinct, BadTest>> {
        (name == "distinct" && argument.is_empty()).then_some(Ok(Distinct))
    }

    fn offered(_: FieldType) -> &'static str {
        "distinct"
    }

    fn text(&self) -> String {
        "distinct".to_owned()
    }
}

impl FigureKind for Distinct {
    type State = DistinctValues;

    fn of_codes(&self, counts: &[(u64, u64)], values: &dyn CodedValues) -> DistinctValues {
        let codes = counts.iter();
        DistinctValues::of(codes.filter_map(|&(code, _)| values.value(code)))
    }

    fn show(&self, figures: &DistinctValues, answer: &mut FacetAnswer) {
        answer.distinct = Some(figures.count());
        answer.method = Some(figures.method().to_owned());
    }
}

impl FigureState for DistinctValues {
    fn join(&mut self, other: DistinctValues) {
        DistinctValues::join(self, other);
    }

    fn write(&self, writer: &mut Writer) {
        let (hashes, registers) = self.parts();
        writer.number(hashes.len() as u64);
        hashes
            .iter()
            .for_each(|hash| writer.bytes(&hash.to_le_bytes()));
        writer.number(registers.len() as u64);
        writer.bytes(registers);
    }

    fn read(reader: &mut Reader<'_>) -> Option<DistinctValues> {
        let count = reader.count(8)?;
        let hashes = reader.bytes(count * 8)?.chunks_exact(8);
        let hashes = hashes.map(|hash| hash.try_into().map(u64::from_le_bytes));
        let hashes = hashes.collect::<Result<Vec<u64>, _>>().ok()?;
        let count = reader.count(1)?;
        DistinctValues::of_parts(hashes, reader.bytes(count)?.to_vec())
    }

    fn weight(&self) -> u64 {
        let (hashes, registers) = self.parts();
        let bytes = (hashes.len() * 8 + registers.len()) as u64;
        (bytes / WEIGHT_BYTES).min(ESTIMATE_WEIGHT)
    }
}
