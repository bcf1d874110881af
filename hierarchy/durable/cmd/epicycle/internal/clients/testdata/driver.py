"""Does with the client what the tests say: a request in each line of the standard input, an answer or an event in each
line of the standard output. The arguments are sync or asyncio, the server, and the seconds of a timeout."""

import asyncio
import inspect
import json
import queue
import sys
import threading

import epicycle


def say(**line):
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def failure(error):
    if isinstance(error, epicycle.EpicycleError):
        return {"status": error.status, "title": error.title, "detail": error.detail, "timer": error.timer}
    return {"kind": type(error).__name__, "detail": str(error)}


def request(line):
    """The method, and its arguments."""
    do, args = line["do"], dict(line.get("args", {}))
    for name in ("in", "if"):
        if name in args:
            args[name + "_"] = args.pop(name)
    positional = [args.pop(name) for name in ("key", "operations", "queue", "max", "wait") if name in args]
    if do == "removeAll":
        return "remove_all", [args["prefix"]], {}
    return do, positional + args.pop("tokens", []), args


def verify(args):
    hook = epicycle.verify(args["keys"], args["headers"], args["body"].encode())
    return {"id": hook.id, "key": hook.key, "attempt": hook.attempt, "value": hook.value}


def sync(server, timeout):
    client = epicycle.Client(server, timeout=timeout)
    finished = {}

    def handle(firing):
        finished.setdefault(firing["key"], queue.Queue())
        say(event="begun", key=firing["key"], value=firing["value"], attempt=firing["attempt"])
        error = finished[firing["key"]].get()
        if error:
            raise RuntimeError(error)

    def work(worker):
        try:
            worker.run()
            say(event="ended")
        except Exception as error:
            say(event="ended", error=failure(error))

    def do(line):
        nonlocal worker
        name, positional, args = request(line)
        if name == "work":
            worker = client.worker(*positional, handle, on_error=lambda _: None, **args)
            threading.Thread(target=work, args=[worker]).start()
        elif name == "finish":
            finished[positional[0]].put(args.get("error"))
        elif name == "stop":
            worker.stop()
        elif name == "verify":
            return verify(args)
        else:
            result = getattr(client, name)(*positional, **args)
            return list(result) if inspect.isgenerator(result) else result

    worker = None
    for line in sys.stdin:
        try:
            say(result=do(json.loads(line)))
        except Exception as error:
            say(error=failure(error))
    client.close()


async def asynchronous(server, timeout):
    finished = {}

    async def handle(firing):
        finished.setdefault(firing["key"], asyncio.Queue())
        say(event="begun", key=firing["key"], value=firing["value"], attempt=firing["attempt"])
        error = await finished[firing["key"]].get()
        if error:
            raise RuntimeError(error)

    async def work(worker):
        try:
            await worker.run()
            say(event="ended")
        except Exception as error:
            say(event="ended", error=failure(error))

    async def do(line):
        nonlocal worker, working
        name, positional, args = request(line)
        if name == "work":
            worker = client.worker(*positional, handle, on_error=lambda _: None, **args)
            working = asyncio.ensure_future(work(worker))
        elif name == "finish":
            finished[positional[0]].put_nowait(args.get("error"))
        elif name == "stop":
            worker.stop()
        elif name == "verify":
            return verify(args)
        else:
            result = getattr(client, name)(*positional, **args)
            return [one async for one in result] if inspect.isasyncgen(result) else await result

    worker = working = None
    async with epicycle.AsyncClient(server, timeout=timeout) as client:
        while line := await asyncio.to_thread(sys.stdin.readline):
            try:
                say(result=await do(json.loads(line)))
            except Exception as error:
                say(error=failure(error))


if sys.argv[1] == "sync":
    sync(sys.argv[2], float(sys.argv[3]))
else:
    asyncio.run(asynchronous(sys.argv[2], float(sys.argv[3])))
