#![no_main]
lapwing_fuzz::target!("nextflow");
