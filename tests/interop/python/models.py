"""Prints the models of google-adk's Event in the terms of js/python/python_models.ts."""

import enum
import json
import types
import typing

from google.adk.events.event import Event
from pydantic import BaseModel

LEAVES = {
    str: 'text',
    bool: 'flag',
    int: 'integer',
    float: 'float',
    bytes: 'bytes',
    typing.Any: 'data',
    typing.Literal['NULL_VALUE']: 'null value',
    typing.Union[bool, int, str, list[typing.Union[bool, int, str]]]: 'route',
}


def accepted(annotation, metadata=()):
  origin = typing.get_origin(annotation)
  arguments = typing.get_args(annotation)
  if origin in (typing.Union, types.UnionType) and type(None) in arguments:
    return accepted(typing.Union[tuple(a for a in arguments if a is not type(None))], metadata)
  if origin in (list, set):
    return {'list': accepted(arguments[0])}
  if origin is dict and arguments[0] is str:
    return {'values': accepted(arguments[1])}
  if isinstance(annotation, type) and issubclass(annotation, BaseModel):
    return model(annotation)
  if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
    # It must be one that takes any text.
    assert annotation('no such value').value == 'no such value', annotation
    return 'text'
  if annotation is int and [getattr(m, 'ge', None) for m in metadata] == [0]:
    return 'count'
  assert not metadata, (annotation, metadata)
  return LEAVES[annotation]


def model(cls):
  fields = cls.model_fields.items()
  return {
      'members': {name: accepted(f.annotation, f.metadata) for name, f in fields},
      'required': sorted(name for name, f in fields if f.is_required()),
  }


print(json.dumps(model(Event)))
