//! E-mail over SMTP: encrypted from the start, after STARTTLS, or, for a relay on the same machine, not at all.

use std::time::Duration;

use futures::future::BoxFuture;
use lettre::message::header::ContentType;
use lettre::message::{Mailbox, MessageBuilder};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport as _, Tokio1Executor};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{Delivery, DeliveryError, Receipt, Words};
use crate::deliver::message::Message;
use crate::error::ErrorClass;

const TIMEOUT: Duration = Duration::from_secs(60);

/// How the connection is kept from other eyes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(in super::super) enum Encryption {
    /// TLS from the first byte; port 465.
    #[default]
    Tls,
    /// STARTTLS, and nothing is said before it; port 587.
    Starttls,
    /// None; port 25. Takes no password.
    None,
}

pub(in super::super) struct Mail {
    transport: AsyncSmtpTransport<Tokio1Executor>,
    from: Mailbox,
    to: Vec<Mailbox>,
    words: Words,
}

impl Mail {
    #[allow(clippy::too_many_arguments, reason = "the keys of one table")]
    pub fn new(
        host: &str,
        port: Option<u16>,
        encryption: Encryption,
        user: Option<(String, String)>,
        from: &str,
        to: &[String],
        roots: &[rustls::pki_types::CertificateDer<'static>],
        words: Words,
    ) -> Result<Mail, String> {
        let mailbox = |text: &str| text.parse::<Mailbox>().map_err(|error| format!("`{text}`: {error}"));
        let mut tls = TlsParameters::builder(host.to_owned());
        for root in roots {
            let root = Certificate::from_der(root.to_vec()).map_err(|error| error.to_string())?;
            tls = tls.add_root_certificate(root);
        }
        let tls = || tls.build_rustls().map_err(|error| format!("TLS cannot be set up: {error}"));
        let (usual, tls) = match encryption {
            Encryption::Tls => (465, Tls::Wrapper(tls()?)),
            Encryption::Starttls => (587, Tls::Required(tls()?)),
            Encryption::None if user.is_some() => {
                return Err("a password is not sent over an open line; use tls or starttls".to_owned());
            }
            Encryption::None => (25, Tls::None),
        };
        let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host)
            .port(port.unwrap_or(usual))
            .timeout(Some(TIMEOUT))
            .tls(tls);
        if let Some((user, password)) = user {
            builder = builder.credentials(Credentials::new(user, password));
        }
        let to = to.iter().map(|text| mailbox(text)).collect::<Result<Vec<_>, _>>()?;
        if to.is_empty() {
            return Err("`to` names nobody".to_owned());
        }
        Ok(Mail { transport: builder.build(), from: mailbox(from)?, to, words })
    }

    fn letter(&self, message: &Message) -> Result<lettre::Message, lettre::error::Error> {
        let date = message.at.to_utc().into();
        // The same for every attempt: mail programs show one of two letters with the same id.
        let digest = Sha256::digest(message.key.as_bytes());
        let id: String = digest[..16].iter().map(|byte| format!("{byte:02x}")).collect();
        let builder: MessageBuilder = lettre::Message::builder()
            .from(self.from.clone())
            .date(date)
            .message_id(Some(format!("<{id}@{}>", self.from.email.domain())))
            .subject(self.words.title(message));
        let builder = self.to.iter().fold(builder, |builder, to| builder.to(to.clone()));
        builder.header(ContentType::TEXT_PLAIN).body(self.words.text(message))
    }
}

impl Delivery for Mail {
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
        Box::pin(async move {
            let letter = self.letter(message);
            let letter = letter.map_err(|error| DeliveryError::new(ErrorClass::Config, error.to_string()))?;
            let sent = tokio::time::timeout(TIMEOUT, self.transport.send(letter)).await;
            let sent = sent.map_err(|_| DeliveryError::new(ErrorClass::Network, "no answer in a minute"))?;
            let answer = sent.map_err(|error| {
                // A 5xx is the server's last word, everything else may pass.
                let class = match error.is_permanent() {
                    true => ErrorClass::Config,
                    false if error.is_transient() => ErrorClass::Busy,
                    false => ErrorClass::Network,
                };
                DeliveryError::new(class, super::causes(&error))
            })?;
            let words: Vec<&str> = answer.message().collect();
            Ok(Receipt(format!("{} {}", answer.code(), words.join(" "))))
        })
    }
}
