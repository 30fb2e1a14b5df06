"""What the columns of the tables of costs hold, beside those of `results.columns`.

docs/reference/tables.md is made of it. Amounts are in USD. An unknown price or cost is empty.
"""

MEANING = {
    # The price that a row was computed with.
    "price_book": "`latest`, a month, a day, or a file of prices",
    "price_kind": "`on_demand`, `spot`, `preemptible`, `reserved`, `monthly`, `owned` or `free`",
    "price_per_hour_usd": "of the whole machine",
    "price_date": "day of the price",
    "price_source": "where it is from",
    "price_region": "where it holds",
    "billing_increment_s": "billed time is rounded up to it",
    "minimum_charge_s": "least time that is billed",
    "monthly_fee_usd": "paid for each month begun",
    # What it costs.
    "cost_kind": "`marginal` (training time x price) or `billed` (what a provider charges)",
    "cost_usd": "cost of the training",
    "cost_low cost_high": "at the ends of the time",
    "baseline": "what it is relative to; empty where nothing was published",
    "baseline_epochs": "epochs of the baseline",
    "time_relative": "time over the baseline's",
    "time_relative_low time_relative_high": "ends of its interval",
    "cost_relative": "cost over the baseline's, both of one cost kind",
    "cost_relative_low cost_relative_high": "ends of its interval",
    "mixed_price_kinds": "the ratio is of prices of two kinds",
    "later_low later_high": "ends of the time in another hour",
    # What can be chosen from.
    "gpu": "trained on a GPU",
    "elapsed_s": "seconds from the start of billing to the end of the training",
    "elapsed_low elapsed_high": "ends of its range, which holds 95 of 100",
    "marginal_usd": "marginal cost",
    "billed_usd": "bill of one training",
    "billed_low billed_high": "ends of its range",
    "per_epoch_usd": "marginal cost of an epoch",
    "per_million_samples_usd": "marginal cost of a million samples",
    "per_accuracy_point_usd": "marginal cost of a point of accuracy",
    "to_target_usd": "marginal cost until the epoch that reached the target",
    "efficient": "no other option is both faster and cheaper",
    "cheapest_probability": "how often it is the cheapest when times are drawn from their ranges",
    "options.deviation": "standard deviation of the logarithm of the time",
    "terms": "`with start`, or `epochs alone` where a start of one option is unknown",
    "context": "why the row can be no recommendation",
    "break_even_per_hour": "interruptions an hour from which on demand costs no more",
    # With interruptions.
    "on_demand_per_hour_usd": "price of the same machine on demand",
    "on_demand_cost_usd": "cost on demand",
    "cost_over_on_demand": "expected cost over that",
    "restart_s": "seconds of a start",
    "checkpoint_s": "seconds of work between two checkpoints",
    "interruptions_per_hour": "the rate that is tried",
    "spot.interruptions": "expected number",
    "spot.elapsed_s": "expected seconds, waits for the next machine included",
    "spot.cost_usd": "expected cost",
    "paid_s": "expected seconds that are paid for",
    # What it cost in other years.
    "history.date": "day of the price",
    "history.cost_usd": "marginal cost at that price",
}
