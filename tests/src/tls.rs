//! The replica's own certificate authority and one leaf that names every host. Made anew at every start:
//! nobody should ever trust it twice.

use std::sync::Arc;

use anyhow::Context as _;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// What the servers need, and the root for the clients.
pub(crate) struct Authority {
    pub(crate) ca_pem: String,
    pub(crate) server: Arc<ServerConfig>,
}

impl Authority {
    /// A fresh root and a leaf for these hosts (and for `localhost`).
    pub(crate) fn new(hosts: &[String]) -> anyhow::Result<Self> {
        let mut root = CertificateParams::new(Vec::<String>::new())?;
        root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        root.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        root.distinguished_name.push(DnType::CommonName, "dibao replica CA");
        let root_key = KeyPair::generate()?;
        let root_certificate = root.self_signed(&root_key)?;
        let issuer = Issuer::new(root, root_key);

        let names: Vec<String> = hosts.iter().cloned().chain(["localhost".to_owned()]).collect();
        let mut leaf = CertificateParams::new(names)?;
        leaf.distinguished_name.push(DnType::CommonName, "dibao replica");
        leaf.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        leaf.use_authority_key_identifier_extension = true;
        let leaf_key = KeyPair::generate()?;
        let leaf_certificate = leaf.signed_by(&leaf_key, &issuer)?;

        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(leaf_key.serialize_der()));
        let mut server =
            ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
                .with_safe_default_protocol_versions()
                .context("TLS versions")?
                .with_no_client_auth()
                .with_single_cert(vec![leaf_certificate.der().clone()], key)
                .context("replica certificate")?;
        server.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self { ca_pem: root_certificate.pem(), server: Arc::new(server) })
    }
}
