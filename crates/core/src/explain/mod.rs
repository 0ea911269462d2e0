//! Says what a measurement suffers from and what to do next.

mod advice;
mod detectability;
mod effort;
mod groups;
mod noise;
mod samples;
mod setting;

pub use advice::{Advice, advise};
pub use detectability::{Detectabilities, Detectability, detectability};
pub use effort::{Effort, More};
pub use groups::{Association, Group, LevelCount};
pub use noise::{Noise, Noises, Part, noise};
pub use samples::NoiseMetrics;
pub use setting::{Setting, SettingData, Settings, settings};
