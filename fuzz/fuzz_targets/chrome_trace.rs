#![no_main]
lapwing_fuzz::target!("chrome-trace");
