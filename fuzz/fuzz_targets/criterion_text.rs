#![no_main]
lapwing_fuzz::target!("criterion-text");
