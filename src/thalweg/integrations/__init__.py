"""Thalweg inside other libraries: a method for scipy. Each is a file, imported only when it is used."""
