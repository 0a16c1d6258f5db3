"""Dates in many languages: read as what they say, or not at all."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crawler.reading.dates import Dates, epoch

READ = """
2026년 3월 5일 10:30 => 2026-03-05 10:30
2026년 3월 5일 (목) 오후 3:20 => 2026-03-05 15:20
2026년 3월 5일 오전 12시 5분 => 2026-03-05 00:05
2026. 3. 5. => 2026-03-05
2026年3月5日 => 2026-03-05
2026年03月05日 10:30:15 => 2026-03-05 10:30:15
2026年3月5日（木）10時30分 => 2026-03-05 10:30
2026年3月5日 下午3:20 => 2026-03-05 15:20
2026年3月5日星期四 上午10:30 => 2026-03-05 10:30
2026-064 => 2026-03-05
2026-064T10:30Z => 2026-03-05 10:30
2026-W10-4 => 2026-03-05
5 mars 2026 à 10h30 => 2026-03-05 10:30
jeudi 5 mars 2026 à 10:30 => 2026-03-05 10:30
1er mars 2026 => 2026-03-01
5 févr. 2026, 10 h 30 => 2026-02-05 10:30
Le 5 mars 2026 => 2026-03-05
5 de marzo de 2026, 10:30 h => 2026-03-05 10:30
jueves, 5 de marzo de 2026 a las 10:30 => 2026-03-05 10:30
5 de marzo del 2026 10:30 => 2026-03-05 10:30
5 марта 2026 г., 10:30 => 2026-03-05 10:30
5 марта 2026 г. в 10:30 => 2026-03-05 10:30
5 марта 2026 года => 2026-03-05
5 марта 2026, 10:30 => 2026-03-05 10:30
10:30, 5 марта 2026 => 2026-03-05 10:30
5 березня 2026 р. о 10:30 => 2026-03-05 10:30
5 de março de 2026 às 10h30 => 2026-03-05 10:30
quinta-feira, 5 de março de 2026 => 2026-03-05
5. März 2026 um 10:30 Uhr => 2026-03-05 10:30
Donnerstag, 5. März 2026, 10.30 Uhr => 2026-03-05 10:30
5 maart 2026 om 10:30 uur => 2026-03-05 10:30
giovedì 5 marzo 2026 alle 10:30 => 2026-03-05 10:30
5 marca 2026, godz. 10:30 => 2026-03-05 10:30
5 lipca 2026 => 2026-07-05
5. mars 2026 kl. 10:30 => 2026-03-05 10:30
5 Mart 2026 10:30 => 2026-03-05 10:30
5 Ağustos 2026 saat 10:30 => 2026-08-05 10:30
5 Maret 2026 pukul 10.30 => 2026-03-05 10:30
5 مارس 2026 10:30 => 2026-03-05 10:30
٥ مارس ٢٠٢٦ => 2026-03-05
5 مارس 2026 10:30 م => 2026-03-05 22:30
5 Μαρτίου 2026 10:30 => 2026-03-05 10:30
Πέμπτη, 5 Μαρτίου 2026 => 2026-03-05
5 Μαρτίου 2026 3:20 μ.μ. => 2026-03-05 15:20
5 במרץ 2026 10:30 => 2026-03-05 10:30
5 מרץ 2026 => 2026-03-05
5 มีนาคม 2569 10:30 => 2026-03-05 10:30
5 มีนาคม 2026 => 2026-03-05
5 मार्च 2026 10:30 => 2026-03-05 10:30
५ मार्च २०२६ => 2026-03-05
5. března 2026 10:30 => 2026-03-05 10:30
5. září 2026 v 10:30 => 2026-09-05 10:30
5. července 2026 => 2026-07-05
5. června 2026 => 2026-06-05
2026. március 5. 10:30 => 2026-03-05 10:30
2026. szeptember 5. => 2026-09-05
5 tháng 3, 2026 10:30 => 2026-03-05 10:30
Thứ năm, 5 tháng 3 2026 => 2026-03-05
5 tháng 12 2026 => 2026-12-05
5. maaliskuuta 2026 klo 10.30 => 2026-03-05 10:30
5. marraskuuta 2026 => 2026-11-05
5. ožujka 2026. 10:30 => 2026-03-05 10:30
5. lipnja 2026. => 2026-06-05
5 ianuarie 2026, 10:30 => 2026-01-05 10:30
5. juuni 2026 => 2026-06-05
৫ মার্চ ২০২৬ => 2026-03-05
5 მარტი 2026 => 2026-03-05
5 մարտի 2026 => 2026-03-05
۵ مارس ۲۰۲۶ => 2026-03-05
5 мая 2026 10:30 MSK => 2026-05-05 07:30
5 Μαρτίου 2026 10:30 +0200 => 2026-03-05 08:30
10:30 5 března 2026 => 2026-03-05 10:30
2026 => 2026-01-01
"""

UNREAD = """
5 มี.ค. 2026
5. listopada 2026.
03/04/2026
3.4.26
2026-366
2026-000
2026-W54-1
2026-W10-9
2026년 13월 5일
2026年2月30日
2026 - 3
Version 2.0.2026
5 mars
mars 2026
5 Foo 2026 10:30
il y a 3 jours
3 days ago
hace 2 horas
вчера в 10:30
Q1 2026
2026-2027
tel. 2026 5 12
5 mars 2026 at 99:99
5 Mar 2026 10:30 12:40
5 - 7 March 2026
March 5-7, 2026
۱۴ اسفند ۱۴۰۴
5 آذار 1447
30 février 2026
30 Φεβρουαρίου 2026
5 Μαρτίου 2026 2027
5 Μαρτίου 2026 25:61
29 กุมภาพันธ์ 2569
May the 4th be with you 2026
Copyright 2026 by 5 people
10:30
12
page 5 of 2026
1.2.3
2026/13/45
2026-03-05T10:30:00 or later 7
5 tháng 13 2026
0 března 2026
32. března 2026
Μάρτιος 2026
5 Μαρτίου
2026-03-05 - 2026-03-07
"""


@pytest.mark.parametrize("line", READ.strip().splitlines())
def test_dates_are_read_in_many_languages(line: str) -> None:
    text, _, said = line.partition(" => ")
    found = epoch(text)
    assert found is not None
    assert datetime.fromtimestamp(found, UTC) == datetime.fromisoformat(said).replace(tzinfo=UTC)


@pytest.mark.parametrize("text", UNREAD.strip().splitlines())
def test_what_may_be_another_date_is_none(text: str) -> None:
    assert epoch(text) is None


def test_a_document_pays_for_so_many_foreign_dates_and_no_more() -> None:
    dates = Dates(limit=2)
    read = [dates.epoch(f"{day}. března 2026") for day in range(1, 6)]
    assert [when is not None for when in read] == [True, True, False, False, False]
    assert dates.epoch("1. března 2026") == read[0]
    assert dates.epoch("2026-03-05") is not None
