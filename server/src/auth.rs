//! Who a request is from. Names and passwords, tokens, sessions; failures are throttled by client.
//!
//! A password is kept as an Argon2 hash, in memory as well, and one that was right once is known again by a keyed hash, so
//! that a client that sends it with every request does not cost a tenth of a second each time.

use std::net::IpAddr;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use dibao::Engine;
use http::{HeaderMap, header};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::sync::{Semaphore, watch};

use crate::caller::{Caller, Scope, Standing, Via};
use crate::error::ServerError;
use crate::problem::{Code, Problem};
use crate::session::{self, Session, Sessions};
use crate::throttle::Throttle;

/// Longest name or password that is looked at.
const LONGEST: usize = 1_024;
/// Hashes computed at once: each takes 19 MB.
const HASHING: usize = 2;
/// How often it is looked whether somebody who stays may still: a token may be taken back by another process.
const STILL: Duration = Duration::from_secs(15);

/// A password, or its Argon2 hash (`$argon2id$…`).
#[derive(Clone)]
pub struct Password(String);

impl Password {
    /// As it is written in a setting or a file.
    pub fn new(text: impl Into<String>) -> Password {
        Password(text.into())
    }

    /// Its hash, to be written in place of it.
    pub fn hash(&self) -> Result<String, ServerError> {
        if self.0.starts_with("$argon2") {
            return Ok(self.0.clone());
        }
        let refused = |message: String| ServerError::Setting { what: "ADMIN_PASSWORD", message };
        if self.0.is_empty() || self.0.len() > LONGEST {
            return Err(refused(format!("has from 1 to {LONGEST} bytes")));
        }
        let hash = Argon2::default().hash_password(self.0.as_bytes());
        hash.map(|hash| hash.to_string()).map_err(|error| refused(error.to_string()))
    }
}

impl std::fmt::Debug for Password {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Password(…)")
    }
}

/// Everything by which callers are known.
pub struct Auth {
    admin: Option<Admin>,
    /// Nobody need say who he is: only this machine can reach the server.
    pub open: bool,
    pub secure: bool,
    pub sessions: Sessions,
    throttle: Throttle,
    hashing: Semaphore,
    /// Of this process only.
    key: [u8; 32],
    right: Mutex<Option<[u8; 32]>>,
    /// Tells those who stay that something was taken back.
    ended: watch::Sender<()>,
}

struct Admin {
    user: String,
    hash: String,
}

impl Auth {
    pub fn new(admin: Option<(String, Password)>, open: bool, secure: bool) -> Result<Auth, ServerError> {
        let admin = match admin {
            Some((user, password)) => {
                let hash = password.hash()?;
                PasswordHash::new(&hash).map_err(|error| ServerError::Setting {
                    what: "ADMIN_PASSWORD",
                    message: format!("is no Argon2 hash: {error}; `dibao serve --hash-password` makes one"),
                })?;
                Some(Admin { user, hash })
            }
            None => None,
        };
        Ok(Auth {
            admin,
            open,
            secure,
            sessions: Sessions::default(),
            throttle: Throttle::default(),
            hashing: Semaphore::new(HASHING),
            key: random(),
            right: Mutex::new(None),
            ended: watch::Sender::new(()),
        })
    }

    /// Who sent these headers. Wrong credentials are an error even where none are needed.
    pub async fn who(&self, engine: &Engine, headers: &HeaderMap, client: IpAddr) -> Result<Caller, Problem> {
        let mut given = headers.get_all(header::AUTHORIZATION).iter();
        match (given.next(), given.next()) {
            (Some(one), None) => {
                let text = one.to_str().map_err(|_| self.wrong(client, headers))?;
                let (scheme, rest) = text.split_once(' ').unwrap_or((text, ""));
                match scheme.to_ascii_lowercase().as_str() {
                    "basic" => {
                        let decoded = BASE64_STANDARD.decode(rest.trim()).ok();
                        let decoded = decoded.and_then(|bytes| String::from_utf8(bytes).ok());
                        let pair = decoded.as_deref().and_then(|pair| pair.split_once(':'));
                        let (user, password) = pair.ok_or_else(|| self.wrong(client, headers))?;
                        self.password(user, password, client).await.map_err(|no| no.say(self, headers))
                    }
                    "bearer" => {
                        self.token(engine, rest.trim(), client).await.map_err(|no| no.say(self, headers))
                    }
                    _ => Err(self.wrong(client, headers)),
                }
            }
            (Some(_), Some(_)) => Err(self.wrong(client, headers)),
            (None, _) => Ok(self.by_session(engine, headers).await?.unwrap_or_else(|| self.unnamed())),
        }
    }

