//! What is measured of the dimension: d, tau, and the names of runs.

/// M.
pub const EFFECTIVE: usize = 16;
/// tau = |S| / M.
pub const TAUS: [usize; 3] = [1, 2, 4];
/// d.
pub const DIMS: [usize; 7] = [1, 2, 4, 8, 16, 32, 64];
/// The only kind of noise.
pub const METHOD: &str = "exact covariance";

/// The name of a setting.
pub fn setting(tau: usize, d: usize) -> String {
    format!("tau = {tau}, d = {d}")
}

/// The place of its tau, and d, of a setting.
pub fn place(name: &str) -> Option<(usize, usize)> {
    let all = TAUS.iter().enumerate().flat_map(|(at, &tau)| DIMS.map(|d| (at, tau, d)));
    all.into_iter().find(|&(_, tau, d)| setting(tau, d) == name).map(|(at, _, d)| (at, d))
}
