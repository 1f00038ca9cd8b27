"""Reports: a dict of facts about a model, and one self-contained HTML page that shows them."""

from frri.report.facts import facts
from frri.report.page import report_html, write_report

__all__ = ["facts", "report_html", "write_report"]
