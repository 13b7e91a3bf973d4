"""All that is particular to ``local``: ``runner`` has the Runner, ``process`` is the single-job runner that it calls."""
