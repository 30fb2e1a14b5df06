"""From seconds to money: rows of runs, prices, costs, and the ratio to the baseline."""
