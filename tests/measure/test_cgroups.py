"""What a container lets its processes have, from the files of both kinds of control groups."""

from epochcost.measure import cgroups


def write(root, **files):
    for name, text in files.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_version_2_the_tightest_limit_of_all_groups_holds(tmp_path):
    write(
        tmp_path,
        proc__self__cgroup="0::/pod/container\n",
        sys__fs__cgroup__pod__cpu_dot_max="150000 100000\n",
        sys__fs__cgroup__pod__container__cpu_dot_max="max 100000\n",
        sys__fs__cgroup__pod__container__memory_dot_max=f"{3 * 2**30}\n",
        sys__fs__cgroup__pod__memory_dot_max="max\n",
        sys__fs__cgroup__pod__cpu_dot_stat="usage_usec 7\nthrottled_usec 2500000\n",
        sys__fs__cgroup__pod__container__cpu_dot_stat="usage_usec 7\nthrottled_usec 0\n",
    )
    assert cgroups.cpus(tmp_path) == 1.5
    assert cgroups.memory_gib(tmp_path) == 3.0
    assert cgroups.throttled_seconds(tmp_path) == 2.5


def test_version_1(tmp_path):
    folder = "sys__fs__cgroup__cpu,cpuacct__job"
    write(
        tmp_path,
        proc__self__cgroup="4:memory:/job\n3:cpu,cpuacct:/job\n1:name=systemd:/\n0::/\n",
        sys__fs__cgroup__memory__job__memory_dot_limit_in_bytes=f"{2**31}\n",
        sys__fs__cgroup__memory__memory_dot_limit_in_bytes="9223372036854771712\n",
        **{
            f"{folder}__cpu_dot_cfs_quota_us": "200000\n",
            f"{folder}__cpu_dot_cfs_period_us": "100000\n",
            f"{folder}__cpu_dot_stat": "nr_periods 3\nthrottled_time 1500000000\n",
            "sys__fs__cgroup__cpu,cpuacct__cpu_dot_cfs_quota_us": "-1\n",
        },
    )
    assert cgroups.cpus(tmp_path) == 2.0
    assert cgroups.memory_gib(tmp_path) == 2.0
    assert cgroups.throttled_seconds(tmp_path) == 1.5


def test_no_limits_are_none(tmp_path):
    write(tmp_path, proc__self__cgroup="0::/\n", sys__fs__cgroup__cpu_dot_max="max 100000\n")
    assert cgroups.cpus(tmp_path) is None
    assert cgroups.memory_gib(tmp_path) is None
    assert cgroups.throttled_seconds(tmp_path) is None
    assert cgroups.cpus(tmp_path / "nothing") is None
