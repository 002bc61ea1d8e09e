//! A model of one's own: a mixture of Bernoullis on rows of bits. `docs/guide/own_model.md` explains it.
//!
//! ```text
//! joint    pi ~ Dirichlet(a0, ..., a0)       p_kj ~ Beta(b0, b0)
//!          c_n ~ pi                          x_nj | c_n = k ~ Bernoulli(p_kj)
//! q        q(pi) = Dirichlet(a)              q(p_kj) = Beta(s_kj, f_kj)          q(c_n) = phi_n
//! lambda   row k is (a_k, s_k1 ... s_kD, f_k1 ... f_kD)
//! raw      N_k = sum_n w_n phi_nk            S_kj = sum_n w_n phi_nk x_nj
//! natural  a_k = a0 + N_k                    s_kj = b0 + S_kj            f_kj = b0 + N_k - S_kj
//! local    phi_nk = exp(l_nk) / sum_i exp(l_ni)
//!          l_nk = E ln pi_k + sum_j E ln(1 - p_kj) + sum_j x_nj E ln(p_kj / (1 - p_kj))
//! bound    sum_n ln sum_k exp(l_nk) - KL(q(pi)) - sum_kj KL(q(p_kj))
//! ```

use lehr::family::{beta, dirichlet};
use lehr::model::{
    Address, Ask, Lambda, Layout, Model, Purpose, RowSet, Shard, Shared, Stats, Table, Target,
    from_raw,
};
use lehr::{Effective, Error, FitConfig, Points, Result};

/// The model: its size and its prior.
pub struct BernoulliMixture {
    /// K.
    pub n_components: usize,
    /// D.
    pub n_columns: usize,
    /// The prior of the components' weights.
    pub a0: f64,
    /// The prior of the bits.
    pub b0: f64,
}

impl BernoulliMixture {
    /// (s_kj, f_kj) of every column j, from row k of lambda.
    fn betas(&self, row: &[f64]) -> impl Iterator<Item = (f64, f64)> {
        let (s, f) = row[1..].split_at(self.n_columns);
        s.iter().copied().zip(f.iter().copied())
    }
}

impl Model for BernoulliMixture {
    /// Rows of 0 and 1; any other type that implements `Dataset` would do.
    type Data = Points;
    /// Row k: E ln pi_k + sum_j E ln(1 - p_kj), then E ln(p_kj / (1 - p_kj)) for every column j.
    type Expect = Table;
    type Pass = Shared<Stats>;
    /// x_n and phi_n of one item.
    type Scratch = (Vec<f64>, Vec<f64>);

