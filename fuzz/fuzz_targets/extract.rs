#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dibao_fuzz::extract::run(data));
