//! Turns names into addresses, and lets only those through that the guard allows.
//!
//! It sits where the connection is made: the addresses it returns are the ones that are connected to, so a
//! name that is public when it is checked and private a moment later (rebinding) gains nothing.

use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use futures::future::BoxFuture;
use reqwest::dns::{Addrs, Name, Resolving};

use super::guard::{AddressGuard, Forbidden};
use super::wire::IpFamily;

/// Who knows the addresses of a name.
pub trait NameLookup: Send + Sync + 'static {
    /// All addresses of `host`.
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>>;
}

/// The system's own resolver.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemLookup;

impl NameLookup for SystemLookup {
    fn lookup(&self, host: String) -> BoxFuture<'static, io::Result<Vec<IpAddr>>> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.map(|addr| addr.ip()).collect())
        })
    }
}

/// Resolves for the HTTP client.
pub(super) enum Resolver {
    /// By lookup; forbidden addresses, and those of another family, are dropped. The proxy's own name is the
    /// operator's word and leads wherever it leads.
    Guarded { guard: AddressGuard, lookup: Arc<dyn NameLookup>, family: IpFamily, proxy: Option<String> },
    /// The operator's word: every name is this address.
    Fixed(SocketAddr),
}

impl reqwest::dns::Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        match self {
            Resolver::Fixed(addr) => {
                let addrs: Addrs = Box::new(std::iter::once(*addr));
                Box::pin(std::future::ready(Ok(addrs)))
            }
            Resolver::Guarded { guard, lookup, family, proxy } => {
                let is_proxy =
                    proxy.as_deref().is_some_and(|proxy| proxy.eq_ignore_ascii_case(name.as_str()));
                let (guard, family) = (*guard, *family);
                let found = lookup.lookup(name.as_str().to_owned());
                Box::pin(async move {
                    let found = found.await?;
                    let allowed = if is_proxy { found } else { allowed(guard, family, found)? };
                    let addrs: Addrs = Box::new(allowed.into_iter().map(|ip| SocketAddr::new(ip, 0)));
                    Ok(addrs)
                })
            }
        }
    }
}

/// The addresses that may be connected to; an error when there are none.
pub(super) fn allowed(
    guard: AddressGuard,
    family: IpFamily,
    found: Vec<IpAddr>,
) -> Result<Vec<IpAddr>, Unresolved> {
    let mut refused = None;
    let mut other_family = false;
    let mut kept = Vec::with_capacity(found.len());
    for address in found {
        if !family.allows(address) {
            other_family = true;
            continue;
        }
        match guard.check(address) {
            Ok(()) => kept.push(address),
            Err(why) => refused = refused.or(Some((address, why))),
        }
    }
    match (kept.is_empty(), refused) {
        (false, _) => Ok(kept),
        (true, Some((address, why))) => Err(Unresolved::Refused(address, why)),
        (true, None) if other_family => Err(Unresolved::OtherFamily(family)),
        (true, None) => Err(Unresolved::Empty),
    }
}

/// A name without an address that may be used.
#[derive(Debug)]
pub(super) enum Unresolved {
    /// All its addresses are forbidden; this is the first.
    Refused(IpAddr, Forbidden),
    /// It has none of the family that the site's settings ask for.
    OtherFamily(IpFamily),
    /// It has none.
    Empty,
}

impl fmt::Display for Unresolved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unresolved::Refused(address, why) => write!(f, "{address} is {why}"),
            Unresolved::OtherFamily(family) => {
                write!(f, "the name has no address for `ip_family: {}`", family.as_str())
            }
            Unresolved::Empty => f.write_str("the name has no address"),
        }
    }
}

impl std::error::Error for Unresolved {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forbidden_addresses_of_a_name_are_dropped_and_the_others_used() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let (guard, any) = (AddressGuard::default(), IpFamily::Any);
        assert_eq!(
            allowed(guard, any, vec![ip("10.0.0.1"), ip("8.8.8.8"), ip("::1")]).unwrap(),
            vec![ip("8.8.8.8")]
        );
        assert!(matches!(
            allowed(guard, any, vec![ip("10.0.0.1"), ip("::1")]),
            Err(Unresolved::Refused(address, Forbidden::Private)) if address == ip("10.0.0.1")
        ));
        assert!(matches!(allowed(guard, any, vec![]), Err(Unresolved::Empty)));
    }

    #[test]
    fn addresses_of_another_family_are_not_used() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let guard = AddressGuard::default();
        let both = || vec![ip("2400:3200::1"), ip("8.8.8.8")];
        for (family, kept) in [
            (IpFamily::Any, both()),
            (IpFamily::V4, vec![ip("8.8.8.8")]),
            (IpFamily::V6, vec![ip("2400:3200::1")]),
        ] {
            assert_eq!(allowed(guard, family, both()).unwrap(), kept);
        }
        let none = allowed(guard, IpFamily::V6, vec![ip("8.8.8.8")]).unwrap_err();
        assert!(none.to_string().contains("ip_family: v6"), "{none}");
    }
}
