//! Whether a request was meant for this server (DNS rebinding), and whether another site's page made it (CSRF). Pure.

use std::net::IpAddr;

use http::{HeaderMap, Method, header};

use crate::problem::{Code, Problem};

/// The host of a `Host` header, without its port and in lower case.
fn host_of(authority: &str) -> Option<String> {
    let authority: http::uri::Authority = authority.parse().ok()?;
    let host = authority.host().trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    (!host.is_empty() && !authority.as_str().contains('@')).then(|| host.to_ascii_lowercase())
}

/// An address, `localhost` or a name that the operator gave: no name of an attacker's choice resolves to those.
pub fn meant_for_us(headers: &HeaderMap, names: &[String]) -> Result<(), Problem> {
    let mut given = headers.get_all(header::HOST).iter();
    let host = match (given.next(), given.next()) {
        (Some(host), None) => host.to_str().ok().and_then(host_of),
        _ => None,
    };
    let Some(host) = host else {
        return Err(Problem::new(Code::WrongHost, "the request has no usable Host header"));
    };
    let ours = host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<IpAddr>().is_ok()
        || names.iter().any(|name| name.eq_ignore_ascii_case(&host));
    match ours {
        true => Ok(()),
        false => Err(Problem::new(
            Code::WrongHost,
            format!("this server does not answer for `{host}`; start it with --host {host} if it should"),
        )),
    }
}

/// Refuses changes that the page of another site asks for. Who has no browser sends neither header.
pub fn same_origin(method: &Method, headers: &HeaderMap, by_cookie: bool) -> Result<(), Problem> {
    if matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    let text = |name: header::HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    let no = |why: &str| Err(Problem::new(Code::CrossOrigin, format!("{why}; open the page of this server")));
    let site = text(header::HeaderName::from_static("sec-fetch-site"));
    if !matches!(site, None | Some("same-origin" | "none")) {
        return no("the request came from a page of another site");
    }
    if let Some(origin) = text(header::ORIGIN) {
        let from = origin.split_once("://").map(|(_, authority)| authority);
        let to = text(header::HOST);
        if from.is_none() || !from.zip(to).is_some_and(|(from, to)| same_authority(from, to)) {
            return no(&format!("the request came from `{}`", origin.escape_debug()));
        }
    } else if by_cookie && site.is_none() {
        return no("a session needs a browser that says where a request comes from");
    }
    Ok(())
}

/// `https://a` has the origin `https://a`, while a proxy may tell us `a:443`.
fn same_authority(a: &str, b: &str) -> bool {
    let plain = |text: &str| {
        let text = text.to_ascii_lowercase();
        text.strip_suffix(":443").or_else(|| text.strip_suffix(":80")).map(str::to_owned).unwrap_or(text)
    };
    plain(a) == plain(b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut map = HeaderMap::new();
        for (name, value) in pairs {
            map.append(*name, HeaderValue::from_str(value).unwrap());
        }
        map
    }

    #[test]
    fn only_names_that_nobody_else_can_own_are_ours() {
        let names = ["dibao.example.org".to_owned()];
        for (host, ours) in [
            ("127.0.0.1:8787", true),
            ("localhost:8787", true),
            ("LOCALHOST", true),
            ("[::1]:8787", true),
            ("192.168.1.13", true),
            ("dibao.example.org", true),
            ("Dibao.Example.org:443", true),
            ("evil.example.org", false),
            ("127.0.0.1.evil.example.org", false),
            ("localhost.evil.example.org:8787", false),
            ("a@127.0.0.1", false),
            ("", false),
            ("a b", false),
        ] {
            assert_eq!(meant_for_us(&headers(&[("host", host)]), &names).is_ok(), ours, "{host}");
        }
        assert!(meant_for_us(&HeaderMap::new(), &names).is_err());
        let two = headers(&[("host", "localhost"), ("host", "localhost")]);
        assert!(meant_for_us(&two, &names).is_err());
    }

    #[test]
    fn a_change_that_another_site_asks_for_is_refused() {
        let host = ("host", "127.0.0.1:8787");
        for (pairs, by_cookie, fine) in [
            (vec![host], false, true),
            (vec![host], true, false),
            (vec![host, ("origin", "http://127.0.0.1:8787")], true, true),
            (vec![host, ("sec-fetch-site", "same-origin")], true, true),
            (vec![host, ("origin", "http://evil.example.org")], false, false),
            (vec![host, ("origin", "http://127.0.0.1:9999")], false, false),
            (vec![host, ("origin", "null")], false, false),
            (vec![host, ("sec-fetch-site", "cross-site")], false, false),
            (vec![host, ("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:8787")], true, false),
            (vec![("host", "a.cn:443"), ("origin", "https://a.cn")], true, true),
        ] {
            let map = headers(&pairs);
            assert_eq!(same_origin(&Method::POST, &map, by_cookie).is_ok(), fine, "{pairs:?}");
            assert!(same_origin(&Method::GET, &map, by_cookie).is_ok());
        }
    }
}
