"""The graph: terms under the hash of what they are, and quads in six orders, parted by their context."""

from django.db import migrations

PARTS = 4

FORWARD = """
CREATE TABLE pipeline_term (
    id bigint PRIMARY KEY,
    mark integer NOT NULL,
    kind smallint NOT NULL,
    lang text NOT NULL,
    datatype text NOT NULL,
    value text NOT NULL,
    words tsvector GENERATED ALWAYS AS (
        CASE WHEN kind = 2 AND datatype = '' THEN to_tsvector('simple', left(value, 20000)) END
    ) STORED
);
CREATE INDEX pipeline_term_words ON pipeline_term USING gin (words) WHERE words IS NOT NULL;
CREATE TABLE pipeline_quad (
    s bigint NOT NULL, p bigint NOT NULL, o bigint NOT NULL, c bigint NOT NULL
) PARTITION BY HASH (c);
""" + "".join(
    f"CREATE TABLE pipeline_quad_{part} PARTITION OF pipeline_quad FOR VALUES WITH (MODULUS {PARTS}, REMAINDER {part});\n"
    for part in range(PARTS)
) + """
CREATE UNIQUE INDEX pipeline_quad_spoc ON pipeline_quad (s, p, o, c);
CREATE INDEX pipeline_quad_pocs ON pipeline_quad (p, o, c, s);
CREATE INDEX pipeline_quad_ocsp ON pipeline_quad (o, c, s, p);
CREATE INDEX pipeline_quad_cspo ON pipeline_quad (c, s, p, o);
CREATE INDEX pipeline_quad_cpo ON pipeline_quad (c, p, o, s);
CREATE INDEX pipeline_quad_osp ON pipeline_quad (o, s, p, c);
"""


class Migration(migrations.Migration):

    dependencies = [("pipeline", "0001_documents")]

    operations = [
        migrations.RunSQL(FORWARD, "DROP TABLE pipeline_quad; DROP TABLE pipeline_term;"),
    ]
