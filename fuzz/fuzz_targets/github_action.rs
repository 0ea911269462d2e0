#![no_main]
lapwing_fuzz::target!("github-action");
