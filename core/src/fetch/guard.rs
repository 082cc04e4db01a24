//! Which addresses are of the public internet. Pure.
//!
//! A page, a redirect or a DNS answer may name any address; this keeps it from naming one that only
//! this machine or its network can reach. Names are turned into addresses elsewhere (`resolver`), and
//! checked there, where the connection is made.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What an address is reserved for, when it is not one of the public internet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Forbidden {
    /// `0.0.0.0/8`, `::`.
    Unspecified,
    /// `127.0.0.0/8`, `::1`.
    Loopback,
    /// `10/8`, `172.16/12`, `192.168/16`, `fc00::/7`.
    Private,
    /// `169.254/16`, `fe80::/10`: cloud metadata lives here.
    LinkLocal,
    /// `100.64/10`: behind a carrier's translator, and some clouds' own services.
    CarrierNat,
    /// `198.18/15`, `2001:2::/48`.
    Benchmark,
    /// `192.0.2/24`, `198.51.100/24`, `203.0.113/24`, `2001:db8::/32`, `3fff::/20`.
    Documentation,
    /// `224/4`, `ff00::/8`.
    Multicast,
    /// `255.255.255.255`.
    Broadcast,
    /// `fec0::/10`.
    SiteLocal,
    /// Assigned to a protocol or to nobody.
    Reserved,
    /// A local translation prefix, `64:ff9b:1::/48`.
    LocalTranslation,
}

impl fmt::Display for Forbidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Forbidden::Unspecified => "the unspecified address",
            Forbidden::Loopback => "an address of this machine",
            Forbidden::Private => "a private address",
            Forbidden::LinkLocal => "a link-local address",
            Forbidden::CarrierNat => "an address behind carrier NAT",
            Forbidden::Benchmark => "a benchmark address",
            Forbidden::Documentation => "a documentation address",
            Forbidden::Multicast => "a multicast address",
            Forbidden::Broadcast => "the broadcast address",
            Forbidden::SiteLocal => "a site-local address",
            Forbidden::Reserved => "a reserved address",
            Forbidden::LocalTranslation => "an address of a local translator",
        })
    }
}

/// The guard with the operator's one exception.
#[derive(Clone, Copy, Debug, Default)]
pub struct AddressGuard {
    /// Addresses of this machine pass.
    pub allow_loopback: bool,
}

impl AddressGuard {
    /// Whether a connection to `address` may be made.
    pub fn check(&self, address: IpAddr) -> Result<(), Forbidden> {
        match classify(address) {
            Some(Forbidden::Loopback) if self.allow_loopback => Ok(()),
            Some(why) => Err(why),
            None => Ok(()),
        }
    }
}

/// What `address` is reserved for; none = it is of the public internet. An IPv6 address that carries an
/// IPv4 address is what the carried one is.
pub fn classify(address: IpAddr) -> Option<Forbidden> {
    match address {
        IpAddr::V4(v4) => classify_v4(v4),
        IpAddr::V6(v6) => classify_v6(v6),
    }
}

fn classify_v4(address: Ipv4Addr) -> Option<Forbidden> {
    Some(match address.octets() {
        [0, ..] => Forbidden::Unspecified,
        [127, ..] => Forbidden::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => Forbidden::Private,
        [169, 254, ..] => Forbidden::LinkLocal,
        [100, 64..=127, ..] => Forbidden::CarrierNat,
        [198, 18..=19, ..] => Forbidden::Benchmark,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => Forbidden::Documentation,
        // IETF protocol assignments; 6to4 relays, withdrawn by RFC 7526.
        [192, 0, 0, _] | [192, 88, 99, _] => Forbidden::Reserved,
        [224..=239, ..] => Forbidden::Multicast,
        [255, 255, 255, 255] => Forbidden::Broadcast,
        [240..=255, ..] => Forbidden::Reserved,
        _ => return None,
    })
}

