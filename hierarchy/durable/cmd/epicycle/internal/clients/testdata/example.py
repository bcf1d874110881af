import signal
from epicycle import Client

client = Client()
client.set("order-17", {"id": 17}, in_="30m", to={"queue": "orders"})
client.move("order-17", in_="10ms")


def cancel(firing):
    print("cancel", firing["key"], firing["value"]["id"], flush=True)


worker = client.worker("orders", cancel, concurrency=10)
signal.signal(signal.SIGTERM, lambda *_: worker.stop())
worker.run()
