"""Documents of all kinds, each written by hand as somebody might publish it."""

from __future__ import annotations

import gzip

from crawler.reading import detect

RDF_NS = 'xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"'
FOAF = "http://xmlns.com/foaf/0.1/"

HTML = [
    "<!DOCTYPE html><html><head><title>One</title></head><body><p>Two</p></body></html>",
    "<!doctype HTML PUBLIC '-//W3C//DTD HTML 4.01//EN' 'http://www.w3.org/TR/html4/strict.dtd'><title>x</title>",
    "<html><body><h1>Old page</h1></body></html>",
    "<HTML><HEAD><TITLE>SHOUTED</TITLE></HEAD><BODY BGCOLOR=white>x",
    "\n\n  <!-- made by hand -->\n<html lang=de><body>Grüße</body></html>",
    "<head><title>No html tag</title></head><body>x</body>",
    "<title>Only a title</title><p>and a paragraph",
    "<body><table><tr><td>x</td></tr></table></body>",
    "<div class='page'><p>A fragment</p></div>",
    "<h1>Heading first</h1><p>text",
    "<!DOCTYPE html>\n<!-- <rss version='2.0'> --><html><body>a feed in a comment</body></html>",
    '<!DOCTYPE html><html><body><pre>&lt;rss version="2.0"&gt;</pre></body></html>',
    '<!DOCTYPE html><html prefix="og: http://ogp.me/ns#"><head><meta property="og:title" content="x"></head>',
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>XHTML served as HTML</title></head><body/></html>',
    "<script>var x = '<feed>';</script><p>script first</p>",
    "<!DOCTYPE html><html><body>" + "<p>many</p>" * 3000 + "</body></html>",
    "\ufeff<!DOCTYPE html><html><body>a mark first</body></html>",
    "<a href='/'>home</a> a line of text",
    "<center><font size=7>Welcome</font></center>",
    '<!DOCTYPE html><html><head><script type=\'application/ld+json\'>{"@context":"https://schema.org"}</script>',
]
XHTML = [
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body><p>x</p></body></html>',
    '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml" xml:lang="en"><head/><body/></html>',
    '<?xml version="1.0" encoding="UTF-8"?><!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.1//EN" '
    '"http://www.w3.org/TR/xhtml11/DTD/xhtml11.dtd">'
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title></head><body/></html>',
    '<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:body><h:p>prefixed</h:p></h:body></h:html>',
    '<?xml version="1.0"?><?xml-stylesheet href="a.css"?><html xmlns="http://www.w3.org/1999/xhtml"><body/></html>',
    '<html xmlns="http://www.w3.org/1999/xhtml"><body><svg xmlns="http://www.w3.org/2000/svg"/></body></html>',
]
XML = [
    '<?xml version="1.0"?><catalogue><book id="1"><name>x</name></book></catalogue>',
    "<note><to>A</to><from>B</from></note>",
    '<?xml version="1.0"?><!DOCTYPE recipe SYSTEM "recipe.dtd"><recipe><name>Soup</name></recipe>',
    '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"><rect/></svg>',
    '<?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body/>'
    "</soap:Envelope>",
    '<kml xmlns="http://www.opengis.net/kml/2.2"><Document><name>x</name></Document></kml>',
    '<TEI xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/><text/></TEI>',
    '<?xml version="1.0"?><records><record><feed>not one</feed></record></records>',
    '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>x</ShortName>'
    "</OpenSearchDescription>",
    '<?xml version="1.0"?><!-- a comment --><plist version="1.0"><dict/></plist>',
]
RSS_0 = [
    '<rss version="0.91"><channel><title>x</title></channel></rss>',
    '<rss version="0.92"><channel><title>x</title><item><title>y</title></item></channel></rss>',
    '<?xml version="1.0"?><!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" '
    '"http://my.netscape.com/publish/formats/rss-0.91.dtd"><rss version="0.91"><channel/></rss>',
    "<?xml version='1.0'?>\n<!-- old -->\n<rss version='0.93'><channel/></rss>",
    '<rss xmlns:x="http://x.example/" version="0.94"><channel/></rss>',
    '\ufeff<rss version="0.91"><channel/></rss>',
]
RSS_1 = [
    f'<rdf:RDF {RDF_NS} xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><title>y</title></channel></rdf:RDF>',
    f'<?xml version="1.0"?><rdf:RDF xmlns="http://purl.org/rss/1.0/" {RDF_NS} '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"><channel rdf:about="x"/><item rdf:about="y"/></rdf:RDF>',
    f'<rdf:RDF {RDF_NS} xmlns:r="http://purl.org/rss/1.0/"><r:channel rdf:about="x"/></rdf:RDF>',
    '<r:RDF xmlns:r="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><channel/>'
    "</r:RDF>",
    f'<rdf:RDF {RDF_NS} xmlns="http://channel.netscape.com/rdf/simple/0.9/"><channel><title>x</title></channel>'
    "</rdf:RDF>",
    f'<rdf:RDF {RDF_NS} xmlns="http://my.netscape.com/rdf/simple/0.9/"><channel/></rdf:RDF>',
    f'<rdf:RDF {RDF_NS} xmlns="http://purl.org/rss/1.0/">\n<!-- c -->\n<channel rdf:about="x"/></rdf:RDF>',
]
RSS_2 = [
    '<rss version="2.0"><channel><title>x</title></channel></rss>',
    '<?xml version="1.0" encoding="ISO-8859-1"?><rss version="2.0"><channel><title>é</title></channel></rss>',
    '<rss version="2.0" xmlns:atom="http://www.w3.org/2005/Atom"><channel><atom:link href="x"/></channel></rss>',
    '\n\n<?xml version="1.0"?><rss version="2.0"><channel/></rss>',
    '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="/feed.xsl"?><rss version="2.0"><channel/></rss>',
    "<rss><channel><title>no version</title></channel></rss>",
    '<rss version="2.01"><channel/></rss>',
    '<rss version=" 2.0 "><channel/></rss>',
    '<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><item>'
    "<content:encoded><![CDATA[<!DOCTYPE html><html><body>x</body></html>]]></content:encoded></item></channel></rss>",
    '<rss version="2.0"><channel><title>broken & open',
    '<!-- generated -->\n<rss version="2.0"><channel><description>&lt;html&gt;</description></channel></rss>',
    '<rss version="2.0" xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd"><channel><itunes:author>x'
    "</itunes:author></channel></rss>",
    'Warning: something in /php on line 3\n<?xml version="1.0"?><rss version="2.0"><channel/></rss>',
    '\x0c\x00<rss version="2.0"><channel><title>stray signs</title></channel></rss>',
]
ATOM = [
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>x</title></feed>',
    '<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom" xml:lang="en"><id>x</id></feed>',
    '<a:feed xmlns:a="http://www.w3.org/2005/Atom"><a:title>prefixed</a:title></a:feed>',
    '<feed version="0.3" xmlns="http://purl.org/atom/ns#"><title>old</title></feed>',
    "<feed><title>no namespace</title></feed>",
    '<?xml version="1.0"?><!-- c --><feed xmlns="http://www.w3.org/2005/Atom"/>',
    '<feed xmlns="http://www.w3.org/2005/Atom" xmlns:thr="http://purl.org/syndication/thread/1.0"><entry/></feed>',
    '<feed xmlns="http://www.w3.org/2005/Atom"><entry><content type="xhtml"><div '
    'xmlns="http://www.w3.org/1999/xhtml"><p>x</p></div></content></entry></feed>',
    '\ufeff<?xml version="1.0"?><feed xmlns="http://www.w3.org/2005/Atom"><title>x</title></feed>',
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>cut & open',
]
JSON_FEED = [
    '{"version": "https://jsonfeed.org/version/1", "title": "x", "items": []}',
    '{"version":"https://jsonfeed.org/version/1.1","title":"x","items":[{"id":"1"}]}',
    '{"title": "x", "items": [], "version": "https://jsonfeed.org/version/1.1"}',
    '{"version": "https:\\/\\/jsonfeed.org\\/version\\/1", "title": "x", "items": []}',
    '\n {\n  "version" : "http://jsonfeed.org/version/1" ,\n "items" : []\n}',
    '\ufeff{"version": "https://jsonfeed.org/version/1.1", "items": []}',
]
RDF_XML = [
    f'<rdf:RDF {RDF_NS}><rdf:Description rdf:about="x"/></rdf:RDF>',
    f'<?xml version="1.0"?><rdf:RDF {RDF_NS} xmlns:f="{FOAF}"><f:Person><f:name>A</f:name></f:Person></rdf:RDF>',
    f'<rdf:RDF {RDF_NS} xmlns:owl="http://www.w3.org/2002/07/owl#"><owl:Ontology rdf:about=""/></rdf:RDF>',
    f'<rdf:RDF {RDF_NS} xmlns:skos="http://www.w3.org/2004/02/skos/core#"><skos:Concept rdf:about="x"/></rdf:RDF>',
    '<RDF xmlns="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><Description about="x"/></RDF>',
    f"<rdf:RDF {RDF_NS}/>",
    f'<!-- FOAF -->\n<rdf:RDF {RDF_NS} xml:base="http://x.example/"><rdf:Bag rdf:ID="b"/></rdf:RDF>',
    f'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n\n<rdf:RDF {RDF_NS}><rdf:Seq/></rdf:RDF>',
]
JSON_LD = [
    '{"@context": "https://schema.org", "@type": "Person", "name": "A"}',
    '{"@context": {"name": "http://xmlns.com/foaf/0.1/name"}, "name": "A"}',
    '[{"@id": "http://x.example/", "http://x.example/p": [{"@value": "A"}]}]',
    '{"@graph": [{"@id": "x"}], "@context": "https://schema.org"}',
    '{"name": "A", "@context": "https://schema.org"}',
    '\n\n{ "@context" :\n "https://www.w3.org/ns/activitystreams", "type": "Note", "content": "x"}',
    '{"@type": "http://x.example/T", "http://x.example/p": 1}',
    '[{"@type": ["http://x.example/T"]}, {"@id": "_:b0"}]',
    '\ufeff{"@context": "https://schema.org", "@id": "x"}',
    '{"@context": ["https://www.w3.org/ns/activitystreams", {"x": "http://x.example/"}], "id": "y"}',
]
TURTLE = [
    '@prefix f: <http://xmlns.com/foaf/0.1/> . <x> f:name "A" .',
    "# a comment\n\n@prefix : <http://x.example/> .\n:a :b :c .",
    "@base <http://x.example/> . <a> <b> <c> .",
    "PREFIX f: <http://xmlns.com/foaf/0.1/>\n<x> f:knows [ f:name 'B' ] .",
    "BASE <http://x.example/>\n<a> a <b> .",
    "<http://x.example/a> a <http://x.example/T> ;\n  <http://x.example/p> 1, 2.5, true .",
    '<http://x.example/a>\n  <http://x.example/p>\n    """long\ntext""" .',
    "_:a <http://x.example/p> ( 1 2 3 ) .",
    "<http://x.example/a> <http://x.example/p> [ <http://x.example/q> 'x' ] .",
    '@prefix x: <http://x.example/> .\nx:a x:p "{ not a graph }" .',
    "@PREFIX x: <http://x.example/> . x:a x:b 'upper' .",
    "\ufeff@prefix x: <http://x.example/> . x:a x:b x:c .",
    "<http://x.example/a> <http://x.example/p> 'single' .",
    "prefix x: <http://x.example/>\nprefix y: <http://y.example/>\nx:a y:b x:c, x:d .",
]
TRIG = [
    "@prefix x: <http://x.example/> . x:g { x:a x:b x:c }",
    "<http://x.example/g> { <http://x.example/a> <http://x.example/b> 1 . }",
    "GRAPH <http://x.example/g> { <http://x.example/a> a <http://x.example/T> }",
    "{ <http://x.example/a> <http://x.example/b> <http://x.example/c> }",
    "PREFIX x: <http://x.example/>\nGRAPH x:g { x:a x:b 'c' }",
    "_:g { <http://x.example/a> <http://x.example/b> 'c' }",
    "@prefix x: <http://x.example/> .\n# { in a comment\nx:a x:b '{' .\nx:g { x:c x:d 2 }",
    "[] { <http://x.example/a> <http://x.example/b> 'c' }",
]
N_TRIPLES = [
    "<http://x.example/a> <http://x.example/p> <http://x.example/b> .",
    '<http://x.example/a> <http://x.example/p> "text"@en .\n<http://x.example/a> <http://x.example/q> "y" .',
    "_:a <http://x.example/p> _:b .",
    '# comment\n<http://x.example/a> <http://x.example/p> "1"^^<http://www.w3.org/2001/XMLSchema#integer> .',
    '<http://x.example/a> <http://x.example/p> "quote \\" in it" . # behind',
    '<http://x.example/a>\t<http://x.example/p>\t"tabs"\t.\n',
    "".join(
        f"<http://x.example/{n}> <http://x.example/p> <http://x.example/{n + 1}> .\n" for n in range(500)
    ),
    "\n\n<mailto:a@x.example> <http://x.example/p> <urn:isbn:1> .\r\n",
]
N_QUADS = [
    "<http://x.example/a> <http://x.example/p> <http://x.example/b> <http://x.example/g> .",
    '<http://x.example/a> <http://x.example/p> "x"@de <http://x.example/g> .',
    "_:a <http://x.example/p> _:b _:g .",
    "<http://x.example/a> <http://x.example/p> <http://x.example/b> .\n"
    "<http://x.example/a> <http://x.example/p> <http://x.example/c> <http://x.example/g> .",
    '# c\n<http://x.example/a> <http://x.example/p> "1"^^<http://x.example/t> <http://x.example/g> .',
    '<http://x.example/a> <http://x.example/p> "a \\"quote\\"" <http://x.example/g> . # c',
]
OPML = [
    '<opml version="2.0"><head/><body><outline text="x" xmlUrl="http://x.example/feed"/></body></opml>',
    '<?xml version="1.0"?><opml version="1.0"><body/></opml>',
    "<opml><body><outline/></body></opml>",
    '<?xml version="1.0" encoding="UTF-8"?>\n<!-- subscriptions -->\n<opml version="1.1"><body/></opml>',
    '\ufeff<opml version="2.0"><body><outline text="&lt;html&gt;"/></body></opml>',
]
SITEMAP = [
    '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>http://x.example/</loc></url></urlset>',
    '<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><sitemap/></sitemapindex>',
    "<urlset><url><loc>http://x.example/</loc></url></urlset>",
    '<?xml version="1.0"?><?xml-stylesheet href="x.xsl"?><urlset '
    'xmlns="http://www.google.com/schemas/sitemap/0.84"/>',
    '<?xml version="1.0"?>\n<!-- plug-in -->\n<urlset xmlns:image="http://x.example/" '
    'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>',
]
WSDL = [
    '<definitions xmlns="http://schemas.xmlsoap.org/wsdl/" name="Stock"><types/></definitions>',
    '<?xml version="1.0"?><wsdl:definitions xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"/>',
    '<description xmlns="http://www.w3.org/ns/wsdl" targetNamespace="http://x.example/"/>',
    '<?xml version="1.0" encoding="utf-8"?>\n<!-- made by a tool -->\n<definitions '
    'xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/" xmlns="http://schemas.xmlsoap.org/wsdl/"/>',
    '\ufeff<w:description xmlns:w="http://www.w3.org/ns/wsdl"><w:types/></w:description>',
]
JSON = [
    '{"name": "A", "list": [1, 2, 3]}',
    "[1, 2, 3]",
    '[{"id": 1, "title": "<p>markup</p>"}, {"id": 2}]',
    '\n  {"nested": {"deeper": {"deepest": null}}}\n',
    '{"context": "no keyword", "version": "1.0", "items": []}',
    "{}",
    '{"many": [' + ", ".join(str(n) for n in range(30_000)) + "]}",
    '{"jsonfeed": "https://example.org/version/1"}',
]
TEXT = [
    "Just a line of words.",
    "User-agent: *\nDisallow: /private\n",
    "name;city\nA;Bern\nB;Oslo\n",
    "# A heading\n\nAnd *Markdown*, with a [link](http://x.example/).\n",
    "Dear all,\n\n> quoted\n\nthe wall < the sea, and 3 > 2.\n",
    "[1] A reference, and no list of JSON.",
    "{ braces of a program }\nfunction f() { return 1; }",
    "日本語の文章です。\n",
]
BINARY = [
    b"\x89PNG\r\n\x1a\n" + b"\0" * 40,
    b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj",
    b"\xff\xd8\xff\xe0\x00\x10JFIF" + b"\0" * 40,
    b"GIF89a" + b"\0" * 40,
    b"PK\x03\x04" + b"\0" * 60,
    b"ID3\x03\0\0\0" + b"\0" * 40,
    b"\0\x01\x02\x03\x04\x05\x06\x07" * 40,
    b"OggS\0\x02" + b"\0" * 40,
    b"\x7fELF\x02\x01\x01" + b"\0" * 60,
    b"wOF2" + b"\0" * 60,
]
PACKED = [
    (detect.RSS_2, gzip.compress(b'<rss version="2.0"><channel/></rss>')),
    (detect.SITEMAP, gzip.compress(b"<urlset><url><loc>http://x.example/</loc></url></urlset>")),
    (detect.RSS_2, '<?xml version="1.0"?><rss version="2.0"><channel/></rss>'.encode("utf-16")),
    (detect.HTML, "<!DOCTYPE html><html><body>wide</body></html>".encode("utf-16")),
    (detect.ATOM, '<feed xmlns="http://www.w3.org/2005/Atom"/>'.encode("utf-16-be")),
    (detect.TURTLE, gzip.compress(b"@prefix x: <http://x.example/> . x:a x:b x:c .")),
]

_WRITTEN = {
    detect.HTML: HTML, detect.XHTML: XHTML, detect.XML: XML, detect.RSS_0: RSS_0, detect.RSS_1: RSS_1,
    detect.RSS_2: RSS_2, detect.ATOM: ATOM, detect.JSON_FEED: JSON_FEED, detect.RDF_XML: RDF_XML,
    detect.JSON_LD: JSON_LD, detect.TURTLE: TURTLE, detect.TRIG: TRIG, detect.N_TRIPLES: N_TRIPLES,
    detect.N_QUADS: N_QUADS, detect.OPML: OPML, detect.SITEMAP: SITEMAP, detect.WSDL: WSDL,
    detect.JSON: JSON, detect.TEXT: TEXT,
}  # fmt: skip
DOCUMENTS: list[tuple[str, bytes]] = [
    *((kind, text.encode()) for kind, texts in _WRITTEN.items() for text in texts),
    *((detect.BINARY, body) for body in BINARY),
    *PACKED,
]
"""Types with bodies."""
