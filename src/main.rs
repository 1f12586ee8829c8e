//! The `overlay` program: parse, run, exit code.

fn main() -> std::process::ExitCode {
    overlay::cli::main(std::env::args_os())
}
