//! Isolation: whatever an adapter does, its turn ends with the right error and the host goes on.

mod load;
mod make;
mod registry;
mod turns;
mod wasi;

use std::sync::Arc;
use std::time::Duration;

use dibao::adapter::{Adapter, AdapterHost, Call, HostOptions, Limits, TrapKind, Turn, TurnError, contract};

/// A host with a short deadline, so that the tests are quick.
fn host() -> AdapterHost {
    let mut limits = Limits::default();
    limits.deadline = Duration::from_millis(200);
    limits.interpreted_deadline = Duration::from_millis(500);
    AdapterHost::new(HostOptions { limits, ..HostOptions::default() }).unwrap()
}

fn context() -> contract::Context {
    contract::Context {
        target: "replica__news".into(),
        base: "https://www.gd.gov.cn/".into(),
        config: "{}".into(),
        session: vec![],
        now: 1_775_784_600_000,
        seed: (0..32).collect(),
    }
}

fn turn(adapter: &Adapter) -> Result<Turn, TurnError> {
    adapter.turn(&context(), Call::List { cursor: None }, Arc::default(), |result, _| result)
}

fn trap(adapter: &Adapter) -> (TrapKind, String) {
    match turn(adapter) {
        Err(TurnError::Trap { kind, reason, .. }) => (kind, reason),
        other => panic!("no trap: {other:?}"),
    }
}

/// The guest's turn trips `kind`, and another adapter works right afterwards on the same host.
#[track_caller]
fn trips(guest: make::Guest, kind: TrapKind) -> String {
    let host = host();
    let adapter = host.load(&guest.build(), "hostile.wasm").unwrap();
    let (got, reason) = trap(&adapter);
    assert_eq!(got, kind, "{reason}");
    goes_on(&host);
    reason
}

#[track_caller]
fn goes_on(host: &AdapterHost) {
    let good = host.load(&make::good(), "good.wasm").unwrap();
    turn(&good).unwrap();
}
