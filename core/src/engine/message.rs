//! Messages that a schedule says by itself: to the channel that it names.

use futures::future::BoxFuture;
use serde::Deserialize;

use super::Engine;
use crate::deliver::{Message, Notice};
use crate::error::ErrorClass;
use crate::queue::{JobContext, JobDone, JobFailed, JobHandler, JobResult};

/// The kind of a job that says something.
pub const MESSAGE: &str = "hook:message";
/// Characters of the first line that make a title.
const TITLE: usize = 80;

/// What the job is told.
#[derive(Deserialize)]
struct Said {
    #[serde(default)]
    message: String,
    #[serde(default)]
    channel: String,
    #[serde(default)]
    chat_id: String,
    /// False: it is kept with the schedule and told nobody.
    deliver_response: Option<bool>,
}

pub(super) struct MessageHandler(pub(super) Engine);

impl JobHandler for MessageHandler {
    fn run<'a>(&'a self, context: &'a JobContext) -> BoxFuture<'a, JobResult> {
        Box::pin(async move {
            let failed = |message| JobFailed::Error { class: ErrorClass::Config, message, not_before: None };
            let said = serde_json::from_value::<Said>(context.job.payload.clone());
            let said =
                said.map_err(|error| failed(format!("what the job is told cannot be read: {error}")))?;
            if said.channel.is_empty() || said.deliver_response == Some(false) {
                let why = if said.channel.is_empty() { "no channel is named" } else { "delivery is off" };
                return Ok(JobDone::saying(format!("told nobody, {why}: {}", said.message)));
            }
            let channels = self.0.channels();
            if !channels.names().contains(&said.channel.as_str()) {
                let names = match channels.names() {
                    none if none.is_empty() => "there are none".to_owned(),
                    names => format!("there are: {}", names.join(", ")),
                };
                let words = format!("there is no channel `{}` in channels.toml; {names}", said.channel);
                return Err(failed(words));
            }
            let key = format!("message:{}", context.job.id);
            let mut message =
                Message::new(key.clone(), "message", title(&said.message), self.0.inner.settings.clock.now());
            message.text = said.message;
            if !said.chat_id.is_empty() {
                message.fields.insert("chat_id".to_owned(), said.chat_id);
            }
            let told = Notice::Message(Box::new(message)).job(&said.channel, &key);
            Ok(JobDone {
                then: vec![told],
                ..JobDone::saying(format!("handed to channel `{}`", said.channel))
            })
        })
    }
}

/// The first line, or what of it makes a title.
fn title(message: &str) -> String {
    let line = message.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    match line.char_indices().nth(TITLE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_the_title() {
        assert_eq!(title("\n 早上好 \n今天有雨"), "早上好");
        assert_eq!(title(""), "");
        assert_eq!(title(&"长".repeat(100)).chars().count(), TITLE + 1);
    }
}
