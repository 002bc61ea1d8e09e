//! How many small symmetric matrices per second are factorised, inverted, multiplied.

use criterion::{Criterion, criterion_group, criterion_main};
use lehr_kernels::packed::Symmetric;

mod common;

use common::{Rate, normals, once, per_second, precision, rng};

const DIMS: [usize; 3] = [4, 16, 64];

/// The first two work in place: a copy of the matrix is in their time.
fn bench_factors(criterion: &mut Criterion<Rate>) {
    for n in DIMS {
        let (shape, case) = (Symmetric::full(n), format!("n={n}"));
        let matrix = precision(&mut rng(1), n);
        let mut factor = matrix.clone();
        assert!(shape.cholesky(&mut factor), "a positive definite matrix");
        let mut inverse = factor.clone();
        shape.invert_lower(&mut inverse);
        let mut a = matrix.clone();
        once(criterion, "cholesky", &case, 1, || {
            a.copy_from_slice(&matrix);
            shape.cholesky(&mut a)
        });
        once(criterion, "invert_lower", &case, 1, || {
            a.copy_from_slice(&factor);
            shape.invert_lower(&mut a);
        });
        once(criterion, "gram", &case, 1, || shape.gram(&inverse, &mut a));
        once(criterion, "ln_det", &case, 1, || shape.ln_det(&factor));
    }
}

fn bench_products(criterion: &mut Criterion<Rate>) {
    for n in DIMS {
        let (shape, case, mut rng) = (Symmetric::full(n), format!("n={n}"), rng(2));
        let (mut a, b) = (precision(&mut rng, n), precision(&mut rng, n));
        let (x, y) = (normals(&mut rng, n), normals(&mut rng, n));
        let (mut vector, mut dense) = (vec![0.0; n], vec![0.0; n * n]);
        once(criterion, "lower_times", &case, 1, || shape.lower_times(&b, &x, &mut vector));
        once(criterion, "times", &case, 1, || shape.times(&b, &x, &mut vector));
        once(criterion, "add_outer", &case, 1, || shape.add_outer(0.5, &x, &y, &mut a));
        once(criterion, "trace_of_product", &case, 1, || shape.trace_of_product(&a, &b));
        once(criterion, "quadratic", &case, 1, || shape.quadratic(&b, &x));
        once(criterion, "to_dense", &case, 1, || shape.to_dense(&b, &mut dense));
    }
}

criterion_group! {
    name = matrices;
    config = per_second!("matrices");
    targets = bench_factors, bench_products
}
criterion_main!(matrices);
