"""Prints the pydantic models of google-adk's Event: for each class the names of its fields by what they accept.

The terms are those of js/values/python/python_models.ts.
"""

import enum
import json
import types
import typing

from google.adk.events.event import Event
from pydantic import BaseModel
from pydantic.alias_generators import to_camel

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

models = {}


def term(annotation, metadata=()):
  origin = typing.get_origin(annotation)
  arguments = typing.get_args(annotation)
  if origin in (typing.Union, types.UnionType) and type(None) in arguments:
    return term(typing.Union[tuple(a for a in arguments if a is not type(None))], metadata)
  if origin in (list, set):
    return 'list of ' + term(arguments[0])
  if origin is dict and arguments[0] is str:
    return 'record' if arguments[1] is typing.Any else 'values of ' + term(arguments[1])
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
  name = cls.__name__
  if name not in models:
    terms = models[name] = {}
    required = []
    for field, info in cls.model_fields.items():
      camel = to_camel(field)
      assert info.alias in (None, camel), (name, field, info.alias)
      terms.setdefault(term(info.annotation, info.metadata), []).append(camel)
      if info.is_required():
        required.append(camel)
    if required:
      terms['required'] = required
  return name


model(Event)
print(json.dumps({n: {t: ' '.join(f) for t, f in terms.items()} for n, terms in models.items()}))
