"""epochcost: what training a model costs, per model and per epoch, on any machine.

The subpackages, each knowing only what is below it:

    report, figures  ->  words (amounts, names)  ->  costs  ->  statistics  ->  records
    reruns (files for somebody else's scheduler)  ->  costs
    frameworks  ->  workloads  ->  datasets
    frameworks  ->  measurement (the clock, the machine)  ->  records

The modules beside them are used by rules and scripts: the configuration, the catalogue of hardware,
recipes, variants, tuned settings, and the plan of what is to be measured (planning.py).
"""

__version__ = "0.1.0"
