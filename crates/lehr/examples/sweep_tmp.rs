//! Times a few sweeps and the drawing of noise: `sweep_tmp N D K THREADS`.

use lehr::{
    data::Points,
    math::{rng::*, table::Table},
    model::*,
    models::*,
    step::{local::*, sample::*, update::*},
};
fn main() {
    let a: Vec<usize> = std::env::args().skip(1).map(|x| x.parse().unwrap()).collect();
    let (n, d, k, threads) = (a[0], a[1], a[2], a[3]);
    let mut rng = Address::new(1, Purpose::Data, 0, 0).rng(0);
    let mu: Vec<f64> = (0..k * d).map(|_| 4.0 * rng.normal()).collect();
    let mut x = Vec::with_capacity(n * d);
    for _ in 0..n {
        let c = rng.below(k as u64) as usize;
        for j in 0..d {
            x.push(mu[c * d + j] + rng.normal());
        }
    }
    let pts = Points::new(x, d).unwrap();
    let mut p = MixtureParams::gmm(k);
    p.start = mixture::Start::Points;
    let t = std::time::Instant::now();
    let m = Mixture::new(p, &pts).unwrap();
    println!("new {:?}", t.elapsed());
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(|| {
        let l = m.layout();
        let mut lambda = Table::new(l.n_rows, l.width);
        m.start(&pts, Address::new(1, Purpose::Init, 0, 0), &mut lambda).unwrap();
        let mut ex = Threads::new();
        let batch = Batch::all(n);
        let mut stats = Stats::new(l.n_rows, l.raw_width);
        let mut up = Updater::new(&m, Guard::Reject);
        for it in 0..8 {
            let t = std::time::Instant::now();
            let e = m.refresh(&lambda);
            let t1 = t.elapsed();
            let b = ex.local_pass(&m, &e, &pts, &batch, Ask { stats: true }, &mut stats)
                + m.global_bound(&lambda);
            let t2 = t.elapsed();
            up.apply(
                &m,
                Step { rho: 1.0, scale: 1.0, noisy: false },
                &mut stats,
                || unreachable!(),
                &mut lambda,
            );
            let t3 = t.elapsed();
            println!(
                "{it} bound {b:.6} total {:?} refresh {:?} pass {:?} update {:?}",
                t3,
                t1,
                t2 - t1,
                t3 - t2
            );
        }
        for it in 0..3 {
            let t = std::time::Instant::now();
            let mut w = vec![1.0; n];
            lehr::step::anneal::weights(
                lehr::step::anneal::Law::Gaussian,
                n as f64 / 4.,
                true,
                Address::new(1, Purpose::Noise, 0, it),
                &mut w,
            );
            println!("noise {:?}", t.elapsed());
        }
    });
}
