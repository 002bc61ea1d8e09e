"""Folders of shards: found, made and opened wherever fsspec reaches, through copies on this machine's disk."""

import glob
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

from .errors import DataError, FormatError, MissingFileError, MissingPackageError

_MANIFEST = "manifest.json"
# In a copy: where it comes from.
_ADDRESS = "address.txt"


def is_address(name):
    """Whether a name is one for fsspec, not for the operating system."""
    return isinstance(name, str) and "://" in name


def _system(address):
    """The file system of an address, and the path there."""
    try:
        import fsspec
    except ImportError as error:
        raise MissingPackageError("addresses need fsspec; install it with: pip install fsspec") from error
    return fsspec.core.url_to_fs(address)


def _cache():
    """The folder that copies are kept in: LEHR_CACHE, or lehr in the user's cache folder."""
    given = os.environ.get("LEHR_CACHE")
    if given:
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lehr"


class Folder:
    """A folder of shards as it is opened on this machine: itself, or a copy to which shards are added when they are needed."""

    def __init__(self, name):
        if not is_address(name):
            self.address, self.path = None, Path(os.path.abspath(name))
            origin = self.path / _ADDRESS
            if not origin.is_file():
                return
            name = origin.read_text(encoding="utf-8")
        self.address = name
        self.system, self.root = _system(name)
        self.root = self.root.rstrip("/")
        try:
            text = self.system.cat_file(f"{self.root}/{_MANIFEST}")
        except FileNotFoundError as error:
            raise MissingFileError(f"{name}: is no folder of shards: it has no {_MANIFEST}", name) from error
        # Shards that are made again have another manifest, and another copy.
        key = hashlib.sha256(name.encode() + b"\0" + text).hexdigest()[:24]
        self.path = _cache() / "shards" / key
        self.path.mkdir(parents=True, exist_ok=True)
        try:
            manifest = json.loads(text)
            self.files = [entry["file"] for entry in manifest["shards"]]
            beside = list(manifest.get("sidecars", {}))
            if manifest.get("vocabulary"):
                beside.append("vocabulary.json")
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            text = "is no manifest of a folder of shards; make the shards again"
            raise FormatError(f"{name}/{_MANIFEST}: {text}") from error
        for file in beside:
            self._copy(file)
        self._write(_ADDRESS, name.encode())
        self._write(_MANIFEST, text)

    def _write(self, name, content):
        if not (self.path / name).exists():
            with tempfile.NamedTemporaryFile(dir=self.path, prefix=f"{name}.", delete=False) as file:
                file.write(content)
            os.replace(file.name, self.path / name)

    def _copy(self, name):
        """Copies a file, whole or not at all; who opens it compares it with the manifest."""
        if Path(name).name != name:
            raise DataError(f"{self.address}: its manifest names {name}, which is no file of the folder")
        if (self.path / name).exists():
            return
        handle, part = tempfile.mkstemp(dir=self.path, prefix=f"{name}.")
        os.close(handle)
        try:
            self.system.get_file(f"{self.root}/{name}", part)
            os.replace(part, self.path / name)
        except FileNotFoundError as error:
            raise MissingFileError(f"{self.address}/{name}: is not there", f"{self.address}/{name}") from error
        finally:
            if os.path.exists(part):
                os.remove(part)

    def bring(self, parts=None):
        """Makes sure that some shards, or all, are on this machine; the folder's path."""
        if self.address is not None:
            for file in self.files if parts is None else [self.files[part] for part in parts if part < len(self.files)]:
                self._copy(file)
        return self.path


def found(files, copies):
    """The files that names, patterns and addresses stand for, in order; those from elsewhere are copied."""
    names = [files] if isinstance(files, (str, os.PathLike)) else list(files)
    all_of_them = []
    for name in map(os.fspath, names):
        if is_address(name):
            all_of_them += _copied(name, copies)
        elif os.path.exists(name) or not glob.has_magic(name):
            all_of_them.append(name)
        else:
            matches = sorted(glob.glob(name, recursive=True))
            if not matches:
                raise MissingFileError(f"{name}: no file is called like this", name)
            all_of_them += matches
    return all_of_them


def _copied(address, folder):
    system, path = _system(address)
    paths = system.glob(path) if glob.has_magic(path) else [path]
    if not paths:
        raise MissingFileError(f"{address}: no file is called like this", address)
    copied = []
    for path in sorted(paths):
        # The name says which format it is.
        copied.append(os.path.join(tempfile.mkdtemp(dir=folder), os.path.basename(path)))
        try:
            system.get_file(path, copied[-1])
        except FileNotFoundError as error:
            raise MissingFileError(f"{address}: is not there", address) from error
    return copied


def put(folder, address):
    """Copies a folder of shards to an address, the manifest last."""
    system, root = _system(address)
    root = root.rstrip("/")
    if system.exists(f"{root}/{_MANIFEST}"):
        raise DataError(f"{address}: holds {_MANIFEST} already; give a folder that is empty or not there yet")
    system.makedirs(root, exist_ok=True)
    for name in sorted(os.listdir(folder), key=lambda name: (name == _MANIFEST, name)):
        system.put_file(os.path.join(folder, name), f"{root}/{name}")
    shutil.rmtree(folder)
