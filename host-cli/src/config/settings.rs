//! The table of settings: where each stands in `dibao.toml`, which option it is, and which variables name it.

/// What a setting is in the file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// A file or directory; in the file a relative one begins at the file's directory.
    Path,
    Number,
    Flag,
    Texts,
    Paths,
}

/// Where an option is defined.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every command has it.
    Every,
    /// `run` and `serve`.
    Work,
    /// `serve`.
    Serve,
}

impl Scope {
    /// The commands that have the option; none: the program itself.
    pub fn commands(self) -> &'static [&'static str] {
        match self {
            Every => &[],
            Work => &["run", "serve"],
            Serve => &["serve"],
        }
    }
}

pub struct Setting {
    pub section: &'static str,
    pub key: &'static str,
    /// The option's name in the parser.
    pub option: &'static str,
    pub kind: Kind,
    pub scope: Scope,
    /// Variables besides `DIBAO__SECTION__KEY`, the first that is set counts; they come before it.
    pub names: &'static [&'static str],
}

const fn set(
    section: &'static str,
    key: &'static str,
    option: &'static str,
    kind: Kind,
    scope: Scope,
    names: &'static [&'static str],
) -> Setting {
    Setting { section, key, option, kind, scope, names }
}

use Kind::{Flag, Number, Path, Paths, Text, Texts};
use Scope::{Every, Serve, Work};

/// In the order of the file. Secrets are not in it: they come from variables or from files of their own.
pub const SETTINGS: &[Setting] = &[
    set("store", "data", "data", Path, Every, &["DIBAO_DATA", "DATA_DIR", "DATABASE_URL"]),
    set("store", "adapters", "adapters", Path, Every, &["DIBAO_ADAPTERS"]),
    set("fetch", "contact", "contact", Text, Every, &["DIBAO_CONTACT"]),
    set("fetch", "user_agent", "user_agent", Text, Every, &[]),
    set("fetch", "profile", "profile", Text, Every, &[]),
    set("fetch", "interval", "interval", Number, Every, &[]),
    set("fetch", "robots_on_unreachable", "robots_on_unreachable", Text, Every, &[]),
    set("fetch", "chromium", "chromium", Path, Every, &["DIBAO_CHROMIUM", "SKIP_CHROMIUM"]),
    set("fetch", "cacert", "cacert", Paths, Every, &[]),
    set("fetch", "resolve", "resolve", Texts, Every, &[]),
    set("fetch", "allow_loopback", "allow_loopback", Flag, Every, &[]),
    set("work", "jobs", "jobs", Number, Work, &[]),
    set("work", "drain", "drain", Number, Work, &[]),
    set("work", "lease", "lease", Number, Work, &[]),
    set("work", "stall_scan", "stall_scan", Number, Work, &[]),
    set("work", "max_stalled", "max_stalled", Number, Work, &[]),
    set("work", "no_progress", "no_progress", Number, Work, &[]),
    set("work", "keep_jobs", "keep_jobs", Number, Work, &[]),
    set("work", "reconcile", "reconcile", Number, Work, &["SCHEDULER_RECONCILE_SEC"]),
    set("server", "listen", "listen", Text, Serve, &["DIBAO_LISTEN"]),
    set("server", "host", "host", Texts, Serve, &["DIBAO_HOST"]),
    set("server", "https", "https", Flag, Serve, &["DIBAO_HTTPS"]),
    set("server", "admin_user", "admin_user", Text, Serve, &["ADMIN_USER"]),
    set("server", "admin_password_file", "admin_password_file", Path, Serve, &["ADMIN_PASSWORD_FILE"]),
    set("log", "verbose", "verbose", Number, Every, &[]),
    set("log", "format", "log_format", Text, Every, &[]),
];

impl Setting {
    /// `server.listen`.
    pub fn path(&self) -> String {
        format!("{}.{}", self.section, self.key)
    }

    /// `DIBAO__SERVER__LISTEN`.
    pub fn variable(&self) -> String {
        format!("DIBAO__{}__{}", self.section.to_ascii_uppercase(), self.key.to_ascii_uppercase())
    }
}
