"""Writes its outputs in encodings nobody reads: UTF-16, Latin-1 in UTF-8, zero bytes, half characters, odd line ends."""

MAY_FAIL = ("exit",)


def before_call(bypass):
    bypass.remember()


def after_call(bypass):
    count = iter(range(10**9))

    def otherwise(data):
        text = data.decode("utf-8", "replace")
        return [
            text.encode("utf-16"),
            text.encode("utf-32-be"),
            b"\xff\xfe\xfa" + data,
            b"\xef\xbb\xbf\xef\xbb\xbf" + data.replace(b"\n", b"\r"),
            data.replace(b"\n", b"\x00\n"),
            data.replace(b"1", "１".encode()).replace(b"\n", "\u2028".encode()),
            data[: len(data) // 2] + b"\xe2\x94",
        ][next(count) % 7]

    bypass.rewrite(otherwise)
