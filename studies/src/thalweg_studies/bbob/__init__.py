"""BBOB, the test bed of the COCO platform: any method and its peers, the same records of every run, and what they add up to."""
