//! Local state that items keep from one local step to the next, for models that iterate.

/// A few numbers per item, or nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Warm {
    width: usize,
    /// Item after item; 0 throughout means that an item has no state yet.
    values: Vec<f32>,
}

impl Warm {
    /// Every local step starts from scratch.
    pub fn off() -> Self {
        Warm::default()
    }

    /// Room for `width` numbers of each item, none of which has a state yet.
    pub fn new(n_items: usize, width: usize) -> Self {
        Warm { width, values: vec![0.0; n_items * width] }
    }

    /// A state as [`Warm::values`] gave it; `None` if it does not fit.
    pub fn from_values(n_items: usize, width: usize, values: Vec<f32>) -> Option<Self> {
        (n_items.checked_mul(width) == Some(values.len())).then_some(Warm { width, values })
    }

    /// Whether items keep anything.
    pub fn is_on(&self) -> bool {
        self.width > 0
    }

    /// Whether this is the state of this many items.
    pub fn fits(&self, n_items: usize) -> bool {
        self.values.len() == n_items * self.width
    }

    /// All numbers, item after item.
    pub fn values(&self) -> &[f32] {
        &self.values
    }

    /// Forgets everything: the next local steps start from scratch.
    pub fn forget(&mut self) {
        self.values.fill(0.0);
    }

    /// The numbers of some items, in their order.
    pub fn fetch(&self, items: &[u32], out: &mut Vec<f32>) {
        out.clear();
        for &n in items {
            out.extend_from_slice(&self.values[n as usize * self.width..][..self.width]);
        }
    }

    /// Keeps the numbers of some items, in their order.
    pub(crate) fn keep(&mut self, items: &[u32], values: &[f32]) {
        if self.width == 0 {
            return;
        }
        for (&n, new) in items.iter().zip(values.chunks_exact(self.width)) {
            self.values[n as usize * self.width..][..self.width].copy_from_slice(new);
        }
    }
}