    /// The caller of a valid session.
    async fn by_session(&self, engine: &Engine, headers: &HeaderMap) -> Result<Option<Caller>, Problem> {
        let Some(number) = number(headers) else { return Ok(None) };
        let Some(session) = self.sessions.find(number, now_ms()) else { return Ok(None) };
        let Some(token) = session.token else { return Ok(Some(of_session(&session, number, None))) };
        match engine.token_by_number(token).await? {
            Some(row) => Ok(Some(of_session(&session, number, row.expires_at.map(|at| at.0)))),
            None => {
                self.sessions.end(number);
                Ok(None)
            }
        }
    }

    /// Returns when what somebody's rights hang on is gone.
    pub async fn until_over(&self, engine: &Engine, standing: &Standing) {
        let mut ended = self.ended.subscribe();
        while self.stands(engine, standing).await {
            let _ = tokio::time::timeout(STILL, ended.changed()).await;
        }
    }

    async fn stands(&self, engine: &Engine, standing: &Standing) -> bool {
        let token = match standing {
            Standing::Settings => return true,
            Standing::Token(token) => Some(*token),
            Standing::Session(number) => match self.sessions.holds(number, now_ms()) {
                Some(session) => session.token,
                None => return false,
            },
        };
        match token {
            None => true,
            // Nobody is turned away because the disk failed.
            Some(token) => engine.token_by_number(token).await.map_or(true, |row| row.is_some()),
        }
    }

    /// A token was taken back, or somebody signed out: who stays is looked at anew.
    pub fn ended(&self) {
        self.ended.send_replace(());
    }

    fn unnamed(&self) -> Caller {
        match self.open {
            true => Caller {
                name: "local".to_owned(),
                scope: Some(Scope::Admin),
                via: Via::Local,
                until: None,
                standing: Standing::Settings,
            },
            false => Caller::stranger(),
        }
    }

    /// Begins a session for whoever these credentials are of.
    pub async fn sign_in(
        &self,
        engine: &Engine,
        credentials: Credentials<'_>,
        headers: &HeaderMap,
        client: IpAddr,
    ) -> Result<(String, Caller), Problem> {
        let found = match credentials {
            Credentials::Password(user, password) => self.password(user, password, client).await,
            Credentials::Token(token) => self.token(engine, token, client).await,
        };
        let caller = found.map_err(|no| no.say(self, headers))?;
        let scope = caller.scope.unwrap_or(Scope::Read);
        let token = match caller.standing {
            Standing::Token(token) => Some(token),
            _ => None,
        };
        let (number, session) = self.sessions.begin(caller.name, scope, token, now_ms(), random());
        let caller = of_session(&session, &number, caller.until);
        Ok((number, caller))
    }

    async fn password(&self, user: &str, password: &str, client: IpAddr) -> Result<Caller, No> {
        let Some(admin) = &self.admin else { return Err(self.failed(client)) };
        let caller = || Caller {
            name: admin.user.clone(),
            scope: Some(Scope::Admin),
            via: Via::Basic,
            until: None,
            standing: Standing::Settings,
        };
        if user.len() > LONGEST || password.len() > LONGEST {
            return Err(self.failed(client));
        }
        let print = self.print(user, password);
        let known = lock(&self.right).is_some_and(|right| bool::from(right.ct_eq(&print)));
        if known {
            return Ok(caller());
        }
        if let Some(wait) = self.throttle.wait(client, Instant::now()) {
            return Err(No::Wait(wait.as_secs().max(1)));
        }
        let same_user = bool::from(
            Sha256::digest(user.as_bytes())
                .as_slice()
                .ct_eq(Sha256::digest(admin.user.as_bytes()).as_slice()),
        );
        let Ok(_turn) = self.hashing.acquire().await else { return Err(No::Wrong) };
        let (hash, given) = (admin.hash.clone(), password.to_owned());
        // The hash is computed for a wrong name too: the time it takes must not tell.
        let same = tokio::task::spawn_blocking(move || {
            PasswordHash::new(&hash)
                .is_ok_and(|hash| Argon2::default().verify_password(given.as_bytes(), &hash).is_ok())
        })
        .await
        .unwrap_or(false);
        if !(same && same_user) {
            return Err(self.failed(client));
        }
        *lock(&self.right) = Some(print);
        self.throttle.succeeded(client);
        Ok(caller())
    }

