"""``python -m lehr.distributed``: shards, fits and readouts on Ray from a shell."""

import argparse
import sys

from . import distributed
from ._lda import LatentDirichletAllocation
from ._mixture import BayesianGaussianMixture
from ._pmf import ProbabilisticMatrixFactorization
from .errors import LehrError


def _parser():
    parser = argparse.ArgumentParser("python -m lehr.distributed", description="Fits on many machines, bit-identical to one machine.")
    commands = parser.add_subparsers(dest="command", required=True)

    make = commands.add_parser("shard", help="cut data into shards")
    make.add_argument("files", nargs="+", help="files or patterns")
    make.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder to make")
    make.add_argument("--shards", type=int, default=64, metavar="N", help="how many shards (64)")
    make.add_argument("--kind", default="documents", choices=["documents", "points", "ratings"])

    fit = commands.add_parser("fit", help="fit a model to shards")
    fit.add_argument("model", choices=["lda", "gmm", "dpgmm", "pmf"])
    fit.add_argument("shards", metavar="SHARDS", help="the folder of shards")
    fit.add_argument("-k", type=int, required=True, metavar="K", help="topics, components or latent dimensions")
    fit.add_argument("-o", "--output", required=True, metavar="DIR", help="the run directory to make")
    fit.add_argument("--batch", type=int, metavar="N", help="items in a step; all of them if left out")
    fit.add_argument("--passes", type=int, default=10, metavar="N", help="passes over the data, at most (10)")
    fit.add_argument("--effective", metavar="M", help="the effective batch size: less than the batch anneals")
    fit.add_argument("--seed", type=int, default=0, metavar="N", help="the seed (0)")
    fit.add_argument("--priors", default="learned", choices=["learned", "scikit-learn"])
    fit.add_argument("--every", type=int, metavar="N", help="steps between checkpoints; a minute if left out")

    again = commands.add_parser("resume", help="go on with a run that was cut short")
    again.add_argument("run", metavar="RUN", help="the run directory")

    apply = commands.add_parser("transform", help="apply a fitted model to shards")
    apply.add_argument("run", metavar="RUN", help="the run directory")
    apply.add_argument("shards", metavar="SHARDS", help="the folder of shards")
    apply.add_argument("-o", "--output", required=True, metavar="DIR", help="the folder to write to")

    for command in (fit, again, apply):
        command.add_argument("--workers", type=int, default=2, metavar="N", help="worker processes (2)")
        command.add_argument("--threads", type=int, default=1, metavar="N", help="threads of each (1)")
        command.add_argument("--address", help="where Ray is, such as ray://host:10001; this machine if left out")
        command.add_argument("--timeout", type=float, metavar="S", help="seconds after which a worker is replaced")
        command.add_argument("--quiet", action="store_true", help="do not show how it goes")
    return parser


def _estimator(args):
    """What to fit."""
    shared = {
        "max_iter": args.passes,
        "random_state": args.seed,
        "effective_batch_size": args.effective,
        "priors": args.priors,
        "verbose": 0 if args.quiet else 1,
    }
    if args.model == "lda":
        online = {} if args.batch is None else {"learning_method": "online", "batch_size": args.batch}
        return LatentDirichletAllocation(args.k, **online, **shared)
    if args.model == "pmf":
        del shared["priors"]
        return ProbabilisticMatrixFactorization(args.k, batch_size=args.batch, **shared)
    kind = "dirichlet_distribution" if args.model == "gmm" else "dirichlet_process"
    return BayesianGaussianMixture(args.k, batch_size=args.batch, weight_concentration_prior_type=kind, **shared)


def _run(args):
    if args.command == "shard":
        made = distributed.shard(args.files, args.output, args.shards, kind=args.kind)
        print(f"{args.output}: {made['rows']} {made['kind']} in {len(made['shards'])} shards")
        return
    where = {name: getattr(args, name) for name in ("workers", "threads", "address", "timeout")}
    if args.command == "transform":
        from ._open import load

        written = distributed.transform(load(args.run), args.shards, args.output, **where)
        print(f"{args.output}: {len(written)} files")
        return
    if args.command == "fit":
        run = args.output
        fitted = distributed.fit(_estimator(args), args.shards, save=run, every=args.every, **where)
    else:
        run = args.run
        fitted = distributed.resume(run, verbose=not args.quiet, **where)
    report = fitted.workers_
    rounds = max(report["rounds"], 1)
    print(
        f"{run}: {fitted.n_steps_} steps, bound {fitted.lower_bound_:.8g}; {report['rounds']} rounds of "
        f"{1e3 * report['seconds'] / rounds:.1f} ms, {(report['bytes_out'] + report['bytes_in']) / rounds / 1e6:.2f} MB each"
    )


def main(argv=None):
    """Run it with these arguments, or those of this process."""
    try:
        _run(_parser().parse_args(argv))
    except LehrError as error:
        sys.exit(f"error: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
