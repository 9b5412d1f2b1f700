"""`make gpu-check`: all that can be found out on a device only, in a few minutes.

Needs torch and Triton; no server, no checkpoint and no test runner. The same checks run on a CPU with the recording
back-end and tiny sizes, where they compare references with themselves.
"""
