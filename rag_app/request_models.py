"""The fields of requests as pydantic has them: types, bounds and help for schemas."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, BaseModel, Field, create_model

from rag_app.chat.request_limits import MAX_HISTORY
from rag_app.request_fields import Act, RequestField, Surface, fields_of


class TurnModel(BaseModel):
    """A question of the conversation so far, and its answer."""

    question: str
    answer: str


def _short(turns: list[TurnModel]) -> list[TurnModel]:
    if sum(len(one.question) + len(one.answer) for one in turns) > MAX_HISTORY:
        raise ValueError(f"the conversation has more than {MAX_HISTORY:,} characters")
    return turns


def annotation(one: RequestField) -> Any:  # noqa: ANN401 - a type, made at run time
    """What pydantic takes for the type of a field."""
    about: dict[str, Any] = {"description": one.help.partition("  [")[0]}
    if one.former:  # which is taken too, and not in the schema
        about["validation_alias"] = AliasChoices(one.name, one.former.lstrip("-"))
    text = Annotated[str, Field(max_length=1000)]
    kind: Any = one.kind
    if one.kind is tuple:
        kind, about["max_length"] = list[text], one.longest
    elif one.kind is list:
        kind, about["max_length"] = Annotated[list[TurnModel], AfterValidator(_short)], one.longest
    elif one.kind is str:
        about["max_length"] = one.longest
    elif not one.choices:
        about |= {"ge": one.least, "le": one.most or one.most_remote}
    return Annotated[kind if one.default is not None else kind | None, Field(**about)]


def usual(one: RequestField) -> Any:  # noqa: ANN401 - of any kind
    """The default of a field, as JSON has it."""
    return list(one.default) if isinstance(one.default, tuple) else one.default


def with_fields(base: type[BaseModel], surface: Surface, act: Act) -> type[BaseModel]:
    """A model with the fields of a request beside its own."""
    fields: Any = {one.name: (annotation(one), usual(one)) for one in fields_of(surface, act)}
    return create_model(base.__name__, __base__=base, __doc__=base.__doc__, **fields)


def plain(values: Mapping[str, Any]) -> dict[str, Any]:
    """Validated values as the requests take them: turns of a conversation as such."""
    from generator.prompt.follow_up import Turn

    turns = [Turn(one.question, one.answer) for one in values.get("history", ())]
    return {**values, "history": turns} if "history" in values else dict(values)
