"""All that is particular to ``runpod-deploy``: its provider's names, its job configs, its failures; ``runner`` has the Runner."""
