//! Compiles `proto/DataFormats.proto` to Rust, without protoc.

fn main() {
    println!("cargo:rerun-if-changed=proto");
    let files = protox::compile(["DataFormats.proto"], ["proto"])
        .expect("the proto file in proto/ compiles");
    prost_build::Config::new()
        .compile_fds(files)
        .expect("the descriptors compile");
}
