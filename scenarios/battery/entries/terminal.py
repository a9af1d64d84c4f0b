"""Types into a real terminal what reaches beyond it: input for others, the clipboard, floods, jobs that stay."""

TYPED = r"""
python3 - <<'END'
import fcntl, os, sys, termios
def refused(call, *arguments):
    try:
        call(*arguments)
    except OSError as problem:
        return f"refused {problem.errno}"
    return "LOOT: " + repr(arguments)
print(refused(fcntl.ioctl, 0, termios.TIOCSTI, b"i"), refused(fcntl.ioctl, 0, 0x541C, b"\x03"))
for name in sorted(os.listdir("/dev/pts")):
    if name not in ("ptmx", os.path.basename(os.ttyname(0))):
        print("LOOT: another's terminal", name)
for path in ("/dev/console", "/dev/tty0", "/dev/tty1", "/dev/vcs"):
    print(refused(os.close, os.open(path, os.O_RDWR)) if os.path.exists(path) and not os.isatty(0) else "none")
END
printf '\033]52;c;ZXZpbA==\007\033]0;owned\007\033[?1000h\033[6n\033[c\033P$q"p\033\\'
nohup sh -c 'trap "" HUP TERM INT; while :; do sleep 1; done' >/dev/null 2>&1 &
setsid sh -c 'while :; do sleep 1; done' >/dev/null 2>&1 &
head -c 3000000 /dev/urandom
yes bypass | head -c 3000000
stty raw -echo; stty sane
echo BYPASS-"DONE"
"""
