//! TLS to hosts whose certificate authority the operator named. Chromium knows only its own authorities, and its one
//! switch for more believes whoever *shows* a certificate. So for such sites the proxy is the TLS client, with the same
//! authorities as plain HTTP, and Chromium talks to the proxy under a key that is made here, lives in this process
//! only and is the one key Chromium takes without asking.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{CertificateParams, KeyPair, PublicKeyData};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use sha2::{Digest, Sha256};
use tokio::net::TcpStream;
use tokio_rustls::client::TlsStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

use crate::fetch::error::FetchErrorKind;

/// The key under which the proxy answers Chromium.
pub(super) struct Relay {
    pub acceptor: TlsAcceptor,
    key: String,
}

impl Relay {
    pub fn new() -> Result<Relay, String> {
        let key = KeyPair::generate().map_err(|why| why.to_string())?;
        let certificate = CertificateParams::new(vec!["dibao.invalid".to_owned()])
            .and_then(|params| params.self_signed(&key))
            .map_err(|why| why.to_string())?;
        let hash = STANDARD.encode(Sha256::digest(key.subject_public_key_info()));
        let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .map_err(|why| why.to_string())?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], secret)
            .map_err(|why| why.to_string())?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Relay { acceptor: TlsAcceptor::from(Arc::new(config)), key: hash })
    }

    /// SHA-256 of the public key, in base64.
    pub fn key(&self) -> &str {
        &self.key
    }
}

/// The TLS client for a page whose site has authorities of its own; none: Chromium encrypts by itself.
pub(super) fn connector(extra: &[CertificateDer<'static>]) -> Result<Option<TlsConnector>, FetchErrorKind> {
    if extra.is_empty() {
        return Ok(None);
    }
    let wrong =
        |why: &dyn std::fmt::Display| FetchErrorKind::Setup(format!("an extra root cannot be used: {why}"));
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for root in extra {
        roots.add(root.clone()).map_err(|why| wrong(&why))?;
    }
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(|why| wrong(&why))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Some(TlsConnector::from(Arc::new(config))))
}

/// Shakes hands with a host.
pub(super) async fn secure(
    connector: &TlsConnector,
    host: &str,
    line: TcpStream,
) -> Result<TlsStream<TcpStream>, FetchErrorKind> {
    let bare = host.trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(bare).map_err(|why| FetchErrorKind::Tls(why.to_string()))?;
    connector.connect(name, line).await.map_err(|why| FetchErrorKind::Tls(why.to_string()))
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
