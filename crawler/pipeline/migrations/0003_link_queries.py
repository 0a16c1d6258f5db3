"""What extract looks for at first: sources of structured data before the links of pages."""

from django.db import migrations

XHV = "http://www.w3.org/1999/xhtml/vocab#"
SIOC = "http://rdfs.org/sioc/ns#"
SCHEMA = "http://schema.org/"
FOAF = "http://xmlns.com/foaf/0.1/"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
OWL = "http://www.w3.org/2002/07/owl#"
RSS = "http://purl.org/rss/1.0/"

QUERIES = [
    ("Feeds and data", 0.9, [RDFS + "seeAlso", RDFS + "isDefinedBy", SIOC + "feed", FOAF + "weblog"]),
    ("Data sets", 0.8, ["http://rdfs.org/ns/void#dataDump", "http://www.w3.org/ns/dcat#downloadURL",
                        "http://www.w3.org/ns/dcat#accessURL", "http://www.w3.org/ns/ldp#contains"]),
    ("Items of feeds", 0.7, [RSS + "link", RSS + "items", SIOC + "container_of", SIOC + "has_reply"]),
    ("Pages that belong together", 0.6, [XHV + "next", XHV + "prev", XHV + "alternate", SCHEMA + "url",
                                         SCHEMA + "mainEntityOfPage", SCHEMA + "hasPart", SCHEMA + "relatedLink",
                                         "https://www.w3.org/ns/activitystreams#next",
                                         "http://www.w3.org/ns/hydra/core#next"]),
    ("People and things elsewhere", 0.5, [FOAF + "homepage", SCHEMA + "sameAs", OWL + "sameAs", OWL + "imports"]),
    ("Links of pages", 0.3, [SIOC + "links_to"]),
]


def forward(apps, schema_editor):
    query = apps.get_model("pipeline", "LinkQuery")
    for name, weight, predicates in QUERIES:
        # A crawl queues the links of pages itself; here they are for those who want only what a graph says.
        values = {"weight": weight, "predicates": predicates, "enabled": name != "Links of pages"}
        query.objects.get_or_create(name=name, defaults=values)


class Migration(migrations.Migration):

    dependencies = [("pipeline", "0002_quads")]

    operations = [migrations.RunPython(forward, migrations.RunPython.noop)]
