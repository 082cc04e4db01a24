//! The channels of an installation, as `channels.toml` in its data directory describes them.
//!
//! ```toml
//! [channels.ops]                      # the name is yours
//! kind = "dingtalk"
//! url = { env = "DINGTALK_URL" }      # or "https://…", or { file = "/run/secrets/…" }
//! secret = { env = "DINGTALK_SECRET" }
//! tell = ["articles", "alerts"]       # what it hears of by itself; nothing, unless it is said
//! sites = ["ndrc"]                    # only of these sites; all, unless it is said
//! article = "### [{title}]({url})\n{site} {published}\n\n{text}"
//!
//! [alerts]
//! after = 3                           # failures of one target in a row
//! within_sec = 86400
//! repeat_sec = 21600
//! recovered = true
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use url::Url;

use super::alert::{AlertRule, AlertWatch};
use super::channel::{
    Command, Delivery, DeliveryError, DingTalk, Encryption, Feishu, Lines, Mail, Post, Receipt, Telegram,
    WeCom, Webhook, Words,
};
use super::handler::Notice;
use super::message::Message;
use super::secret::{CredentialProvider, Secret};
use super::template::{Format, Template};
use crate::config::ConfigError;
use crate::error::ErrorClass;
use crate::model::{Article, ArticleStatus};
use crate::queue::NewJob;

/// The name of the file in the data directory.
const FILE: &str = "channels.toml";
/// The largest file that is read.
const MAX_FILE: u64 = 1 << 20;
/// How long a program may take when nothing is said.
const COMMAND_TIMEOUT: u64 = 60;

/// What a channel hears of by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Announces {
    /// New articles.
    pub articles: bool,
    /// Alerts, and that they are over.
    pub alerts: bool,
    /// Only articles of these sites; empty: of all.
    pub sites: Vec<String>,
}

/// All channels of a program, by name.
#[derive(Clone, Default)]
pub struct Channels {
    channels: BTreeMap<String, Channel>,
    rule: AlertRule,
}

#[derive(Clone)]
struct Channel {
    kind: String,
    announces: Announces,
    /// Or why it cannot be used: a secret that is not set here must not keep a crawl from announcing.
    delivery: Result<Arc<dyn Delivery>, String>,
}

impl Channels {
    /// Reads `channels.toml` of a data directory; without one there are no channels. `roots` are trusted besides the
    /// usual authorities.
    pub fn open(
        data_dir: &Path,
        credentials: &dyn CredentialProvider,
        roots: &[CertificateDer<'static>],
    ) -> Result<Channels, ConfigError> {
        let path = data_dir.join(FILE);
        let origin = path.display().to_string();
        match std::fs::metadata(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Channels::default()),
            Err(source) => return Err(ConfigError::Read { origin, source }),
            Ok(there) if there.len() > MAX_FILE => {
                return Err(ConfigError::TooLarge { origin, size: there.len(), limit: MAX_FILE });
            }
            Ok(_) => {}
        }
        let text = std::fs::read_to_string(&path)
            .map_err(|source| ConfigError::Read { origin: origin.clone(), source })?;
        Channels::parse(&text, data_dir, credentials, roots).map_err(|(what, message)| ConfigError::Refused {
            what: format!("{origin}: {what}"),
            message,
            fix: "see the documentation of `dibao::deliver` for the keys of each kind".to_owned(),
        })
    }

