"""The lives and deaths that most made-up certificates follow."""

from __future__ import annotations

from typing import NamedTuple


class Life(NamedTuple):
    """What is usual for people whose lives and deaths are alike."""

    ages: tuple[int, int]
    sex: str
    race: str
    marital: str
    education: str
    occupation: str
    military: str
    home: str
    born: str
    manner: str
    place: str
    disposition: str


# Ages; sex; race; marital status; education; occupation; military service; zip code; state or country of birth;
# manner of death; place of death; disposition. The most frequent first.
_LIVES = """
75-84; male; White; married; high school; production; Army; 46219; Indiana; natural; inpatient; burial
85-94; female; White; widowed; high school; homemaker; none; 46227; Indiana; natural; nursing home; burial
75-84; female; White; widowed; high school; office; none; 46226; Indiana; natural; inpatient; burial
65-74; male; White; married; high school; transport; none; 46241; Kentucky; natural; home; cremation
65-74; female; White; married; high school; office; none; 46217; Indiana; natural; home; cremation
55-64; male; White; divorced; high school; construction; none; 46203; Indiana; natural; inpatient; cremation
65-74; male; Black; married; 9th-12th grade; production; none; 46218; Mississippi; natural; inpatient; burial
75-84; female; Black; widowed; 9th-12th grade; food and cleaning; none; 46218; Tennessee; natural; inpatient; burial
85-94; male; White; widowed; bachelor; management; Army; 46260; Indiana; natural; nursing home; burial
55-64; female; White; divorced; high school; health care; none; 46201; Indiana; natural; inpatient; cremation
45-54; male; Black; never married; high school; food and cleaning; none; 46205; Indiana; natural; emergency room; burial
85-94; female; White; widowed; bachelor; teaching; none; 46240; Indiana; natural; nursing home; cremation
25-34; male; White; never married; high school; construction; none; 46203; Indiana; accident; home; cremation
75-84; male; White; married; bachelor; professional; Navy; 46032; Ohio; natural; hospice; cremation
55-64; female; Black; never married; high school; food and cleaning; none; 46208; Indiana; natural; inpatient; burial
85-94; female; White; widowed; high school; homemaker; none; 46220; Indiana; accident; inpatient; burial
85-94; female; White; widowed; 8th grade or less; homemaker; none; 46241; Kentucky; natural; nursing home; burial
45-54; female; White; married; college, no degree; office; none; 46142; Indiana; natural; home; cremation
75-84; male; Black; widowed; 8th grade or less; construction; Army; 46222; Alabama; natural; nursing home; burial
65-74; male; White; divorced; college, no degree; sales; Air Force; 46224; Indiana; natural; home; cremation
15-24; male; Black; never married; 9th-12th grade; student; none; 46218; Indiana; homicide; emergency room; burial
35-44; male; White; divorced; high school; transport; none; 46201; Indiana; accident; home; cremation
75-84; female; White; married; bachelor; teaching; none; 46220; Illinois; natural; hospice; cremation
0-0; male; Black; never married; 8th grade or less; never worked; none; 46235; Indiana; natural; inpatient; burial
0-0; female; White; never married; 8th grade or less; never worked; none; 46227; Indiana; natural; inpatient; burial
45-54; male; White; married; bachelor; management; none; 46038; Indiana; natural; emergency room; cremation
35-44; female; White; divorced; high school; food and cleaning; none; 46219; Indiana; accident; home; cremation
45-54; male; White; divorced; high school; production; none; 46221; Indiana; suicide; home; cremation
85-94; female; Black; widowed; 8th grade or less; homemaker; none; 46205; Tennessee; natural; nursing home; burial
65-74; female; Black; divorced; college, no degree; health care; none; 46226; Indiana; natural; inpatient; burial
25-34; male; Black; never married; high school; food and cleaning; none; 46201; Indiana; homicide; street; burial
35-44; female; Black; never married; high school; health care; none; 46235; Indiana; natural; inpatient; burial
65-74; male; White; widowed; high school; construction; Navy; 46221; Kentucky; suicide; home; cremation
55-64; male; White; married; master; professional; none; 46228; Indiana; natural; hospice; cremation
45-54; male; Hispanic; married; 8th grade or less; construction; none; 46222; Mexico; natural; inpatient; removed
15-24; female; White; never married; high school; student; none; 46237; Indiana; accident; emergency room; burial
85-94; male; White; married; high school; farming, forestry; Army; 46140; Indiana; natural; home; burial
5-14; male; White; never married; 8th grade or less; student; none; 46239; Indiana; accident; inpatient; burial
25-34; male; Hispanic; never married; 9th-12th grade; construction; none; 46241; Mexico; accident; street; removed
65-74; female; Asian; married; master; health care; none; 46254; Philippines; natural; inpatient; cremation
75-84; male; White; never married; 8th grade or less; never worked; none; 46202; Indiana; natural; hospice; donation
25-34; female; Black; never married; college, no degree; sales; none; 46229; Indiana; homicide; home; burial
45-54; female; White; divorced; high school; office; none; 46203; Indiana; undetermined; home; cremation
55-64; female; White; married; doctorate; professional; none; 46032; New York; natural; hospice; cremation
"""


def _lives() -> tuple[Life, ...]:
    rows = [line.split("; ") for line in _LIVES.strip().splitlines()]
    return tuple(Life((int(ages.split("-")[0]), int(ages.split("-")[1])), *facts) for ages, *facts in rows)


LIVES = _lives()
