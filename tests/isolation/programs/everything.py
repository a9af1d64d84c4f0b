"""The whole list: importing it enters every attempt."""

from tests.isolation.programs import files, kernel, network, privileges, processes
from tests.isolation.programs.attempt import ATTEMPTS

__all__ = ["ATTEMPTS", "files", "kernel", "network", "privileges", "processes"]
