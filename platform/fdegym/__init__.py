"""FDE-Gym: practise and measure the last mile of AI delivery at a simulated customer."""

__version__ = "0.1.0"
