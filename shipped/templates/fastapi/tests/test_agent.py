import asyncio
import unittest

from sandbox.agent import reply_to


class AgentTest(unittest.TestCase):
    def test_looks_up_an_order(self) -> None:
        messages = [{"role": "user", "content": "Where is order A-1001?"}]
        reply = asyncio.run(reply_to(messages, profile=None, metadata=None))
        self.assertEqual(reply.content, "Your blue mug is on its way.")
        self.assertEqual([use.name for use in reply.tool_uses], ["look_up_order"])