    async fn token(&self, engine: &Engine, token: &str, client: IpAddr) -> Result<Caller, No> {
        // A token cannot be guessed: who has one need not wait for others behind the same address.
        match engine.token(token).await {
            Ok(Some(row)) => Ok(Caller {
                name: row.name,
                scope: Some(row.scope),
                via: Via::Token,
                until: row.expires_at.map(|at| at.0),
                standing: Standing::Token(row.id),
            }),
            Ok(None) => Err(self.failed(client)),
            // Nobody is turned away as a stranger because the disk failed.
            Err(error) => Err(No::Broken(Box::new(error.into()))),
        }
    }

    fn print(&self, user: &str, password: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        hash.update(self.key);
        hash.update((user.len() as u64).to_le_bytes());
        hash.update(user);
        hash.update(password);
        hash.finalize().into()
    }

    fn failed(&self, client: IpAddr) -> No {
        let now = Instant::now();
        if let Some(wait) = self.throttle.wait(client, now) {
            return No::Wait(wait.as_secs().max(1));
        }
        self.throttle.failed(client, now);
        tracing::warn!(%client, "somebody was wrong about who he is");
        No::Wrong
    }

    fn wrong(&self, client: IpAddr, headers: &HeaderMap) -> Problem {
        self.failed(client).say(self, headers)
    }

    /// The same refusal, with what would be accepted.
    pub fn challenge(&self, problem: Problem, headers: &HeaderMap) -> Problem {
        // A page asks its user itself; a browser that sees `Basic` would put its own window before it.
        let by_page = headers.get("sec-fetch-dest").is_some_and(|value| value == "empty");
        let problem = problem.header(header::WWW_AUTHENTICATE, "Bearer realm=\"dibao\"");
        match by_page || self.admin.is_none() {
            true => problem,
            false => problem.header(header::WWW_AUTHENTICATE, "Basic realm=\"dibao\", charset=\"UTF-8\""),
        }
    }
}

/// What somebody signs in with.
pub enum Credentials<'a> {
    Password(&'a str, &'a str),
    Token(&'a str),
}

enum No {
    Wrong,
    Wait(u64),
    /// It cannot be known just now.
    Broken(Box<Problem>),
}

impl No {
    fn say(self, auth: &Auth, headers: &HeaderMap) -> Problem {
        match self {
            No::Wrong => {
                let problem = Problem::new(Code::Unauthenticated, "the name, password or token is wrong");
                auth.challenge(problem, headers)
            }
            No::Wait(seconds) => {
                let words = format!("too many wrong attempts; wait {seconds} s");
                Problem::new(Code::Throttled, words).header(header::RETRY_AFTER, &seconds.to_string())
            }
            No::Broken(problem) => *problem,
        }
    }
}

fn of_session(session: &Session, number: &str, token_ends: Option<i64>) -> Caller {
    Caller {
        name: session.name.clone(),
        scope: Some(session.scope),
        via: Via::Session,
        until: Some(session.until().min(token_ends.unwrap_or(i64::MAX))),
        standing: Standing::Session(number.to_owned()),
    }
}

/// The number of the session that a request names.
pub fn number(headers: &HeaderMap) -> Option<&str> {
    headers
        .get_all(header::COOKIE)
        .iter()
        .filter_map(|value| value.to_str().ok())
        .find_map(session::number_in)
}

pub fn random() -> [u8; 32] {
    let mut bytes = [0; 32];
    // Without randomness there is no safety to offer.
    getrandom::fill(&mut bytes).expect("the system has random bytes");
    bytes
}

pub fn now_ms() -> i64 {
    use dibao::Clock;
    dibao::clock::SystemClock.now().0
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_taken_as_it_is_and_a_password_is_hashed() {
        let hash = Password::new("秘密").hash().unwrap();
        assert!(hash.starts_with("$argon2id$"));
        assert_eq!(Password::new(hash.clone()).hash().unwrap(), hash);
        assert!(Password::new("").hash().is_err());
        assert!(Auth::new(Some(("a".into(), Password::new("$argon2id$nonsense"))), false, false).is_err());
        assert!(!format!("{:?}", Password::new("secret")).contains("secret"));
    }
}
