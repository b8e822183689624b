//! Certificates of the synthetic web: an authority made anew, and one certificate for all of its hosts.

use super::web::SyntheticWeb;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, IsCa, Issuer, KeyPair,
};
use std::sync::Arc;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// Hosts that one certificate can name: a client reads it at every handshake.
const HOSTS_MAX: u32 = 2_000;

/// Authority with the certificate of a synthetic web.
pub struct SyntheticAuthority {
    /// Certificate of the authority, for clients that shall trust it.
    pub certificate: CertificateDer<'static>,
    /// Certificate of the authority as PEM.
    pub pem: String,
    /// Acceptor of connections.
    pub acceptor: TlsAcceptor,
}

/// No certificate could be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// Of the authority or of the hosts.
    #[error("cannot make a certificate: {0}")]
    Certificate(#[from] rcgen::Error),
    /// Of the server.
    #[error("cannot set up TLS: {0}")]
    Server(#[from] tokio_rustls::rustls::Error),
    /// One certificate names all hosts.
    #[error("{0} hosts: with TLS a synthetic web has at most {HOSTS_MAX}")]
    Hosts(u32),
}

/// Returns a certificate in PEM.
fn pem(certificate: &[u8]) -> String {
    let text = STANDARD.encode(certificate);
    let lines = text.as_bytes().chunks(64).map(String::from_utf8_lossy);
    let lines: Vec<_> = lines.collect();
    format!(
        "-----BEGIN CERTIFICATE-----\n{}\n-----END CERTIFICATE-----\n",
        lines.join("\n")
    )
}

impl SyntheticAuthority {
    /// Makes an authority, and a certificate for every host of `web`.
    pub fn new(web: &SyntheticWeb) -> Result<SyntheticAuthority, TlsError> {
        let hosts = web.options().hosts;
        if hosts > HOSTS_MAX {
            return Err(TlsError::Hosts(hosts));
        }
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let mut name = DistinguishedName::new();
        name.push(DnType::CommonName, "Shorttail synthetic web");
        params.distinguished_name = name;
        let key = KeyPair::generate()?;
        let authority = params.self_signed(&key)?;
        let issuer = Issuer::new(params, key);
        let mut names: Vec<String> = (0..hosts).map(|host| web.host_name(host)).collect();
        names.push(web.seeds_host());
        let leaf_key = KeyPair::generate()?;
        let leaf = CertificateParams::new(names)?.signed_by(&leaf_key, &issuer)?;
        let provider = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
        let private = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], private)?;
        Ok(SyntheticAuthority {
            certificate: authority.der().clone(),
            pem: pem(authority.der()),
            acceptor: TlsAcceptor::from(Arc::new(config)),
        })
    }
}
