#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| dibao_fuzz::verdict::run(data));
