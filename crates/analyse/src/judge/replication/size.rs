//! The number of instances and iterations behind a result.

use lapwing_model::text::counted;

/// The number of instances and iterations behind a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleSize {
    /// Instances: the unit of replication, where hosts are not.
    pub instances: usize,
    /// Hosts, where these are the unit of replication because some had several instances; else `None`.
    pub hosts: Option<usize>,
    /// Iterations after cleaning, over all instances.
    pub iterations: usize,
    /// Iterations after cleaning, of the instance with the fewest.
    pub fewest_iterations: usize,
    /// Iterations after cleaning, of the instance with the most.
    pub most_iterations: usize,
}

impl SampleSize {
    /// Returns the size of a sample whose instances have these numbers of iterations.
    /// Instances without any are ignored.
    pub fn of(iterations: impl IntoIterator<Item = usize>) -> Self {
        iterations
            .into_iter()
            .filter(|&iterations| iterations > 0)
            .fold(Self::default(), |size, iterations| Self {
                instances: size.instances + 1,
                hosts: None,
                iterations: size.iterations + iterations,
                fewest_iterations: if size.instances == 0 {
                    iterations
                } else {
                    size.fewest_iterations.min(iterations)
                },
                most_iterations: size.most_iterations.max(iterations),
            })
    }

    /// Returns `5 instances × 5`, or `5 instances × 3–5` if they differ; `9 instances × 5 on 3 hosts` where hosts count.
    pub fn text(&self) -> String {
        self.on_hosts(&counted(self.instances, "instance"))
    }

    /// Returns `5 × 5`, or `5 × 3–5`; `9 × 5 on 3 hosts` where hosts count.
    pub fn short(&self) -> String {
        self.on_hosts(&self.instances.to_string())
    }

    fn on_hosts(&self, instances: &str) -> String {
        let size = format!("{instances} × {}", self.each());
        match self.hosts {
            Some(hosts) => format!("{size} on {}", counted(hosts, "host")),
            None => size,
        }
    }

    fn each(&self) -> String {
        if self.fewest_iterations == self.most_iterations {
            self.most_iterations.to_string()
        } else {
            format!("{}–{}", self.fewest_iterations, self.most_iterations)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_of_unequal_length_are_told() {
        assert_eq!(SampleSize::of([3, 0, 5]).text(), "2 instances × 3–5");
        assert_eq!(SampleSize::of([5; 5]).text(), "5 instances × 5");
        assert_eq!(SampleSize::of([]).short(), "0 × 0");
        let on_hosts = SampleSize {
            hosts: Some(3),
            ..SampleSize::of([5; 9])
        };
        assert_eq!(on_hosts.text(), "9 instances × 5 on 3 hosts");
        assert_eq!(on_hosts.short(), "9 × 5 on 3 hosts");
    }
}
