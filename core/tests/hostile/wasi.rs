//! WASI leads nowhere: time stands, waits are over at once, randomness is the context's seed.

use super::make::{Guest, guest};
use super::{goes_on, host, turn};

const IO: &str = "package wasi:io@0.2.3; interface poll { resource pollable { block: func(); } }";
const CLOCKS: &str = "package wasi:clocks@0.2.3;
    interface monotonic-clock { use wasi:io/poll@0.2.3.{pollable}; subscribe-duration: func(when: u64) -> pollable; }
    interface wall-clock { record datetime { seconds: u64, nanoseconds: u32 } now: func() -> datetime; }";
const RANDOM: &str = "package wasi:random@0.2.3; interface random { get-random-u64: func() -> u64; }";

/// Waits an hour, then answers with the time and a random number as its session.
fn sleeper() -> Guest {
    let mut sleeper = guest(
        "(call $block (call $wait (i64.const 3600000000000)))
         (call $now (i32.const 8192))
         (i64.store (i32.const 8200) (call $random))
         (i32.store (i32.const 4124) (i32.const 8192)) (i32.store (i32.const 4128) (i32.const 16))",
    );
    sleeper.imports = r#"
        (import "wasi:clocks/monotonic-clock@0.2.3" "subscribe-duration" (func $wait (param i64) (result i32)))
        (import "wasi:clocks/wall-clock@0.2.3" "now" (func $now (param i32)))
        (import "wasi:io/poll@0.2.3" "[method]pollable.block" (func $block (param i32)))
        (import "wasi:random/random@0.2.3" "get-random-u64" (func $random (result i64)))"#
        .into();
    sleeper.packages = vec![IO, CLOCKS, RANDOM];
    sleeper.wit = sleeper.wit.replace(
        "import charset;",
        "import charset; import wasi:clocks/monotonic-clock@0.2.3; import wasi:clocks/wall-clock@0.2.3;
         import wasi:random/random@0.2.3;",
    );
    sleeper
}

#[test]
fn an_interpreted_guest_gets_a_standing_clock_and_the_seed() {
    let host = host();
    let adapter = host.load(&sleeper().build(), "sleeper.wasm").unwrap();
    assert!(adapter.inspection().interpreted);
    assert_eq!(adapter.inspection().wasi.len(), 4);
    let first = turn(&adapter).unwrap().session;
    assert_eq!(u64::from_le_bytes(first[..8].try_into().unwrap()), 1_775_784_600);
    assert_eq!(turn(&adapter).unwrap().session, first, "the same call, the same answer");
    goes_on(&host);
}

#[test]
fn an_interpreted_guest_sees_neither_environment_nor_arguments() {
    let host = host();
    let mut curious = guest(
        "(call $env (i32.const 8192)) (call $args (i32.const 8208))
         (i32.store (i32.const 8200) (i32.load (i32.const 8212)))
         (i32.store (i32.const 4124) (i32.const 8196)) (i32.store (i32.const 4128) (i32.const 8))",
    );
    curious.imports = r#"
        (import "wasi:cli/environment@0.2.0" "get-environment" (func $env (param i32)))
        (import "wasi:cli/environment@0.2.0" "get-arguments" (func $args (param i32)))"#
        .into();
    curious.packages = vec![
        "package wasi:cli@0.2.0; interface environment {
            get-environment: func() -> list<tuple<string, string>>; get-arguments: func() -> list<string>; }",
    ];
    curious.wit =
        curious.wit.replace("import charset;", "import charset; import wasi:cli/environment@0.2.0;");
    let adapter = host.load(&curious.build(), "curious.wasm").unwrap();
    assert!(std::env::vars().next().is_some(), "there would be something to see");
    assert_eq!(turn(&adapter).unwrap().session, [0; 8], "both lists are empty");
    goes_on(&host);
}
