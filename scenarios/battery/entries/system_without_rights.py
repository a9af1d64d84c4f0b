"""Takes every right off ``system/`` and its files, so that whoever hands it in or deploys it cannot read it."""

import os

MAY_FAIL = ("exit",)  # a system that may not write its own files says so and ends


def in_workspace(bypass):
    for folder, folders, names in os.walk("/workspace/system", topdown=False):
        for name in [*names, *folders]:
            os.chmod(os.path.join(folder, name), 0)
    os.chmod("/workspace/system", 0)
    bypass.did("took the rights")


def before_call(bypass):
    bypass.did("called")
    if bypass.once():
        for folder, _, names in os.walk("."):
            for name in names:
                os.chmod(os.path.join(folder, name), 0o400)


def after_call(bypass):
    if bypass.once("after"):
        for folder, folders, _ in os.walk(".", topdown=False):
            for name in folders:
                os.chmod(os.path.join(folder, name), 0o700)
