// Does with the client what the tests say, as driver.py does. The arguments are the server, and the seconds of a timeout.
import { createInterface } from "node:readline";
import { Client, EpicycleError, verify } from "../../../../../clients/typescript/epicycle.ts";
import type { Firing, Worker } from "../../../../../clients/typescript/epicycle.ts";

const say = (line: unknown) => process.stdout.write(JSON.stringify(line) + "\n");

function failure(error: any) {
  if (error instanceof EpicycleError) {
    return { status: error.status, title: error.title, detail: error.detail, timer: error.timer };
  }
  return { kind: error.name, detail: String(error) };
}

const client = new Client({ server: process.argv[2], timeout: Number(process.argv[3]) * 1000 });
const finish = new Map<string, (error: string | undefined) => void>();
const finished = new Map<string, Promise<string | undefined>>();
let worker: Worker;

/** A key's promise to finish. */
function whenFinished(key: string): Promise<string | undefined> {
  if (!finished.has(key)) finished.set(key, new Promise((resolve) => finish.set(key, resolve)));
  return finished.get(key)!;
}

async function handle(firing: Firing) {
  const done = whenFinished(firing.key);
  say({ event: "begun", key: firing.key, value: firing.value, attempt: firing.attempt });
  const error = await done;
  if (error) throw new Error(error);
}

async function run(name: string, a: any): Promise<unknown> {
  const { key, queue, if: condition, ...rest } = a;
  switch (name) {
    case "set": return client.set(key, rest, condition);
    case "move": return client.move(key, rest);
    case "pause": return client.pause(key);
    case "resume": return client.resume(key);
    case "get": return client.get(key);
    case "remove": return client.remove(key);
    case "revive": return client.revive(key);
    case "list": return Array.fromAsync(client.list(rest));
    case "removeAll": return client.removeAll(a.prefix);
    case "batch": return client.batch(a.operations);
    case "take": return client.take(queue, a.max, a.wait);
    case "done": return client.done(queue, a.tokens);
    case "fail": return client.fail(queue, a.tokens, a.error);
    case "verify": {
      const { due, ...hook } = await verify(a.keys, a.headers, a.body);
      return hook;
    }
    case "work":
      worker = client.worker(queue, handle, { concurrency: a.concurrency, onError: () => {} });
      worker.run().then(() => say({ event: "ended" }), (error) => say({ event: "ended", error: failure(error) }));
      return null;
    case "finish":
      whenFinished(key);
      finish.get(key)!(a.error);
      return null;
    case "stop":
      worker.stop();
      return null;
  }
  throw new Error(name);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { do: name, args = {} } = JSON.parse(line);
  try {
    say({ result: (await run(name, args)) ?? null });
  } catch (error) {
    say({ error: failure(error) });
  }
}
process.exit(0);
