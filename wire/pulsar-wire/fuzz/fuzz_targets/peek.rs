#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| pulsar_wire::fuzz::fuzz_peek(data));
