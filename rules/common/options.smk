# The configuration as command-line options of the analysis.

import shlex


def precision_option():
    """The option for how precise the medians were to be, if that is configured."""
    return f"--precision {KNOWN['precision']}" if KNOWN["precision"] else ""


def disturbed_option():
    """The option to let disturbed runs count."""
    return "--keep-disturbed" if KNOWN["keep_disturbed"] else ""


def local_price():
    """The price of this machine as options, empty if unknown."""
    hourly, kind = KNOWN["price"]["per_hour_usd"], KNOWN["price"]["kind"]
    if KNOWN["owned"]:
        hourly, kind = prices.Owned(**KNOWN["owned"]).per_hour_usd(), billing.OWNED
    return "" if hourly is None else f"--local-price {hourly} --local-price-kind {kind}"


def assignments(section):
    """A section of the configuration as `key=value,key=value`."""
    return ",".join(f"{key}={value}" for key, value in KNOWN[section].items())


def rental_option():
    """The option for what is paid for besides a training."""
    return f"--rental {assignments('billing')}"


def exchange_option():
    """The option for currencies, if there are any."""
    return f"--exchange-rates {assignments('exchange_rates')}" if KNOWN["exchange_rates"] else ""


def spot_options():
    """The options for interruptions."""
    rates = " ".join(str(rate) for rate in KNOWN["spot"]["interruptions_per_hour"])
    return f"--spot-rates {rates} --spot-wait {KNOWN['spot']['wait_s']}"


def price_options():
    """The options for the prices to calculate with."""
    options = [
        f"--prices {PRICES[1]} --price-book {shlex.quote(KNOWN['price_book'])}",
        local_price(),
        rental_option(),
        exchange_option(),
        f"--machine {MACHINE['id']}",
    ]
    return " ".join(option for option in options if option)


def estimate_options():
    """The options for estimating what a plan would cost."""
    rounds = f"--rounds-h {KNOWN['budget_hours']}" if KNOWN["precision"] else ""
    return f"--scale {KNOWN['scale']} {rounds} {price_options()}"


def schedule_options():
    """What is measured on a schedule, as options."""
    wanted = KNOWN["schedule"]
    for key in ("hardware", "up", "repository", "records"):
        if not wanted[key]:
            sys.exit(
                f"epochcost: config: schedule: {key} is empty; config/config.yaml says what it is"
            )
    try:
        # Can it be measured there?
        configuration.load(config | {"hardware": wanted["hardware"]}, Path(workflow.basedir))
    except InputError as error:
        sys.exit(f"epochcost: {one_line(error)}")
    options = [wanted["hardware"]]
    for key in ("every", "up", "repository", "records", "image"):
        options.append(f"--{key} {shlex.quote(str(wanted[key]))}")
    for key in ("disk_gib", "disk_usd_per_gib_month", "rule_usd_per_month"):
        options.append(f"--{key.replace('_', '-')} {wanted[key]}")
    chosen = [f"{key}={','.join(KNOWN[key])}" for key in ("workloads", "frameworks", "variants")]
    single = ("scale", "seed", "batch_size", "time_limit_hours")
    chosen += [f"{key}={KNOWN[key]}" for key in single if KNOWN[key] is not None]
    return " ".join([*options, "--arguments", *chosen])


def question():
    """What is asked of the advice, as options."""
    options = {
        "workload": KNOWN["workload"] or " ".join(KNOWN["workloads"]),
        "deadline": KNOWN["deadline"],
        "budget": KNOWN["budget"],
    }
    return " ".join(
        f"--{name} {value if name == 'workload' else shlex.quote(str(value))}"
        for name, value in options.items()
        if value is not None
    )


def own_book():
    """The user's own price file, if one is configured."""
    return KNOWN["price_book"] if prices.is_file(KNOWN["price_book"]) else []
