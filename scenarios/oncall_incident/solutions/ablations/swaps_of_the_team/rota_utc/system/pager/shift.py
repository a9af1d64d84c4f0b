"""Who of a team is on duty: the rota's rows in the clock of their export, the swaps in the time of their team."""

from pager.times import DAY, minute, stamp

LOOK_BACK = 3 * DAY
LOOK_AHEAD = 2 * DAY


class Duty:
    """The rota rows and swaps of all teams that touch a window; ``first`` and ``last`` are minutes of UTC."""

    def __init__(self, connection, first, last, sites, clocks, rules):
        self._clocks, self._window = clocks, (first, last)
        self._site = sites["team_site"]
        self._utc_from = rules["export"]["utc_from"]
        self._rows = {team: [] for team in self._site}
        self._swaps = {team: [] for team in self._site}
        since, until = stamp(first - LOOK_BACK), stamp(last + LOOK_AHEAD)
        self._read_rota(connection, since[:10], until[:10])
        self._read_swaps(connection, since[:16], until[:16])

    def _is_utc(self, exported):
        """Whether something of this date (or instant) was exported in UTC."""
        return bool(self._utc_from) and exported >= self._utc_from

    def _read_rota(self, connection, since, until):
        rows = connection.execute(
            'SELECT team, date, start, "end", "primary", secondary FROM rota WHERE date BETWEEN ? AND ?',
            (since, until),
        )
        for team, date, start, end, primary, secondary in rows:
            opens, closes = minute(f"{date}T{start}"), minute(f"{date}T{end}")
            if closes <= opens:
                closes += DAY
            if not self._is_utc(date):
                site = self._site[team]
                opens, closes = self._clocks.instant(site, opens), self._clocks.instant(site, closes)
            self._keep(self._rows[team], opens, closes, (primary, secondary))

    def _read_swaps(self, connection, since, until):
        rows = connection.execute(
            'SELECT team, start, "end", person_in FROM swap'
            ' WHERE "end" > ? AND start < ? AND created IS NOT NULL AND NOT cancelled ORDER BY created, override_id',
            (since, until),
        )
        for team, start, end, person_in in rows:
            site = self._site[team]
            opens, closes = (self._clocks.instant(site, minute(typed)) for typed in (start, end))
            self._keep(self._swaps[team], opens, closes, person_in)

    def _keep(self, spans, opens, closes, what):
        first, last = self._window
        if opens < last and closes > first:
            spans.append((opens, closes, what))

    def pair(self, team, at):
        """(primary, secondary) at an instant; None where the rota has no row. The swap entered last wins."""
        found = None
        for start, end, pair in self._rows[team]:
            if start <= at < end:
                found = pair
        for start, end, person_in in self._swaps[team]:
            if found and start <= at < end:
                found = (person_in, found[1])
        return found

    def edges(self, team):
        """Instants at which the pair may change."""
        return {edge for span in (*self._rows[team], *self._swaps[team]) for edge in span[:2]}
