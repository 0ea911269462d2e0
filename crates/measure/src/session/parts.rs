//! The parts of a measurement, from a plan.

use lapwing_record::Store;

use super::cluster::ClusterMeasurement;
use super::{MeasuringParts, PythonEnvironments, SessionError, SessionSurroundings};
use crate::suite::Plan;

impl<'a> MeasuringParts<'a> {
    /// Starts the executor of the process that measures or, on a cluster, of the client: there it builds, and the
    /// processors that benchmarks run on are those of other machines.
    ///
    /// # Errors
    /// If commands cannot be executed.
    pub fn start(
        plan: &'a Plan,
        store: Store,
        environments: PythonEnvironments,
        cluster: Option<ClusterMeasurement>,
        surroundings: SessionSurroundings<'a>,
    ) -> Result<Self, SessionError> {
        let executor = match cluster {
            None => surroundings.start_executor(plan)?,
            Some(_) => surroundings.launch(None)?,
        };
        Ok(Self {
            surroundings,
            plan,
            store,
            executor,
            environments,
            cluster,
            profiler: None,
        })
    }
}
