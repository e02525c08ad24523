"""Groups that are improved: see ``regrouping.py`` and ``exchanges.py``."""

from __future__ import annotations

from typing import NamedTuple

from hedgerow.anonymization.kernels.tuples.arrays import Codes, Flags, Numbers, Rough, Small, Words


class Starts(NamedTuple):
    """Where cells and profiles begin; each ends with the total."""

    profile: Numbers  # first profile of every cell
    group: Numbers  # first group of every cell
    unit: Numbers  # first unit of every profile


class Searches(NamedTuple):
    """How neighbours are sought."""

    nearest: int  # how many of them are nearest ones; the others are partners
    window: int  # profiles before and after in the order that are looked at first; this gives a bound
    patience: int  # nodes of the tree that a search looks at before it is content with what it has found
    partner_patience: int  # likewise, where partners are sought


class Records(NamedTuple):
    """Profiles and their units."""

    lower: Codes  # encoded codes by profile: see neighbours.py
    upper: Codes
    profile: Small  # of every unit
    near: Small  # neighbours of every profile, the nearest, then its partners, −1 where there are no more
    distance: Small  # how far they are
    least: Small  # what a record of each profile costs at least
    nearest: int  # how many of the neighbours are the nearest


class UnitGroups(NamedTuple):
    """Groups of units."""

    place: Small  # group of every unit, −1 in none
    member: Small  # units by group
    size: Small
    cost: Small  # per record
    lower: Codes  # encoded ends of the boxes
    upper: Codes


class ByGroup(NamedTuple):
    """Desk of regrouping: what is remembered from try to try."""

    chance: Words  # state of the generator
    draws: Numbers  # exponential, in 1/2^20
    mark: Numbers  # −1: in the pool, or changed
    unused: Small  # numbers of groups
    excess: Rough  # loss beyond the least that the members cost
    urgency: Rough
    failures: Rough
    kept: Small  # group of every unit in the best grouping so far,
    touched: Small  # and the units whose group may be another now
    is_touched: Flags


class Pool(NamedTuple):
    """Desk of regrouping: the groups that are taken apart together."""

    taken: Small  # their numbers
    active: Numbers  # attributes that vary among the units
    whole: Codes  # box of all units
    units: Small
    floor: Small  # by unit: what it costs at least,
    weight: Small  # the same, blurred by chance,
    goes: Small  # the group that it joins, if it is left over,
    key: Small  # how much it is wanted,
    cost: Small  # what the growing group costs with it,
    part: Small  # and the part of each active attribute in that
    units_lower: Codes  # encoded codes by active attribute and unit
    units_upper: Codes
    listed: Small  # units of a group that is checked


class Made(NamedTuple):
    """Desk of regrouping: groups that are made of a pool."""

    lower: Codes
    upper: Codes
    size: Numbers
    cost: Numbers
    start: Numbers  # first unit in the pool
    number: Numbers


class Changed(NamedTuple):
    """Desk of regrouping: groups outside the pool that units of it join."""

    lower: Codes
    upper: Codes
    size: Numbers
    cost: Numbers
    number: Numbers


class RegroupingDesk(NamedTuple):
    """Scratch space of regrouping."""

    by_group: ByGroup
    pool: Pool
    made: Made
    changed: Changed


class ExchangesDesk(NamedTuple):
    """Scratch space of exchanges."""

    least: Codes  # second least lower ends by group
    most: Codes  # second greatest upper ends by group
    mark: Numbers  # by group, the last search that saw it
    listed: Small  # units of a group that is checked
