//! Secrets by reference: written in a variable, a file, or asked of whoever embeds the library. Never printed.

use std::fmt;
use std::path::PathBuf;

use futures::future::BoxFuture;
use serde::Deserialize;
use url::Url;

/// The largest secret that is read from a file.
const MAX: u64 = 64 * 1024;

/// Where a secret is: `"itself"`, `{ env = "NAME" }`, `{ file = "/path" }` or `{ name = "asked of the program" }`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Secret {
    /// Written here.
    Here(String),
    /// In a variable of the environment.
    Env {
        /// Its name.
        env: String,
    },
    /// In a file; white space around it is not part of it.
    File {
        /// Its path.
        file: PathBuf,
    },
    /// Known to the program's [`CredentialProvider`].
    Named {
        /// Under this name.
        name: String,
    },
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Secret::Here(_) => f.write_str("Secret(…)"),
            Secret::Env { env } => write!(f, "Secret(${env})"),
            Secret::File { file } => write!(f, "Secret({})", file.display()),
            Secret::Named { name } => write!(f, "Secret(`{name}`)"),
        }
    }
}

/// Brings secrets from where the embedding program keeps them: a vault, a keyring (§2.4).
///
/// ```
/// use dibao::deliver::{CredentialProvider, Secret};
///
/// struct Vault;
/// impl CredentialProvider for Vault {
///     fn credential(&self, name: &str) -> Result<String, String> {
///         match name {
///             "dingtalk" => Ok("SEC000".to_owned()),
///             other => Err(format!("the vault has no `{other}`")),
///         }
///     }
/// }
/// let secret = Secret::Named { name: "dingtalk".to_owned() };
/// assert_eq!(secret.reveal(&Vault).unwrap(), "SEC000");
/// ```
pub trait CredentialProvider: Send + Sync + 'static {
    /// The secret of that name, or why it is not to be had.
    fn credential(&self, name: &str) -> Result<String, String>;

    /// Signs in at a site that answered 401, at its base address: cookies as `Set-Cookie` lines, which join the pool of its
    /// host, or why it cannot be done (C9, C15). Asked for by a job of its own, three times at the most.
    fn sign_in<'a>(&'a self, site: &'a str, _base: &'a Url) -> BoxFuture<'a, Result<Vec<String>, String>> {
        Box::pin(std::future::ready(Err(format!("nobody here knows how to sign in at {site}"))))
    }
}

/// Knows no names: secrets come from the environment and from files.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemCredentials;

impl CredentialProvider for SystemCredentials {
    fn credential(&self, name: &str) -> Result<String, String> {
        Err(format!("nobody here knows the secret `{name}`; write {{ env = \"…\" }} or {{ file = \"…\" }}"))
    }
}

impl Secret {
    /// The secret itself; the error says where it was looked for.
    pub fn reveal(&self, provider: &dyn CredentialProvider) -> Result<String, String> {
        let found = match self {
            Secret::Here(text) => text.clone(),
            Secret::Env { env } => {
                std::env::var(env).map_err(|_| format!("the variable {env} is not set"))?
            }
            Secret::File { file } => {
                let read = || -> std::io::Result<String> {
                    use std::io::Read as _;
                    let mut text = String::new();
                    std::fs::File::open(file)?.take(MAX).read_to_string(&mut text)?;
                    Ok(text)
                };
                read().map_err(|error| format!("{}: {error}", file.display()))?
            }
            Secret::Named { name } => provider.credential(name)?,
        };
        let found = found.trim();
        if found.is_empty() {
            return Err(format!("{self:?} is empty"));
        }
        Ok(found.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_found_where_they_are_said_to_be_and_never_printed() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("token");
        std::fs::write(&file, "  abc\n").unwrap();
        assert_eq!(Secret::File { file: file.clone() }.reveal(&SystemCredentials).unwrap(), "abc");
        std::fs::write(&file, "\n").unwrap();
        let empty = Secret::File { file }.reveal(&SystemCredentials).unwrap_err();
        assert!(empty.contains("is empty"), "{empty}");
        let missing =
            Secret::Env { env: "DIBAO_NO_SUCH_SECRET".into() }.reveal(&SystemCredentials).unwrap_err();
        assert!(missing.contains("DIBAO_NO_SUCH_SECRET"), "{missing}");
        assert!(!format!("{:?}", Secret::Here("hunter2".into())).contains("hunter2"));
    }
}
