import { Client } from "../../../../../clients/typescript/epicycle.ts";

const client = new Client();
await client.set("order-17", { value: { id: 17 }, in: "30m", to: { queue: "orders" } });
await client.move("order-17", { in: "10ms" });

const worker = client.worker<{ id: number }>("orders", async (firing) => {
  console.log("cancel", firing.key, firing.value.id);
}, { concurrency: 10 });
process.once("SIGTERM", () => worker.stop());
await worker.run();
