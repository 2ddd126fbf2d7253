"""BBOB, the test bed of the COCO platform: runs of methods and of other libraries, their records, and average runtimes."""
