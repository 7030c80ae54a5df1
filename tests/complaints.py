"""What the command line says of a misuse: one line."""

from nardy_ai.cli.compile_notice import NOTICE
from nardy_ai.cli.main import MISUSED, main


def complaint(capsys, *argv: object) -> str:
    """The one line on stderr of a misuse by a command; nothing is on stdout."""
    assert main([str(word) for word in argv]) == MISUSED
    captured = capsys.readouterr()
    assert captured.out == ""
    return the_line(captured.err)


def the_line(err: str) -> str:
    """The one line on stderr, but for the notice that kernels are compiled, which comes while they are new."""
    lines = [line for line in err.splitlines() if line != NOTICE]
    assert len(lines) == 1, err
    return lines[0]
