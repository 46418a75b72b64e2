"""The examples, with what one learns from each."""

from typing import Any

from fastapi import APIRouter
from starlette.responses import JSONResponse, Response

from gradwalk.api.languages import VARIES
from gradwalk.api.traces import Language
from gradwalk.examples.catalogue import EXAMPLES
from gradwalk.examples.example import Example
from gradwalk.words.catalogue import tell, tell_attribute

router = APIRouter(prefix="/api/examples", tags=["examples"])


@router.get("")
async def list_examples(language: Language) -> Response:
    """In teaching order."""
    listed = [_listed(example, language) for example in EXAMPLES]
    return JSONResponse(listed, headers={"Content-Language": language, **VARIES})


def _listed(example: Example, language: str) -> dict[str, Any]:
    return {
        "slug": example.slug,
        "title": tell_attribute(example.fact, "title", language),
        "question": tell_attribute(example.fact, "question", language),
        "learning_goal": tell(example.fact, language),
        "fact": example.fact,
        "source": example.source,
        "options": example.options,
        "stop": example.stop,
        "follows": example.follows,
        "seed_files": example.seed_files,
    }
