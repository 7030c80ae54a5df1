"""Arguments that several subcommands share and that are about neither what is read nor what is printed."""

import argparse

WORKERS = 2


def add_workers_argument(parser: argparse.ArgumentParser) -> None:
    """`--workers N`."""
    parser.add_argument(
        "--workers",
        type=int,
        default=WORKERS,
        metavar="N",
        help="threads; they change the time and nothing else (default: %(default)s)",
    )
