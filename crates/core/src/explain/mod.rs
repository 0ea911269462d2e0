//! Says what a measurement suffers from and what to do next.

mod advice;
mod effort;
mod groups;
mod noise;
mod setting;

pub use advice::{Advice, advise};
pub use effort::{Effort, More};
pub use groups::{Association, Group, LevelCount};
pub use noise::{Noise, NoiseMetrics, Noises, Part, noise};
pub use setting::{Setting, SettingData, Settings, settings};
