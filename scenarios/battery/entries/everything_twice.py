"""Says everything twice: every line of its outputs, and every file under another name too."""

MAY_FAIL = ("exit",)


def before_call(bypass):
    bypass.remember()


def after_call(bypass):
    def twice(data):
        head, newline, rest = data.partition(b"\n")
        rows = rest.splitlines(keepends=True)
        return (
            head + newline + b"".join(row if row.endswith(b"\n") else row + b"\n" for row in rows for _ in range(2))
            or data * 2
        )

    for path in bypass.outputs():
        path.with_name(f"again_{path.name}").write_bytes(path.read_bytes())
        path.with_name(path.name.upper()).write_bytes(path.read_bytes())
        bypass.did("copied")
    bypass.rewrite(twice)
