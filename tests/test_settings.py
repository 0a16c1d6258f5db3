from django.db import connection


def test_it_answers(db):
    with connection.cursor() as c:
        c.execute("select 1")
        assert c.fetchone() == (1,)
