#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dibao_fuzz::retry_after::run(data));
