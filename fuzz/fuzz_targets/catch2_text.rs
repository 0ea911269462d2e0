#![no_main]
lapwing_fuzz::target!("catch2-text");
