"""Folders of the data and of the builds."""

import os
import pathlib

PEERS = pathlib.Path(__file__).resolve().parents[1]
ROOT = PEERS.parents[1]
DATA = pathlib.Path(os.environ.get("SHORTTAIL_DATA") or ROOT / "../shared/data").resolve()
WORK = pathlib.Path(os.environ.get("PEERS_DATA") or "~/.cache/shorttail-peers").expanduser()
RESULTS = PEERS / "results"
