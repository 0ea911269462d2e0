#![no_main]
lapwing_fuzz::target!("pytest-benchmark");
