"""A port that somebody listens on is refused at the start, also where the other listener is a second Idem."""
import os
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "support", "python"))
import idem_test


def refused(*words):
    """Starts the program, which must end by itself, and returns what it said."""
    process = idem_test.Process([idem_test.BINARY, *words])
    status = process.child.wait(20)
    assert status == 1, (status, process.output())
    return process.output()


def says_taken(output, port):
    assert f"cannot listen on 127.0.0.1:{port}: Address already in use" in output, output


def serve_on(port, admin):
    return ["serve", "--upstream", "http://127.0.0.1:9", "--store", "memory", "--data", idem_test.scratch(),
            "--listen", f"127.0.0.1:{port}", "--admin", f"127.0.0.1:{admin}"]


def foreign_listener():
    return socket.create_server(("127.0.0.1", idem_test.free_port()))


def test_a_second_gateway_on_the_data_port_ends_and_the_first_serves_on():
    engine = idem_test.simulate()
    first = idem_test.serve(engine.url)
    says_taken(refused(*serve_on(first.ports[0], idem_test.free_port())), first.ports[0])
    for attempt in range(20):
        answer = idem_test.request(first.url, "/v1/chat/completions", body={"model": "m", "messages": [
            {"role": "user", "content": str(attempt)}]})
        assert answer.status == 200, answer.body
    assert engine.stats()["calls"] == 20, engine.stats()


def test_a_second_gateway_on_the_admin_port_ends():
    first = idem_test.serve(idem_test.simulate().url)
    says_taken(refused(*serve_on(idem_test.free_port(), first.ports[1])), first.ports[1])
    assert idem_test.http_ok(first.admin, "/readyz")


def test_a_second_simulated_engine_ends():
    first = idem_test.simulate()
    says_taken(refused("simulate", "--listen", f"127.0.0.1:{first.ports[0]}"), first.ports[0])
    assert first.alive()


def test_foreign_listeners_are_named_alike():
    with foreign_listener() as foreign:
        port = foreign.getsockname()[1]
        says_taken(refused(*serve_on(port, idem_test.free_port())), port)
        says_taken(refused(*serve_on(idem_test.free_port(), port)), port)
        says_taken(refused("simulate", "--listen", f"127.0.0.1:{port}"), port)


def test_of_two_that_start_at_once_one_serves():
    for _ in range(5):
        port = idem_test.free_port()
        both = [idem_test.Process([idem_test.BINARY, "simulate", "--listen", f"127.0.0.1:{port}"]) for _ in range(2)]
        idem_test.wait_until(lambda: sum(p.alive() for p in both) == 1, "one of them has ended")
        idem_test.wait_until(lambda: idem_test.http_ok(f"http://127.0.0.1:{port}", "/simulate/stats"), "the other serves")
        loser = next(p for p in both if not p.alive())
        assert loser.child.returncode == 1, loser.output()
        says_taken(loser.output(), port)
        next(p for p in both if p.alive()).stop()


def test_a_restart_takes_the_port_at_once():
    engine = idem_test.simulate()
    gateway = idem_test.serve(engine.url)
    port, admin = gateway.ports
    for _ in range(3):
        idem_test.request(gateway.url, "/v1/models", headers={"Connection": "close"})  # TIME_WAIT stays with the server
    assert gateway.stop() == 0
    again = idem_test.Process([idem_test.BINARY, *serve_on(port, admin)])
    idem_test.wait_until(lambda: not again.alive() or idem_test.http_ok(f"http://127.0.0.1:{admin}", "/livez"), "started")
    assert again.alive(), again.output()


idem_test.main(globals())
