"""Models looked for, tested and chosen over HTTP: by whom, and what never comes back."""

from __future__ import annotations

import json

import httpx

from tests.generator.openai_server import KEY, running
from tests.rag_app.chat.served_corpus import Served
from tests.rag_app.chat.web.programs import PASSWORDS
from tests.waiting import PATIENCE

ACTS = ("look", "list", "test", "use", "forget")


def test_the_first_login_chooses_and_no_key_comes_back(team_server: Served) -> None:
    first, *others = PASSWORDS
    address = team_server.address
    with running() as url:
        form = {"model": f"openai:{url}#locked", "address": url, "key": KEY}
        answers = []
        with httpx.Client(
            base_url=address, auth=(first, PASSWORDS[first]), timeout=PATIENCE
        ) as ann:
            for act in ("list", "test", "use", "test"):
                answers.append(ann.post(f"/model/{act}", json=form))
                assert answers[-1].status_code == 200, answers[-1].text
                form["key"] = ""  # the one that is kept from "use" on
                if act in {"list", "test"}:
                    form["key"] = KEY
            assert answers[-1].json()["model"] == "locked"
            hostile = {"address": "http://169.254.169.254/v1", "model": "<img src=x>"}
            for act in ("list", "test", "use"):
                answers.append(ann.post(f"/model/{act}", json={**form, **hostile}))
                assert answers[-1].status_code == 422 and "<img" not in answers[-1].text
            answers.append(ann.post("/model/forget", json={}))
            answers.append(ann.post("/model/use", json={"model": "SmolLM2-135M-Instruct"}))
            assert answers[-1].status_code == 200
            long = ann.post("/model/use", json={"key": "k" * 5000})
            cross = ann.post("/model/look", json={}, headers={"Origin": "http://evil.invalid"})
            plain = ann.post("/model/look", content=json.dumps(form))
    assert [one.status_code for one in (long, cross, plain)] == [422, 403, 422]
    assert all(KEY not in one.text for one in answers) and "kkk" not in long.text
    for name in others:
        with httpx.Client(base_url=address, auth=(name, PASSWORDS[name]), timeout=PATIENCE) as bob:
            for act in ACTS:
                refused = bob.post(f"/model/{act}", json={"model": "x", "address": url})
                assert refused.status_code == 422 and "you may not choose" in refused.text
    assert httpx.post(f"{address}/model/look", json={}, timeout=PATIENCE).status_code == 401
