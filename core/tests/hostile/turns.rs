//! What a guest can do once it runs.

use std::time::Instant;

use dibao::adapter::{AdapterHost, Call, HostOptions, Step, TrapKind, TurnError, contract};

use super::make::{Guest, good, guest, one_row, requests};
use super::{context, goes_on, host, trap, trips, turn};

#[test]
fn an_endless_loop_ends_at_the_deadline() {
    trips(guest("(loop $l (br $l))"), TrapKind::Deadline);
}

#[test]
fn a_memory_bomb_is_refused_its_memory() {
    let reason = trips(
        guest(
            "(loop $l (if (i32.eq (memory.grow (i32.const 64)) (i32.const -1)) (then unreachable)) (br $l))",
        ),
        TrapKind::Memory,
    );
    assert!(reason.contains("64 MiB") && reason.contains("memory_mib"), "{reason}");
}

#[test]
fn a_table_bomb_is_refused_its_elements() {
    let fields = "(table $t 1 funcref)".to_owned();
    let list = "(loop $l (if (i32.eq (table.grow $t (ref.null func) (i32.const 10000)) (i32.const -1))
        (then unreachable)) (br $l))";
    trips(Guest { fields, ..guest(list) }, TrapKind::Table);
}

#[test]
fn deep_recursion_ends_at_the_guests_own_stack() {
    let fields = "(func $deep (param i32) (result i32)
        (i32.add (call $deep (i32.add (local.get 0) (i32.const 1))) (i32.const 1)))"
        .to_owned();
    trips(Guest { fields, ..guest("(drop (call $deep (i32.const 0)))") }, TrapKind::Stack);
}

#[test]
fn a_plain_trap_is_a_trap() {
    trips(guest("unreachable"), TrapKind::Trap);
}

#[test]
fn what_a_guest_said_before_it_trapped_is_part_of_the_reason() {
    let imports = r#"(import "dibao:adapter/log@0.1.0" "write" (func $log (param i32 i32 i32)))"#.to_owned();
    let fields = r#"(data (i32.const 20000) "no such column")"#.to_owned();
    let list = "(call $log (i32.const 3) (i32.const 20000) (i32.const 14)) unreachable";
    let reason = trips(Guest { imports, fields, ..guest(list) }, TrapKind::Trap);
    assert!(reason.contains("unreachable") && reason.contains("no such column"), "{reason}");
}

#[test]
fn a_huge_result_is_not_copied() {
    // 20 MiB of session.
    let list =
        "(i32.store (i32.const 4124) (i32.const 65536)) (i32.store (i32.const 4128) (i32.const 20971520))";
    trips(Guest { memory: "400", ..guest(list) }, TrapKind::ResultSize);
}

#[test]
fn many_rows_over_the_same_bytes_cannot_multiply_them() {
    // A list of 1,000,000 rows of 52 bytes: 52 MB that fit into the guest's memory.
    let list =
        "(i32.store (i32.const 4104) (i32.const 65536)) (i32.store (i32.const 4108) (i32.const 1000000))";
    trips(Guest { memory: "900", ..guest(list) }, TrapKind::ResultSize);
}

#[test]
fn a_flood_of_log_lines_is_cut_and_counted() {
    let host = host();
    let imports = r#"(import "dibao:adapter/log@0.1.0" "write" (func $log (param i32 i32 i32)))"#.to_owned();
    let list = "(local $n i32) (loop $l
        (call $log (i32.const 1) (i32.const 65536) (i32.const 10000))
        (local.set $n (i32.add (local.get $n) (i32.const 1)))
        (br_if $l (i32.lt_u (local.get $n) (i32.const 150))))";
    let adapter = host.load(&Guest { imports, ..guest(list) }.build(), "hostile.wasm").unwrap();
    let log = turn(&adapter).unwrap().log;
    assert_eq!(log.len(), 101);
    assert!(log.iter().all(|line| line.message.len() <= 2048 && !line.message.contains('\0')));
    assert!(log[100].message.starts_with("50 more"), "{:?}", log[100]);
    goes_on(&host);
}

#[test]
fn a_huge_log_line_is_not_copied() {
    let imports = r#"(import "dibao:adapter/log@0.1.0" "write" (func $log (param i32 i32 i32)))"#.to_owned();
    let list = "(call $log (i32.const 1) (i32.const 65536) (i32.const 20971520))";
    trips(Guest { imports, memory: "400", ..guest(list) }, TrapKind::ResultSize);
}

#[test]
fn pointers_out_of_the_guests_memory_are_a_trap() {
    let list = "(i32.store (i32.const 4124) (i32.const -16)) (i32.store (i32.const 4128) (i32.const 64))";
    trips(guest(list), TrapKind::Trap);
}

#[test]
fn a_title_of_ten_megabytes_is_invalid() {
    let fields = r#"(data (i32.const 20000) "t1.html")"#.to_owned();
    let reason = trips(
        Guest {
            fields,
            memory: "200",
            // Spaces would do as well; NUL is what fresh memory holds, and the size is looked at first.
            ..guest(one_row((20000, 7), (65536, 10_485_760)))
        },
        TrapKind::Invalid,
    );
    assert!(reason.contains("entry.title") && reason.contains("10485760"), "{reason}");
}

#[test]
fn nul_in_a_title_is_invalid() {
    let fields = r#"(data (i32.const 20000) "t1.htmla\00b")"#.to_owned();
    let reason = trips(Guest { fields, ..guest(one_row((20000, 7), (20007, 3))) }, TrapKind::Invalid);
    assert!(reason.contains("NUL"), "{reason}");
}