    fn parse(
        text: &str,
        data_dir: &Path,
        credentials: &dyn CredentialProvider,
        roots: &[CertificateDer<'static>],
    ) -> Result<Channels, (String, String)> {
        let file: File = toml::from_str(text).map_err(|error| ("the file".to_owned(), error.to_string()))?;
        let post = Post::new(roots).map_err(|error| ("the file".to_owned(), error))?;
        let mut channels = BTreeMap::new();
        for (name, table) in file.channels {
            let at = |message: String| (format!("channel `{name}`"), message);
            if name.is_empty()
                || name.len() > 64
                || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
            {
                return Err(at("a name is made of up to 64 letters, digits, `-` and `_`".to_owned()));
            }
            let maker = Maker { data_dir, credentials, roots, post: &post };
            let channel = maker.channel(table).map_err(at)?;
            channels.insert(name, channel);
        }
        Ok(Channels { channels, rule: file.alerts.into() })
    }

    /// Adds a channel of your own, in place of the one before.
    pub fn with(
        mut self,
        name: impl Into<String>,
        delivery: impl Delivery,
        announces: Announces,
    ) -> Channels {
        let channel = Channel { kind: "own".to_owned(), announces, delivery: Ok(Arc::new(delivery)) };
        self.channels.insert(name.into(), channel);
        self
    }

    /// When there is an alert.
    pub fn alert_rule(mut self, rule: AlertRule) -> Channels {
        self.rule = rule;
        self
    }

    /// Their names.
    pub fn names(&self) -> Vec<&str> {
        self.channels.keys().map(String::as_str).collect()
    }

    /// Each with its kind, what it hears of, and why it cannot be used, if so.
    pub fn list(&self) -> impl Iterator<Item = (&str, &str, &Announces, Option<&str>)> {
        self.channels.iter().map(|(name, channel)| {
            let why = channel.delivery.as_ref().err().map(String::as_str);
            (name.as_str(), channel.kind.as_str(), &channel.announces, why)
        })
    }

    /// Those that can be used here.
    pub(super) fn usable(&self) -> impl Iterator<Item = &str> {
        self.channels.iter().filter(|(_, channel)| channel.delivery.is_ok()).map(|(name, _)| name.as_str())
    }

    /// How many messages a minute the other side takes, where it is known to turn away more.
    pub(super) fn per_minute(&self, name: &str) -> Option<usize> {
        match self.channels.get(name)?.kind.as_str() {
            "dingtalk" | "wecom" => Some(20),
            "feishu" => Some(100),
            _ => None,
        }
    }

    /// Sends a message now, once, past the queue.
    pub async fn send(&self, name: &str, message: &Message) -> Result<Receipt, DeliveryError> {
        let Some(channel) = self.channels.get(name) else {
            let words =
                format!("there is no channel `{name}` in {FILE}; there are: {}", self.names().join(", "));
            return Err(DeliveryError::new(ErrorClass::Config, words));
        };
        match &channel.delivery {
            Ok(delivery) => delivery.send(message).await,
            Err(why) => Err(DeliveryError::new(ErrorClass::Config, format!("channel `{name}`: {why}"))),
        }
    }

    /// The jobs that announce a new article, to be submitted with it. One that turned out to be of no use is not
    /// announced.
    pub fn announce(&self, article: &Article) -> Vec<NewJob> {
        if article.status != ArticleStatus::Ready {
            return Vec::new();
        }
        let heard = self.channels.iter().filter(|(_, channel)| {
            let Announces { articles, sites, .. } = &channel.announces;
            *articles && (sites.is_empty() || sites.contains(&article.site))
        });
        let notice = Notice::Article(article.id);
        heard.map(|(name, _)| notice.job(name, &format!("article:{}", article.url_hash))).collect()
    }

    /// Who is told when jobs of these kinds keep failing. None: nobody wants to know.
    pub fn alerts(&self, kinds: &[&str]) -> Option<Arc<AlertWatch>> {
        let told = self.channels.iter().filter(|(_, channel)| channel.announces.alerts);
        let channels: Vec<String> = told.map(|(name, _)| name.clone()).collect();
        let kinds = kinds.iter().map(|kind| (*kind).to_owned()).collect();
        (!channels.is_empty()).then(|| Arc::new(AlertWatch { rule: self.rule, channels, kinds }))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    channels: BTreeMap<String, toml::Table>,
    #[serde(default)]
    alerts: Alerts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Alerts {
    after: u32,
    within_sec: u64,
    repeat_sec: Option<u64>,
    recovered: bool,
}

impl Default for Alerts {
    fn default() -> Self {
        let rule = AlertRule::default();
        Alerts {
            after: rule.after,
            within_sec: rule.within.as_secs(),
            repeat_sec: rule.repeat.map(|repeat| repeat.as_secs()),
            recovered: rule.recovered,
        }
    }
}

impl From<Alerts> for AlertRule {
    fn from(file: Alerts) -> AlertRule {
        AlertRule {
            after: file.after.clamp(1, 100),
            within: Duration::from_secs(file.within_sec),
            repeat: file.repeat_sec.filter(|repeat| *repeat > 0).map(Duration::from_secs),
            recovered: file.recovered,
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Tell {
    Articles,
    Alerts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Robot {
    url: Secret,
    #[serde(default)]
    secret: Option<Secret>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Bot {
    token: Secret,
    chat_id: String,
    #[serde(default)]
    api: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Letters {
    host: String,
    #[serde(default)]
    port: Option<u16>,
    #[serde(default)]
    encryption: Encryption,
    #[serde(default)]
    user: Option<String>,
    #[serde(default)]
    password: Option<Secret>,
    from: String,
    to: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Growing {
    path: PathBuf,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    argv: Vec<String>,
    #[serde(default)]
    timeout_sec: Option<u64>,
}

struct Maker<'a> {
    data_dir: &'a Path,
    credentials: &'a dyn CredentialProvider,
    roots: &'a [CertificateDer<'static>],
    post: &'a Post,
}

type Made = Result<Result<Arc<dyn Delivery>, String>, String>;

impl Maker<'_> {
    /// The outer error is the file's, and ends everything; the inner one is this machine's, and ends this channel.
    fn channel(&self, mut table: toml::Table) -> Result<Channel, String> {
        let kind: String = take(&mut table, "kind")?.ok_or("`kind` is missing")?;
        let tell: Vec<Tell> = take(&mut table, "tell")?.unwrap_or_default();
        let announces = Announces {
            articles: tell.iter().any(|tell| matches!(tell, Tell::Articles)),
            alerts: tell.iter().any(|tell| matches!(tell, Tell::Alerts)),
            sites: take(&mut table, "sites")?.unwrap_or_default(),
        };
        let words = |table: &mut toml::Table, format| words(table, format);
        let delivery: Made = match kind.as_str() {
            "webhook" => {
                let Robot { url, secret } = rest(table)?;
                Ok(self.robot(&url, secret.as_ref(), |post, url, secret| {
                    Arc::new(Webhook { post, url, secret })
                }))
            }
            "dingtalk" => {
                let words = words(&mut table, Format::Markdown)?;
                let Robot { url, secret } = rest(table)?;
                Ok(self.robot(&url, secret.as_ref(), |post, url, secret| {
                    Arc::new(DingTalk { post, url, secret, words })
                }))
            }
            "feishu" => {
                let words = words(&mut table, Format::Plain)?;
                let Robot { url, secret } = rest(table)?;
                Ok(self.robot(&url, secret.as_ref(), |post, url, secret| {
                    Arc::new(Feishu { post, url, secret, words })
                }))
            }
            "wecom" => {
                let words = words(&mut table, Format::Markdown)?;
                let Robot { url, secret } = rest(table)?;
                if secret.is_some() {
                    return Err("a robot of WeCom has no secret; its key is in its address".to_owned());
                }
                Ok(self.robot(&url, None, |post, url, _| Arc::new(WeCom { post, url, words })))
            }
            "telegram" => {
                let words = words(&mut table, Format::Html)?;
                Ok(self.telegram(rest(table)?, words))
            }
            "email" => {
                let words = words(&mut table, Format::Plain)?;
                self.mail(rest(table)?, words)
            }
            "file" => {
                let Growing { path } = rest(table)?;
                Ok(Ok(Arc::new(Lines { path: self.data_dir.join(path) }) as Arc<dyn Delivery>))
            }
            "command" => {
                let Program { argv, timeout_sec } = rest(table)?;
                if argv.first().is_none_or(String::is_empty) {
                    return Err(
                        "`argv` names no program; write [\"/path/of/program\", \"argument\"]".to_owned()
                    );
                }
                let timeout = Duration::from_secs(timeout_sec.unwrap_or(COMMAND_TIMEOUT).clamp(1, 900));
                Ok(Ok(Arc::new(Command { argv, timeout }) as Arc<dyn Delivery>))
            }
            other => Err(format!(
                "there is no kind `{other}`; there are webhook, dingtalk, feishu, wecom, telegram, email, file, command"
            )),
        };
        Ok(Channel { kind, announces, delivery: delivery? })
    }

    fn robot(
        &self,
        url: &Secret,
        secret: Option<&Secret>,
        make: impl FnOnce(Post, Url, Option<String>) -> Arc<dyn Delivery>,
    ) -> Result<Arc<dyn Delivery>, String> {
        let url = url.reveal(self.credentials).map_err(|why| format!("`url`: {why}"))?;
        let secret = secret.map(|secret| secret.reveal(self.credentials)).transpose();
        let secret = secret.map_err(|why| format!("`secret`: {why}"))?;
        Ok(make(self.post.clone(), web(&url)?, secret))
    }

    fn telegram(&self, bot: Bot, words: Words) -> Result<Arc<dyn Delivery>, String> {
        let token = bot.token.reveal(self.credentials).map_err(|why| format!("`token`: {why}"))?;
        let api = bot.api.as_deref().unwrap_or("https://api.telegram.org").trim_end_matches('/');
        if !token.bytes().all(|byte| byte.is_ascii_alphanumeric() || b":-_".contains(&byte)) {
            return Err("`token` is no token of a bot; it looks like 123456:ABC-def".to_owned());
        }
        let url = web(&format!("{api}/bot{token}/sendMessage"))?;
        Ok(Arc::new(Telegram { post: self.post.clone(), url, chat_id: bot.chat_id, words }))
    }

    fn mail(&self, mail: Letters, words: Words) -> Made {
        let user = match (mail.user, mail.password) {
            (Some(user), Some(password)) => match password.reveal(self.credentials) {
                Ok(password) => Some((user, password)),
                Err(why) => return Ok(Err(format!("`password`: {why}"))),
            },
            (None, None) => None,
            _ => return Err("`user` and `password` go together".to_owned()),
        };
        let made =
            Mail::new(&mail.host, mail.port, mail.encryption, user, &mail.from, &mail.to, self.roots, words);
        made.map(|mail| Ok(Arc::new(mail) as Arc<dyn Delivery>))
    }
}

/// What is said when the file says nothing.
fn words(table: &mut toml::Table, format: Format) -> Result<Words, String> {
    let (article, other) = match format {
        Format::Markdown => (
            "### [{title}]({url})\n{publisher} {doc_no} {published}\n\n{text}",
            "### {title}\n\n{text}\n\n{url}",
        ),
        Format::Html => (
            "<b><a href=\"{url}\">{title}</a></b>\n{publisher} {doc_no} {published}\n\n{text}",
            "<b>{title}</b>\n\n{text}\n{url}",
        ),
        Format::Plain => ("{publisher} {doc_no} {published}\n\n{text}\n\n{url}", "{text}\n\n{url}"),
    };
    let mut template = |key: &str, usual: &str| -> Result<Template, String> {
        let text: Option<String> = take(table, key)?;
        Template::parse(text.as_deref().unwrap_or(usual)).map_err(|why| format!("`{key}`: {why}"))
    };
    Ok(Words {
        format,
        title: template("title", "{title}")?,
        article: template("article", article)?,
        other: template("other", other)?,
    })
}

fn take<T: DeserializeOwned>(table: &mut toml::Table, key: &str) -> Result<Option<T>, String> {
    let value = table.remove(key).map(T::deserialize).transpose();
    value.map_err(|error| format!("`{key}`: {error}"))
}

fn rest<T: DeserializeOwned>(table: toml::Table) -> Result<T, String> {
    T::deserialize(toml::Value::Table(table)).map_err(|error| error.message().to_owned())
}

fn web(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    // It may hold a token, so it is not repeated.
    url.ok_or_else(|| "the address is none of the web; write https://…".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deliver::SystemCredentials;

    fn read(text: &str) -> Result<Channels, (String, String)> {
        Channels::parse(text, Path::new("data"), &SystemCredentials, &[])
    }

    #[test]
    fn a_wrong_file_is_explained() {
        for (text, words) in [
            ("[channels.a]\nkind = \"fax\"", "there is no kind `fax`"),
            ("[channels.a]\nurl = \"https://a.cn\"", "`kind` is missing"),
            ("[channels.\"a b\"]\nkind = \"file\"\npath = \"x\"", "letters, digits"),
            ("[channels.a]\nkind = \"file\"\npaht = \"x\"", "paht"),
            ("[channels.a]\nkind = \"webhook\"", "url"),
            (
                "[channels.a]\nkind = \"wecom\"\nurl = \"https://a.cn\"\narticle = \"{nmae}\"",
                "there is no `{nmae}`",
            ),
            ("[channels.a]\nkind = \"command\"\nargv = []", "no program"),
            ("[channels.a]\nkind = \"file\"\npath = \"x\"\ntell = [\"gossip\"]", "gossip"),
            (
                "[channels.a]\nkind = \"email\"\nhost = \"h\"\nencryption = \"none\"\nuser = \"u\"\npassword = \"p\"\nfrom = \"a@b.cn\"\nto = [\"c@d.cn\"]",
                "open line",
            ),
            ("[chanels.a]", "chanels"),
        ] {
            let (what, message) = read(text).err().unwrap_or_else(|| panic!("{text} is taken"));
            assert!(message.contains(words), "{text}\n{what}: {message}");
        }
    }

    #[test]
    fn a_secret_that_is_not_here_ends_the_channel_only() {
        let text = "[channels.a]\nkind = \"webhook\"\nurl = { env = \"DIBAO_NO_SUCH_URL\" }\ntell = [\"articles\"]\n\
                    [channels.b]\nkind = \"file\"\npath = \"b.jsonl\"";
        let channels = read(text).unwrap();
        let why: Vec<_> = channels.list().map(|(name, _, _, why)| (name, why.is_some())).collect();
        assert_eq!(why, [("a", true), ("b", false)]);
    }
}
