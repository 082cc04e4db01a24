//! Sessions of the page: an opaque number in a cookie, everything else here. They end with the process.

use std::collections::HashMap;
use std::sync::Mutex;

use sha2::{Digest, Sha256};

use crate::caller::Scope;

/// The cookie's name.
pub const COOKIE: &str = "dibao_session";
/// How long a session lasts that is not used.
const IDLE_MS: i64 = 12 * 3_600_000;
/// How long it lasts at most.
const LONGEST_MS: i64 = 7 * 86_400_000;
/// Sessions at once; the oldest go.
const MOST: usize = 1_000;

/// Who is signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub name: String,
    pub scope: Scope,
    /// Number of the token that it was begun with: it holds no longer than that.
    pub token: Option<i64>,
    begun: i64,
    used: i64,
}

impl Session {
    /// When it ends if it is not used.
    pub fn until(&self) -> i64 {
        (self.used + IDLE_MS).min(self.begun + LONGEST_MS)
    }
}

/// All of them, by the hash of their number: what is in memory opens nothing.
#[derive(Debug, Default)]
pub struct Sessions(Mutex<HashMap<[u8; 32], Session>>);

impl Sessions {
    /// Begins one; the answer is the cookie's value.
    pub fn begin(
        &self,
        name: String,
        scope: Scope,
        token: Option<i64>,
        now: i64,
        secret: [u8; 32],
    ) -> (String, Session) {
        let number: String = secret.iter().map(|byte| format!("{byte:02x}")).collect();
        let session = Session { name, scope, token, begun: now, used: now };
        let mut all = self.lock();
        all.retain(|_, session| session.until() > now);
        if all.len() >= MOST {
            let oldest = all.iter().min_by_key(|(_, session)| session.used).map(|(key, _)| *key);
            oldest.map(|key| all.remove(&key));
        }
        all.insert(key(&number), session.clone());
        (number, session)
    }

    /// Who has this number.
    pub fn find(&self, number: &str, now: i64) -> Option<Session> {
        let mut all = self.lock();
        let session = all.get_mut(&key(number))?;
        if session.until() <= now {
            all.remove(&key(number));
            return None;
        }
        session.used = session.used.max(now);
        Some(session.clone())
    }

    /// Whether there is such a one; to ask is not to use it.
    pub fn holds(&self, number: &str, now: i64) -> Option<Session> {
        self.lock().get(&key(number)).filter(|session| session.until() > now).cloned()
    }

    /// Ends one.
    pub fn end(&self, number: &str) {
        self.lock().remove(&key(number));
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<[u8; 32], Session>> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

fn key(number: &str) -> [u8; 32] {
    Sha256::digest(number.as_bytes()).into()
}

/// The session's number among the cookies of a request.
pub fn number_in(cookies: &str) -> Option<&str> {
    cookies.split(';').find_map(|cookie| {
        let (name, value) = cookie.trim().split_once('=')?;
        (name == COOKIE && value.len() == 64).then_some(value)
    })
}

/// The header that sets the cookie, or with no number takes it away.
pub fn cookie(number: Option<&str>, secure: bool) -> String {
    let secure = if secure { "; Secure" } else { "" };
    match number {
        Some(number) => {
            format!("{COOKIE}={number}; Path=/; HttpOnly; SameSite=Strict; Max-Age=604800{secure}")
        }
        None => format!("{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0{secure}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lasts_while_it_is_used_but_not_for_ever() {
        let sessions = Sessions::default();
        let (number, session) = sessions.begin("a".into(), Scope::Admin, None, 0, [7; 32]);
        assert_eq!(session.until(), IDLE_MS);
        assert!(sessions.holds(&number, IDLE_MS - 1).is_some() && sessions.holds(&number, IDLE_MS).is_none());
        let mut now = 0;
        while now < LONGEST_MS {
            assert!(sessions.find(&number, now).is_some(), "{now}");
            now += IDLE_MS - 1;
        }
        assert_eq!(sessions.find(&number, now), None);
        let (number, _) = sessions.begin("a".into(), Scope::Read, None, 0, [8; 32]);
        assert_eq!(sessions.find(&number, IDLE_MS), None);
        let (number, _) = sessions.begin("a".into(), Scope::Read, None, 0, [9; 32]);
        sessions.end(&number);
        assert_eq!(sessions.find(&number, 1), None);
        assert_eq!(sessions.find(&"0".repeat(64), 1), None);
    }

    #[test]
    fn the_cookie_is_found_among_others() {
        let number = "a".repeat(64);
        assert_eq!(number_in(&format!("x=1; {COOKIE}={number};y=2")), Some(number.as_str()));
        for none in ["", "x", "dibao_session=", "dibao_sessions=1", "x=dibao_session=1"] {
            assert_eq!(number_in(none), None);
        }
    }
}
