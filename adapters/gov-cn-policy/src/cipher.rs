//! The `athenaAppKey` header: the app key under RSAES-PKCS1-v1_5, as JSEncrypt makes it in the browser.
//!
//! Only the public-key operation is used, so the timing weakness of the `rsa` crate's private-key side does not
//! apply. The padding's randomness is the turn's seed: equal seeds make equal requests, and a replay sends what was
//! recorded.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dibao_adapter::Failure;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rand_chacha::ChaCha20Rng;
use rand_chacha::rand_core::SeedableRng as _;
use rsa::pkcs8::DecodePublicKey as _;
use rsa::{Pkcs1v15Encrypt, RsaPublicKey};

/// What `encodeURIComponent` leaves alone.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// The header's value: encrypted, base64, and all of `+ / =` percent-encoded.
pub fn app_key_header(public_key: &str, app_key: &str, seed: &[u8]) -> Result<String, Failure> {
    let key = public_key_of(public_key)?;
    let sealed = key.encrypt(&mut chance(seed), Pkcs1v15Encrypt, app_key.as_bytes()).map_err(|error| {
        Failure::Config(format!("xxgk.app_key cannot be encrypted with xxgk.public_key: {error}"))
    })?;
    Ok(component(&STANDARD.encode(sealed)))
}

/// A text as `encodeURIComponent` writes it.
pub fn component(text: &str) -> String {
    utf8_percent_encode(text, COMPONENT).to_string()
}

fn public_key_of(text: &str) -> Result<RsaPublicKey, Failure> {
    let body: String = text.lines().filter(|line| !line.starts_with("-----")).collect();
    let body: String = body.chars().filter(|c| !c.is_whitespace()).collect();
    let wrong = |why: String| Failure::Config(format!("xxgk.public_key is no RSA key in SPKI form: {why}"));
    let der = STANDARD.decode(body).map_err(|error| wrong(error.to_string()))?;
    RsaPublicKey::from_public_key_der(&der).map_err(|error| wrong(error.to_string()))
}

/// The contract says 32 bytes; any other number still gives a stream of its own.
fn chance(seed: &[u8]) -> ChaCha20Rng {
    let mut key = [0; 32];
    for (at, byte) in seed.iter().enumerate() {
        key[at % 32] ^= byte;
    }
    ChaCha20Rng::from_seed(key)
}

#[cfg(test)]
mod tests {
    use rsa::traits::PublicKeyParts as _;

    use super::*;
    use crate::config::Xxgk;

    #[test]
    fn the_key_of_the_site_is_read() {
        let key = public_key_of(&Xxgk::default().public_key).unwrap();
        assert_eq!((key.size(), key.n().bits(), key.e().to_string()), (128, 1024, "65537".to_owned()));
        let modulus = key.n().to_bytes_be();
        assert_eq!(modulus[..8], [0x92, 0x32, 0x13, 0x09, 0x43, 0xe5, 0xcb, 0x23]);
        assert_eq!(modulus[124..], [0x8d, 0x27, 0x5e, 0x49]);
    }

    #[test]
    fn pem_and_broken_lines_are_read_too() {
        let plain = Xxgk::default().public_key;
        let (head, tail) = plain.split_at(64);
        let pem = format!("-----BEGIN PUBLIC KEY-----\r\n{head}\r\n {tail}\n-----END PUBLIC KEY-----\n");
        assert_eq!(public_key_of(&pem).unwrap(), public_key_of(&plain).unwrap());
    }

    #[test]
    fn equal_seeds_give_equal_headers_and_others_give_others() {
        let settings = Xxgk::default();
        let header = |seed: &[u8]| app_key_header(&settings.public_key, &settings.app_key, seed).unwrap();
        assert_eq!(header(&[7; 32]), header(&[7; 32]));
        assert_ne!(header(&[7; 32]), header(&[8; 32]));
        // 128 bytes are 172 characters of base64, the last of them `=`.
        for seed in 0..20u8 {
            let header = header(&[seed; 32]);
            assert!(header.ends_with("%3D") && !header.contains(['+', '/', '=']), "{header}");
            let plain = header.replace("%3D", "=").replace("%2B", "+").replace("%2F", "/");
            assert_eq!(plain.len(), 172);
        }
    }

    #[test]
    fn settings_that_cannot_work_are_named() {
        let good = Xxgk::default();
        for (key, text) in
            [("", "x"), ("!!", "x"), ("AAAA", "x"), (good.public_key.as_str(), &"k".repeat(118))]
        {
            let wrong = app_key_header(key, text, &[1; 32]).unwrap_err();
            assert!(matches!(&wrong, Failure::Config(words) if words.contains("xxgk.")), "{wrong:?}");
        }
        assert!(app_key_header(&good.public_key, &"k".repeat(117), &[]).is_ok());
    }

    #[test]
    fn names_are_encoded_as_the_browser_does() {
        assert_eq!(component(&Xxgk::default().app_name), "%E5%9B%BD%E7%BD%91%E6%90%9C%E7%B4%A2");
        assert_eq!(component("a-b_c.d!e~f*g'h(i) /+="), "a-b_c.d!e~f*g'h(i)%20%2F%2B%3D");
    }
}
