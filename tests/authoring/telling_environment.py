"""A process that tells the environment it was started with, as JSON."""

import json
import os

if __name__ == "__main__":
    print(json.dumps(dict(os.environ)))
