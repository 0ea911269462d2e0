#![no_main]
lapwing_fuzz::target!("google-benchmark");
