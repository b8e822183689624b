"""Shorttail beside other search engines: the parts of `bench/peers/run`."""
