//! The ways out, one file each. A channel sends one message once; trying again is the queue's business.

mod command;
mod dingtalk;
mod feishu;
mod file;
mod http;
mod mail;
mod telegram;
mod webhook;
mod wecom;

use std::time::Duration;

use futures::future::BoxFuture;

pub(super) use command::Command;
pub(super) use dingtalk::DingTalk;
pub(super) use feishu::Feishu;
pub(super) use file::Lines;
pub(super) use http::Post;
pub(super) use mail::{Encryption, Mail};
pub(super) use telegram::Telegram;
pub(super) use webhook::Webhook;
pub(super) use wecom::WeCom;

use super::message::Message;
use super::template::{Format, Template};
use crate::error::ErrorClass;

/// A way to tell somebody something (S3-9).
///
/// ```
/// use dibao::deliver::{Delivery, DeliveryError, Message, Receipt};
/// use futures::future::BoxFuture;
///
/// struct Log;
/// impl Delivery for Log {
///     fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>> {
///         Box::pin(async move {
///             println!("{}: {}", message.event, message.title);
///             Ok(Receipt("printed".to_owned()))
///         })
///     }
/// }
/// let channels = dibao::deliver::Channels::default().with("log", Log, Default::default());
/// assert_eq!(channels.names(), ["log"]);
/// ```
pub trait Delivery: Send + Sync + 'static {
    /// Says it once. It may be called again with the same message and key; dropping the future must be safe.
    fn send<'a>(&'a self, message: &'a Message) -> BoxFuture<'a, Result<Receipt, DeliveryError>>;
}

/// What the other side answered; kept with the job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt(pub String);

/// Why a message did not arrive.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DeliveryError {
    /// What kind of trouble; decides whether it is tried again.
    pub class: ErrorClass,
    /// In words; names no secret.
    pub message: String,
    /// The other side asks for so much time.
    pub retry_after: Option<Duration>,
}

impl DeliveryError {
    /// An error of a class.
    pub fn new(class: ErrorClass, message: impl Into<String>) -> DeliveryError {
        DeliveryError { class, message: message.into(), retry_after: None }
    }
}

/// The words of a channel: what is said of articles, and of everything else.
#[derive(Clone, Debug)]
pub(super) struct Words {
    pub format: Format,
    pub title: Template,
    pub article: Template,
    pub other: Template,
}

impl Words {
    pub fn title(&self, message: &Message) -> String {
        // A title is one line wherever it goes, a mail header first of all.
        self.title.render(message, Format::Plain).replace('\n', " ")
    }

    pub fn text(&self, message: &Message) -> String {
        let template = if message.event == "article" { &self.article } else { &self.other };
        template.render(message, self.format)
    }
}

/// The first so many bytes of a text, whole characters, and a sign that it was cut.
fn cut(text: String, bytes: usize) -> String {
    if text.len() <= bytes {
        return text;
    }
    let mut end = bytes.saturating_sub('…'.len_utf8());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}…", &text[..end])
}

/// An error with its causes: the outermost words alone rarely say what happened.
fn causes(error: &dyn std::error::Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let inner_words = inner.to_string();
        if !words.contains(&inner_words) {
            words = format!("{words}: {inner_words}");
        }
        cause = inner.source();
    }
    words
}
