//! How do spans of queries reach an OpenTelemetry collector? Over gRPC, in batches, off the way of queries.
//!
//! The address is `OTEL_EXPORTER_OTLP_ENDPOINT`, as everywhere with OpenTelemetry; without it nothing is
//! sent. `SHORTTAIL_SPANS` says which spans (`debug` where it is not set: every step of every query).

use crate::failure::note;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Runtime;
use tracing_subscriber::filter::{EnvFilter, FilterFn, filter_fn};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

/// What sends spans. Dropped, it sends those that are still here.
pub(super) struct Export {
    provider: SdkTracerProvider,
    /// The connection to the collector lives here, apart from those of clients.
    runtime: Option<Runtime>,
}

/// Starts sending; `None` where no collector is named or it cannot be done, which is told.
pub(super) fn start<S>(role: &str) -> Option<(impl Layer<S> + use<S>, Export)>
where
    S: tracing::Subscriber + for<'a> LookupSpan<'a>,
{
    std::env::var_os("OTEL_EXPORTER_OTLP_ENDPOINT").filter(|address| !address.is_empty())?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .thread_name("otel")
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| unsent(&error)).ok()?;
    let exporter = {
        // The connection is made of tasks of the runtime that is entered here.
        let _entered = runtime.enter();
        SpanExporter::builder().with_tonic().build()
    };
    let exporter = exporter.map_err(|error| unsent(&error)).ok()?;
    let resource = Resource::builder().with_service_name(format!("shorttail {role}"));
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_resource(resource.build())
        .build();
    let filter =
        EnvFilter::try_from_env("SHORTTAIL_SPANS").unwrap_or_else(|_| EnvFilter::new("debug"));
    // Sending makes spans too: of those, sent, there would be no end.
    let is_ours = filter_fn(|metadata| {
        let target = metadata.target();
        target == "serve" || target.starts_with("serve::")
    });
    let layer = tracing_opentelemetry::layer()
        .with_tracer(provider.tracer("shorttail"))
        .with_filter::<FilterFn<_>>(is_ours)
        .with_filter(filter);
    let export = Export {
        provider,
        runtime: Some(runtime),
    };
    Some((layer, export))
}

fn unsent(error: &dyn std::fmt::Display) {
    note(&format!(
        "warning: spans cannot be sent: {error}; going on without"
    ));
}

impl Drop for Export {
    fn drop(&mut self) {
        if let Err(error) = self.provider.shutdown() {
            unsent(&error);
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}
