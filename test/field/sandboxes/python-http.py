"""A weather agent on Python's own http.server."""
import json
import os
import re
import time
import uuid
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

DEFECT = os.environ.get("DEFECT")
ODDITY = os.environ.get("ODDITY")
STARTED = time.time()
USERS = {}


class BadRequest(Exception):
    pass


def now():
    if DEFECT == "str-datetime":
        return str(datetime.now())
    if ODDITY == "naive-time":
        return datetime.now().isoformat()
    return datetime.now(timezone.utc).isoformat()


def require(condition, message):
    if not condition:
        raise BadRequest(message)


def get_weather(city):
    return {"city": city, "temperature": 21, "sky": "clear"}


def check_chat(body):
    require(isinstance(body.get("messages"), list), "messages must be a list")
    for message in body["messages"]:
        require(isinstance(message, dict), "a message must be an object")
        require(message.get("role") in ("system", "user", "assistant"), "unknown role")
        require(isinstance(message.get("content"), str), "content must be a string")
    for key in ("user_id", "session_id"):
        require(isinstance(body.get(key, ""), str), key + " must be a string")
    require(isinstance(body.get("metadata", {}), dict), "metadata must be an object")


def answer(body):
    if DEFECT == "key-error-drops-connection":
        body["messages"][-1]["content"].strip()
    check_chat(body)
    begin = time.monotonic()
    if DEFECT == "persona-key-error":
        # The tone depends on the persona, which the author takes for granted.
        body["metadata"]["persona"].lower()
    if DEFECT == "one-thread":
        time.sleep(1.5)
    asked = next((m["content"] for m in reversed(body["messages"]) if m["role"] == "user"), "")
    message = {"role": "assistant", "content": "Ask me about the weather in a city, s’il vous plaît."}
    found = re.search(r"weather in (\w+)", asked, re.I)
    if found:
        result = get_weather(found.group(1))
        arguments = {"city": found.group(1)}
        call = {"name": "get_weather", "arguments": json.dumps(arguments), "result": result}
        if DEFECT == "repr-arguments":
            call["arguments"] = str(arguments)
        if DEFECT == "call-id-number":
            message["tool_calls"] = [{"id": 1, "type": "function", "function": call}]
        else:
            message["tool_calls"] = [{"id": "call_" + uuid.uuid4().hex, "type": "function", "function": call}]
        message["content"] = "It is 21 °C and clear in %s." % found.group(1)
    metadata = {
        "agent_confidence": float("nan") if DEFECT == "nan-confidence" else 0.75,
        "response_time_ms": int((time.monotonic() - begin) * 1000),
        "tools_used": ["get_weather"] if found else [],
    }
    response = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], "metadata": metadata}
    if "session_id" in body:
        response["session_id"] = body["session_id"]
        response["chat_id"] = "weather-" + body["session_id"]
    return response


def create_user(body):
    user_id = body.get("user_id")
    pattern = r"^[A-Za-z0-9_]{1,64}$" if DEFECT == "dollar-newline" else r"[A-Za-z0-9_]{1,64}\Z"
    if DEFECT == "isalnum":
        require(isinstance(user_id, str) and user_id.isalnum() and len(user_id) <= 64, "bad user_id")
    elif DEFECT == "unicode-word":
        require(isinstance(user_id, str) and re.fullmatch(r"\w{1,64}", user_id), "bad user_id")
    else:
        require(isinstance(user_id, str) and re.match(pattern, user_id), "bad user_id")
    for key in ("metadata", "profile"):
        require(isinstance(body.get(key, {}), dict), key + " must be an object")
    if user_id in USERS:
        return 409, error("duplicate_user_error", "user_exists", "the user exists")
    USERS[user_id] = body
    created_at = time.time() if DEFECT == "epoch-created-at" else now()
    created = {"user_id": user_id, "created_at": created_at, "status": "active"}
    if ODDITY == "all-optional-fields":
        created.update(session_id="s1", profile_id="p1", capabilities=[])
    return 200, created


def error(type_, code, message):
    return {"error": {"message": message, "type": type_, "code": code}}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0" if ODDITY == "http-1.0" else "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body):
        if DEFECT == "send-error-page" and status >= 400:
            return self.send_error(status)
        text = json.dumps(body, ensure_ascii=ODDITY == "ascii-escapes")
        if DEFECT == "python-repr":
            text = str(body)
        data = text.encode("latin-1", "replace") if DEFECT == "latin-1" else text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        length = len(text) if DEFECT == "length-in-characters" else len(data)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(data[:length])

    def body(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        try:
            body = json.loads(raw)
        except ValueError:
            raise BadRequest("the body is not JSON")
        require(isinstance(body, dict), "the body must be an object")
        return body

    def do_GET(self):
        if self.path.split("?")[0] != "/health":
            return self.reply(404, error("invalid_request_error", "not_found", "no such page"))
        uptime = time.time() - STARTED
        if DEFECT != "uptime-float":
            uptime = float(int(uptime)) if ODDITY == "uptime-with-point" else int(uptime)
        self.reply(200, {"status": "healthy", "timestamp": now(), "version": "1.4", "uptime": uptime})

    def do_POST(self):
        try:
            body = self.body()
            if self.path == "/v1/chat/completions":
                self.reply(200, answer(body))
            elif self.path == "/users":
                self.reply(*create_user(body))
            else:
                self.reply(404, error("invalid_request_error", "not_found", "no such page"))
        except BadRequest as failure:
            self.reply(400, error("invalid_request_error", "bad_request", str(failure)))

    def do_DELETE(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        user_id = self.path.removeprefix("/users/")
        if USERS.pop(user_id, None) is None:
            return self.reply(404, error("invalid_request_error", "not_found", "no such user"))
        deleted = {"user_id": user_id, "deleted_at": now(), "status": "deleted"}
        self.reply(200, deleted)


class Threading(ThreadingHTTPServer):
    request_queue_size = 128


kind = HTTPServer if DEFECT == "one-thread" else Threading
server = kind(("127.0.0.1", int(os.environ.get("PORT", "8080"))), Handler)
print("http://127.0.0.1:%d" % server.server_address[1], flush=True)
server.serve_forever()
