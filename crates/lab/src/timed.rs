//! Queries of a wanted search time on the index of a plan, in place of the given ones.
use crate::LabError;
use crate::laboratory::{Laboratory, Step};
use crate::server::Server;
use load::{QueryStream, SearchTime, Target, TimedQueries, search_times_ms};
use std::collections::BTreeMap;

/// Number of queries made, before the stream repeats.
const MADE: usize = 10_000;

impl Laboratory<'_> {
    /// Makes the queries of all experiments, once, where the plan wants a search time.
    pub(crate) fn make_queries(&mut self, told: &mut impl FnMut(Step)) -> Result<(), LabError> {
        let Some(wanted) = self.plan.search_time else {
            return Ok(());
        };
        if self.session.search_time.is_none() {
            let _settings_of_machine = self.prepare(&BTreeMap::new())?;
            let made = self.timed_queries(wanted, told)?;
            self.session.search_time = Some(described(wanted, &made));
            self.stream = QueryStream::as_is(made.texts);
            self.session.queries_checksum = self.stream.checksum();
        }
        Ok(())
    }

    /// Joins and picks given queries until they have the wanted search times on one handler.
    pub(crate) fn timed_queries(
        &self,
        wanted: SearchTime,
        told: &mut impl FnMut(Step),
    ) -> Result<TimedQueries, LabError> {
        told(Step::Runs {
            what: format!("making queries whose search takes {wanted}"),
        });
        let index = self.index_for(1, told)?;
        let server = Server::start_with(&self.plan.binary, &index, (1, 1), &["--policy", "fifo"])?;
        let target = search_alone(&server)?;
        let timed = |texts: &[String]| search_times_ms(&target, texts, self.live);
        let made = wanted.make(self.stream.texts(), MADE, self.plan.seed, timed);
        self.go_on()?;
        made?.ok_or_else(|| LabError::Program {
            command: format!("shorttail serve {}", self.plan.index.display()),
            reason: "it answered no query; are they queries of this index?".into(),
        })
    }
}

/// Returns the target of requests that are little but their search: one hit, no limit per site and so no repeated
/// search, and the time of every step.
pub(crate) fn search_alone(server: &Server) -> Result<Target, LabError> {
    let url = server.url().trim_end_matches('/');
    let url = format!("{url}/search?q={{query}}&words=all&trace=1&k=1");
    Ok(Target::parse(&url)?)
}

/// Describes made queries beside the wanted time.
pub(crate) fn described(wanted: SearchTime, made: &TimedQueries) -> String {
    format!(
        "words of {:.1} given ones on average; alone, a search takes {:.3} ms on average and {:.2} ms at p99 \
         (wanted: {wanted})",
        made.joined, made.mean_ms, made.p99_ms
    )
}
