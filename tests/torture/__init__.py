"""A program that kills sweeps at random, resumes them, and counts from the runner's own record."""
