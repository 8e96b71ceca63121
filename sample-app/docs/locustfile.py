"""Users of the sample, for Locust. A tag chooses the kind: block, quick, flood or scarce."""

import os

from locust import FastHttpUser, constant, tag, task

WAY = os.environ.get("WAY", "virtual")  # the last part of the path, for flood and scarce


class User(FastHttpUser):
    wait_time = constant(0)  # asks again at once
    network_timeout = 60  # longer than any wait here, so that Locust never gives up

    @tag("block")
    @task
    def block(self):
        self.client.get("/lab/requests/block?millis=1000", name="block")

    @tag("quick")
    @task
    def quick(self):
        self.client.get("/lab/requests/quick", name="quick")

    @tag("flood")
    @task
    def flood(self):
        self.client.get(f"/lab/flood/{WAY}", name=f"flood {WAY}")

    @tag("scarce")
    @task
    def scarce(self):
        self.client.get(f"/lab/scarce/{WAY}?millis=1000", name=f"scarce {WAY}")
