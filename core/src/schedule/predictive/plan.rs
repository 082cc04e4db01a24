//! When the next look pays: a plan of looks over the coming day, of which the first is taken.
//!
//! Waiting costs: every expected item costs the time until the look that finds it. A look costs its price. The plan
//! with the least cost over the horizon is found backwards, edge by edge (dynamic programming; the costs are Monge, so
//! the best next look never moves back as the start moves forward, and each edge tries a few candidates only).
//! For an even source this is the moment at which the waiting since the last look has reached the price; for one
//! that publishes at nine it is just after nine, and not when its item has waited long enough.

/// What is planned for.
pub struct Ask<'a> {
    /// Edges of the pieces of time, in seconds from now, the first 0.
    pub edges: &'a [i64],
    /// Expected items in each piece.
    pub items: &'a [f64],
    /// The price of a look, in item-seconds.
    pub price: f64,
}

/// Room for a plan, kept between decisions.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    sum: Vec<f64>,
    moment: Vec<f64>,
    cost: Vec<f64>,
}

impl Plan {
    /// The edge at which to look first, at least 1.
    pub fn first_look(&mut self, ask: &Ask<'_>) -> usize {
        let n = ask.items.len();
        self.sum.clear();
        self.moment.clear();
        self.cost.clear();
        self.cost.resize(n + 1, 0.0);
        self.sum.push(0.0);
        self.moment.push(0.0);
        for (k, items) in ask.items.iter().enumerate() {
            let middle = (ask.edges[k] + ask.edges[k + 1]) as f64 / 2.0;
            self.sum.push(self.sum[k] + items);
            self.moment.push(self.moment[k] + items * middle);
        }
        let mut next = n;
        for i in (0..n).rev() {
            let (mut best, mut least) = (i + 1, f64::INFINITY);
            for j in i + 1..=next {
                let waiting =
                    ask.edges[j] as f64 * (self.sum[j] - self.sum[i]) - (self.moment[j] - self.moment[i]);
                let cost = waiting + self.cost[j];
                if cost < least {
                    (best, least) = (j, cost);
                }
            }
            self.cost[i] = least + ask.price;
            next = best;
        }
        next
    }

    /// Items expected up to an edge of the last plan.
    pub fn expected(&self, edge: usize) -> f64 {
        self.sum.get(edge).copied().unwrap_or_default()
    }
}
