"""The common battery of bypasses, played against any scenario: ``entries()`` names them, ``play_battery`` plays one.

What an entry does stands in ``scenarios/battery/entries``; here is what is laid where, and what is looked for afterwards.
"""

from fdegym.authoring.battery.entries import Entry, entries, entry_named
from fdegym.authoring.battery.playing import BatteryPlay, play_battery

__all__ = ["BatteryPlay", "Entry", "entries", "entry_named", "play_battery"]
