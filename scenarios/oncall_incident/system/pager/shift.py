"""Who of a team is on duty: the rota's row, and the swaps on top of it."""

from pager.times import DAY, minute, stamp

LOOK_BACK = 2 * DAY
LOOK_AHEAD = DAY


class Duty:
    """The rota rows and swaps of all teams that may touch a window; ``first`` and ``last`` are minutes of UTC."""

    def __init__(self, connection, first, last, team_site, offsets):
        self._rows = {team: [] for team in team_site}
        self._swaps = {team: [] for team in team_site}
        self._offset = {team: offsets[site] for team, site in team_site.items()}
        since, until = stamp(first - LOOK_BACK), stamp(last + LOOK_AHEAD)
        self._read_rota(connection, since[:10], until[:10])
        self._read_swaps(connection, since[:16], until[:16])

    def _read_rota(self, connection, since, until):
        rows = connection.execute(
            'SELECT team, date, start, "end", "primary", secondary FROM rota WHERE date BETWEEN ? AND ?'
            " ORDER BY date, shift",
            (since, until),
        )
        for team, date, start, end, primary, secondary in rows:
            opens, closes = minute(f"{date}T{start}"), minute(f"{date}T{end}")
            if closes <= opens:
                closes += DAY
            offset = self._offset[team]
            self._rows[team].append((opens - offset, closes - offset, primary, secondary))

    def _read_swaps(self, connection, since, until):
        rows = connection.execute(
            'SELECT team, start, "end", person_in FROM override WHERE "end" > ? AND start < ? ORDER BY rowid',
            (since, until),
        )
        for team, start, end, person_in in rows:
            offset = self._offset[team]
            self._swaps[team].append((minute(start) - offset, minute(end) - offset, person_in))

    def pair(self, team, at):
        """(primary, secondary) at an instant; None where the rota has no row. The last swap read wins."""
        found = None
        for start, end, primary, secondary in self._rows[team]:
            if start <= at < end:
                found = (primary, secondary)
        if found is None:
            return None
        for start, end, person_in in self._swaps[team]:
            if start <= at < end:
                found = (person_in, found[1])
        return found

    def edges(self, team):
        """Instants at which the pair may change."""
        spans = [*self._rows[team], *self._swaps[team]]
        return {edge for span in spans for edge in span[:2]}
