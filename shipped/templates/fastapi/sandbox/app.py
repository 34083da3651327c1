"""The endpoints of the sandbox, with FastAPI (spec 4.5 to 4.8)."""

import json
import re
import secrets
import time
import uuid
from datetime import datetime, timezone
from typing import Any, Dict, List, Literal, Optional

from fastapi import Depends, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, StrictStr
from starlette.exceptions import HTTPException

from .agent import Reply, reply_to
from .health import read_health

# The service need not delete its users (spec 3.2), so the oldest one makes room at this limit.
USERS_MAX = 10_000


class Message(BaseModel):
    role: Literal["system", "user", "assistant"]
    content: StrictStr


class ChatRequest(BaseModel):
    """Only `messages` is required (spec 2.7). `metadata` may have any keys."""

    messages: List[Message]
    user_id: Optional[StrictStr] = None
    session_id: Optional[StrictStr] = None
    metadata: Optional[Dict[str, Any]] = None


class UserCreateRequest(BaseModel):
    """Only `user_id` is required (spec 2.9)."""

    user_id: StrictStr
    metadata: Optional[Dict[str, Any]] = None
    profile: Optional[Dict[str, Any]] = None


class SandboxError(Exception):
    """An error response. The service tells them apart by `type` and `code` (spec 7)."""

    def __init__(self, status: int, type: str, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.body = {"error": {"message": message, "type": type, "code": code}}


def bad_request(message: str) -> SandboxError:
    return SandboxError(400, "invalid_request_error", "bad_request", message)


def now() -> str:
    return datetime.now(timezone.utc).isoformat()


def create_app(api_key: Optional[str] = None) -> FastAPI:
    app = FastAPI(title="Sandbox")
    profiles: Dict[str, Dict[str, Any]] = {}
    add_error_handlers(app)

    def check_key(authorization: str = Header(default="")) -> None:
        expected = f"Bearer {api_key}".encode()
        if api_key is not None and not secrets.compare_digest(authorization.encode(), expected):
            # The interface defines no response to a wrong key.
            message = "Missing or wrong API key."
            raise SandboxError(401, "authentication_error", "unauthorized", message)

    @app.get("/health")
    async def health() -> JSONResponse:
        # Needs no key: the service asks before it knows whether its key works (spec 4.6).
        body = await read_health()
        return JSONResponse(body, 503 if body["status"] == "unhealthy" else 200)

    @app.post("/v1/chat/completions", dependencies=[Depends(check_key)])
    async def complete(request: ChatRequest) -> Dict[str, Any]:
        started = time.monotonic()
        messages = [{"role": each.role, "content": each.content} for each in request.messages]
        profile = profiles.get(request.user_id or "")
        reply = await reply_to(messages, profile, request.metadata)
        return completion(request.session_id, reply, round((time.monotonic() - started) * 1000))

    @app.post("/users", status_code=201, dependencies=[Depends(check_key)])
    async def create_user(request: UserCreateRequest) -> Dict[str, Any]:
        # `fullmatch`, because `$` also matches before a line break at the end.
        if not re.fullmatch(r"[A-Za-z0-9_]{1,64}", request.user_id):
            raise bad_request("user_id must be 1 to 64 letters, digits, and underscores.")
        if request.user_id in profiles:
            # The interface defines the type and the code, but not the status (spec 7).
            message = "This user already exists."
            raise SandboxError(409, "duplicate_user_error", "user_exists", message)
        if len(profiles) >= USERS_MAX:
            del profiles[next(iter(profiles))]
        profiles[request.user_id] = request.profile or {}
        return {"user_id": request.user_id, "created_at": now(), "status": "active"}

    @app.delete("/users/{user_id}", dependencies=[Depends(check_key)])
    async def delete_user(user_id: str) -> Dict[str, Any]:
        if profiles.pop(user_id, None) is None:
            message = "This user does not exist."
            raise SandboxError(404, "invalid_request_error", "not_found", message)
        # The body confirms the deletion, so the status is not 204 (spec 2.9).
        return {"user_id": user_id, "deleted_at": now(), "status": "deleted"}

    return app


def completion(session_id: Optional[str], reply: Reply, duration_ms: int) -> Dict[str, Any]:
    """Turns a reply of the agent into a chat response (spec 2.8)."""
    message: Dict[str, Any] = {"role": "assistant", "content": reply.content}
    if reply.tool_uses:
        message["tool_calls"] = [
            {
                "id": f"call_{uuid.uuid4()}",
                "type": "function",
                "function": {
                    "name": use.name,
                    # The arguments are a JSON text, but the result is an object.
                    "arguments": json.dumps(use.arguments),
                    "result": use.result,
                },
            }
            for use in reply.tool_uses
        ]
    response: Dict[str, Any] = {
        # The reply is final: `stop`, never `tool_calls`, because the service runs no tools.
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "chat_id": f"chat_{session_id or uuid.uuid4()}",
        "metadata": {
            "agent_confidence": reply.confidence,
            "response_time_ms": duration_ms,
            "tools_used": sorted({use.name for use in reply.tool_uses}),
        },
    }
    # The service tells parallel simulations apart by this id. If the request has no id, the
    # response omits it, because null is not a string.
    if session_id is not None:
        response["session_id"] = session_id
    return response


def add_error_handlers(app: FastAPI) -> None:
    """Replaces FastAPI's `{"detail": …}` with the error shape of the interface (spec 7)."""

    def respond(error: SandboxError) -> JSONResponse:
        return JSONResponse(error.body, error.status)

    @app.exception_handler(SandboxError)
    async def handle_sandbox_error(_: Request, error: SandboxError) -> JSONResponse:
        return respond(error)

    @app.exception_handler(RequestValidationError)
    async def handle_invalid_request(_: Request, error: RequestValidationError) -> JSONResponse:
        # FastAPI would respond with 422.
        problem = error.errors()[0]
        place = ".".join(str(part) for part in problem["loc"])
        return respond(bad_request(f"{place}: {problem['msg']}"))

    @app.exception_handler(HTTPException)
    async def handle_http_exception(_: Request, error: HTTPException) -> JSONResponse:
        code = "not_found" if error.status_code == 404 else "bad_request"
        message = str(error.detail)
        return respond(SandboxError(error.status_code, "invalid_request_error", code, message))

    @app.exception_handler(Exception)
    async def handle_failure(_: Request, error: Exception) -> JSONResponse:
        # Uvicorn writes the details to the log.
        message = "Internal error; see the log."
        return respond(SandboxError(500, "internal_error", "server_error", message))
