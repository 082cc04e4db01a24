//! Figures with their goals, medians, and the table they are printed as.

use std::fmt;

/// What a figure has to be.
#[derive(Clone, Copy, Debug)]
pub enum Goal {
    /// At most this.
    AtMost(f64),
    /// At least this.
    AtLeast(f64),
    /// Shown for information.
    None,
}

/// One line of the table.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// The result.
    pub value: f64,
    /// Written behind the value: `×`, ` µs`, ` MB`.
    pub unit: &'static str,
    /// The goal.
    pub goal: Goal,
    /// What the value was made from, and its spread.
    pub note: String,
}

impl Figure {
    /// Whether the goal is met.
    pub fn met(&self) -> Option<bool> {
        match self.goal {
            Goal::AtMost(most) => Some(self.value <= most),
            Goal::AtLeast(least) => Some(self.value >= least),
            Goal::None => None,
        }
    }
}

impl fmt::Display for Figure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = if self.value < 10.0 { 2 } else { 1 };
        let value = format!("{:.digits$}{}", self.value, self.unit);
        let goal = match self.goal {
            Goal::AtMost(most) => format!("≤ {most}{}", self.unit),
            Goal::AtLeast(least) => format!("≥ {least}{}", self.unit),
            Goal::None => String::new(),
        };
        let met = match self.met() {
            Some(true) => "ok",
            Some(false) => "MISS",
            None => "",
        };
        write!(f, "{:<44} {value:>10}  {goal:>9}  {met:<4}  {}", self.name, self.note)
    }
}

/// The table, one figure a line.
pub fn table(figures: &[Figure]) -> String {
    let head = format!("{:<44} {:>10}  {:>9}  {:<4}  {}", "what", "figure", "goal", "", "made from");
    let lines = figures.iter().map(ToString::to_string);
    std::iter::once(head).chain(lines).collect::<Vec<_>>().join("\n")
}

/// Samples in order of size.
#[derive(Clone, Debug)]
pub struct Samples(Vec<f64>);

impl Samples {
    /// Sorts them.
    pub fn new(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        Samples(values)
    }

    /// The value below which this part (0 to 1) of the samples lies; 0 without samples.
    pub fn at(&self, part: f64) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.get((part * last as f64).round() as usize).copied().unwrap_or(0.0)
    }

    /// The middle one.
    pub fn median(&self) -> f64 {
        self.at(0.5)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_met_at_its_bound_and_missed_beyond_it() {
        for (value, goal, met) in [
            (1.2, Goal::AtMost(1.2), Some(true)),
            (1.21, Goal::AtMost(1.2), Some(false)),
            (20.0, Goal::AtLeast(20.0), Some(true)),
            (19.9, Goal::AtLeast(20.0), Some(false)),
            (0.0, Goal::None, None),
        ] {
            let figure = Figure { name: String::new(), value, unit: "", goal, note: String::new() };
            assert_eq!(figure.met(), met, "{value} {goal:?}");
        }
    }

    #[test]
    fn the_median_does_not_depend_on_order() {
        let samples = Samples::new(vec![3.0, 1.0, 2.0]);
        assert_eq!((samples.at(0.0), samples.median(), samples.at(1.0)), (1.0, 2.0, 3.0));
        assert_eq!(Samples::new(vec![]).median(), 0.0);
    }
}
