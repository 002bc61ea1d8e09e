//! How a batch is cut into shards, the units of parallel work, and which of them are added up together.

use std::ops::Range;

use crate::model::Model;
use crate::step::engine::part_of;

/// How many shards a batch has, and where they start.
pub struct Shards {
    /// Items in a shard.
    size: usize,
    /// Shards in a wave.
    wave: usize,
    n_items: usize,
    /// Where the data are in parts, whose items do not share shards: where each shard starts, and its part.
    cuts: Option<Vec<(usize, u32)>>,
}

impl Shards {
    /// The shards of a batch of these items, `parts` being where the items of each part of the data start.
    pub fn new<M: Model>(model: &M, items: &[u32], parts: &[usize]) -> Self {
        let (sharding, n_items) = (model.sharding(), items.len());
        let (size, wave) = (sharding.items_of(n_items), sharding.wave);
        if parts.is_empty() {
            return Shards { size, wave, n_items, cuts: None };
        }
        let mut cuts: Vec<(usize, u32)> = Vec::new();
        // The items of the last part that was found.
        let mut within = 0..0;
        for (place, &item) in items.iter().enumerate() {
            let stays = within.contains(&(item as usize));
            if !stays {
                let part = part_of(parts, item);
                within = parts[part]..parts.get(part + 1).copied().unwrap_or(usize::MAX);
                cuts.push((place, part as u32));
            } else if let Some(&(first, part)) = cuts.last()
                && place - first == size
            {
                cuts.push((place, part));
            }
        }
        Shards { size, wave, n_items, cuts: Some(cuts) }
    }

    /// How many.
    pub fn len(&self) -> usize {
        match &self.cuts {
            Some(cuts) => cuts.len(),
            None => self.n_items.div_ceil(self.size),
        }
    }

    /// The part of the data that a shard's items are in.
    pub fn part(&self, shard: usize) -> usize {
        self.cuts.as_ref().map_or(0, |cuts| cuts[shard].1 as usize)
    }

    /// The neighbouring shards of a wave that are of one part, by their places in the wave. None where shards are
    /// not added up by themselves: where the data are in one piece, or what shards leave behind is no sum (`adds`).
    pub fn groups(&self, wave: &Range<usize>, adds: bool) -> Option<Vec<Range<usize>>> {
        let cuts = self.cuts.as_ref().filter(|_| adds)?;
        let (mut groups, mut end) = (Vec::new(), 0);
        for group in cuts[wave.clone()].chunk_by(|a, b| a.1 == b.1) {
            groups.push(end..end + group.len());
            end += group.len();
        }
        Some(groups)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.n_items == 0
    }

    /// The items of a shard, by their places in the batch.
    pub fn range(&self, shard: usize) -> Range<usize> {
        if let Some(cuts) = &self.cuts {
            let end = cuts.get(shard + 1).map_or(self.n_items, |next| next.0);
            return cuts[shard].0..end;
        }
        let begin = shard * self.size;
        begin..(begin + self.size).min(self.n_items)
    }

    /// The same of some shards.
    pub fn places(&self, shards: &Range<usize>) -> impl Iterator<Item = Range<usize>> + use<'_> {
        shards.clone().map(|shard| self.range(shard))
    }

    pub(super) fn largest_wave(&self) -> usize {
        self.len().min(self.wave)
    }

    /// The shards that are gathered together, wave after wave.
    pub fn waves(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let (n, wave) = (self.len(), self.wave);
        (0..n).step_by(wave.max(1)).map(move |first| first..(first + wave).min(n))
    }
}
