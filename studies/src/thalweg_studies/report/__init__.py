"""What readers of the experiments see: figures and tables as files."""
