"""The docstrings under the fields of published structs, read from their source: Python keeps them nowhere else."""

import ast
import inspect
import textwrap
from functools import cache

from normalize.model import Published


@cache
def field_docs(model: type[Published]) -> dict[str, str]:
    """Return what is written under each field of a struct and of its bases: encoded field name to text."""
    found: dict[str, str] = {}
    for base in reversed(model.__mro__):
        if issubclass(base, Published) and base is not Published:
            found |= _own(base)
    names = dict(zip(model.__struct_fields__, model.__struct_encode_fields__, strict=True))
    return {names[name]: text for name, text in found.items() if name in names}


def _own(model: type[Published]) -> dict[str, str]:
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(model))).body
    assert isinstance(definition, ast.ClassDef), "a class's source"
    found = {}
    for statement, following in zip(definition.body, definition.body[1:], strict=False):
        match statement, following:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(text))):
                found[name] = inspect.cleandoc(text)
            case _:
                pass
    return found
