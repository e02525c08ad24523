"""The verbs of a single release: anonymize, explain, compare, verify, … Command line and studio are faces over them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hedgerow.anonymization.resolving import with_points
from hedgerow.anonymization.withholding import settle
from hedgerow.engines.base import Engine
from hedgerow.engines.export import check_form
from hedgerow.engines.opening import is_local, open_engine, read_microdata
from hedgerow.engines.place import read_place
from hedgerow.engines.rows import Rows
from hedgerow.errors import HedgerowError, Problem
from hedgerow.microdata import encode_table
from hedgerow.microdata.frames import taken_over
from hedgerow.microdata.people import counted_in
from hedgerow.microdata.read import file_format
from hedgerow.outside.outputs import PrivateFolder, new_folder
from hedgerow.outside.outputs.moment import rehearsal
from hedgerow.outside.server import check_path, is_server
from hedgerow.outside.stores import is_in_spark, local_path
from hedgerow.plan import Plan, settled_plan
from hedgerow.plan.formats import release_formats
from hedgerow.release import (
    Release,
    check_targets,
    make_where_it_lies,
    publish,
    publish_link,
    release_files,
    write_release,
)
from hedgerow.release.verifying import verify
from hedgerow.types import Progress, silent
from hedgerow.verification import verify_release

if TYPE_CHECKING:  # what only some verbs need is loaded by them: a small release takes as long as its imports
    from hedgerow.anonymization.bounding import Certificate
    from hedgerow.anonymization.explanation import Explanation
    from hedgerow.anonymization.lattice import Patience
    from hedgerow.evaluation.comparison import Comparison
    from hedgerow.evaluation.exploration import LatticeView, Which
    from hedgerow.evaluation.leaving_out import LeavingOut
    from hedgerow.evaluation.tightening import ProposedLimits
    from hedgerow.measures.association import Association

__all__ = [
    "anonymize",
    "apply",
    "bound",
    "compare",
    "explain",
    "lattice",
    "leave_out",
    "propose_limits",
    "save",
    "sign",
    "verify",
    "weights",
]


def anonymize(
    data: Any,
    plan: Plan | str | Path,
    output: str | Path | None = None,
    *,
    seed: int | None = None,
    threads: int | None = None,
    format: str | None = None,
    link: str | Path | None = None,
    replace: bool = False,
    engine: str = "auto",
    master: str | None = None,
    driver_profiles: int | None = None,
    progress: Progress | None = None,
    patience: Patience | None = None,
    population: Any = None,
) -> Release:
    """Make a verified release of a table.

    Parameters
    ----------
    data
        A path (CSV, Parquet, Arrow), a pandas, polars or pyarrow table, the address of a table on a PostgreSQL or
        MariaDB server (``postgresql://user@host/database?table=schema.patients``), or a Spark frame.
    plan
        A plan, or the path of one.
    output
        Folder to write ``data.csv`` (or ``.parquet``), ``plan.yaml`` and ``facts.json`` to, or the address of a table
        on a server to make. Spark also writes where only it reaches: ``s3a://…``, ``hdfs://…``, or
        ``table:NAME`` of its catalogue. It appears whole and verified, or not at all. Without it the release is only
        returned.
    seed
        Overrides the plan's seed.
    threads
        Threads to cluster with; all processors by default. The result does not depend on it.
    format
        ``csv`` or ``parquet``; by default what the data was. ``parts``: Parquet files written by a Spark cluster, the
        default there.
    link
        Private file to write the link from records to released rows to, outside the output folder.
    replace
        Whether an existing output, if it is a release, may be replaced.
    engine
        ``local`` (in memory), ``duckdb`` (files larger than memory), ``spark`` (a Parquet path, or ``table:NAME``).
        By default what suits the data. The release does not depend on it.
    master
        The Spark cluster to use, where no session is running; by default ``local[*]``.
    driver_profiles
        Records up to which a Spark driver works by itself; with more, they stay on the executors.
    progress
        Called now and then during long work.
    patience
        How long the exact search by research value may go on; it then returns the best found and a bound.
    population
        A table of the people whom the records were drawn from, in place of the one that the plan names: a path, a table
        in memory, an address on a server, or ``table:NAME`` of Spark's catalogue.

    Raises
    ------
    NoSolution
        If nothing can be released within the plan.
    BrokenPromise
        If the independent check finds the release wanting; nothing is written then.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"name": list("abcd"), "sex": list("FFMM"), "illness": ["flu", "cold", "flu", "cold"]})
    >>> plan = Plan.from_dict(
    ...     {
    ...         "attributes": {"name": "identifier", "sex": "quasi-identifier", "illness": "sensitive"},
    ...         "privacy": {"k": 2},
    ...     }
    ... )
    >>> anonymize(people, plan)
    Release(4 of 4 records in 2 groups of 2–2, NTIL 0.0000)
    """
    tell = progress or silent
    plan = settled_plan(plan, seed)
    output = local_path(output)
    target = read_place(str(output)) if is_server(output) else None
    stored = str(output) if is_in_spark(output) else None
    check_targets(None if target is not None or stored is not None else output, link, replace)
    if format is not None:
        check_form(format)
    if (target is not None or stored is not None) and format is not None:
        message = "A table, or a release that Spark writes to a store, has no file format to choose."
        raise HedgerowError(Problem("usage", message, hint="leave the format out, or write to a folder"))
    if stored is not None and engine == "auto":
        engine = "spark"
    if target is not None and engine == "auto" and is_local(data):
        engine = "duckdb"  # a table of a database is checked by counts, which the local engine does not keep
    tell("reading", 0, 0)
    with (
        counted_in(plan, population) as plan,
        open_engine(
            data, plan, engine, master, driver_profiles, link is not None, lambda rows: tell("reading", rows, 0)
        ) as source,
    ):
        if target is not None:
            from hedgerow.release import check_table, publish_table

            check_table(target, source, replace)
        if stored is not None:
            from hedgerow.release import check_in_spark, publish_in_spark

            check_in_spark(stored, source, replace)
        release = make_where_it_lies(source, plan, threads, tell, patience)
        if target is not None:
            return publish_table(release, target, source, replace, tell)
        if stored is not None:
            return publish_in_spark(release, stored, source, replace, tell)
        form = format or _form(data, plan, source)
        return _put(release, source, output, form, link, replace, tell)


def apply(
    release: str | Path,
    data: Any,
    output: str | Path | None = None,
    *,
    withhold: str | int | None = None,
    afresh: bool = True,
    threads: int | None = None,
    format: str | None = None,
    link: str | Path | None = None,
    replace: bool = False,
    engine: str = "auto",
    master: str | None = None,
    progress: Progress | None = None,
) -> Release:
    """Make a verified release of a new table with the groups, or the levels, of an earlier release.

    Every record joins the finest group of the earlier release that its values lie in. Records that lie in none, and
    those of groups that would not meet the plan, are withheld. A release by the lattice passes on its levels instead.

    Parameters
    ----------
    release
        Folder of the earlier release. It is checked first.
    data
        A table of the same shape; whatever :func:`anonymize` takes.
    output
        Folder to write to; without it the release is only returned.
    withhold
        How many records may be withheld: a share such as ``5%``, or a number. By default what the plan of the earlier
        release says, else any number.
    afresh
        Whether to work out, too, what a release made afresh would lose and withhold.
    threads, format, link, replace, engine, master, progress
        As for :func:`anonymize`.

    Raises
    ------
    BrokenPromise
        If the earlier release does not keep its promises, or the new one would not.
    NoSolution
        If nobody fits, or too many do not.

    Examples
    --------
    >>> import pyarrow as pa, tempfile
    >>> plan = Plan.from_dict(
    ...     {"attributes": {"age": {"role": "quasi-identifier", "intervals": "free"}}, "privacy": {"k": 2}}
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = anonymize(pa.table({"age": ["30", "34", "50", "58"]}), plan, f"{folder}/january")
    ...     apply(f"{folder}/january", pa.table({"age": ["31", "32", "33", "55", "70"]})).table["age"].to_pylist()
    ['30-34', '30-34', '30-34']
    """
    from hedgerow.release.applying import apply_to, read_earlier

    tell = progress or silent
    check_path(release)
    check_targets(output, link, replace)
    if format is not None:
        check_form(format)
    tell("checking the release", 0, 0)
    earlier = read_earlier(Path(release), withhold)
    tell("reading", 0, 0)
    with open_engine(
        data, earlier.plan, engine, master, whole=link is not None, tell=lambda rows: tell("reading", rows, 0)
    ) as source:
        made = apply_to(earlier, source, threads, tell, afresh)
        return _put(made, source, output, format or _form(data, earlier.plan, source), link, replace, tell)


def explain(data: Any, plan: Plan | str | Path, engine: str = "auto", master: str | None = None) -> Explanation:
    """Say, before any run, what the limits cost: cells, records that must be withheld, causes, what to lift.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"city": ["Wichita", "Wichita", "Lincoln"]})
    >>> tree = {"US": {"Kansas": ["Wichita"], "Nebraska": ["Lincoln"]}}
    >>> plan = Plan.from_dict(
    ...     {
    ...         "attributes": {
    ...             "city": {"role": "quasi-identifier", "hierarchy": {"tree": tree}, "limits": ["Kansas", "Nebraska"]}
    ...         },
    ...         "privacy": {"k": 2},
    ...     }
    ... )
    >>> explain(people, plan)
    Explanation(3 records in 2 blocks; k = 2 withholds 1 records of 1 blocks)
    """
    from hedgerow.anonymization.explanation import explain_limits

    plan = settled_plan(plan)
    return explain_limits(*read_microdata(data, plan, engine, master))


def propose_limits(
    data: Any,
    plan: Plan | str | Path,
    *,
    withhold: str | int | None = None,
    attributes: Sequence[str] | None = None,
    engine: str = "auto",
    master: str | None = None,
    progress: Progress | None = None,
) -> ProposedLimits:
    """Propose limits from the data: as tight as a stated rule makes them while few enough records must be withheld.

    Parameters
    ----------
    data, plan
        The table, and what its owner asks.
    withhold
        What may be withheld with all limits together: a share such as ``5%``, or a number of records. By default what
        the plan says, else 5%.
    attributes
        Quasi-identifiers for which limits are proposed, whatever limits they have; by default those without one. Limits
        of the others stay as they are.
    progress
        Called after every step.

    Returns
    -------
    ProposedLimits
        ``plan`` is the plan with the limits, for the owner to accept or to change.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"city": ["Wichita"] * 7 + ["Topeka"] + ["Lincoln"] * 4, "sex": list("FFMM") * 3})
    >>> tree = {"US": {"Kansas": ["Wichita", "Topeka"], "Nebraska": ["Lincoln"]}}
    >>> plan = Plan.from_dict(
    ...     {
    ...         "attributes": {
    ...             "city": {"role": "quasi-identifier", "hierarchy": {"tree": tree}},
    ...             "sex": "quasi-identifier",
    ...         },
    ...         "privacy": {"k": 2},
    ...     }
    ... )
    >>> propose_limits(people, plan, withhold=0)
    ProposedLimits(city: level 1; sex: level 0; withholds 0 of 12 records)
    """
    from hedgerow.evaluation.tightening import propose_for

    asked = plan if isinstance(plan, Plan) else Plan.load(plan)
    microdata, settled = read_microdata(data, asked.settled(), engine, master)
    return propose_for(microdata, settled, asked, withhold, attributes, progress)


def lattice(
    data: Any,
    plan: Plan | str | Path,
    *,
    which: Which = "notable",
    sort: str | None = None,
    most: int | None = None,
    levels: Mapping[str, int] | None = None,
    engine: str = "auto",
    master: str | None = None,
    progress: Progress | None = None,
) -> LatticeView:
    """List nodes of the lattice of a table that satisfy a plan, with what their releases would be like.

    Choose one, and make its release: ``anonymize(data, plan.with_levels(node.levels), output)``.

    Parameters
    ----------
    data, plan, engine, master
        As for :func:`anonymize`. Another method is taken as the lattice; levels that the plan chooses are marked in the
        list, and all others listed too.
    which
        ``minimal`` nodes, the ``best`` by each objective, ``all`` that satisfy the plan, or the ``notable``: minimal
        and best.
    sort
        ``levels``, ``withheld``, ``groups``, ``smallest`` (group), or an objective; by default that of the plan.
    most
        How many are listed at most.
    levels
        Levels to keep to, by column.
    progress
        Called now and then during long work.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"sex": list("FFMM"), "zip": ["43102", "43102", "43103", "43103"]})
    >>> plan = Plan.from_dict(
    ...     {
    ...         "attributes": {
    ...             "sex": "quasi-identifier",
    ...             "zip": {"role": "quasi-identifier", "hierarchy": {"prefix": [5, 3, 0]}},
    ...         },
    ...         "privacy": {"k": 2},
    ...         "method": "lattice",
    ...     }
    ... )
    >>> found = lattice(people, plan, which="all", sort="smallest")
    >>> found
    LatticeView(6 nodes, 6 satisfying, 1 minimal; best for loss: sex 0, zip 0)
    >>> [(node.number, node.levels, node.smallest) for node in found.listed[:2]]
    [(1, {'sex': 1, 'zip': 1}, 4), (2, {'sex': 1, 'zip': 2}, 4)]
    >>> anonymize(people, plan.with_levels(found.node(1).levels))
    Release(4 of 4 records in 1 groups of 4–4, NTIL 0.7500)
    """
    from hedgerow.evaluation.exploration import MOST_LISTED, check_wish, explore, without_levels

    most = MOST_LISTED if most is None else most
    check_wish(which, sort, most)
    asked, chosen = without_levels(plan if isinstance(plan, Plan) else Plan.load(plan), dict(levels or {}))
    tell = progress or silent
    tell("reading", 0, 0)
    microdata, settled = read_microdata(data, asked.settled(), engine, master)
    return explore(microdata, settled, which, sort, most, chosen, tell)


def weights(data: Any, plan: Plan | str | Path, engine: str = "auto", master: str | None = None) -> Association:
    """Say how closely the quasi-identifiers go together, and the weights that ``weights: association`` gives them.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"sex": list("FFMM"), "ward": list("FFMM"), "floor": list("1212")})
    >>> plan = Plan.from_dict(
    ...     {"attributes": {name: "quasi-identifier" for name in people.column_names}, "privacy": {"k": 2}}
    ... )
    >>> weights(people, plan).weights
    (0.25, 0.25, 0.5)
    """
    from hedgerow.measures.association import associate

    plan = settled_plan(plan)
    with open_engine(data, plan, engine, master) as source:
        table = source.read(plan)
        plan = with_points(plan, table).settled()
        return associate(encode_table(table, plan), plan)


def leave_out(
    data: Any,
    plan: Plan | str | Path,
    engine: str = "auto",
    master: str | None = None,
    progress: Progress | None = None,
) -> LeavingOut:
    """Try which columns that others tell of could be left out, and how much less the other columns would lose.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [str(20 + i % 30) for i in range(90)], "born": [str(80 - i % 30) for i in range(90)]})
    >>> free = {"role": "quasi-identifier", "intervals": "free"}
    >>> plan = Plan.from_dict({"attributes": {"age": free, "born": free}, "privacy": {"k": 5}})
    >>> [(column.column, column.told_by) for column in leave_out(people, plan).columns]
    [('age', 'born'), ('born', 'age')]
    """
    from hedgerow.evaluation.leaving_out import leave_out as try_leaving_out

    asked = plan if isinstance(plan, Plan) else Plan.load(plan)
    with open_engine(data, settled_plan(asked), engine, master) as source:
        return try_leaving_out(source.read(settled_plan(asked)), asked, progress or silent)


def bound(
    data: Any,
    plan: Plan | str | Path,
    release: Release | str | Path | None = None,
    *,
    effort: str = "30s",
    threads: int | None = None,
    engine: str = "auto",
    master: str | None = None,
    progress: Progress | None = None,
    patience: Patience | None = None,
) -> Certificate:
    """Say what any release of the same records loses at least, and how far above that one is at most.

    Parameters
    ----------
    data, plan
        The table, and what its owner asks.
    release
        The release to look at: a folder, the address of a table, or one in memory. By default that which the plan
        makes.
    effort
        How long to look, such as ``30s``: counted in steps, so that the answer is the same everywhere.
    patience
        With it the search can be ended before that.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": ["20", "21", "40", "43", "61", "66"]})
    >>> age = {"role": "quasi-identifier", "intervals": "free"}
    >>> bound(people, Plan.from_dict({"attributes": {"age": age}, "privacy": {"k": 2}}), effort="1s")
    Certificate(loss 0.065217, at least 0.065217, gap 0.0000)
    """
    from hedgerow.release.certifying import certificate_of, certificate_of_release

    tell = progress or silent
    asked = plan if isinstance(plan, Plan) else Plan.load(plan)
    asked = asked.replace(method={**asked.method.model_dump(exclude_defaults=True), "certify": effort}).settled()
    if release is not None:
        tell("checking the release", 0, 0)
        verify(release, data).raise_if_broken()
    tell("reading", 0, 0)
    with open_engine(data, asked, engine, master, tell=lambda rows: tell("reading", rows, 0)) as source:
        settled = settle(
            source.read(asked),
            asked,
            threads,
            lambda done, total: tell("grouping", done, total),
            executor=source.executor,
        )
    found = certificate_of(settled, threads, tell, patience)
    return found if release is None else certificate_of_release(found, settled, release)


def compare(
    data: Any,
    plan: Plan | str | Path,
    *,
    k: Sequence[int] = (),
    methods: Sequence[str] = (),
    target: str | None = None,
    seed: int | None = None,
    threads: int | None = None,
    engine: str = "auto",
    master: str | None = None,
    progress: Progress | None = None,
    patience: Patience | None = None,
    regress: Sequence[str] = (),
) -> Comparison:
    """Make releases by several methods and measure them side by side; each is verified like any other.

    Parameters
    ----------
    data, plan
        The table, and what its owner asks.
    k
        The k to compare; by default the plan's.
    methods
        Names of methods, as ``hedgerow.evaluation.comparison.variants`` has them, or ``plan`` for the plan's own; by
        default the usual ones.
    target
        A column that decision trees tell from the quasi-identifiers, before and after.
    seed
        Overrides the plan's seed; it also draws the range queries.
    regress
        Regressions, such as ``"income ~ age + sex"``, that are fitted to the original and to each release.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [str(20 + i % 40) for i in range(200)]})
    >>> age = {"role": "quasi-identifier", "hierarchy": {"bands": [5, 10]}, "intervals": "free"}
    >>> plan = Plan.from_dict({"attributes": {"age": age}, "privacy": {"k": 8}})
    >>> compare(people, plan, methods=["exact", "bottom-up"])
    Comparison(2 of 2 releases made of 200 records)
    """
    from hedgerow.evaluation.comparison import check_names, compare_methods

    asked = plan if isinstance(plan, Plan) else Plan.load(plan)
    asked = asked if seed is None else asked.replace(seed=seed)
    check_names(asked, methods, target)
    data = taken_over(data)
    analysed = None
    if regress:
        if is_server(data) or is_in_spark(data) or engine == "spark":
            message = "Regressions are fitted here, to all records: give a file or a frame."
            raise HedgerowError(Problem("usage", message, hint="leave out the regressions, or export the table"))
        analysed = partial(_analysed, data, regress)
    with open_engine(data, asked, engine, master) as source:
        return compare_methods(source, asked, k, methods, target, threads, progress or silent, patience, analysed)


def _analysed(original: Any, regress: Sequence[str], release: Release) -> dict[str, Any]:
    from hedgerow.evaluation.analysing import utility

    return utility(release, original, regress=regress).to_dict()


def sign(release: str | Path, key: str | Path, replace: bool = False) -> str:
    """Sign a release folder, so that whoever gets it can know who released it; it is checked first.

    Parameters
    ----------
    release
        A release folder. ``signature.json`` is written into it.
    key
        File with a private Ed25519 key, as ``hedgerow sign --make-key`` makes it.
    replace
        Whether a signature that is there already may be replaced.

    Returns
    -------
    str
        The fingerprint of the key.

    Raises
    ------
    BrokenPromise
        If the release does not keep its promises; it is not signed then.
    """
    from hedgerow.release.signing import sign_folder

    check_path(release)
    verify(release).raise_if_broken()
    return sign_folder(Path(release), key, replace)


def save(release: Release, output: str | Path, format: str = "csv", replace: bool = False) -> None:
    """Write a release that was made in memory to a folder, checked once more."""
    if is_server(output):
        message = "A release in memory is saved to a folder."
        raise HedgerowError(Problem("usage", message, hint="give the table's address to anonymize as its output"))
    check_path(output)
    with new_folder(Path(output), replace, release_files()) as folder:
        write_release(release, folder, format)
        verify_release(folder).raise_if_broken()


def _put(
    release: Release,
    source: Engine,
    output: str | Path | None,
    form: str,
    link: str | Path | None,
    replace: bool,
    tell: Progress,
) -> Release:
    """Put a release into a folder, checked, or check it and keep it in memory."""
    if output is not None:
        return publish(release, Path(output), form, source, link, replace, tell)
    with PrivateFolder() as scratch:
        with rehearsal():
            done = publish(release, scratch.path / "release", "parquet", source, tell=tell)
        table = done.table.cast(release.rows.schema)  # what was checked: a second query might give other rows
    if link is not None:
        publish_link(release, link)
    return dataclasses.replace(done, rows=Rows.of_table(table, release.rows.link, release.rows.notes))


def _form(data: Any, plan: Plan, source: Engine) -> str:
    """Return how a release is written if nobody says how."""
    if source.library == "spark":
        return "parts"
    usual = release_formats()[0].name
    if not isinstance(data, str | Path) or is_server(data):
        return usual
    found = file_format(Path(data), plan.data)
    return found.name if found.writer else usual
