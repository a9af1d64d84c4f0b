"""npt: downtime of the contracted rigs, from daily reports to monthly claims."""
