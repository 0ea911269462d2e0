//! The tasks of instances, and their nodes.

use lapwing_model::Id;

use crate::InstancePlan;
use crate::suite::{ClusterSettings, Plan, SchedulerSettings};

use super::folder::{ClusterTask, TaskInstance};
use super::scheduler::{JobError, JobScheduler};

impl ClusterTask {
    /// Returns a task of these instances, which get their ids.
    pub fn new(instances: &[InstancePlan], new_id: fn() -> Id) -> Self {
        let with_id = |plan: &InstancePlan| TaskInstance {
            id: new_id(),
            plan: *plan,
        };
        Self {
            instances: instances.iter().map(with_id).collect(),
        }
    }

    /// Returns the next attempt.
    pub fn again(&self, new_id: fn() -> Id) -> Self {
        let plans: Vec<InstancePlan> = self.instances.iter().map(|it| it.plan).collect();
        let next = plans.iter().map(|plan| InstancePlan {
            attempt: plan.attempt + 1,
            ..*plan
        });
        Self::new(&next.collect::<Vec<_>>(), new_id)
    }
}

/// Returns the instances of each task: one, or the two halves of a duet.
pub fn tasks_of(
    plan: &Plan,
    planned: impl Iterator<Item = InstancePlan>,
) -> Vec<Vec<InstancePlan>> {
    let mut tasks: Vec<Vec<InstancePlan>> = Vec::new();
    for planned in planned {
        match tasks.last_mut() {
            Some(task) if task.len() == 1 && planned.is_partner_of(&task[0], plan) => {
                task.push(planned);
            }
            Some(_) | None => tasks.push(vec![planned]),
        }
    }
    tasks
}

/// Returns the nodes that tasks are dealt to; none if the scheduler chooses.
pub fn nodes_of(
    settings: &ClusterSettings,
    scheduler: &mut dyn JobScheduler,
) -> Result<Vec<String>, JobError> {
    match &settings.scheduler {
        SchedulerSettings::Slurm(slurm) if slurm.spread => scheduler.nodes(),
        SchedulerSettings::Ssh(ssh) if ssh.spread => scheduler.nodes(),
        SchedulerSettings::Slurm(_) | SchedulerSettings::Ssh(_) | SchedulerSettings::Command(_) => {
            Ok(Vec::new())
        }
    }
}

/// Returns the node of a task: the variants of a block share one, and each benchmark visits the nodes in turn.
pub fn node_of(task: &[InstancePlan], nodes: &[String]) -> Option<String> {
    let turn = task[0].block as usize + task[0].case;
    turn.checked_rem(nodes.len()).map(|at| nodes[at].clone())
}