fn classify_v6(address: Ipv6Addr) -> Option<Forbidden> {
    let s = address.segments();
    let carried = |high: u16, low: u16| Ipv4Addr::from((high as u32) << 16 | low as u32);
    match s {
        [0, 0, 0, 0, 0, 0, 0, 0] => Some(Forbidden::Unspecified),
        [0, 0, 0, 0, 0, 0, 0, 1] => Some(Forbidden::Loopback),
        // Mapped (::ffff:a.b.c.d): the kernel connects to the carried address.
        [0, 0, 0, 0, 0, 0xffff, high, low] => classify_v4(carried(high, low)),
        // Translated (::ffff:0:a.b.c.d, RFC 2765) and compatible (::a.b.c.d): withdrawn; say what is carried
        // when that is worse.
        [0, 0, 0, 0, 0xffff, 0, high, low] | [0, 0, 0, 0, 0, 0, high, low] => {
            Some(classify_v4(carried(high, low)).unwrap_or(Forbidden::Reserved))
        }
        // NAT64: the well-known prefix leads to the carried address; local prefixes may lead anywhere.
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => classify_v4(carried(high, low)),
        [0x64, 0xff9b, 1, ..] => Some(Forbidden::LocalTranslation),
        // 6to4: the carried address is the router's.
        [0x2002, high, low, ..] => classify_v4(carried(high, low)),
        // Teredo: server in the clear, client inverted.
        [0x2001, 0, high, low, _, _, client_high, client_low] => {
            classify_v4(carried(high, low)).or_else(|| classify_v4(carried(!client_high, !client_low)))
        }
        [0x2001, 2, 0, ..] => Some(Forbidden::Benchmark),
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => Some(Forbidden::Documentation),
        // The rest of 2001::/23 is for protocols (ORCHID, drone IDs, AMT …), not for web servers.
        [0x2001, 0..=0x1ff, ..] => Some(Forbidden::Reserved),
        [0xfc00..=0xfdff, ..] => Some(Forbidden::Private),
        [0xfe80..=0xfebf, ..] => Some(Forbidden::LinkLocal),
        [0xfec0..=0xfeff, ..] => Some(Forbidden::SiteLocal),
        [0xff00..=0xffff, ..] => Some(Forbidden::Multicast),
        // ISATAP: an interface identifier that carries an IPv4 address.
        [0x2000..=0x3fff, _, _, _, 0 | 0x200, 0x5efe, high, low] => classify_v4(carried(high, low)),
        [0x2000..=0x3fff, ..] => None,
        // Only 2000::/3 has been given out.
        _ => Some(Forbidden::Reserved),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::{Host, Url};

    use super::*;

    fn literal(host: &str) -> IpAddr {
        match Url::parse(&format!("http://{host}/")).unwrap().host() {
            Some(Host::Ipv4(v4)) => v4.into(),
            Some(Host::Ipv6(v6)) => v6.into(),
            other => panic!("{host} is no literal: {other:?}"),
        }
    }

    #[test]
    fn every_reserved_address_is_known_in_every_notation() {
        use Forbidden::*;
        #[rustfmt::skip]
        let table: &[(&str, Option<Forbidden>)] = &[
            ("0.0.0.0", Some(Unspecified)), ("0.1.2.3", Some(Unspecified)), ("0", Some(Unspecified)),
            ("127.0.0.1", Some(Loopback)), ("127.255.255.254", Some(Loopback)), ("127.1", Some(Loopback)),
            ("2130706433", Some(Loopback)), ("0x7f000001", Some(Loopback)), ("0x7f.1", Some(Loopback)),
            ("017700000001", Some(Loopback)), ("0177.0.0.1", Some(Loopback)), ("127.0.0.1.", Some(Loopback)),
            ("%31%32%37.0.0.1", Some(Loopback)), ("１２７.0.0.1", Some(Loopback)),
            ("10.0.0.1", Some(Private)), ("10.255.255.255", Some(Private)), ("012.0.0.1", Some(Private)),
            ("167772161", Some(Private)),
            ("172.15.255.255", None), ("172.16.0.0", Some(Private)), ("172.31.255.255", Some(Private)), ("172.32.0.0", None),
            ("192.168.0.1", Some(Private)), ("0xc0a80001", Some(Private)), ("192.167.255.255", None), ("192.169.0.0", None),
            ("169.254.169.254", Some(LinkLocal)), ("0xa9fea9fe", Some(LinkLocal)), ("2852039166", Some(LinkLocal)),
            ("100.63.255.255", None), ("100.64.0.0", Some(CarrierNat)), ("100.100.100.200", Some(CarrierNat)),
            ("100.127.255.255", Some(CarrierNat)), ("100.128.0.0", None),
            ("198.17.255.255", None), ("198.18.0.1", Some(Benchmark)), ("198.19.255.255", Some(Benchmark)), ("198.20.0.0", None),
            ("192.0.0.8", Some(Reserved)), ("192.0.2.1", Some(Documentation)), ("198.51.100.7", Some(Documentation)),
            ("203.0.113.9", Some(Documentation)), ("192.88.99.1", Some(Reserved)), ("192.0.1.1", None),
            ("224.0.0.1", Some(Multicast)), ("239.255.255.255", Some(Multicast)), ("223.255.255.255", None),
            ("240.0.0.1", Some(Reserved)), ("255.255.255.254", Some(Reserved)), ("255.255.255.255", Some(Broadcast)),
            ("8.8.8.8", None), ("114.114.114.114", None), ("1.1.1.1", None),
            ("[::]", Some(Unspecified)), ("[::1]", Some(Loopback)), ("[0:0:0:0:0:0:0:1]", Some(Loopback)),
            ("[::ffff:127.0.0.1]", Some(Loopback)), ("[::ffff:7f00:1]", Some(Loopback)),
            ("[::ffff:10.0.0.1]", Some(Private)), ("[::ffff:169.254.169.254]", Some(LinkLocal)), ("[::ffff:8.8.8.8]", None),
            ("[::ffff:0:127.0.0.1]", Some(Loopback)), ("[::ffff:0:8.8.8.8]", Some(Reserved)),
            ("[::127.0.0.1]", Some(Loopback)), ("[::10.0.0.1]", Some(Private)), ("[::8.8.8.8]", Some(Reserved)),
            ("[64:ff9b::7f00:1]", Some(Loopback)), ("[64:ff9b::10.0.0.1]", Some(Private)), ("[64:ff9b::8.8.8.8]", None),
            ("[64:ff9b::1:808:808]", Some(Reserved)), ("[64:ff9b:1::8.8.8.8]", Some(LocalTranslation)),
            ("[2002:7f00:1::]", Some(Loopback)), ("[2002:a00:1::1]", Some(Private)), ("[2002:808:808::1]", None),
            ("[2001:0:a00:1::]", Some(Private)),
            ("[2001:0:4136:e378:8000:63bf:f5ff:fffe]", Some(Private)),   // client 10.0.0.1, inverted
            ("[2001:0:4136:e378:8000:63bf:3fff:fdd2]", Some(Documentation)), // client 192.0.2.45
            ("[2001:0:4136:e378:8000:63bf:f7f7:f7f7]", None),             // client 8.8.8.8
            ("[2001:2::1]", Some(Benchmark)), ("[2001:10::1]", Some(Reserved)), ("[2001:20::1]", Some(Reserved)),
            ("[2001:db8::1]", Some(Documentation)), ("[3fff:fff::1]", Some(Documentation)), ("[3fff:1000::1]", None),
            ("[fc00::1]", Some(Private)), ("[fd00:ec2::254]", Some(Private)), ("[fe80::1]", Some(LinkLocal)),
            ("[febf::1]", Some(LinkLocal)), ("[fec0::1]", Some(SiteLocal)), ("[ff02::1]", Some(Multicast)),
            ("[100::1]", Some(Reserved)), ("[4000::1]", Some(Reserved)), ("[5f00::1]", Some(Reserved)),
            ("[2001:da8::5efe:10.0.0.1]", Some(Private)), ("[2001:da8::200:5efe:127.0.0.1]", Some(Loopback)),
            ("[2400:3200::1]", None), ("[2001:4860:4860::8888]", None), ("[240e::1]", None),
        ];
        for (host, expected) in table {
            assert_eq!(classify(literal(host)), *expected, "{host}");
        }
    }

    #[test]
    fn the_loopback_option_opens_nothing_else() {
        let guard = AddressGuard { allow_loopback: true };
        for open in ["127.0.0.1", "127.8.8.8", "[::1]", "[::ffff:127.0.0.1]"] {
            assert!(guard.check(literal(open)).is_ok(), "{open}");
            assert!(AddressGuard::default().check(literal(open)).is_err(), "{open}");
        }
        for shut in ["0.0.0.0", "10.0.0.1", "169.254.169.254", "[::]", "[fc00::1]", "[fe80::1]"] {
            assert!(guard.check(literal(shut)).is_err(), "{shut}");
        }
    }

    proptest! {
        #[test]
        fn the_standard_librarys_private_addresses_are_forbidden(bits in any::<u32>()) {
            let v4 = Ipv4Addr::from(bits);
            if v4.is_private() || v4.is_loopback() || v4.is_link_local() || v4.is_multicast() || v4.is_broadcast()
                || v4.is_documentation() || v4.is_unspecified()
            {
                prop_assert!(classify_v4(v4).is_some(), "{}", v4);
            }
        }

        #[test]
        fn a_carried_address_is_never_freer_than_it_is_alone(bits in any::<u32>(), rest in any::<u64>()) {
            let v4 = Ipv4Addr::from(bits);
            let (high, low) = ((bits >> 16) as u16, bits as u16);
            let r = [(rest >> 48) as u16, (rest >> 32) as u16, (rest >> 16) as u16, rest as u16];
            for v6 in [
                v4.to_ipv6_mapped(), v4.to_ipv6_compatible(),
                Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
                Ipv6Addr::new(0x2002, high, low, r[0], r[1], r[2], r[3], 1),
                Ipv6Addr::new(0x2001, 0, high, low, r[0], r[1], r[2], r[3]),
                Ipv6Addr::new(0x2001, 0, 0x4136, 0xe378, r[0], r[1], !high, !low),
            ] {
                if classify_v4(v4).is_some() {
                    prop_assert!(classify_v6(v6).is_some(), "{} in {}", v4, v6);
                }
            }
        }

        #[test]
        fn nothing_outside_global_unicast_is_free(bits in any::<u128>()) {
            let v6 = Ipv6Addr::from(bits);
            let free = classify_v6(v6).is_none();
            let carries = v6.to_ipv4_mapped().is_some() || v6.segments()[..6] == [0x64, 0xff9b, 0, 0, 0, 0];
            prop_assert!(!free || carries || v6.segments()[0] >> 13 == 1, "{}", v6);
        }
    }
}
