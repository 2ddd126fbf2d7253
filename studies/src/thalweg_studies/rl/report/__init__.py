"""The report on policy search: figures, films and sections."""
