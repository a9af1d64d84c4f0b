"""Rest after a night page, where a site has a rule for it."""

from pager.times import HOUR


class Rest:
    """Until when people must be left alone, as far as the pages of the feed tell; ``asof`` is the compile's."""

    def __init__(self, connection, asof, clocks, rules):
        length = rules["hours"] * HOUR
        rows = connection.execute(
            "SELECT person_id, at FROM rung JOIN people USING (person_id) WHERE at >= ? AND site = ?",
            (asof - length, rules["site"]),
        )
        self._until = {}
        for person, at in rows:
            if clocks.is_night(rules["site"], at):
                self._until[person] = max(at + length, self._until.get(person, 0))

    def resting(self, person, at):
        return at < self._until.get(person, at)

    def order(self, pair, at):
        """The one who rests goes second; if both rest the order stays."""
        if self.resting(pair[0], at) and not self.resting(pair[1], at):
            return pair[1], pair[0]
        return pair

    def edges(self):
        """Instants at which somebody's rest ends."""
        return set(self._until.values())