    fn name(&self) -> &'static str {
        "bernoulli-mixture"
    }

    fn layout(&self) -> Layout {
        Layout::one_phase(self.n_components, 1 + 2 * self.n_columns, 1 + self.n_columns)
    }

    fn prior(&self, _hyper: &[f64], _row: usize, eta: &mut [f64]) {
        eta.fill(self.b0);
        eta[0] = self.a0;
    }

    fn start(&self, data: &Points, address: Address, lambda: &mut Table) -> Result<()> {
        if data.n_dims() != self.n_columns {
            return Err(Error::data("the rows and the model differ in their number of columns"));
        }
        // Every component is a blurred copy of a random item and holds its share of the items.
        let mut rng = address.rng(0);
        let mut item = vec![0.0; self.n_columns];
        let mut raw = Stats::new(self.n_components, 1 + self.n_columns);
        let size = data.n_items() as f64 / self.n_components as f64;
        for k in 0..self.n_components {
            data.copy_row(rng.below(data.n_items() as u64) as usize, &mut item);
            let row = raw.row_mut(k);
            row[0] = size;
            let near = |x: &f64| size * (0.2 + 0.4 * x + 0.2 * rng.uniform());
            row[1..].iter_mut().zip(item.iter().map(near)).for_each(|(s, x)| *s = x);
        }
        from_raw(self, &raw, lambda);
        Ok(())
    }

    fn refresh(&self, lambda: &Lambda, _rows: &RowSet, expect: &mut Table) {
        let a: Vec<f64> = lambda.table().rows().map(|row| row[0]).collect();
        *expect = Table::new(self.n_components, 1 + self.n_columns);
        for (k, ln_weight) in dirichlet::expected_ln(&a).into_iter().enumerate() {
            let row = expect.row_mut(k);
            row[0] = ln_weight;
            for (j, (s, f)) in self.betas(lambda.table().row(k)).enumerate() {
                let (ln_one, ln_zero) = beta::expected_ln(s, f);
                row[0] += ln_zero;
                row[1 + j] = ln_one - ln_zero;
            }
        }
    }

    fn scratch(&self) -> (Vec<f64>, Vec<f64>) {
        (vec![0.0; self.n_columns], vec![0.0; self.n_components])
    }

    fn local_step(
        &self,
        expect: &Table,
        shard: Shard<'_, Points>,
        ask: Ask,
        (x, phi): &mut (Vec<f64>, Vec<f64>),
        stats: &mut Stats,
        bounds: &mut [f64],
    ) {
        for ((&n, &weight), bound) in shard.items.iter().zip(shard.weights).zip(bounds) {
            shard.data.copy_row(n as usize, x);
            for (l, row) in phi.iter_mut().zip(expect.rows()) {
                *l = row[0] + x.iter().zip(&row[1..]).map(|(x, e)| x * e).sum::<f64>();
            }
            *bound = normalise(phi);
            for (k, phi) in phi.iter().enumerate().filter(|_| ask.stats) {
                let row = stats.row_mut(k);
                row[0] += weight * phi;
                row[1..].iter_mut().zip(&*x).for_each(|(s, x)| *s += weight * phi * x);
            }
        }
    }

    fn to_natural(&self, target: Target<'_>, raw: &Stats, increment: &mut [f64]) {
        let raw = raw.row(target.row);
        increment[..raw.len()].copy_from_slice(raw);
        for (f, s) in increment[raw.len()..].iter_mut().zip(&raw[1..]) {
            *f = raw[0] - s;
        }
    }

    fn in_domain(&self, _row: usize, lambda: &[f64]) -> bool {
        lambda.iter().all(|&x| x > 1e-9)
    }

    fn global_bound(&self, lambda: &Lambda, _expect: &Table) -> f64 {
        let a: Vec<f64> = lambda.table().rows().map(|row| row[0]).collect();
        let betas = lambda.table().rows().flat_map(|row| self.betas(row));
        let of_bits: f64 = betas.map(|(s, f)| beta::divergence(s, f, self.b0, self.b0)).sum();
        -dirichlet::divergence_from_symmetric(&a, self.a0) - of_bits
    }
}

/// l -> exp(l) / sum(exp(l)), in place; returns ln sum(exp(l)).
fn normalise(l: &mut [f64]) -> f64 {
    let top = l.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let ln_sum = top + l.iter().map(|l| (l - top).exp()).sum::<f64>().ln();
    l.iter_mut().for_each(|l| *l = (*l - ln_sum).exp());
    ln_sum
}

/// Four letters of 5 x 5 pixels.
pub const LETTERS: [&str; 4] = [
    "#....#....#....#....#####",
    "#####..#....#....#....#..",
    "#...#.#.#...#...#.#.#...#",
    ".###.#...##...##...#.###.",
];

/// Copies of random letters in which every pixel is flipped with probability `noise`.
pub fn noisy_letters(n_items: usize, noise: f64, seed: u64) -> Result<Points> {
    let mut rng = Address::new(seed, Purpose::Data, 0, 0).rng(0);
    let mut bits = Vec::new();
    for _ in 0..n_items {
        let letter = LETTERS[rng.below(4) as usize];
        bits.extend(letter.bytes().map(|b| f64::from((b == b'#') != (rng.uniform() < noise))));
    }
    Points::new(bits, 25)
}

/// Fits the letters by batch VI and by SVI+.
pub fn main() -> Result<()> {
    let data = noisy_letters(2000, 0.15, 1)?;
    let model = BernoulliMixture { n_components: 4, n_columns: 25, a0: 0.25, b0: 0.5 };
    let effective = Effective::Constant(20.0);
    let svi_plus = FitConfig { batch: Some(200), effective, ..FitConfig::default() };
    for (title, config) in [("batch VI", FitConfig::default()), ("SVI+", svi_plus)] {
        let fitted = lehr::fit(&model, &data).config(config).run()?;
        println!("{title}: bound {:.2} after {} steps", fitted.outcome.bound, fitted.outcome.steps);
        for line in (0..25).step_by(5) {
            for row in fitted.state.lambda.table().rows() {
                let pixel = |j: usize| if row[1 + j] > row[26 + j] { '#' } else { '.' };
                print!("  {}", (line..line + 5).map(pixel).collect::<String>());
            }
            println!();
        }
    }
    Ok(())
}
