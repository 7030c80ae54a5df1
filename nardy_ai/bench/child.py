"""`python -m nardy_ai.bench.child FILE COMMAND ...`: a `nardy` command that leaves its peak memory in FILE.

What the system tells a parent about a child (`wait4`) counts the parent's own memory in, since the child begins as
its copy. So the child looks at itself.
"""

import runpy
import sys
from pathlib import Path


def peak_kib() -> int:
    """The most memory that this process has held since its program began, in KiB."""
    status = Path("/proc/self/status")
    if status.is_file():
        text = status.read_text(encoding="utf-8")
        return int(text.split("VmHWM:")[1].split()[0])
    import resource  # macOS counts bytes

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def main() -> None:
    """Run the command in this process, then write the file."""
    file = Path(sys.argv[1])
    sys.argv = ["nardy", *sys.argv[2:]]
    try:
        runpy.run_module("nardy_ai.cli.main", run_name="__main__")
    finally:
        file.write_text(str(peak_kib()), encoding="utf-8")


if __name__ == "__main__":
    main()
