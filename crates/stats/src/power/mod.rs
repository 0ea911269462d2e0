//! Power: detectable slowdowns, and the sample sizes that they need.

mod affordable;
mod closed_form;
mod configuration;
#[cfg(test)]
mod golden;
mod minimal;
mod noise;
mod noncentral_t;
mod pilot;
mod quadrature;
mod sides;

pub use affordable::{AffordableDesign, DesignCosts, affordable_design};
pub use closed_form::Detection;
pub use configuration::Configuration;
pub use minimal::instances_needed;
pub use noise::{DetectionMethod, Noise, Strategy};
pub use noncentral_t::NoncentralT;
pub use pilot::{Pilot, PilotNoise};
