"""Runs the sandbox until SIGINT or SIGTERM."""

import os

import uvicorn

from .app import create_app

if __name__ == "__main__":
    uvicorn.run(
        create_app(api_key=os.environ.get("API_KEY") or None),
        host=os.environ.get("HOST", "127.0.0.1"),
        port=int(os.environ.get("PORT", "8080")),
        access_log=False,
    )
