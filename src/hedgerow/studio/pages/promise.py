"""The screen of what must hold: k, diversity of sensitive values, what may be withheld, rules and weights."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from nicegui import ui
from pydantic import BaseModel

from hedgerow.errors import HedgerowError, Problem
from hedgerow.plan import Attribute
from hedgerow.plan.audiences import USUAL
from hedgerow.plan.concepts import PRIVACY_MODELS, ModelDescriptor
from hedgerow.reports.wording import percent
from hedgerow.studio import theme
from hedgerow.studio.background import aside
from hedgerow.studio.components.audience_cards import AudienceCards
from hedgerow.studio.components.method_options import words_of
from hedgerow.studio.components.outlook_bar import OutlookBar
from hedgerow.studio.components.population_card import PopulationCard
from hedgerow.studio.components.values_alike import ValuesAlike
from hedgerow.studio.demands import with_demand
from hedgerow.studio.sessions import Session
from hedgerow.studio.workbench import Workbench

PATH = "/promise"
REPUBLISH = {
    "free": "free: a new version may change anything",
    "only-coarser": "only-coarser: groups may only be merged, and nobody is shown narrower",
    "gated": "gated: only what passes the audit",
    "cohorts": "cohorts: nobody ever changes groups",
}
PUBLISHED_WEIGHTS = {
    "exact": "as they are",
    "round": "rounded to multiples of a step",
    "mean": "as means of groups, which keep their sums",
}
USUAL_STEP = 10
EXAMPLES = 3
MISSING = {"own-value": "a value of its own", "matches-any": "may be any value"}


async def show() -> None:
    """Show the screen."""
    with theme.frame("promise") as session:
        theme.title(
            "Promise",
            "What must hold of every group in the release. What cannot be met is said here, before anything is run.",
        )
        if session.bench.plan is None:
            theme.empty("There is no table yet.", "Open one", "/data")
            return
        form = ui.column().classes("w-full gap-4")
        bar = OutlookBar(session.bench)
        _Form(session, form, bar).build()
        theme.next_step("Next: run", "/run")
    await ui.context.client.connected()
    await bar.refresh()


def offered() -> dict[ModelDescriptor, str]:
    """Return the demands that can be made on a sensitive column, with the label of their input."""
    return {model: f"{model.in_words or model.ask or model.title} ({model.name})" for model in PRIVACY_MODELS}


def chance_of(k: int) -> str:
    """Say how likely somebody in a group of k is found.

    Examples
    --------
    >>> chance_of(5)
    '1 in 5, 20%'
    """
    return f"1 in {k:,}, {percent(1 / k)}"


class _Form:
    """The inputs; each is taken into the plan as it is changed, or says why not."""

    def __init__(self, session: Session, place: ui.column, bar: OutlookBar) -> None:
        self._session = session
        self._bench: Workbench = session.bench
        self._place, self._bar = place, bar

    def build(self) -> None:
        """Show all inputs as the plan has them."""
        self._place.clear()
        with self._place:
            AudienceCards(self._bench, self._taking)
            with ui.element("div").classes("studio-halves"):
                self._groups()
                self._withholding()
            self._sample()
            PopulationCard(self._session, self._bar.refresh)
            self._models()
            self._rules()
            self._weights()

    # -- parts ---------------------------------------------------------------------------------------------------------

    def _groups(self) -> None:
        plan = self._bench.plan
        assert plan is not None
        with theme.card():
            theme.heading("Groups")
            ui.label("Everybody in the release looks like at least k − 1 others in all quasi-identifiers.").classes(
                "muted small"
            )
            who = "rows" if plan.person is None else "people"
            with ui.row().classes("w-full no-wrap items-center gap-3"):
                label = f"k: {who} in every group, at least"
                self._number(label, plan.privacy.k, self._take_k, "k")
                self._chance = ui.label(chance_of(plan.privacy.k)).classes("chip").style("white-space: nowrap")
                self._chance.props("data-testid=chance role=status")
            ui.label("How likely somebody in the smallest group is found.").classes("muted small")
            threshold = "" if plan.threshold is None else f"{plan.accepted:g}"
            label = f"Risk of being found that is just acceptable (empty: {USUAL.threshold:g})"
            self._text(label, threshold, "threshold", lambda value: self._bench.change(threshold=value or None))
            if plan.unit is not None:
                text = f"Rows with the same {plan.unit.column} are published linked, each such unit as a whole like "
                ui.label(f"{text}k − 1 others at least.").classes("small").props("data-testid=linked-units")
            if plan.person is not None:
                ui.label(f"People are told apart by {plan.person}.").classes("small")
            select = (
                ui.select(MISSING, value=plan.missing, label="A missing cell counts as")
                .classes("w-full")
                .props("outlined dense data-testid=missing")
            )
            select.on_value_change(self._taking(lambda value: self._bench.change(missing=value)))

    def _withholding(self) -> None:
        plan = self._bench.plan
        assert plan is not None
        with theme.card():
            theme.heading("Withholding")
            ui.label("Records that fit no group within the limits are withheld, always as few as possible.").classes(
                "muted small"
            )
            cap = "" if plan.withhold is None else plan.withhold.at_most
            self._text("At most (a number, or a share such as 5%)", cap, "withhold",
                       lambda value: self._bench.change(withhold=value or None))  # fmt: skip
            with theme.fold("More: new versions, and where grouping starts", "more-withholding").props("dense"):
                select = ui.select(REPUBLISH, value=plan.republish, label="New versions of a maintained release")
                select.classes("w-full").props("outlined dense data-testid=republish").on_value_change(
                    self._taking(lambda value: self._bench.change(republish=value))
                )
                drift = "" if plan.drift is None else plan.drift.advise_above
                label = "Advise to start over when it loses more than a fresh release by (such as 10%)"
                self._text(label, drift, "drift", lambda value: self._bench.change(drift=value or None))
                label = "Seed: another number starts grouping elsewhere"
                self._number(label, plan.seed, lambda value: self._bench.change(seed=_whole(value, 0, "seed")), "seed")

    def _sample(self) -> None:
        """Ask for the column of sampling weights; with one, how many people every group must stand for."""
        plan = self._bench.plan
        assert plan is not None
        weight = "" if plan.weight is None else plan.weight.column
        columns = list(dict.fromkeys([*plan.columns("other", "identifier"), *([weight] if weight else [])]))
        with theme.card():
            theme.heading("Sample")
            text = "If the records are a sample, a column may say how many people each stands for. The result then has "
            ui.label(text + "the risk in view of all of them, estimated, before and after.").classes("muted small")
            with ui.element("div").classes("studio-halves"):
                options = {"": "none: these are all people, or nobody knows", **{name: name for name in columns}}
                select = ui.select(options, value=weight, label="Column of sampling weights").classes("w-full")
                select.props("outlined dense data-testid=weight").on_value_change(self._taking(self._take_weight))
                if weight and plan.population is None:
                    label = "k-map: people whom every group stands for, at least (estimated; empty: not asked)"
                    self._number(label, plan.privacy.k_map, self._take_k_map, "k-map")
            if weight and plan.publishes_weights:
                self._published_weights(plan.attributes[weight])

    def _published_weights(self, column: Attribute) -> None:
        """Ask how weights are published: as they are, rounded, or as means of groups."""
        how = "mean" if column.publish is not None else "round" if column.treat is not None else "exact"
        with ui.element("div").classes("studio-halves"):
            select = ui.select(PUBLISHED_WEIGHTS, value=how, label="They are published").classes("w-full")
            select.props("outlined dense data-testid=weight-published")
            select.on_value_change(self._taking(self._take_published, anew=True))
            if column.treat is not None:
                step = None if column.treat.round is None else float(column.treat.round)
                self._number("Rounded to multiples of", step, self._take_step, "weight-step", step=0.5)
        if how == "exact":
            ui.label("A weight that few share tells them apart: choose another way if the verdict says so.").classes(
                "small"
            )

    def _take_published(self, how: str) -> tuple[Problem, ...]:
        assert self._bench.plan is not None
        assert self._bench.plan.weight is not None
        ways: dict[str, dict[str, Any]] = {"mean": {"publish": "mean"}, "round": {"treat": {"round": USUAL_STEP}}}
        asked = {"publish": None, "treat": None, **ways.get(how, {})}
        return self._bench.change_attribute(self._bench.plan.weight.column, **asked)

    def _take_step(self, value: Any) -> tuple[Problem, ...]:
        assert self._bench.plan is not None
        assert self._bench.plan.weight is not None
        return self._bench.change_attribute(self._bench.plan.weight.column, treat={"round": value or USUAL_STEP})

    def _take_weight(self, column: str) -> tuple[Problem, ...]:
        plan = self._bench.plan
        assert plan is not None
        asked = plan.to_dict()["privacy"]
        if not column and plan.population is None:  # nothing is left to estimate k-map from
            asked = {name: part for name, part in asked.items() if name != "k_map"}
        problems = self._bench.change(weight=column or None, privacy=asked)
        if not problems:
            self.build()
        return problems

    def _take_k_map(self, value: Any) -> tuple[Problem, ...]:
        plan = self._bench.plan
        assert plan is not None
        people = None if value is None else _whole(value, 2, "k-map")
        asked = {**plan.to_dict()["privacy"], "k_map": people}
        return self._bench.change(privacy={name: part for name, part in asked.items() if part is not None})

    def _models(self) -> None:
        plan = self._bench.plan
        assert plan is not None
        sensitive = plan.columns("sensitive")
        with theme.card():
            theme.heading("Diversity of sensitive values")
            if not sensitive:
                ui.label(
                    "No column is sensitive. Mark one on the Data screen, and every group can be made diverse in it."
                ).classes("muted")
                ui.link("Data", "/data")
                return
            ui.label(
                "k hides who somebody is. These keep a group from sharing one value, which would tell what they have."
            ).classes("muted small")
            for column in sensitive:
                with ui.column().classes("w-full gap-1"):
                    ui.label(column).classes("studio-heading")
                    self._model_inputs(column, plan.privacy.demands(column))

    def _model_inputs(self, column: str, asked: dict[str, Any]) -> None:
        """Show what most people ask first, in words, and the rest below it."""
        assert self._bench.plan is not None
        one = f"-{column}" if len(self._bench.plan.columns("sensitive")) > 1 else ""
        first, *others = offered().items()
        self._model_input(column, *first, asked, one)
        if example := self._example(column):
            ui.label(example).classes("muted small")
        used = [model.said(asked[model.name]) for model, _ in others if model.name in asked]
        also = "no value too frequent, nothing far from the whole table, values that count as one"
        title = f"More: {', '.join(used)}" if used else f"More: {also}"
        with theme.fold(title, f"more{one}").props("dense"):
            with ui.element("div").classes("studio-halves"):
                for model, label in others:
                    self._model_input(column, model, label, asked, one)
            ValuesAlike(self._session, column, self._bar.refresh)

    def _example(self, column: str) -> str:
        """Say what different values are, by those of the table."""
        source = self._bench.source
        seen = next((one for one in source.columns if one.name == column), None) if source is not None else None
        if seen is None or seen.kind != "categories" or not seen.bars:
            return ""
        return f"Values of {column} are, for example, {', '.join(label for label, _ in seen.bars[:EXAMPLES])}."

    def _model_input(self, column: str, model: ModelDescriptor, label: str, asked: dict[str, Any], one: str) -> None:
        said = label.replace("{column}", column)
        if model.forms:
            self._choice_of_form(column, model, said, asked.get(model.name), one)
        else:
            self._demanded_number(column, model, said, asked.get(model.name), one)

    def _demanded_number(self, column: str, model: ModelDescriptor, label: str, asked: Any, one: str) -> None:
        """Show the input of a model that asks for one number; other parts of its long form are kept."""
        number = asked.at_most if isinstance(asked, BaseModel) else asked  # type: ignore[attr-defined]

        def change(value: Any) -> tuple[Problem, ...]:
            if value is not None and model.step == 1:
                _whole(value, 1, model.name)
            assert self._bench.plan is not None
            now = self._bench.plan.privacy.demands(column).get(model.name)
            given = now.model_dump(exclude_none=True) if isinstance(now, BaseModel) else {}
            return self._demand(column, model.name, {**given, "at_most": value} if value and given else value)

        with ui.column().classes("w-full gap-1"):
            self._number(label, number, change, f"{model.name}{one}", model.step)
            self._other_parts(column, model, one)

    def _other_parts(self, column: str, model: ModelDescriptor, one: str) -> None:
        """Show what else the long form of such a model has, such as how far two values are apart."""
        assert self._bench.plan is not None
        fields = {} if not model.keys else model.form.model_fields
        asked = self._bench.plan.privacy.demands(column).get(model.name)
        for name, field in fields.items():
            if name == "at_most":
                continue
            words = words_of(field.annotation)
            options: dict[Any, str] = {False: "no", True: "yes"}
            if words:
                options = {"": "as usual", **{word: str(word) for word in words}}
            value = (field.default if asked is None else getattr(asked, name)) or next(iter(options))
            label = f"{name[0].upper()}{name[1:]}: {field.description}"
            select = ui.select(options, value=value, label=label).classes("w-full").props("outlined dense")
            theme.mark(select, f"{model.name}-{name}{one}")
            select.on_value_change(self._taking(partial(self._take_part, column, model, name), anew=True))

    def _take_part(self, column: str, model: ModelDescriptor, name: str, value: Any) -> tuple[Problem, ...]:
        assert self._bench.plan is not None
        asked = self._bench.plan.privacy.demands(column).get(model.name)
        if asked is None:
            hint = "write the number beside it"
            return (Problem("usage", f"Say first what is asked of {column} ({model.name}).", hint=hint),)
        parts = {**asked.model_dump(exclude_none=True), name: value or None}
        return self._demand(column, model.name, {part: said for part, said in parts.items() if said is not None})

    def _choice_of_form(self, column: str, model: ModelDescriptor, label: str, asked: Any, one: str) -> None:
        """Show the inputs of a model that can be asked for in several forms."""
        given = {} if asked is None else asked.model_dump(exclude_none=True)
        form, value = next(iter(given.items()), ("", None))
        with ui.row().classes("w-full no-wrap gap-2"):
            forms = {"": "none", **model.forms}
            select = ui.select(forms, value=form, label=label).classes("grow").props("outlined dense")
            text = ", ".join(map(str, value)) if isinstance(value, tuple) else "" if value is None else str(value)
            hint = "l (c, l)" if form == "recursive" else model.ask
            number = ui.input(hint, value=text).classes("w-24").props("outlined dense")
            theme.mark(select, f"{model.name}-form{one}")
            theme.mark(number, f"{model.name}{one}")

        def change(_: Any) -> tuple[Problem, ...]:
            parts = [part for part in (number.value or "").replace(";", ",").split(",") if part.strip()]
            if not select.value:
                return self._demand(column, model.name, None)
            if len(parts) != (2 if select.value == "recursive" else 1):
                return ()  # not yet typed
            given = [part.strip() for part in parts]
            demand = {select.value: given if select.value == "recursive" else given[0]}
            return self._demand(column, model.name, demand)

        select.on_value_change(self._taking(change))
        number.on("blur", self._taking(lambda _: change(None))).on(
            "keydown.enter", self._taking(lambda _: change(None))
        )

    def _rules(self) -> None:
        plan = self._bench.plan
        assert plan is not None
        with theme.card():
            theme.heading("Distinctions that matter")
            ui.label(
                "Two values that no published value should mix, such as 64 and 65. Reports say which were kept; "
                "methods by research value go by them."
            ).classes("muted small")
            for at, rule in enumerate(plan.rules):
                with ui.row().classes("w-full items-center"):
                    ui.label(rule.title).classes("grow")
                    ui.label(f"importance {rule.importance}").classes("muted")
                    ui.button(icon="delete", on_click=self._taking(partial(self._drop_rule, at), anew=True)).props(
                        f'flat round dense aria-label="remove rule {at + 1}"'
                    )
            with ui.row().classes("w-full items-end"):
                column = (
                    ui.select(list(plan.quasi_identifiers), value=plan.quasi_identifiers[0], label="Column")
                    .props("outlined dense data-testid=rule-column")
                    .classes("w-40")
                )
                first = ui.input("this value").props("outlined dense data-testid=rule-first").classes("w-32")
                second = ui.input("and this").props("outlined dense data-testid=rule-second").classes("w-32")
                name = ui.input("name (optional)").props("outlined dense data-testid=rule-name").classes("w-40")
                weight = ui.number("importance", value=1, min=0).classes("w-28")
                weight.props("outlined dense data-testid=rule-importance")

                async def take() -> None:
                    asked = (name.value, column.value, first.value, second.value, weight.value)
                    theme.refuse(await aside(self._add_rule, *asked))
                    self.build()
                    await self._bar.refresh()

                new = theme.safely_at(first, take)
                ui.button("Add", icon="add", on_click=new).props("outline data-testid=add-rule")

    def _weights(self) -> None:
        plan = self._bench.plan
        assert plan is not None
        by_association = plan.weights == "association"
        with theme.card():
            theme.heading("How much each column counts")
            ui.label("Coarsening a column of weight 2 costs twice as much as one of weight 1.").classes("muted small")
            switch = ui.switch("By association: columns the others predict weigh less", value=by_association)
            switch.props("data-testid=association")
            switch.on_value_change(
                self._taking(lambda value: self._bench.change(weights="association" if value else None), True)
            )
            if by_association:
                return
            with ui.element("div").classes("studio-grid"):
                for column in plan.quasi_identifiers:
                    weight = plan.settled().attributes[column].weight
                    self._number(
                        column,
                        1 if weight is None else weight,
                        partial(self._weigh, column),
                        f"weight-{column}",
                        0.5,
                    )

    def _take_k(self, value: Any) -> tuple[Problem, ...]:
        problems = self._privacy(k=_whole(value, 2, "k"))
        if not problems:
            self._chance.text = chance_of(int(value))
        return problems

    # -- taking changes into the plan ----------------------------------------------------------------------------------

    def _number(
        self, label: str, value: Any, change: Callable[[Any], tuple[Problem, ...]], testid: str = "", step: float = 1
    ) -> None:
        # no least value is given to the field: it would put it in place of what was typed, without a word
        shown = None if value is None else float(value) if step != 1 or float(value) % 1 else int(value)
        field = ui.number(label, value=shown, step=step).classes("w-full")
        theme.mark(field.props("outlined dense placeholder=none"), testid or label)
        self._watch(field, lambda: change(None if field.value is None else _simplest(field.value)))

    def _text(self, label: str, value: str, testid: str, change: Callable[[str], tuple[Problem, ...]]) -> None:
        field = ui.input(label, value=value).classes("w-full")
        theme.mark(field.props("outlined dense placeholder=none"), testid)
        self._watch(field, lambda: change((field.value or "").strip()))

    def _watch(self, field: Any, change: Callable[[], tuple[Problem, ...]]) -> None:
        """Take what was typed into a field when it is left; what was not touched is never written back."""
        taken = [field.value]

        async def left(_: Any) -> None:
            if field.value == taken[0]:
                return
            before = self._bench.version
            if not await theme.taken_at(field, lambda: aside(change)):
                return
            taken[0] = field.value
            if self._bench.version != before:
                await self._bar.refresh()

        field.on("blur", theme.safely(left)).on("keydown.enter", theme.safely(left))

    def _taking(self, change: Callable[[Any], tuple[Problem, ...]], anew: bool = False) -> Callable[..., Any]:
        """Make a handler: take the change, or say why not; then show what the plan comes to.

        The form is built anew only where other inputs follow from this one: who goes on typing must not be disturbed.
        """

        async def handler(event: Any) -> None:
            before = self._bench.version
            try:
                theme.refuse(await aside(change, getattr(event, "value", None)))
            except HedgerowError:
                self.build()
                raise
            if self._bench.version != before:
                if anew:
                    self.build()
                await self._bar.refresh()

        return theme.safely(handler)

    def _privacy(self, **keys: Any) -> tuple[Problem, ...]:
        assert self._bench.plan is not None
        asked = {**self._bench.plan.to_dict()["privacy"], **keys}
        return self._bench.change(privacy={name: value for name, value in asked.items() if value is not None})

    def _demand(self, column: str, model: str, value: Any) -> tuple[Problem, ...]:
        """Ask something of one sensitive column, or no longer."""
        plan = self._bench.plan
        assert plan is not None
        asked = with_demand(plan.to_dict()["privacy"], plan.columns("sensitive"), column, model, value)
        return self._bench.change(privacy=asked)

    def _drop_rule(self, at: int, _: Any) -> tuple[Problem, ...]:
        rules = self._raw_rules()
        return self._bench.change(rules=rules[:at] + rules[at + 1 :] or None)

    def _add_rule(self, name: str, column: str, first: str, second: str, importance: Any) -> tuple[Problem, ...]:
        if not first.strip() or not second.strip():
            return (Problem("usage", "A rule names two values.", hint="fill in both"),)
        new = {
            **({"name": name.strip()} if name.strip() else {}),
            "attribute": column,
            "keep_apart": [first.strip(), second.strip()],
            "importance": _simplest(importance or 1),
        }
        return self._bench.change(rules=[*self._raw_rules(), new])

    def _raw_rules(self) -> list[dict[str, Any]]:
        assert self._bench.plan is not None
        return list(self._bench.plan.to_dict().get("rules", ()))

    def _weigh(self, column: str, value: Any) -> tuple[Problem, ...]:
        plan = self._bench.plan
        assert plan is not None
        if not isinstance(plan.weights, dict):
            return self._bench.change_attribute(column, weight=None if value in (None, 1) else value)
        return self._bench.change(weights={**plan.weights, column: 1 if value is None else value})


def _simplest(number: float) -> Any:
    """Write a number as the plan does: whole if it is, else as text that keeps every digit."""
    return int(number) if float(number).is_integer() else repr(float(number))


def _whole(value: Any, least: int, what: str) -> int:
    if not isinstance(value, int) or value < least:
        raise HedgerowError(Problem("usage", f"{what} must be a whole number of {least} or more."))
    return value
