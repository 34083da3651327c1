import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
import unittest

import uvicorn

from sandbox.app import create_app

API_KEY = "a-key-for-tests"


class SandboxTest(unittest.TestCase):
    def setUp(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(create_app(API_KEY), log_level="error")
        self.server = uvicorn.Server(config)
        sockets = {"sockets": [self.socket]}
        self.thread = threading.Thread(target=self.server.run, kwargs=sockets, daemon=True)
        self.thread.start()
        deadline = time.monotonic() + 10
        while not self.server.started and time.monotonic() < deadline:
            time.sleep(0.05)

    def tearDown(self) -> None:
        self.server.should_exit = True
        self.thread.join(timeout=10)
        self.socket.close()

    def test_obeys_the_interface(self) -> None:
        url = f"http://127.0.0.1:{self.socket.getsockname()[1]}"
        npx = shutil.which("npx") or "npx"
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "check.json")
            subprocess.run(
                [npx, "sandbox-kit", "check", url, "--area", "chat,health,users", "--json", path],
                env={**os.environ, "SANDBOX_KIT_API_KEY": API_KEY},
                stdout=subprocess.DEVNULL,
            )
            with open(path, encoding="utf-8") as file:
                report = json.load(file)
        rows = [row for row in report["requirements"] if row["verdict"] == "fail"]
        self.assertEqual([f"{row['id']} {row['rule']}" for row in rows], [])
        self.assertEqual(report["verdict"], "conforming")


if __name__ == "__main__":
    unittest.main()
