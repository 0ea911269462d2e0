//! Descriptions of the machine, and what else goes on there.

pub(super) mod environment;
pub(super) mod hardware;
pub(super) mod observe;
