"""Studies of Thalweg: the experiments of its paper, the BBOB benchmark, policy search.

    cli      the commands `thalweg reproduce` and `thalweg bench`
    paper    figures 1 to 4, table 1 and the claims of the paper's text
    bbob     methods and other libraries on COCO's BBOB functions
    rl       policy search in two environments of MuJoCo
    report   pages, tables and figures as files; colours and line styles
    common   the results folder, the work loop, experiments, statistics

A package imports only from those below its own; paper, bbob and rl do not import each other.
"""

__version__ = "0.2.0"
