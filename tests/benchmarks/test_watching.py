"""The benchmark of watched pages draws a fixed sample and judges reports by the week of the change."""

from __future__ import annotations

from benchmarks.watching import Judgement, changed_weeks, judge, sample, visible_text

SITES = [[f"http://a/{number}" for number in range(10)], ["http://b/0"]]


def test_the_sample_is_the_same_for_the_same_seed_in_any_order_of_pages() -> None:
    assert sample(SITES, 5) == sample([SITES[0][::-1], SITES[1]], 5)
    assert sample(SITES, 5, seed=1) != sample(SITES, 5, seed=2)


def test_the_sample_is_spread_over_sites_and_filled_up_from_larger_ones() -> None:
    pages = sample(SITES, 5)
    assert len(set(pages)) == 5
    assert "http://b/0" in pages
    assert len(sample(SITES, 100)) == 11


def test_a_page_changes_in_the_week_whose_text_differs_from_the_week_before() -> None:
    assert changed_weeks({"p": ["a", "a", "b", "b", "a"], "q": ["a", "a"]}) == {"p": {2, 4}, "q": set()}


def test_a_change_reported_in_its_week_is_found() -> None:
    assert judge({"p": {2}}, {"p": {2}}) == Judgement(1, 1, 0, 0)


def test_a_report_covers_earlier_changes_late() -> None:
    assert judge({"p": {1, 3}}, {"p": {3}}) == Judgement(2, 1, 1, 0)
    assert judge({"p": {1, 2}}, {"p": {3}}) == Judgement(2, 0, 2, 0)


def test_a_report_without_a_change_since_the_last_one_is_a_false_alarm() -> None:
    assert judge({"p": {1}}, {"p": {1, 2}, "q": {4}}) == Judgement(1, 1, 0, 2)
    assert judge({"p": {3}}, {"p": {2}}) == Judgement(1, 0, 0, 1)


def test_scripts_styles_titles_and_spaces_are_not_visible_text() -> None:
    page = b"<title>t</title><body><script>x</script><style>y</style><p>one\n two</p><!-- z --></body>"
    assert visible_text(page) == "onetwo"
