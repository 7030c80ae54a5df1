"""Every option of a config as a flag of its own, such as `--optim.lr`."""

import argparse
from typing import Any

from nardy_ai.train.config import FitConfig, TrainConfig, config_to_dict, option_fields


def add_config_options(parser: argparse.ArgumentParser, defaults: TrainConfig | FitConfig) -> None:
    """Declare a flag for each option, with the values of `defaults` in the help."""
    options = parser.add_argument_group("options of the config, each overrides its file")
    values = config_to_dict(defaults)
    for name, entry in option_fields(type(defaults)).items():
        default: Any = values
        for part in name.split("."):
            default = default[part]
        shown = ",".join(default) if isinstance(default, tuple) else default
        text = f"{entry.metadata['help']} (default: {shown})"
        options.add_argument(f"--{name}", dest=f"option {name}", metavar="VALUE", help=text.replace("%", "%%"))


def given_options(args: argparse.Namespace, kind: type) -> dict[str, str]:
    """The options that were given, by their dotted names."""
    return {name: given for name in option_fields(kind) if (given := getattr(args, f"option {name}")) is not None}
