//! Follows a request through its redirects. A redirect is a new request: each hop starts again at the first check
//! (I9), is classified, and is written down.

use std::collections::HashSet;

use http::header::{COOKIE, HeaderValue};
use reqwest::Response;
use url::Url;

use super::admit::Admitted;
use super::ask::{Ask, Method, Purpose};
use super::cookies::{self, parse_set_cookie};
use super::error::FetchErrorKind;
use super::gate::Shared;
use super::headers;
use super::redirect;
use super::throttle::Pass;
use super::trip::Trip;
use super::verdict::{Verdict, VerdictKind};

/// The head of the last answer of a chain, with what holds its host's slot.
pub(super) struct Opened {
    pub response: Response,
    pub pass: Pass,
    pub admitted: Admitted,
    pub status: u16,
    pub headers: Vec<(String, String)>,
}

impl Shared {
    pub(super) async fn open(&self, ask: &Ask, trip: &mut Trip) -> Result<Opened, FetchErrorKind> {
        let mut seen: HashSet<(Method, Url, Option<HeaderValue>)> = HashSet::new();
        let mut probe = None;
        loop {
            let (pass, mut admitted) = self.enter_with(ask, trip, probe.take()).await?;
            let key = admitted.key().to_owned();
            self.add_cookies(trip, &key);
            trip.set_conditions();
            let url = trip.url.clone();
            admitted.goes();
            let sent = self.http.send(&ask.wire, trip.method, &url, trip.headers.clone(), trip.body.clone());
            let response = match trip.timed(sent).await {
                Ok(response) => response,
                Err(kind) => {
                    self.finish_failed(ask, trip, admitted, &kind);
                    return Err(kind);
                }
            };
            let status = response.status().as_u16();
            let headers = headers::incoming(response.headers());
            let next = match redirect::next(status, response.headers(), &trip.url, trip.method) {
                Ok(Some(next)) => next,
                Ok(None) => return Ok(Opened { response, pass, admitted, status, headers }),
                Err(why) => {
                    let kind = FetchErrorKind::BadRedirect(why);
                    self.finish_failed(ask, trip, admitted, &kind);
                    return Err(kind);
                }
            };
            let verdict = self.classify(ask, trip, status, &headers, &[]);
            self.keep_cookies(trip, &key, &headers, &verdict);
            probe = admitted.led_on(&verdict, &self.key(ask, &next.url));
            trip.say("http", true, || verdict.to_string());
            trip.passed_by(status, verdict);
            // The host's slot is given back before the next hop asks for one.
            drop((response, pass));

            seen.insert((trip.method, trip.url.clone(), trip.headers.get(COOKIE).cloned()));
            trip.url = next.url;
            trip.method = next.method;
            if next.drops_body {
                trip.body = None;
                headers::without_body(&mut trip.headers);
            }
            if next.crosses {
                headers::for_another_origin(&mut trip.headers);
            }
            let key = self.key(ask, &trip.url).into_owned();
            self.add_cookies(trip, &key);
            // The same address with other cookies is another question: some hosts want theirs back first.
            let circle = seen.contains(&(trip.method, trip.url.clone(), trip.headers.get(COOKIE).cloned()));
            let kind = match circle {
                true => FetchErrorKind::RedirectLoop,
                false if trip.hops.len() > trip.max_hops => FetchErrorKind::TooManyRedirects(trip.max_hops),
                false => continue,
            };
            self.gave_up(trip, &key, probe, &kind);
            return Err(kind);
        }
    }

    /// All checks of one request, in their order; it may go when this returns.
    pub(super) async fn enter(&self, ask: &Ask, trip: &mut Trip) -> Result<(Pass, Admitted), FetchErrorKind> {
        self.enter_with(ask, trip, None).await
    }

    /// The same for a hop of a probe, to which the breaker has given its word.
    async fn enter_with(
        &self,
        ask: &Ask,
        trip: &mut Trip,
        probe: Option<Admitted>,
    ) -> Result<(Pass, Admitted), FetchErrorKind> {
        self.check(ask, trip)?;
        let key = self.key(ask, &trip.url).into_owned();
        if probe.is_none() {
            self.not_cooling(trip, &key).await?;
        }
        let asked_for = self.consult(ask, trip, &key).await?;
        self.turn(ask, trip, &key, asked_for, probe).await
    }

    /// The checks that need no waiting, in their order; 4, robots, is in `consult`.
    fn check(&self, ask: &Ask, trip: &mut Trip) -> Result<(), FetchErrorKind> {
        // 1. grant
        // Whoever may ask a host may read its robots.txt, whatever scheme and port that ends on, and wherever the host
        // has moved it (RFC 9309 §2.3.1.2): it still speaks for the host that was asked.
        let robots = ask.purpose == Purpose::Robots;
        let stays = robots && trip.url.host_str() == ask.url.host_str();
        let moved = robots && !stays && trip.url.domain().is_some() && trip.url.path() == "/robots.txt";
        if !stays && !moved {
            let granted = ask.grant.check(&trip.url).map_err(FetchErrorKind::NotGranted);
            trip.checked("grant", granted, "granted to the adapter and by the operator")?;
        }
        // 2. public path
        let public = if moved { ask.public.check_form(&trip.url) } else { ask.public.check(&trip.url) };
        let public = public.map_err(FetchErrorKind::NotPublic);
        trip.checked("public", public, "a public page of a host that is watched")?;
        // 3. address guard: literals here, names in `resolver`, where the connection is made
        let literal = self.http.check_literal(&trip.url);
        trip.checked(
            "address",
            literal,
            "no forbidden address; a name is checked where the connection is made",
        )
    }

    /// The cookies of the pool and of this trip that go with the next request.
    fn add_cookies(&self, trip: &mut Trip, key: &str) {
        trip.headers.remove(COOKIE);
        let mut found = self.register.hosts.cookies(key, &trip.url);
        trip.pooled = !found.is_empty();
        for own in trip.jar.for_url(&trip.url, self.clock.now()) {
            match found.iter_mut().find(|known| known.is_same(&own)) {
                Some(known) => *known = own,
                None => found.push(own),
            }
        }
        cookies::longer_paths_first(&mut found);
        if let Some(value) = cookies::header(&found) {
            trip.headers.insert(COOKIE, value);
        }
    }

    /// What a redirect set is sent back on this trip; a cookie that its host insists on is kept for the next ones.
    fn keep_cookies(&self, trip: &mut Trip, key: &str, headers: &[(String, String)], verdict: &Verdict) {
        let now = self.clock.now();
        let set: Vec<_> = headers
            .iter()
            .filter(|(name, _)| name == "set-cookie")
            .filter_map(|(_, value)| parse_set_cookie(value, &trip.url, now))
            .collect();
        if set.is_empty() {
            return;
        }
        if matches!(verdict.kind, VerdictKind::Challenge(_)) {
            self.register.hosts.earn(key, &trip.url, set.clone());
            trip.urgent.push(key.to_owned());
        }
        let url = trip.url.clone();
        trip.jar.keep(set, &url, now);
    }
}
