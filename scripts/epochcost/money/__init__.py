"""From seconds to money: prices, bills, options, estimates, and the ratio to the baseline."""