#[test]
fn a_title_that_is_not_utf8_is_a_trap() {
    let fields = r#"(data (i32.const 20000) "t1.html\ff\fe")"#.to_owned();
    trips(Guest { fields, ..guest(one_row((20000, 7), (20007, 2))) }, TrapKind::Trap);
}

#[test]
fn a_page_whose_every_link_is_broken_is_not_shaped_as_expected_and_no_trap() {
    let fields = r#"(data (i32.const 20000) "http://[x]")"#.to_owned();
    let broken = Guest { fields, ..guest(one_row((20000, 10), (20000, 4))) };
    let adapter = host().load(&broken.build(), "hostile.wasm").unwrap();
    match turn(&adapter) {
        Err(TurnError::Failure { failure: contract::Failure::Shape(why), .. }) => {
            assert!(why.contains("none of the 1 rows"), "{why}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn garbage_requests_are_invalid() {
    for bad in [
        requests(&[("a", "http://[")]),
        requests(&[("a", "file:///etc/passwd")]),
        requests(&[("a", "/"), ("a", "/2")]),
        requests(&[("", "/")]),
        requests(&[("1", "/"), ("2", "/"), ("3", "/"), ("4", "/"), ("5", "/")]),
    ] {
        trips(bad, TrapKind::Invalid);
    }
    let host = host();
    let adapter = host.load(&requests(&[("a", "/"), ("b", "/2")]).build(), "two.wasm").unwrap();
    assert!(matches!(turn(&adapter).unwrap().step, Step::Fetch(requests) if requests.len() == 2));
}

#[test]
fn three_traps_in_a_row_quarantine_an_adapter_until_it_is_loaded_again() {
    let host = host();
    let bytes = guest("unreachable").build();
    let adapter = host.load(&bytes, "hostile.wasm").unwrap();
    for _ in 0..3 {
        trap(&adapter);
    }
    assert!(adapter.is_quarantined(&context().target) && !adapter.is_quarantined("another__target"));
    let error = turn(&adapter).unwrap_err();
    assert!(matches!(error, TurnError::Quarantined { traps: 3, .. }), "{error}");
    assert!(error.to_string().contains("hostile, list-page: quarantined"), "{error}");
    trap(&host.load(&bytes, "hostile.wasm").unwrap());
    goes_on(&host);
}

#[test]
fn a_looping_adapter_does_not_hold_up_another_one() {
    let host = host();
    let looping = host.load(&guest("(loop $l (br $l))").build(), "hostile.wasm").unwrap();
    let good = host.load(&good(), "good.wasm").unwrap();
    std::thread::scope(|scope| {
        let loops: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    trap(&looping);
                    Instant::now()
                })
            })
            .collect();
        for _ in 0..20 {
            turn(&good).unwrap();
        }
        let done = Instant::now();
        // Twenty good turns were over before the loops were.
        for looped in loops {
            assert!(done < looped.join().unwrap());
        }
    });
}

#[test]
fn a_guest_reads_a_reply_by_its_tag_and_an_unknown_tag_is_an_answer_not_a_trap() {
    let host = host();
    let imports =
        r#"(import "dibao:adapter/html@0.1.0" "text" (func $text (param i32 i32 i32 i32)))"#.to_owned();
    let fields = r#"(data (i32.const 20000) "list")"#.to_owned();
    // Its session is what `html.text` said: a byte for ok or err comes first in memory, then pointer and length.
    let list = "(call $text (i32.const 0) (i32.const 20000) (i32.const 4) (i32.const 8192))
        (i32.store (i32.const 4124) (i32.load (i32.const 8196)))
        (i32.store (i32.const 4128) (i32.load (i32.const 8200)))";
    let adapter = host.load(&Guest { imports, fields, ..guest(list) }.build(), "reader.wasm").unwrap();
    let reply = |tag: &str| contract::Reply {
        tag: tag.into(),
        status: 200,
        url: "https://www.gd.gov.cn/".into(),
        headers: vec![],
        body: "<p>通知公告</p>".into(),
    };
    let said = |tag: &str| {
        let replies = std::sync::Arc::new(vec![reply(tag)]);
        let (result, text) =
            adapter.turn(&context(), Call::List { cursor: None }, replies, |result, pages| {
                (result, pages.text(&contract::HtmlPage::Reply(tag.into())).unwrap())
            });
        assert_eq!(text.trim(), "通知公告", "the pages are there for who comes after");
        String::from_utf8(result.unwrap().session).unwrap()
    };
    assert_eq!(said("list").trim(), "通知公告");
    assert!(said("other").contains("list"), "{}", said("other"));
}

#[test]
fn compiled_code_is_kept_in_the_cache() {
    let dir = tempfile::tempdir().unwrap();
    let options = || HostOptions { cache_dir: Some(dir.path().join("code")), ..HostOptions::default() };
    let (first, second) = (AdapterHost::new(options()).unwrap(), AdapterHost::new(options()).unwrap());
    let cold = first.load(&good(), "good.wasm").unwrap();
    assert_eq!(first.cache_hits(), Some(0));
    let warm = second.load(&good(), "good.wasm").unwrap();
    assert_eq!(second.cache_hits(), Some(1));
    turn(&warm).unwrap();
    println!(
        "cached load: {:.1}× faster",
        cold.compile_time().as_secs_f64() / warm.compile_time().as_secs_f64()
    );
}

#[test]
fn a_turn_is_cheap() {
    // Printed, not asserted: machines differ.
    let host = host();
    let good = host.load(&good(), "good.wasm").unwrap();
    for _ in 0..100 {
        turn(&good).unwrap();
    }
    let started = Instant::now();
    for _ in 0..1000 {
        turn(&good).unwrap();
    }
    println!(
        "instantiate + trivial call: {:?}; compile: {:?}",
        started.elapsed() / 1000,
        good.compile_time()
    );
}
