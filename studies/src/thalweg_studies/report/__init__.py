"""Parts of reports that all studies share: pages, tables, figures as files, colours and line styles."""
