"""Opening a store, wherever it lies."""

from __future__ import annotations

from pathlib import Path

from hedgerow.errors import DataError, Problem
from hedgerow.maintenance.store.address import StoreAddress, read_address
from hedgerow.maintenance.store.store import Store


def open_store(address: str | Path, *, create: bool = False) -> Store:
    """Open the store at an address, or make ready to begin one there.

    Parameters
    ----------
    address
        The path of a file (SQLite), or ``postgresql://user@host/database?schema=name`` (the schema is ``hedgerow``
        unless the address names one).
    create
        Begin a new store: nothing is written before :meth:`Store.start`.

    Returns
    -------
    Store
        To be used in a ``with`` statement, or closed.

    Raises
    ------
    DataError
        ``no-store`` if there is none (and ``create`` is not set), ``store-exists`` if there is one (and it is),
        ``not-a-store`` if there is something else, ``store-newer``, ``no-connection``, …
    """
    place = read_address(address)
    store: Store
    if isinstance(place, StoreAddress):
        from hedgerow.maintenance.store.postgres import PostgresStore

        store = PostgresStore(place)
    else:
        from hedgerow.maintenance.store.sqlite import SqliteStore

        store = SqliteStore(place)
    try:
        if store.look() and create:
            hint = "choose another place, or change the release that is there"
            raise DataError(
                Problem("store-exists", "There is a store already; it is left as it is.", store.shown, hint)
            )
        if not store.begun and not create:
            hint = "check the address; hedgerow release create begins a new store"
            raise DataError(Problem("no-store", "There is no store here.", store.shown, hint))
    except BaseException:
        store.close()
        raise
    return store
