# The configuration as command-line options of the analysis: lists of words, which rules quote (:q).

from epochcost import configuration


def precision_option():
    """The option for how precise the medians were to be, if that is configured."""
    return ["--precision", str(KNOWN.precision)] if KNOWN.precision else []


def disturbed_option():
    """The option to let disturbed runs count."""
    return ["--keep-disturbed"] if KNOWN.keep_disturbed else []


def local_price():
    """The price of this machine as options, none if it is unknown."""
    hourly, kind = KNOWN.price.per_hour_usd, KNOWN.price.kind
    if KNOWN.owned:
        hourly, kind = prices.Owned(**KNOWN.owned).per_hour_usd(), billing.OWNED
    return [] if hourly is None else ["--local-price", str(hourly), "--local-price-kind", kind]


def assignments(section):
    """A section of the configuration as `key=value,key=value`."""
    return ",".join(f"{key}={value}" for key, value in dict(getattr(KNOWN, section)).items())


def rental_option():
    """The option for what is paid for besides a training."""
    return ["--rental", assignments("billing")]


def exchange_option():
    """The option for currencies, if there are any."""
    rates = assignments("exchange_rates")
    return ["--exchange-rates", rates] if rates else []


def spot_options():
    """The options for interruptions."""
    rates = [str(rate) for rate in KNOWN.spot.interruptions_per_hour]
    return ["--spot-rates", *rates, "--spot-wait", str(KNOWN.spot.wait_s)]


def price_options():
    """The options for the prices to calculate with."""
    return [
        *("--prices", "config/prices.csv", "--price-book", KNOWN.price_book),
        *local_price(),
        *rental_option(),
        *exchange_option(),
        *("--machine", MACHINE.id),
    ]


def estimate_options():
    """The options for estimating what a plan would cost."""
    rounds = ["--rounds-h", str(KNOWN.budget_hours)] if KNOWN.precision else []
    return ["--scale", KNOWN.scale, *rounds, *price_options()]


def schedule_options():
    """What is measured on a schedule, as options."""
    wanted = KNOWN.schedule.model_dump()
    for key in ("hardware", "up", "repository", "records"):
        if not wanted[key]:
            sys.exit(
                f"epochcost: config: schedule: {key} is empty; config/config.yaml says what it is"
            )
    with errors.in_one_line():
        # Can it be measured there?
        configuration.load(config | {"hardware": wanted["hardware"]}, Path(workflow.basedir))
    options = [wanted["hardware"]]
    for key in ("every", "up", "repository", "records", "image"):
        options.append(f"--{key}={wanted[key]}")
    for key in ("disk_gib", "disk_usd_per_gib_month", "rule_usd_per_month"):
        options.append(f"--{key.replace('_', '-')}={wanted[key]}")
    chosen = [
        f"{key}={','.join(getattr(KNOWN, key))}" for key in ("workloads", "frameworks", "variants")
    ]
    single = ("scale", "seed", "batch_size", "time_limit_hours")
    chosen += [f"{key}={getattr(KNOWN, key)}" for key in single if getattr(KNOWN, key) is not None]
    return [*options, "--arguments", *chosen]


def question():
    """What is asked of the advice, as options."""
    workloads = [KNOWN.workload] if KNOWN.workload else KNOWN.workloads
    limits = [
        f"--{key}={getattr(KNOWN, key)}"
        for key in ("deadline", "budget")
        if getattr(KNOWN, key) is not None
    ]
    return ["--workload", *workloads, *limits]


def own_book():
    """The user's own price file, if one is configured."""
    return KNOWN.price_book if prices.is_file(KNOWN.price_book) else []
