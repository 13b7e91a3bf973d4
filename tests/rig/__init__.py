"""runpod-deploy for real, against a stand-in for the provider and an sshd on loopback; see README.md."""
