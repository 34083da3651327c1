"""A museum's agent on Flask."""
import logging
import os
import re
import threading
import time
import uuid
from datetime import datetime, timezone

from flask import Flask, jsonify, redirect, request
from werkzeug.exceptions import HTTPException
from werkzeug.serving import make_server

DEFECT = os.environ.get("DEFECT")
ODDITY = os.environ.get("ODDITY")
API_KEY = os.environ.get("API_KEY", "secret")
app = Flask(__name__)
app.json.sort_keys = ODDITY != "unsorted"
if DEFECT == "max-content-length":
    app.config["MAX_CONTENT_LENGTH"] = 16 * 1024
users = {}
history = []
busy = threading.Lock()
current = {}


class ApiError(Exception):
    def __init__(self, status, type_, code, message):
        self.status, self.type, self.code, self.message = status, type_, code, message


def bad_request(message):
    return ApiError(400, "invalid_request_error", "bad_request", message)


def show(status, type_, code, message):
    return jsonify(error={"message": message, "type": type_, "code": code}), status


if DEFECT != "html-error-pages":

    @app.errorhandler(HTTPException)
    def handle_http(error):
        code = "not_found" if error.code == 404 else "bad_request"
        return show(error.code, "invalid_request_error", code, error.description)


@app.errorhandler(ApiError)
def handle_api(error):
    if DEFECT == "tuple-forgotten":
        # Flask needs (body, status); without the status it sends 200.
        return show(error.status, error.type, error.code, error.message)[0]
    return show(error.status, error.type, error.code, error.message)


if DEFECT != "html-error-pages":

    @app.errorhandler(Exception)
    def handle_crash(error):
        if isinstance(error, (HTTPException, ApiError)):
            return handle_http(error) if isinstance(error, HTTPException) else handle_api(error)
        return show(500, "internal_error", "server_error", "internal error")


@app.before_request
def check_key():
    if request.path == "/health" and DEFECT != "key-for-health":
        return None
    if request.headers.get("Authorization") != "Bearer " + API_KEY:
        return show(401, "authentication_error", "invalid_api_key", "wrong API key")
    return None


def now():
    if DEFECT == "http-date":
        return datetime.now(timezone.utc)  # jsonify writes datetimes as HTTP dates
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def read_object():
    body = request.get_json(force=True, silent=DEFECT == "silent-json")
    if DEFECT == "silent-json" and body is None:
        body = {"messages": []}
    if not isinstance(body, dict):
        raise bad_request("the body must be an object")
    return body


@app.get("/health", strict_slashes=False)
def health():
    body = {"status": "healthy", "timestamp": now(), "version": "3"}
    if DEFECT == "uptime-text":
        body["uptime"] = "3 days"
    if ODDITY == "unhealthy-503":
        body.update(status="unhealthy", error={"message": "down", "details": "disk full"})
        return jsonify(body), 503
    return jsonify(body)


@app.post("/v1/chat/completions")
def chat():
    body = read_object()
    messages = body.get("messages")
    if DEFECT != "content-not-checked" or not isinstance(messages, list):
        if not isinstance(messages, list):
            raise bad_request("messages must be a list")
        for message in messages:
            if not isinstance(message, dict) or message.get("role") not in ("system", "user", "assistant"):
                raise bad_request("a message has no valid role")
            if not isinstance(message.get("content"), str):
                raise bad_request("a message has no content")
    for key, kind in (("user_id", str), ("session_id", str), ("metadata", dict)):
        if key in body and not isinstance(body[key], kind):
            raise bad_request(key + " has the wrong type")
    if DEFECT == "busy-429" and not busy.acquire(blocking=False):
        raise ApiError(429, "rate_limit_error", "too_many", "one request at a time")
    session_id = body.get("session_id")
    current["session"] = session_id
    time.sleep(0.01)
    if DEFECT == "busy-429":
        busy.release()
    if DEFECT == "global-current":
        session_id = current["session"]
    asked = str(messages[-1].get("content")) if messages else ""
    if DEFECT == "shared-history":
        history.append(asked)
    found = re.search(r"(picture|statue) (\d+)", asked, re.I)
    content = "Ask about a picture."
    if DEFECT == "shared-history":
        content = "So far: " + " / ".join(history[-5:])
    message = {"role": "assistant", "content": content}
    if found:
        call = {"name": "locate", "arguments": '{"n": %s}' % found.group(2), "result": {"hall": 3}}
        message["tool_calls"] = [{"id": uuid.uuid4().hex, "type": "function", "function": call}]
    if DEFECT == "function-call-field" and found:
        del message["tool_calls"]
        message["function_call"] = call
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    if DEFECT == "text-choice":
        choice = {"index": 0, "text": content, "finish_reason": "stop"}
    metadata = {"agent_confidence": 0.6, "response_time_ms": 10, "tools_used": ["locate"] if found else []}
    if DEFECT == "confidence-word":
        metadata["agent_confidence"] = "high"
    response = {"choices": [choice], "metadata": metadata}
    if session_id is not None:
        response.update(session_id=session_id, chat_id="m-" + session_id)
    return jsonify(response)


@app.post("/users/" if DEFECT == "slash-redirect" else "/users")
def create_user():
    body = read_object()
    user_id = body.get("user_id")
    if not isinstance(user_id, str) or not re.fullmatch(r"[A-Za-z0-9_]{1,64}", user_id):
        raise bad_request("user_id is invalid")
    for key in ("metadata", "profile"):
        if key in body and not isinstance(body[key], dict):
            raise bad_request(key + " has the wrong type")
    if DEFECT == "preferences-required":
        body["metadata"]["preferences"]  # A KeyError is a 500.
    if user_id in users:
        code = "conflict" if DEFECT == "conflict-code" else "user_exists"
        raise ApiError(409, "duplicate_user_error", code, "the user exists")
    users[user_id] = body
    created = {"user_id": user_id, "created_at": now(), "status": "active"}
    if ODDITY == "echo-request":
        created = {**body, **created}
    return jsonify(created), 202 if ODDITY == "create-202" else 201


@app.delete("/users/<user_id>")
def delete_user(user_id):
    if DEFECT == "redirect-after-delete":
        users.pop(user_id, None)
        return redirect("/users", 303)
    if users.pop(user_id, None) is None:
        return show(404, "invalid_request_error", "not_found", "no such user")
    return jsonify(user_id=user_id, deleted_at=now(), status="deleted")


logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
server = make_server("127.0.0.1", int(os.environ.get("PORT", "5000")), app, threaded=True)
print("http://127.0.0.1:%d" % server.server_port, flush=True)
server.serve_forever()
