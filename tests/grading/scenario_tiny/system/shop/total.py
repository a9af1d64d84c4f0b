import argparse
import pathlib

parser = argparse.ArgumentParser()
parser.add_argument("--day", required=True)
options = parser.parse_args()
amounts = [int(line) for line in (pathlib.Path("book") / f"{options.day}.csv").read_text().split()[1:]]
outbox = pathlib.Path("outbox")
outbox.mkdir(exist_ok=True)
(outbox / f"total_{options.day}.txt").write_text(str(sum(abs(amount) for amount in amounts)))
