#!/usr/bin/env python3
"""kill -9 while answers are being stored: after each restart every entry is whole or absent, and what was complete a second
before is there. Twenty times; a hundred with --long."""
import http.client
import json
import pathlib
import random
import sqlite3
import threading
import time

import idem_test
import upstream

ROUNDS = 100 if idem_test.LONG else 20
CLIENTS = 4


def answer(call):
    """Answers of very different sizes, each its own, so that a torn or swapped one shows."""
    content = call.json()["messages"][0]["content"]
    yield upstream.chat_object(content * random.choice((1, 1, 1, 20, 2000)))


class Client(threading.Thread):
    """Asks ever new questions on one connection until the gateway is gone; remembers what was answered, and when."""

    def __init__(self, port, name):
        super().__init__(daemon=True)
        self.port, self.tag, self.answers = port, name, []

    def run(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        try:
            for number in range(100_000):
                question = f"{self.tag}-{number} "
                body = ask(connection, question)[1]
                self.answers.append((time.monotonic(), question, body))
        except (OSError, http.client.HTTPException):
            connection.close()


def ask(connection, question, **headers):
    body = json.dumps({"model": "m", "messages": [{"role": "user", "content": question}]})
    connection.request("POST", "/v1/chat/completions", body, {"Content-Type": "application/json", "Authorization": "Bearer k", **headers})
    response = connection.getresponse()
    return response.status, response.read(), response.headers["X-Cache"]


def check_files(data):
    """No file of the store is damaged."""
    files = [path for path in pathlib.Path(data).rglob("*") if path.is_file() and path.read_bytes()[:15] == b"SQLite format 3"]
    assert files, "the embedded store is not where it should be"
    for path in files:
        with sqlite3.connect(path) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",), path
        database.close()


def test_kill_while_storing():
    server, data = upstream.Upstream(answer), idem_test.scratch("data-")
    kept = lost = 0
    for number in range(ROUNDS):
        gateway = idem_test.serve(server.url, store="embedded", data=data)
        clients = [Client(gateway.ports[0], f"{number}-{i}") for i in range(CLIENTS)]
        for client in clients:
            client.start()
        began = time.monotonic()
        # Long enough for some answers to be a second old, ended at a moment that nothing is aligned with.
        idem_test.wait_until(lambda: time.monotonic() - began > 1.1 and all(len(client.answers) > 3 for client in clients),
                             "answers come in", deadline=30, every=random.uniform(0.01, 0.2))
        killed = time.monotonic()
        gateway.kill()
        for client in clients:
            client.join(30)
        check_files(data)

        gateway = idem_test.serve(server.url, store="embedded", data=data)
        connection = http.client.HTTPConnection("127.0.0.1", gateway.ports[0], timeout=20)
        for client in clients:
            for answered, question, body in client.answers:
                status, again, cache = ask(connection, question, **{"Cache-Control": "only-if-cached"})
                if status == 200:
                    assert cache == "HIT" and again == body, f"round {number}: {question}: another answer"
                    kept += 1
                else:
                    assert status == 504, (status, again)
                    assert answered > killed - 1, f"round {number}: {question}: lost, though complete {killed - answered:.2f} s before"
                    lost += 1
        connection.close()
        gateway.kill()
    print(f"    {ROUNDS} rounds: {kept} kept, {lost} of the last second lost")
    assert kept > 0


idem_test.main(globals())
