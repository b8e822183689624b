//! Parts of servers that wrap another one, `self.inner`: what they leave to it.

/// Methods of an index server, in its `impl`: `details`, `counts` of sites and facets, `near_words`.
macro_rules! to_inner {
    (details) => {
        fn details(
            &self,
            query: &std::sync::Arc<serve::Query>,
            request: serve::api::messages::DetailsRequest,
            reply: serve::Reply<Vec<serve::api::messages::HitDetails>>,
        ) {
            self.inner.details(query, request, reply);
        }
    };
    (counts) => {
        fn count_matches(
            &self,
            query: &std::sync::Arc<serve::Query>,
            request: serve::api::messages::CountMatchesRequest,
            reply: serve::Reply<Vec<u64>>,
        ) {
            self.inner.count_matches(query, request, reply);
        }

        fn count_facets(
            &self,
            query: &std::sync::Arc<serve::Query>,
            request: serve::api::messages::CountFacetsRequest,
            reply: serve::Reply<Vec<fields::FacetCounts>>,
        ) {
            self.inner.count_facets(query, request, reply);
        }

        to_inner!(near_words);
    };
    (near_words) => {
        fn near_words(
            &self,
            query: &std::sync::Arc<serve::Query>,
            request: serve::api::messages::NearWordsRequest,
            reply: serve::Reply<Vec<serve::api::messages::TypedWord>>,
        ) {
            self.inner.near_words(query, request, reply);
        }
    };
}

/// `Server` of a type, which is that of `self.inner`.
macro_rules! server_of_inner {
    ($wrapper:ty) => {
        impl serve::api::backend::Server for $wrapper {
            fn status(
                &self,
                request: &serve::api::messages::StatusRequest,
                reply: serve::Reply<serve::api::messages::Status>,
            ) {
                self.inner.status(request, reply);
            }

            fn reload(&self, reply: serve::Reply<u64>) {
                self.inner.reload(reply);
            }
        }
    };
}
