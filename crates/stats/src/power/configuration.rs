//! How much is measured.

/// Numbers of instances per side, and of analysed iterations per instance.
///
/// Ordered by instances, then by iterations, as Hail orders its configurations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Configuration {
    /// Instances of each side.
    pub instances: usize,
    /// Iterations of each instance that count.
    pub iterations: usize,
}

impl std::fmt::Display for Configuration {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} × {}", self.instances, self.iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instances_come_first_in_the_order() {
        let of = |instances, iterations| Configuration {
            instances,
            iterations,
        };
        let mut all = [of(10, 5), of(5, 25), of(5, 5), of(10, 10)];
        all.sort();
        assert_eq!(all, [of(5, 5), of(5, 25), of(10, 5), of(10, 10)]);
    }
}
