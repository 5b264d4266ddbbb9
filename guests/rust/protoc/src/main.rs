//! The client's build runs `protoc`, which machines with Rust need not have. This one does what it asks for:
//!
//! `protoc --include_imports --include_source_info -o FILE -I FOLDER ... PROTO ...`

use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let (mut output, mut folders, mut files) = (None, Vec::new(), Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--include_imports" | "--include_source_info" => {}
            "-o" => output = arguments.next(),
            "-I" => folders.extend(arguments.next().map(PathBuf::from)),
            other if other.starts_with('-') => {
                return Err(format!("{other} is not known here").into());
            }
            file => files.push(PathBuf::from(file)),
        }
    }
    let output = output.ok_or("-o FILE is missing")?;
    let mut compiler = protox::Compiler::new(folders)?;
    compiler
        .include_imports(true)
        .include_source_info(true)
        .open_files(files)?;
    std::fs::write(output, compiler.encode_file_descriptor_set())?;
    Ok(())
}
