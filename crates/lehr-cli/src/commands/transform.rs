//! `lehr transform`: the cluster of each item and every component's responsibility for it.

use lehr::write::{self, Column};

use super::{End, OpenRun};
use crate::args::TransformArgs;
use crate::text::{counted, print};

/// Labels the data.
pub fn run(args: TransformArgs) -> anyhow::Result<End> {
    let run = OpenRun::open(&args.run)?;
    for data in [&args.data, &run.record.data.path] {
        // Paths that do not exist yet cannot be the data.
        let (Ok(data), Ok(output)) = (data.canonicalize(), args.output.canonicalize()) else {
            continue;
        };
        if data == output {
            anyhow::bail!(
                "{}: this is the data; write to another file with -o",
                args.output.display()
            );
        }
    }
    let points = run.read(&args.data, &args.points)?;
    let lambda = run.saved.model_state().lambda.table();
    let k = lambda.n_rows();
    let responsibilities = run.model.responsibilities(lambda, &points);
    if let Some(at) = responsibilities.iter().position(|r| !r.is_finite()) {
        anyhow::bail!(
            "{}: row {} is so far from every component that its densities overflow; look for outliers \
             or a wrong unit",
            args.data.display(),
            at / k + 1
        );
    }
    let labels: Vec<i64> = responsibilities
        .chunks_exact(k)
        .map(|row| {
            let largest = (0..k).max_by(|&a, &b| row[a].total_cmp(&row[b]).then(b.cmp(&a)));
            largest.expect("a mixture has components") as i64
        })
        .collect();
    let columns =
        [Column::i64("label", &labels), Column::matrix("responsibility", &responsibilities, k)];
    write::table(&args.output, &columns)?;
    let items = counted(labels.len() as u64, "item");
    print(&format!("{}: {items} labelled with {k} components\n", args.output.display()))?;
    Ok(End::Done)
}
