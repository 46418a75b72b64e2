"""The examples, with what one learns from each."""

from dataclasses import asdict
from typing import Any

from fastapi import APIRouter

from gradwalk.examples.catalogue import EXAMPLES

router = APIRouter(prefix="/api/examples", tags=["examples"])


@router.get("")
async def list_examples() -> list[dict[str, Any]]:
    """In teaching order."""
    return [asdict(example) for example in EXAMPLES]
