"""epochcost: what training a model costs, per model and per epoch, on any machine.

The rooms of the package, each knowing only what is below it:

    report, figures  ->  costs, statistics  ->  records
    frameworks  ->  workloads  ->  datasets
    measurement (the clock, the machine) is used by frameworks and knows none of them
"""

__version__ = "0.1.0"
