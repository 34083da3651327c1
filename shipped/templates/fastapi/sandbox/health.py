"""Reports whether your agent can work.

The service asks before each simulation, and starts no simulation while the sandbox is unhealthy.
Replace the checks with your own.
"""

import asyncio
import time
from datetime import datetime, timezone
from typing import Any, Awaitable, Callable, Dict

VERSION = "1.0.0"
STARTED = time.monotonic()

# The service gives up after 10 s and expects a response within 2 s (spec 8).
CHECK_SECONDS_MAX = 1.5


async def is_model_up() -> bool:
    """Returns whether a dependency works, for example the model behind your agent."""
    return True


# The dependencies of your agent: database, llm_service, and external_apis (spec 2.10).
DEPENDENCIES: Dict[str, Callable[[], Awaitable[bool]]] = {"llm_service": is_model_up}


async def read_health() -> Dict[str, Any]:
    """Returns the health response."""
    checks = (asyncio.wait_for(check(), CHECK_SECONDS_MAX) for check in DEPENDENCIES.values())
    results = await asyncio.gather(*checks, return_exceptions=True)
    down = [name for name, result in zip(DEPENDENCIES, results) if result is not True]
    health: Dict[str, Any] = {
        "status": "unhealthy" if down else "healthy",
        "timestamp": datetime.now(timezone.utc).isoformat(),
        "version": VERSION,
        "uptime": int(time.monotonic() - STARTED),
        "dependencies": {
            name: "unhealthy" if name in down else "healthy" for name in DEPENDENCIES
        },
    }
    if down:
        # Only an unhealthy sandbox has an error (spec 2.10).
        health["error"] = {
            "message": "A dependency does not respond.",
            "details": ", ".join(down),
        }
    return health
