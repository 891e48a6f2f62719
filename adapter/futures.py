"""Futures whose failure nobody has to look at."""

import asyncio
from typing import TypeVar

Value = TypeVar("Value")


def fail(future: asyncio.Future[Value], error: Exception) -> None:
    """Give a future its exception, unless it is done; nobody has to look at it, as with words to a CLI that has gone."""
    if not future.done():
        future.set_exception(error)
        future.exception()
