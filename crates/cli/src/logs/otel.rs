//! Export of spans to an OpenTelemetry collector, over gRPC, in batches and outside of the threads of queries.
//!
//! `OTEL_EXPORTER_OTLP_ENDPOINT` is the address, as usual with OpenTelemetry; without it nothing is sent.
//! `SHORTTAIL_SPANS` filters spans. Its default is `debug`, every step of every query.

use console::failure::note;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::SpanExporter;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::SdkTracerProvider;
use tokio::runtime::Runtime;
use tracing_subscriber::filter::{EnvFilter, FilterFn, filter_fn};
use tracing_subscriber::layer::Layer;
use tracing_subscriber::registry::LookupSpan;

/// Exporter of spans. Dropping it sends the pending ones.
pub(super) struct Export {
    provider: SdkTracerProvider,
    /// Runtime of the connection to the collector, separate from that of clients.
    runtime: Option<Runtime>,
}

/// Starts the export. Returns `None` without the address of a collector, or after a failure, which it prints.
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
        // Connecting spawns tasks on the runtime that is entered here.
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
    // The export makes spans too; sending them would never end.
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
