"""Your agent goes here: replace `reply_to`.

The example is the support agent of a shop, with one tool and without a model.
"""

import re
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional


@dataclass
class ToolUse:
    """A tool that the agent called, with its result."""

    name: str
    arguments: Dict[str, Any]
    result: Dict[str, Any]


@dataclass
class Reply:
    """`content` is a string even if the agent only called tools; confidence is from 0 to 1."""

    content: str
    confidence: float
    tool_uses: List[ToolUse] = field(default_factory=list)


async def reply_to(
    messages: List[Dict[str, str]],
    profile: Optional[Dict[str, Any]],
    metadata: Optional[Dict[str, Any]],
) -> Reply:
    """Replies to a conversation.

    `messages` is the whole conversation so far, so the sandbox need not store it. The last message
    is usually the user's, but any order is legal, and `content` may be empty (spec 2.7).
    """
    # With a model: send it `messages` and your tools, run the tools that it calls, and return its
    # text and these calls with their results. The service neither offers tools nor runs them.
    texts = [message["content"] for message in messages if message["role"] == "user"]
    order = re.search(r"\b[A-Z]-\d{4}\b", texts[-1] if texts else "", re.ASCII)
    if order is None:
        name = (profile or {}).get("name")
        greeting = f"Hello {name}!" if name else "Hello!"
        return Reply(content=f"{greeting} What is your order number?", confidence=0.6)
    result = look_up_order(order.group())
    if result["found"]:
        content = f"Your {result['item']} is {result['status']}."
    else:
        content = f"I can't find order {order.group()}. Please check the number."
    tool_use = ToolUse("look_up_order", {"order_id": order.group()}, result)
    return Reply(content=content, confidence=0.9, tool_uses=[tool_use])


ORDERS = {
    "A-1001": {"item": "blue mug", "status": "on its way"},
    "A-1002": {"item": "teapot", "status": "being packed"},
}


def look_up_order(order_id: str) -> Dict[str, Any]:
    """Looks up an order."""
    order = ORDERS.get(order_id)
    return {"found": order is not None, "order_id": order_id, **(order or {})}
