"""Signing a release: a detached Ed25519 signature over the names, lengths and fingerprints of its files.

A signature says who released it, and that no byte has changed since. It says nothing about what is in it: that is what
the check is for. The cryptography is that of the library ``cryptography``.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from hedgerow.errors import DataError, HedgerowError, Problem
from hedgerow.verification import SIGNATURE, Listing, Promise

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

FORM = "hedgerow-signature-1"
MOST_BYTES = 10_000
BLOCK = 1 << 20
OPENED_TO_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def manifest(folder: Path) -> bytes:
    """Return what is signed: a line for every file of a release with its fingerprint, length and name, by name.

    The first line says what the signature is for, so that it means nothing anywhere else.
    """
    listing = Listing.of(folder)
    if listing.unsafe or listing.strange:
        message = "The folder holds more than a release, or something in it is no plain file."
        raise DataError(Problem("not-a-release", message, str(folder), "name the folder that anonymize wrote"))
    lines = [FORM]
    for name in sorted(set(listing.files) - {SIGNATURE}):
        found, size = hashlib.sha256(), 0
        try:
            with (folder / name).open("rb") as file:
                while block := file.read(BLOCK):
                    found.update(block)
                    size += len(block)
        except OSError as error:
            message = f"A file of the release cannot be read: {error.strerror or 'unreadable'}."
            raise DataError(Problem("no-file", message, str(folder / name), "check its permissions")) from None
        lines.append(f"{found.hexdigest()} {size} {name}")
    return ("\n".join(lines) + "\n").encode()


# -- keys ------------------------------------------------------------------------------------------------------------


def make_key(path: str | Path) -> str:
    """Make a key pair: the private key at ``path``, for nobody else to read, the public one beside it.

    Returns
    -------
    str
        The fingerprint of the key, by which its owner is known.

    Raises
    ------
    DataError
        If one of the two files is there already, or cannot be written.
    """
    primitives = _library()
    private, public = Path(path), Path(f"{path}.pub")
    key = primitives.Ed25519PrivateKey.generate()
    secret = key.private_bytes(primitives.Encoding.PEM, primitives.PrivateFormat.PKCS8, primitives.NoEncryption())
    shown = key.public_key().public_bytes(primitives.Encoding.PEM, primitives.PublicFormat.SubjectPublicKeyInfo)
    for file in (private, public):
        if file.exists() or file.is_symlink():
            hint = "choose another name: a key is never overwritten"
            raise DataError(Problem("output-in-use", "A file for the key exists already.", str(file), hint))
    try:
        _write_new(private, secret, 0o600)
        _write_new(public, shown, 0o644)
    except OSError as error:
        message = f"The key cannot be written: {error.strerror or 'unknown reason'}."
        raise DataError(Problem("output", message, str(path), "check the permissions of the folder")) from None
    return fingerprint(key.public_key())


def fingerprint(key: Ed25519PublicKey) -> str:
    """Return the name by which a key is known: SHA-256 of its 32 bytes."""
    return "SHA256:" + hashlib.sha256(key.public_bytes_raw()).hexdigest()


def _read_private(path: Path) -> Ed25519PrivateKey:
    primitives = _library()
    text = _read_key(path)
    if os.name == "posix" and path.stat().st_mode & OPENED_TO_OTHERS:
        message = "The private key can be read by others than its owner."
        raise DataError(Problem("key", message, str(path), "chmod 600 it, and think whether it is still secret"))
    key: Any
    try:
        key = primitives.load_pem_private_key(text, password=None)
    except (ValueError, TypeError, primitives.UnsupportedAlgorithm):
        key = None
    if not isinstance(key, primitives.Ed25519PrivateKey):
        message = "The file does not hold a private Ed25519 key in PEM, without a passphrase."
        raise DataError(Problem("key", message, str(path), "make one: hedgerow sign --make-key FILE"))
    found: Ed25519PrivateKey = key
    return found


def _read_public(path: Path) -> Ed25519PublicKey:
    primitives = _library()
    text = _read_key(path)
    key: Any
    try:
        key = primitives.load_pem_public_key(text)
    except (ValueError, primitives.UnsupportedAlgorithm):
        key = None
    if not isinstance(key, primitives.Ed25519PublicKey):
        message = "The file does not hold a public Ed25519 key in PEM."
        raise DataError(Problem("key", message, str(path), "ask who released it for the .pub file of their key"))
    found: Ed25519PublicKey = key
    return found


def _read_key(path: Path) -> bytes:
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise FileNotFoundError
        with path.open("rb") as file:
            return file.read(MOST_BYTES)
    except OSError:
        message = "The key does not exist or cannot be read."
        raise DataError(Problem("no-file", message, str(path), "check the path")) from None


# -- signatures ------------------------------------------------------------------------------------------------------


def sign_folder(folder: Path, key: str | Path, replace: bool = False) -> str:
    """Write the signature of a release into its folder; returns the fingerprint of the key.

    The release is not checked here: :func:`hedgerow.api.sign` does that first.
    """
    secret = _read_private(Path(key))
    target = folder / SIGNATURE
    if target.exists() and not replace:
        hint = "replace its signature with --replace"
        raise DataError(Problem("output-in-use", "The release is signed already.", str(folder), hint))
    name = fingerprint(secret.public_key())
    said = {
        "form": FORM,
        "key": name,
        "signature": base64.b64encode(secret.sign(manifest(folder))).decode("ascii"),
    }
    text = (json.dumps(said, indent=2) + "\n").encode()
    beside = folder.absolute().parent  # a half-written file must never lie in the release
    try:
        handle, scratch = tempfile.mkstemp(prefix=f".{folder.absolute().name[:80]}.signature-", dir=beside)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            Path(scratch).chmod(0o644)
            Path(scratch).replace(target)
        finally:
            Path(scratch).unlink(missing_ok=True)
    except OSError as error:
        message = f"The signature cannot be written: {error.strerror or 'unknown reason'}."
        raise DataError(Problem("output", message, str(folder), "nothing was changed there")) from None
    return name


def check_signature(folder: Path, key: str | Path) -> Promise:
    """Check that the holder of a key signed exactly the files of a release."""
    primitives = _library()
    public = _read_public(Path(key))
    name = fingerprint(public)
    asked = f"signed with {name}"
    found = _read_signature(folder / SIGNATURE)
    if isinstance(found, str):
        return Promise("signature", asked, found, kept=False)
    by, signature = found
    if by != name:
        return Promise("signature", asked, "signed with another key", kept=False)
    try:
        public.verify(signature, manifest(folder))
    except DataError:
        return Promise("signature", asked, "other files than were signed", kept=False)
    except primitives.InvalidSignature:
        return Promise("signature", asked, "other bytes than were signed", kept=False)
    return Promise("signature", asked, "exactly these files", kept=True)


def note_of_signature(folder: Path) -> str:
    """Say that there is a signature that nobody has checked; empty if there is none."""
    if not (folder / SIGNATURE).is_file():
        return ""
    return "There is a signature, which was not checked: give the public key of who released it (--key FILE)."


def _read_signature(path: Path) -> tuple[str, bytes] | str:
    """Return the fingerprint of the key and the signature; or what is wrong."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return "no signature"
        with path.open("rb") as file:
            said: Any = json.loads(file.read(MOST_BYTES))
        if not isinstance(said, dict) or set(said) != {"form", "key", "signature"} or said["form"] != FORM:
            return "a signature that cannot be read"
        by, signature = said["key"], said["signature"]
        if not isinstance(by, str) or not isinstance(signature, str):
            return "a signature that cannot be read"
        return by, base64.b64decode(signature, validate=True)
    except OSError:
        return "no signature"
    except (ValueError, RecursionError, binascii.Error):
        return "a signature that cannot be read"


def _write_new(path: Path, content: bytes, mode: int) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _library() -> Any:
    """Return what is needed of the library, or say how to get it."""
    try:
        from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
        from cryptography.hazmat.primitives.asymmetric import ed25519
        from cryptography.hazmat.primitives.serialization import (
            Encoding,
            NoEncryption,
            PrivateFormat,
            PublicFormat,
            load_pem_private_key,
            load_pem_public_key,
        )
    except ImportError:
        message = "Signatures need the library cryptography, which is not installed."
        hint = "in a checkout: pip install -e '.[sign]'"
        raise HedgerowError(Problem("usage", message, hint=hint)) from None
    keys = (ed25519.Ed25519PrivateKey, ed25519.Ed25519PublicKey)
    forms = (Encoding, NoEncryption, PrivateFormat, PublicFormat)
    readers = (load_pem_private_key, load_pem_public_key)
    errors = (InvalidSignature, UnsupportedAlgorithm)
    return SimpleNamespace(**{one.__name__: one for one in (*keys, *forms, *readers, *errors)})
