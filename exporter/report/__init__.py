"""Run files as tables, Markdown, and one page of HTML with plots."""
