//! Tests of the sources of all crates.

mod one_way;
mod type_names;
