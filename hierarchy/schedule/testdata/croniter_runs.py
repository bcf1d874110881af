"""Answers questions about schedules with croniter: for each line of zone, first moment, last moment and
fields, separated by tabs, it prints the moments of the runs, in seconds since 1970."""
import datetime
import sys

import pytz
from croniter import CroniterBadDateError, croniter

for line in sys.stdin:
    zone, first, last, fields = line.rstrip("\n").split("\t")
    iterator = croniter(fields, datetime.datetime.fromtimestamp(int(first) - 1, pytz.timezone(zone)))
    runs = []
    try:
        while (run := int(iterator.get_next(float))) <= int(last):
            runs.append(run)
    except CroniterBadDateError:
        pass  # there are no more
    print(*runs)
