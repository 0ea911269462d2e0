#![no_main]
lapwing_fuzz::target!("asv-text");
