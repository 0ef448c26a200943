"""What each role is asked: typed, described fields, nothing else."""
