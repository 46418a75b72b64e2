"""What a trace's program is run again for: passes, local Jacobians and whole values on demand, finite differences.

POST, though nothing is changed: what runs a program is refused to other sites (`headers.py`), as a new program is.
"""

import json
import math
from base64 import b64decode
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query
from starlette.responses import Response

from gradwalk.api.bodies import ReplayRoute
from gradwalk.api.errors import FactAnswer, answer_problem
from gradwalk.api.service import Service
from gradwalk.api.traces import (
    EVENT_STREAM,
    NOT_FOUND,
    REFUSALS,
    Accept,
    Client,
    Language,
    ServiceOf,
    TraceId,
    find_or_run,
)
from gradwalk.engine.runs import Run
from gradwalk.protocol.document import encode
from gradwalk.protocol.facts import fact
from gradwalk.protocol.problems import problem
from gradwalk.protocol.requests import ResolvedLimits, TraceRequest, resolve_limits
from gradwalk.sandbox.jobs import GradcheckJob, JacobianJob, ValueJob

router = APIRouter(route_class=ReplayRoute, prefix="/api/traces", tags=["replays"], responses=REFUSALS | NOT_FOUND)

StepIndex = Annotated[int, Path(ge=0, lt=2**31, description="Of the step, over the whole trace, from 0.")]
PassNumber = Annotated[int, Path(ge=0, lt=2**31, description="Of the pass, among all that ran, from 0.")]
ValueNumber = Annotated[int, Path(ge=0, lt=2**31, description="Of the value, over the whole trace, from 0.")]
OCTETS: Final = "application/octet-stream"
ENTRIES_MAX: Final = 2**20
"""Of a value that is given out whole."""
Argnum = Annotated[int, Query(ge=0, lt=2**31)]
_NO_ANSWER: dict[int | str, dict[str, Any]] = {409: {"description": "The replay gave no answer; the problem says why."}}


@router.post(
    "/{trace}/steps/{index}/jacobian",
    responses={200: {"description": "The local Jacobians of one operand, one per output."}, **_NO_ANSWER},
)
async def read_jacobian(
    trace: TraceId, index: StepIndex, service: ServiceOf, client: Client, language: Language, argnum: Argnum = 0
) -> Response:
    """Runs the program again, for this step's local Jacobians alone."""
    request = await _request_of(service, trace, client)
    job = JacobianJob(request=request, limits=_limits_alone(request), index=index, argnum=argnum)
    return await _answer(service, await service.start(f"{trace}/{index}/{argnum}", job, client), language)


@router.post(
    "/{trace}/steps/{index}/gradcheck",
    responses={200: {"description": "Finite differences beside the local Jacobian, one per output."}, **_NO_ANSWER},
)
async def check_step(
    trace: TraceId, index: StepIndex, service: ServiceOf, client: Client, language: Language, argnum: Argnum = 0
) -> Response:
    """Central differences in double precision beside one step's local Jacobian, entry by entry."""
    request = await _request_of(service, trace, client)
    job = GradcheckJob(request=request, limits=_limits_alone(request), index=index, argnum=argnum)
    return await _answer(service, await service.start(f"{trace}/gradcheck/{index}/{argnum}", job, client), language)


@router.post(
    "/{trace}/gradcheck",
    responses={200: {"description": "Finite differences beside a pass, one per leaf."}, **_NO_ANSWER},
)
async def check_pass(
    trace: TraceId,
    service: ServiceOf,
    client: Client,
    language: Language,
    number: Annotated[int, Query(alias="pass", ge=0, lt=2**31, description="Of the pass, from 0.")] = 0,
) -> Response:
    """Central differences of the whole program beside what one backward pass gave each leaf."""
    request = await _request_of(service, trace, client)
    job = GradcheckJob(request=request, limits=_limits_alone(request), pass_index=number)
    return await _answer(service, await service.start(f"{trace}/gradcheck/pass {number}", job, client), language)


@router.post(
    "/{trace}/passes/{number}",
    responses={
        200: {"description": "Known already, or the events themselves."},
        202: {"description": "It runs; follow it at `events`."},
    },
)
async def record_pass(
    trace: TraceId, number: PassNumber, service: ServiceOf, client: Client, accept: Accept = ""
) -> Response:
    """Runs the program again up to one backward pass, and records that. What it gives is a trace of its own."""
    request = await _request_of(service, trace, client)
    options = request.options.model_copy(update={"passes": [number]})
    one = request.model_copy(update={"options": options})
    return await find_or_run(service, one, client, streamed=EVENT_STREAM in accept)


@router.post(
    "/{trace}/values/{number}",
    responses={
        200: {
            "description": "All entries, as JSON or as little-endian bytes.",
            "content": {"application/json": {}, OCTETS: {"schema": {"type": "string", "format": "binary"}}},
        },
        **_NO_ANSWER,
    },
)
async def read_value(
    trace: TraceId, number: ValueNumber, service: ServiceOf, client: Client, language: Language, accept: Accept = ""
) -> Response:
    """All entries of a value that the trace has as a summary; the program runs again to it.

    Asked for bytes (`Accept: application/octet-stream`), a value that travels packed comes as its bytes, row-major,
    with `X-Dtype` and `X-Shape`.
    """
    value = await service.find_value(trace, number, client)
    if value is None:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-value"))
    if "summary" not in value:
        return _value_answer(encode(value), accept)
    count = math.prod(value["shape"])
    if count > ENTRIES_MAX:
        refusal = problem("too_big", fact("problem-value-too-large", count=count, most=ENTRIES_MAX))
        return answer_problem(HTTPStatus.CONFLICT, refusal, language)
    request = await _request_of(service, trace, client)
    job = ValueJob(request=request, limits=resolve_limits(request.options.limits), value=value)
    answer = await _answer(service, await service.start(f"{trace}/values/{number}", job, client), language)
    return _value_answer(bytes(answer.body)[1:-1], accept) if answer.status_code == HTTPStatus.OK else answer


def _value_answer(written: bytes, accept: str) -> Response:
    if OCTETS in accept:
        value = json.loads(written)
        if "packed" in value:
            told = {"X-Dtype": value["dtype"], "X-Shape": ",".join(map(str, value["shape"]))}
            return Response(b64decode(value["packed"]), media_type=OCTETS, headers=told)
    return Response(written, media_type="application/json")


async def _request_of(service: Service, trace: str, client: str) -> TraceRequest:
    request = await service.find_request(trace, client)
    if request is None:
        raise FactAnswer(HTTPStatus.NOT_FOUND, fact("api-no-trace"))
    return request


def _limits_alone(request: TraceRequest) -> ResolvedLimits:
    """The limits of a replay: whatever the trace left out to stay small, this one matrix is asked for by itself."""
    return resolve_limits(request.options.limits.model_copy(update={"jacobian_cells": None}))


async def _answer(service: Service, run: Run, language: str) -> Response:
    outcome = await service.runs.outcome_of(run)
    if run.log and outcome is not None and outcome.lasting:
        return Response(run.log[0], media_type="application/json")
    found = outcome and outcome.problem
    return answer_problem(HTTPStatus.CONFLICT, found or problem("internal", fact("problem-going-down")), language)
