"""Addresses of the workbench, below ``runs/<run>/``."""

from django.urls import path

from fdegym.pages import workbench

urlpatterns = [
    path("", workbench.workbench, name="run"),
    path("state/", workbench.state, name="workbench_state"),
    path("withdraw/", workbench.withdraw, name="workbench_withdraw"),
    path("stop/", workbench.stop, name="workbench_stop"),
    path("terminals/", workbench.terminals, name="workbench_terminals"),
    path("terminals/ticket/", workbench.ticket, name="workbench_ticket"),
    path("people/", workbench.conversation, name="workbench_people"),
    path("feed/ticket/", workbench.feed_ticket, name="workbench_feed_ticket"),
    path("messages/", workbench.send, name="workbench_messages"),
    path("wait/", workbench.wait, name="workbench_wait"),
    path("inbox/", workbench.inbox, name="workbench_inbox"),
    path("files/", workbench.files, name="workbench_files"),
    path("file/", workbench.file, name="workbench_file"),
    path("document/", workbench.document, name="workbench_document"),
    path("survey/", workbench.survey, name="workbench_survey"),
    path("trial/", workbench.trial, name="workbench_trial"),
    path("submit/", workbench.submit, name="workbench_submit"),
]
