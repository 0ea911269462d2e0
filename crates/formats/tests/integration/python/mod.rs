//! Real files of Python's benchmark programs, and what becomes of them.

mod asv;
mod conbench;
mod pyperf;
mod pytest_benchmark;
mod reading;
