//! The header: the same from the same seed, another from another, and readable by whoever holds the private key, with
//! whatever library.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use dibao_adapter::Request;
use percent_encoding::percent_decode_str;
use serde_json::json;

use crate::both::{Target, reply};

const KEY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/data/replica-athena-key.pem");

fn openssl(arguments: &[&str], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new("openssl")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("these tests want the openssl program: install the package `openssl`");
    child.stdin.take().expect("a pipe").write_all(input).expect("openssl reads");
    let output = child.wait_with_output().expect("openssl ends");
    assert!(output.status.success(), "openssl {arguments:?}");
    output.stdout
}

/// A target that encrypts for the test key.
fn target(seed: u8) -> Target {
    assert!(Path::new(KEY).is_file());
    let public = openssl(&["pkey", "-in", KEY, "-pubout"], b"");
    let mut target = Target::with(json!({"xxgk": {"public_key": String::from_utf8(public).unwrap()}}));
    target.seed = seed;
    target
}

fn sealed(request: &Request) -> Vec<u8> {
    let header = request.headers.iter().find(|(name, _)| name == "athenaAppKey").expect("the header");
    let text = percent_decode_str(&header.1).decode_utf8().unwrap();
    STANDARD.decode(text.as_ref()).expect("base64")
}

#[test]
fn openssl_reads_the_app_key_out_of_every_header() {
    for seed in 0..8 {
        let mut target = target(seed);
        let warm_up = target.asks(None, Vec::new());
        let list = target.asks(None, vec![reply("warmup", "xxgk/warmup.json")]);
        for request in [warm_up, list] {
            let sealed = sealed(&request);
            assert_eq!(sealed.len(), 128);
            let decrypt = ["pkeyutl", "-decrypt", "-inkey", KEY, "-pkeyopt", "rsa_padding_mode:pkcs1"];
            assert_eq!(openssl(&decrypt, &sealed), b"a46884b2013e4d189f2a8e2d49a23525");
        }
    }
}

#[test]
fn the_padding_is_of_type_two_without_a_zero() {
    let raw = ["pkeyutl", "-decrypt", "-inkey", KEY, "-pkeyopt", "rsa_padding_mode:none"];
    for seed in 0..8 {
        let block = openssl(&raw, &sealed(&target(seed).asks(None, Vec::new())));
        assert_eq!(block[..2], [0, 2]);
        assert!(block[2..95].iter().all(|byte| *byte != 0) && block[95] == 0, "{block:02x?}");
        assert_eq!(&block[96..], b"a46884b2013e4d189f2a8e2d49a23525");
    }
}

#[test]
fn equal_seeds_give_equal_requests_and_other_seeds_give_others() {
    let asks = |seed: u8| target(seed).asks(None, Vec::new());
    assert_eq!(asks(1), asks(1));
    assert_ne!(asks(1), asks(2));
    let without_key = |mut request: Request| {
        request.headers.retain(|(name, _)| name != "athenaAppKey");
        request
    };
    assert_eq!(without_key(asks(1)), without_key(asks(2)), "nothing else depends on it");
}

#[test]
fn a_key_that_is_none_is_a_mistake_in_the_settings() {
    let mut target = Target::with(json!({"xxgk": {"public_key": "no key"}}));
    let failure = target.list_step(None, Vec::new()).unwrap_err();
    assert!(matches!(&failure, dibao_adapter::Failure::Config(words) if words.contains("xxgk.public_key")));
}
