//! The number of instances and iterations behind a result.

use lapwing_model::text::counted;

/// The number of instances and iterations behind a result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SampleSize {
    /// Instances: the unit of replication.
    pub instances: usize,
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
                iterations: size.iterations + iterations,
                fewest_iterations: if size.instances == 0 {
                    iterations
                } else {
                    size.fewest_iterations.min(iterations)
                },
                most_iterations: size.most_iterations.max(iterations),
            })
    }

    /// Returns `5 instances × 5`, or `5 instances × 3–5` if they differ.
    pub fn text(&self) -> String {
        format!("{} × {}", counted(self.instances, "instance"), self.each())
    }

    /// Returns `5 × 5`, or `5 × 3–5`.
    pub fn short(&self) -> String {
        format!("{} × {}", self.instances, self.each())
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
    }
}
