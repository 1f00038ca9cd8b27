"""Train interpretable rule-based models on tables; test, explain and deploy them.

frri help COMMAND describes a command. Results go to standard output; notes and progress go to
standard error, unless --quiet is given. The exit code is 0 after success, 1 if the command failed,
2 if the arguments or the input are invalid (an error message states why, and nothing is written),
and 130 after Ctrl-C or SIGTERM.

$ frri demo
$ frri example patients.csv
$ frri fit patients.csv --target risk -o model.json
$ frri rules model.json
$ frri predict model.json new.csv > predictions.csv
$ frri help predict
"""

import signal
import sys
import threading
from collections.abc import Sequence
from importlib import import_module
from inspect import getdoc
from typing import Any

from frri.cli.console import Parser, abandon_stdout, prepare_stdout, say, sentence, start_messages

DONE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130

COMMANDS = {
    "fit": "train a model on a table",
    "rules": "print the rules of a model",
    "evaluate": "test a model on labelled rows: accuracy, confusion matrix, drift of rules",
    "predict": "apply a model to a table",
    "explain": "explain a prediction, with a counterfactual explanation",
    "export": "write a model as SQL, Python, JavaScript, ONNX, Excel, LaTeX, ...",
    "report": "write a report of a model as one HTML page",
    "view": "open the report in the browser",
    "mcp": "serve models to AI assistants over the Model Context Protocol",
    "bench": "compare models by cross-validation on datasets",
    "frontier": "find K rules with the fewest errors, proven optimal",
    "demo": "train, test and explain rules on built-in data",
    "example": "write an artificial table to try the commands with",
    "completion": "write a script that completes commands and options in bash or zsh",
    "help": "describe a command",
}

# Headings of the list of commands, by the first command below them.
HEADINGS = {"fit": "train and test", "predict": "apply", "report": "share", "bench": "compare"}
HEADINGS["demo"] = "get started"

# Commands that share the module of another one; modules are imported when they are needed.
MODULES = {"example": "demo", "view": "report"}

# Commands without a module.
OWN = ("completion", "help")

# Shells that completion works in, and the first line of its script there.
SHELLS = {"bash": "", "zsh": "autoload -U +X bashcompinit && bashcompinit\n"}

# Options of version 0.1.0 under their new names; the old ones go with 0.4.
RENAMED = {
    ("bench", "--out"): "--output",
    ("explain", "--keep"): "--fix",
    ("fit", "--effort"): "--work-limit",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line; returns the exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.

    Examples
    --------
    >>> main(["--version"])
    frri 0.2.0
    0
    """
    prepare_stdout()
    start_messages(quiet=False)
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)):
            if signal.getsignal(number) is signal.SIG_DFL:  # which would leave temporary files
                signal.signal(number, signal.default_int_handler)
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
        sys.stdout.flush()
    except SystemExit as end:  # of a help text
        code = end.code if isinstance(end.code, int) else DONE
    except KeyboardInterrupt:
        say("frri: interrupted; nothing was written.", always=True)
        code = INTERRUPTED
    except BrokenPipeError:  # whoever reads has seen enough
        abandon_stdout()
        code = DONE
    except (ValueError, OSError, ImportError, MemoryError) as error:
        abandon_stdout()
        say(f"frri: {sentence(error)}", always=True)
        code = USAGE
    return code


def _run(argv: list[str]) -> int:
    if argv[:1] == ["help"]:
        argv = [*argv[1:], "--help"]
    if argv[:1] in (["-q"], ["--quiet"]):
        argv = [*argv[1:], argv[0]]
    name = argv[0] if argv and not argv[0].startswith("-") else None
    if name is None:
        from frri import __version__  # noqa: PLC0415 - the package itself

        heads = {name: f"\n{head}:\n" for name, head in HEADINGS.items()}
        listing = "".join(f"{heads.get(c, '')}  {c:<10}  {t}\n" for c, t in COMMANDS.items())
        text, dollar, examples = (__doc__ or "").partition("\n$ ")
        parser = Parser("frri", f"{text}{listing}{dollar}{examples}")
        parser.usage = "frri COMMAND ..."
        parser.add_argument("-V", "--version", action="version", version=f"frri {__version__}")
        parser.parse_args(argv)
        raise ValueError(f"Name a command: {', '.join(COMMANDS)}; frri --help shows examples.")
    from frri._util import Progress, find_name  # noqa: PLC0415 - not for help

    find_name(name, COMMANDS, "frri", "command")
    if name == "completion":
        parser = Parser("frri completion", getdoc(complete) or "")
        parser.add_argument("shell", nargs="?", choices=SHELLS, default="bash", help="the shell")
        sys.stdout.write(SHELLS[parser.parse(argv[1:]).shell] + complete())
        return DONE
    module, parser = _command(name)
    arguments = parser.parse([_rename_option(name, one) for one in argv[1:]])
    Progress.shown = sys.stderr.isatty() and not arguments.quiet
    try:
        return module.run(arguments) or DONE
    finally:
        Progress.shown = True


def _command(name: str) -> tuple[Any, Parser]:
    """Return the module and the parser of a command."""
    module = import_module(f"frri.cli.{MODULES.get(name, name)}")
    parser = Parser(f"frri {name}", module.__doc__ or "")
    module.configure(parser)
    return module, parser


def complete() -> str:
    """Write a script that completes commands and options in bash or zsh.

    $ source <(frri completion)
    $ source <(frri completion zsh)
    $ frri completion > ~/.local/share/bash-completion/completions/frri
    """
    known = {name: _command(name)[1].options for name in COMMANDS if name not in OWN}
    cases = [f'    {name}) words="{" ".join(words)}" ;;' for name, words in known.items()]
    script = ["_frri() {", "  local words=", '  case "${COMP_WORDS[1]}" in', *cases]
    script += [f'    help) words="{" ".join(known)}" ;;', "  esac"]
    script += [f'  [ "$COMP_CWORD" = 1 ] && words="{" ".join(COMMANDS)} --help --version"']
    word = '"${COMP_WORDS[COMP_CWORD]}"'
    script += [f'  COMPREPLY=($(compgen -W "$words" -- {word}))', "}"]
    return "\n".join([*script, "complete -o default -F _frri frri", ""])


def _rename_option(command: str, argument: str) -> str:
    """Replace the old name of an option, with a note."""
    old, equals, value = argument.partition("=")
    new = RENAMED.get((command, old))
    if new is None:
        return argument
    say(f"note: {old} is now called {new}; the old name goes with version 0.4.")
    return f"{new}{equals}{value}"
