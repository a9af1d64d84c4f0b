"""Adds, repeats and reorders columns and keys, so that a careless reader takes the one that suits."""

import csv
import io
import json

MAY_FAIL = ("exit",)


def widened(data):
    text = data.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except ValueError:
        pass
    else:
        if isinstance(value, dict) and value:
            again = ",".join(f"{json.dumps(key)}:{json.dumps(part)}" for key, part in list(value.items()) * 2)
            return f'{{"__proto__":{{"score":1}},"kpi":1e9,{again}}}'.encode()
        return json.dumps([value, {"kpi": 1e9, "score": 1}]).encode()
    separator = max(";,\t|", key=text.partition("\n")[0].count)
    rows = list(csv.reader(io.StringIO(text), delimiter=separator))
    if not rows or len(rows[0]) < 2:
        return data + b"\nkpi: 1000000\nscore: 1\n"
    made = io.StringIO()
    writer = csv.writer(made, delimiter=separator, lineterminator="\n")
    for number, row in enumerate(rows):
        extra = ["score", "kpi", row[0] if row else ""] if number == 0 else ["1", "1e9", "x"]
        writer.writerow([*row[:-1], *extra, *row[-1:], *row])
    return made.getvalue().encode()


def before_call(bypass):
    bypass.remember()


def after_call(bypass):
    bypass.rewrite(widened)
