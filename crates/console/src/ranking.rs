//! Arguments of the ranking.

/// Ranking function and its parameters.
#[derive(Debug, Clone, clap::Args)]
pub struct RankingArguments {
    /// Ranking function, with parameters where others than the default are wanted, as bm25:k1=0.9,b=0.4
    #[arg(long, value_name = "NAME[:PARAMETER=N,...]", default_value = "bm25",
          value_parser = RankingParser, help_heading = "Ranking")]
    ranking: search::Ranking,
    /// BM25 term frequency saturation, 0 to 1000; 0 counts no occurrence beyond the first [default: 1.2]
    #[arg(long, value_name = "K1", value_parser = parse_k1, allow_negative_numbers = true, help_heading = "Ranking")]
    k1: Option<f32>,
    /// BM25 length normalization, 0 (none) to 1 (full) [default: 0.75]
    #[arg(long, value_name = "B", value_parser = parse_b, allow_negative_numbers = true, help_heading = "Ranking")]
    b: Option<f32>,
}

impl RankingArguments {
    /// Returns the ranking function with the given parameters.
    pub fn ranking(&self) -> search::Ranking {
        let given = [("k1", self.k1), ("b", self.b)];
        let given = given
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)));
        given.fold(self.ranking, |ranking, (name, value)| {
            ranking.with_parameter(name, value)
        })
    }
}

/// Parser of a ranking. Help lists the registered models.
#[derive(Debug, Clone, Copy)]
struct RankingParser;

impl clap::builder::TypedValueParser for RankingParser {
    type Value = search::Ranking;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &std::ffi::OsStr,
    ) -> Result<search::Ranking, clap::Error> {
        let parse = |text: &str| {
            let parsed = text.parse::<search::Ranking>();
            parsed.map_err(|error| format!("it is {error}"))
        };
        parse.parse_ref(command, argument, value)
    }

    fn possible_values(
        &self,
    ) -> Option<Box<dyn Iterator<Item = clap::builder::PossibleValue> + '_>> {
        let models = search::Ranking::MODELS.into_iter();
        let value = |model: &search::ranking::Model| {
            clap::builder::PossibleValue::new(model.name).help(model.summary)
        };
        Some(Box::new(models.map(value)))
    }
}

fn parse_k1(text: &str) -> Result<f32, String> {
    parse_parameter("k1", text)
}

fn parse_b(text: &str) -> Result<f32, String> {
    parse_parameter("b", text)
}

/// Reads a parameter of the default model.
fn parse_parameter(name: &str, text: &str) -> Result<f32, String> {
    let known = search::Ranking::default().model().parameters;
    let parameter = known.iter().find(|parameter| parameter.name == name);
    let value = parameter.and_then(|one| one.read(text).ok());
    value.ok_or_else(|| match parameter {
        Some(one) => format!("give a number from {} to {}", one.least, one.greatest),
        None => format!("the default ranking has no {name}"),
    })
}
