<?xml version="1.0"?>
<!-- RSS 0.9x, 1.0 and 2.0 and Atom as RDF. The tree comes prepared: `f:iri` beside each address that is one,
     `f:when` beside each date that can be read, `f:about` on the feed and its items. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
    xmlns:foaf="http://xmlns.com/foaf/0.1/" xmlns:dct="http://purl.org/dc/terms/" xmlns:sioc="http://rdfs.org/sioc/ns#"
    xmlns:schema="http://schema.org/" xmlns:rss="http://purl.org/rss/1.0/"
    xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/"
    xmlns:itunes="http://www.itunes.com/dtds/podcast-1.0.dtd" xmlns:wfw="http://wellformedweb.org/CommentAPI/"
    xmlns:thr="http://purl.org/syndication/thread/1.0" xmlns:podcast="https://podcastindex.org/namespace/1.0"
    xmlns:atom="http://www.w3.org/2005/Atom" xmlns:f="urn:freshet:prepared"
    exclude-result-prefixes="dc itunes wfw thr podcast atom f">
  <xsl:output method="xml" encoding="UTF-8"/>
  <xsl:param name="url"/>
  <xsl:param name="language"/>

  <xsl:template match="/">
    <rdf:RDF>
      <sioc:Forum rdf:about="{$url}">
        <rdf:type rdf:resource="http://schema.org/DataFeed"/>
        <xsl:apply-templates select="/*/*[local-name() = 'channel']/* | /*[local-name() = 'feed']/*" mode="feed"/>
        <xsl:for-each select="//*[@f:about]"><sioc:container_of rdf:resource="{@f:about}"/></xsl:for-each>
      </sioc:Forum>
      <xsl:for-each select="//*[@f:about]">
        <rdf:Description rdf:about="{@f:about}">
          <rdf:type rdf:resource="http://rdfs.org/sioc/ns#Post"/>
          <xsl:choose>
            <xsl:when test="*[@f:enclosure][starts-with(@type, 'audio/') or starts-with(@type, 'video/')]">
              <rdf:type rdf:resource="http://schema.org/PodcastEpisode"/>
            </xsl:when>
            <xsl:otherwise><rdf:type rdf:resource="http://schema.org/Article"/></xsl:otherwise>
          </xsl:choose>
          <xsl:apply-templates select="*" mode="item"/>
        </rdf:Description>
        <xsl:apply-templates select="*[@f:enclosure]" mode="file"/>
      </xsl:for-each>
    </rdf:RDF>
  </xsl:template>

  <xsl:template match="*" mode="feed"/>
  <xsl:template match="*" mode="item"/>

  <!-- Of both -->
  <xsl:template match="*[local-name() = 'title']" mode="feed"><xsl:call-template name="title"/></xsl:template>
  <xsl:template match="*[local-name() = 'title'][not(namespace-uri() = 'http://search.yahoo.com/mrss/')]" mode="item"><xsl:call-template name="title"/></xsl:template>
  <xsl:template name="title">
    <xsl:if test="normalize-space(.) != ''"><dct:title xml:lang="{$language}"><xsl:value-of select="normalize-space(.)"/></dct:title></xsl:if>
  </xsl:template>
  <xsl:template match="*[local-name() = 'pubDate' or local-name() = 'published' or local-name() = 'issued' or local-name() = 'created'] | dc:date" mode="item">
    <xsl:call-template name="created"/>
  </xsl:template>
  <xsl:template match="*[local-name() = 'pubDate']" mode="feed"><xsl:call-template name="created"/></xsl:template>
  <xsl:template name="created">
    <xsl:choose>
      <xsl:when test="@f:when"><dct:created rdf:datatype="http://www.w3.org/2001/XMLSchema#dateTime"><xsl:value-of select="@f:when"/></dct:created></xsl:when>
      <xsl:when test="normalize-space(.) != ''"><dct:created><xsl:value-of select="normalize-space(.)"/></dct:created></xsl:when>
    </xsl:choose>
  </xsl:template>
  <xsl:template match="*[local-name() = 'lastBuildDate' or local-name() = 'updated' or local-name() = 'modified']" mode="feed"><xsl:call-template name="modified"/></xsl:template>
  <xsl:template match="*[local-name() = 'updated' or local-name() = 'modified']" mode="item"><xsl:call-template name="modified"/></xsl:template>
  <xsl:template name="modified">
    <xsl:choose>
      <xsl:when test="@f:when"><dct:modified rdf:datatype="http://www.w3.org/2001/XMLSchema#dateTime"><xsl:value-of select="@f:when"/></dct:modified></xsl:when>
      <xsl:when test="normalize-space(.) != ''"><dct:modified><xsl:value-of select="normalize-space(.)"/></dct:modified></xsl:when>
    </xsl:choose>
  </xsl:template>
  <xsl:template match="*[local-name() = 'author'] | dc:creator | itunes:author" mode="item"><xsl:call-template name="person"/></xsl:template>
  <xsl:template match="*[local-name() = 'managingEditor' or local-name() = 'author'] | dc:creator | itunes:author" mode="feed"><xsl:call-template name="person"/></xsl:template>
  <xsl:template name="person">
    <xsl:variable name="name">
      <xsl:choose>
        <xsl:when test="*[local-name() = 'name']"><xsl:value-of select="*[local-name() = 'name'][1]"/></xsl:when>
        <xsl:otherwise><xsl:value-of select="."/></xsl:otherwise>
      </xsl:choose>
    </xsl:variable>
    <xsl:if test="normalize-space($name) != ''">
      <dct:creator><foaf:Agent><foaf:name><xsl:value-of select="normalize-space($name)"/></foaf:name><xsl:if test="*[local-name() = 'uri']/@f:iri"><foaf:homepage rdf:resource="{*[local-name() = 'uri'][1]/@f:iri}"/></xsl:if></foaf:Agent></dct:creator>
    </xsl:if>
  </xsl:template>

  <!-- Of the feed -->
  <xsl:template match="*[local-name() = 'description' or local-name() = 'subtitle' or local-name() = 'tagline']" mode="feed">
    <xsl:if test="normalize-space(.) != ''"><dct:description xml:lang="{$language}"><xsl:value-of select="normalize-space(.)"/></dct:description></xsl:if>
  </xsl:template>
  <xsl:template match="*[local-name() = 'language'] | dc:language" mode="feed">
    <xsl:if test="normalize-space(.) != ''"><dct:language><xsl:value-of select="normalize-space(.)"/></dct:language></xsl:if>
  </xsl:template>
  <xsl:template match="*[local-name() = 'link'][not(@href)][@f:iri]" mode="feed">
    <foaf:homepage rdf:resource="{@f:iri}"/><rss:link rdf:resource="{@f:iri}"/>
  </xsl:template>
  <xsl:template match="*[local-name() = 'link'][@href][@f:iri]" mode="feed">
    <xsl:choose>
      <xsl:when test="not(@rel) or @rel = 'alternate'"><foaf:homepage rdf:resource="{@f:iri}"/></xsl:when>
      <xsl:when test="@rel = 'self' or @rel = 'next' or @rel = 'hub' or @rel = 'first' or @rel = 'last' or @rel = 'prev-archive'"><rdfs:seeAlso rdf:resource="{@f:iri}"/></xsl:when>
    </xsl:choose>
  </xsl:template>
  <xsl:template match="*[local-name() = 'image']/*[local-name() = 'url'][@f:iri]" mode="feed"><schema:image rdf:resource="{@f:iri}"/></xsl:template>
  <xsl:template match="*[local-name() = 'image']" mode="feed"><xsl:apply-templates select="*[local-name() = 'url']" mode="feed"/></xsl:template>

  <!-- Of an item -->
  <xsl:template match="*[local-name() = 'guid' or local-name() = 'id']" mode="item">
    <xsl:if test="normalize-space(.) != ''"><dct:identifier><xsl:value-of select="normalize-space(.)"/></dct:identifier></xsl:if>
  </xsl:template>
  <xsl:template match="*[local-name() = 'link'][not(@href)][@f:iri]" mode="item"><rss:link rdf:resource="{@f:iri}"/></xsl:template>
  <xsl:template match="*[local-name() = 'link'][@href][@f:iri]" mode="item">
    <xsl:choose>
      <xsl:when test="@f:enclosure"><sioc:attachment rdf:resource="{@f:iri}"/></xsl:when>
      <xsl:when test="not(@rel) or @rel = 'alternate'"><rss:link rdf:resource="{@f:iri}"/></xsl:when>
      <xsl:when test="@rel = 'replies' or @rel = 'next' or @rel = 'self' or @rel = 'hub'"><rdfs:seeAlso rdf:resource="{@f:iri}"/></xsl:when>
      <xsl:when test="@rel = 'via' or @rel = 'related'"><sioc:links_to rdf:resource="{@f:iri}"/></xsl:when>
    </xsl:choose>
  </xsl:template>
  <xsl:template match="*[local-name() = 'enclosure'][@f:iri]" mode="item"><sioc:attachment rdf:resource="{@f:iri}"/></xsl:template>
  <xsl:template match="wfw:commentRss[@f:iri]" mode="item"><rdfs:seeAlso rdf:resource="{@f:iri}"/></xsl:template>
  <xsl:template match="*[local-name() = 'comments'][@f:iri]" mode="item"><sioc:has_discussion rdf:resource="{@f:iri}"/></xsl:template>
  <xsl:template match="thr:in-reply-to[@f:iri]" mode="item"><sioc:reply_of rdf:resource="{@f:iri}"/></xsl:template>
  <xsl:template match="*[local-name() = 'category'] | dc:subject" mode="item">
    <xsl:variable name="text" select="normalize-space(concat(@term, substring(., 1, 1000 * not(@term))))"/>
    <xsl:if test="$text != ''"><schema:keywords xml:lang="{$language}"><xsl:value-of select="$text"/></schema:keywords></xsl:if>
  </xsl:template>
  <xsl:template match="*[local-name() = 'description' or local-name() = 'summary']" mode="item">
    <xsl:if test="normalize-space(.) != ''"><schema:abstract xml:lang="{$language}"><xsl:value-of select="normalize-space(.)"/></schema:abstract></xsl:if>
  </xsl:template>
  <xsl:template match="content:encoded | atom:content" mode="item">
    <xsl:if test="normalize-space(.) != ''"><content:encoded xml:lang="{$language}"><xsl:value-of select="."/></content:encoded></xsl:if>
  </xsl:template>
  <xsl:template match="itunes:duration" mode="item"><schema:duration><xsl:value-of select="normalize-space(.)"/></schema:duration></xsl:template>
  <xsl:template match="podcast:transcript[@f:iri]" mode="item"><schema:transcript rdf:resource="{@f:iri}"/></xsl:template>
  <xsl:template match="podcast:chapters[@f:iri]" mode="item"><schema:hasPart rdf:resource="{@f:iri}"/></xsl:template>
  <xsl:template match="podcast:person" mode="item">
    <schema:actor><foaf:Person><foaf:name><xsl:value-of select="normalize-space(.)"/></foaf:name></foaf:Person></schema:actor>
  </xsl:template>

  <xsl:template match="*[@f:enclosure]" mode="file">
    <rdf:Description rdf:about="{@f:iri}">
      <xsl:if test="@type != ''"><schema:encodingFormat><xsl:value-of select="@type"/></schema:encodingFormat></xsl:if>
      <xsl:if test="@length != ''"><schema:contentSize><xsl:value-of select="@length"/></schema:contentSize></xsl:if>
    </rdf:Description>
  </xsl:template>
</xsl:stylesheet>
