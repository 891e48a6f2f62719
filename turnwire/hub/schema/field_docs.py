"""The docstrings under the fields of structs and models, read from their source: Python keeps them nowhere else.

They are read when a schema or a page is written, not when a model is made: pydantic's own reading costs each start a twentieth.
"""

import ast
import inspect
import sys
from functools import cache

from pydantic import BaseModel

from turnwire.normalize.model import Published


@cache
def field_docs(model: type[Published]) -> dict[str, str]:
    """Return the docstrings of a struct's fields, with its bases: encoded field name -> text."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, Published) and base is not Published:
            found |= _own(base)
    names = dict(zip(model.__struct_fields__, model.__struct_encode_fields__, strict=True))
    return {names[name]: text for name, text in found.items() if name in names}


@cache
def model_docs(model: type[BaseModel]) -> dict[str, str]:
    """Return the docstrings of a pydantic model's fields, with its bases: name -> text."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, BaseModel) and not base.__module__.startswith("pydantic"):
            found |= _own(base)
    return {name: text for name, text in found.items() if name in model.model_fields}


def _own(model: type) -> dict[str, str]:
    definition = _classes(model.__module__)[model.__name__]
    found = {}
    for statement, following in zip(definition.body, definition.body[1:], strict=False):
        match statement, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = inspect.cleandoc(text)
            case _:
                pass
    return found


@cache
def _classes(module: str) -> dict[str, ast.ClassDef]:
    """Return the classes of a module by name. The module is parsed once, while `inspect` parses it for each class."""
    body = ast.parse(inspect.getsource(sys.modules[module])).body
    return {definition.name: definition for definition in body if isinstance(definition, ast.ClassDef)}
