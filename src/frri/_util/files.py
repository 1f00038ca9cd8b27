"""Files appear whole or not at all."""

import os
import secrets
from collections.abc import Iterable
from pathlib import Path


def write_whole(path: str | os.PathLike[str], content: str | Iterable[str]) -> None:
    """Write a text file, or one that comes in parts, beside the old one and put it in its place when it is complete.

    An earlier file survives any failure; links are followed and the mode of the file is kept.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_whole(Path(folder) / "a.txt", "text")
    ...     print([file.name for file in Path(folder).iterdir()])
    ['a.txt']
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {target.parent} to write {target.name} into.")
    neighbour = target.with_name(f".frri-{secrets.token_hex(8)}")
    descriptor = os.open(neighbour, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            if target.exists():
                neighbour.chmod(target.stat().st_mode & 0o777)
            file.writelines([content] if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        neighbour.replace(target)
    except BaseException:
        neighbour.unlink(missing_ok=True)
        raise
