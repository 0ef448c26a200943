"""Diagnosis, knobs, proposals and the MemSteer-Opt teleprompter."""
