<?xml version="1.0"?>
<!-- An HTML page as RDF: what it is, shows and links to. The tree comes prepared: addresses in href and src are
     absolute IRIs, others are gone, and of mail addresses there is `mbox`. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"
    xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#"
    xmlns:foaf="http://xmlns.com/foaf/0.1/" xmlns:dct="http://purl.org/dc/terms/" xmlns:sioc="http://rdfs.org/sioc/ns#"
    xmlns:schema="http://schema.org/" xmlns:xhv="http://www.w3.org/1999/xhtml/vocab#">
  <xsl:output method="xml" encoding="UTF-8"/>
  <xsl:param name="url"/>
  <xsl:param name="language"/>
  <xsl:variable name="up" select="'ABCDEFGHIJKLMNOPQRSTUVWXYZ'"/>
  <xsl:variable name="low" select="'abcdefghijklmnopqrstuvwxyz'"/>

  <xsl:template match="/">
    <rdf:RDF>
      <foaf:Document rdf:about="{$url}">
        <xsl:apply-templates select="/html/@lang"/>
        <xsl:apply-templates select="(//title)[1]"/>
        <xsl:apply-templates select="//meta[@content != '']"/>
        <xsl:apply-templates select="//link[@href]"/>
        <xsl:apply-templates select="//img[@src]" mode="shown"/>
        <xsl:apply-templates select="//a[@mbox]" mode="mail"/>
        <xsl:for-each select="//a[@href] | //area[@href] | //iframe[@src] | //frame[@src]">
          <sioc:links_to rdf:resource="{@href | @src}"/>
        </xsl:for-each>
      </foaf:Document>
      <xsl:for-each select="//a[@href]">
        <xsl:variable name="text" select="normalize-space(.)"/>
        <xsl:if test="$text != ''">
          <rdf:Description rdf:about="{@href}"><rdfs:label xml:lang="{$language}"><xsl:value-of select="$text"/></rdfs:label></rdf:Description>
        </xsl:if>
      </xsl:for-each>
      <xsl:for-each select="//img[@src][normalize-space(@alt) != '']">
        <rdf:Description rdf:about="{@src}"><rdfs:label xml:lang="{$language}"><xsl:value-of select="normalize-space(@alt)"/></rdfs:label></rdf:Description>
      </xsl:for-each>
      <xsl:for-each select="//link[@href][@type][contains(concat(' ', translate(@rel, $up, $low), ' '), ' alternate ')]">
        <rdf:Description rdf:about="{@href}"><dct:format><xsl:value-of select="@type"/></dct:format></rdf:Description>
      </xsl:for-each>
    </rdf:RDF>
  </xsl:template>

  <xsl:template match="@lang"><xsl:if test=". != ''"><dct:language><xsl:value-of select="."/></dct:language></xsl:if></xsl:template>
  <xsl:template match="title">
    <xsl:if test="normalize-space(.) != ''"><dct:title xml:lang="{$language}"><xsl:value-of select="normalize-space(.)"/></dct:title></xsl:if>
  </xsl:template>
  <xsl:template match="img" mode="shown"><foaf:depiction rdf:resource="{@src}"/></xsl:template>
  <xsl:template match="a" mode="mail">
    <foaf:topic><foaf:Agent>
      <xsl:choose>
        <xsl:when test="starts-with(@mbox, 'mailto:')"><foaf:mbox rdf:resource="{@mbox}"/></xsl:when>
        <xsl:otherwise><foaf:mbox_sha1sum><xsl:value-of select="@mbox"/></foaf:mbox_sha1sum></xsl:otherwise>
      </xsl:choose>
    </foaf:Agent></foaf:topic>
  </xsl:template>

  <xsl:template match="link">
    <xsl:variable name="rel" select="concat(' ', translate(@rel, $up, $low), ' ')"/>
    <xsl:if test="contains($rel, ' canonical ') and ancestor::head">
      <schema:url rdf:resource="{@href}"/>
      <xsl:if test="@own and @href != $url"><dct:isVersionOf rdf:resource="{@href}"/></xsl:if>
    </xsl:if>
    <xsl:if test="contains($rel, ' alternate ')">
      <xhv:alternate rdf:resource="{@href}"/>
      <xsl:if test="contains(@type, 'rss') or contains(@type, 'atom') or contains(@type, 'rdf') or contains(@type, 'json') or contains(@type, 'turtle')">
        <rdfs:seeAlso rdf:resource="{@href}"/>
      </xsl:if>
    </xsl:if>
    <xsl:if test="contains($rel, ' next ')"><xhv:next rdf:resource="{@href}"/></xsl:if>
    <xsl:if test="contains($rel, ' prev ')"><xhv:prev rdf:resource="{@href}"/></xsl:if>
    <xsl:if test="contains($rel, ' license ')"><xhv:license rdf:resource="{@href}"/></xsl:if>
    <xsl:if test="contains($rel, ' amphtml ')"><xhv:amphtml rdf:resource="{@href}"/></xsl:if>
    <xsl:if test="contains($rel, ' meta ')"><rdfs:seeAlso rdf:resource="{@href}"/></xsl:if>
  </xsl:template>

  <xsl:template match="meta">
    <xsl:variable name="name" select="translate(concat(@property, substring(@name, 1, 100 * not(@property))), $up, $low)"/>
    <xsl:variable name="text" select="normalize-space(@content)"/>
    <xsl:choose>
      <xsl:when test="$text = ''"/>
      <xsl:when test="$name = 'description'"><dct:description xml:lang="{$language}"><xsl:value-of select="$text"/></dct:description></xsl:when>
      <xsl:when test="$name = 'author'"><dct:creator><xsl:value-of select="$text"/></dct:creator></xsl:when>
      <xsl:when test="$name = 'keywords'"><schema:keywords xml:lang="{$language}"><xsl:value-of select="$text"/></schema:keywords></xsl:when>
      <xsl:when test="$name = 'og:title' or $name = 'twitter:title'"><schema:headline xml:lang="{$language}"><xsl:value-of select="$text"/></schema:headline></xsl:when>
      <xsl:when test="$name = 'og:description' or $name = 'twitter:description'"><schema:description xml:lang="{$language}"><xsl:value-of select="$text"/></schema:description></xsl:when>
      <xsl:when test="$name = 'og:site_name'"><schema:publisher><xsl:value-of select="$text"/></schema:publisher></xsl:when>
      <xsl:when test="$name = 'og:locale'"><schema:inLanguage><xsl:value-of select="$text"/></schema:inLanguage></xsl:when>
      <xsl:when test="@iri and ($name = 'og:image' or $name = 'og:image:url' or $name = 'twitter:image')"><schema:image rdf:resource="{@iri}"/></xsl:when>
      <xsl:when test="@iri and ($name = 'og:video' or $name = 'og:video:url')"><schema:video rdf:resource="{@iri}"/></xsl:when>
      <xsl:when test="@iri and ($name = 'og:audio' or $name = 'og:audio:url')"><schema:audio rdf:resource="{@iri}"/></xsl:when>
      <xsl:when test="@iri and $name = 'og:url'"><schema:url rdf:resource="{@iri}"/></xsl:when>
      <xsl:when test="$name = 'og:type' and $text = 'article'"><rdf:type rdf:resource="http://schema.org/Article"/></xsl:when>
      <xsl:when test="$name = 'article:published_time'"><schema:datePublished><xsl:value-of select="$text"/></schema:datePublished></xsl:when>
      <xsl:when test="$name = 'article:modified_time'"><schema:dateModified><xsl:value-of select="$text"/></schema:dateModified></xsl:when>
      <xsl:when test="$name = 'article:author'"><schema:author><xsl:value-of select="$text"/></schema:author></xsl:when>
      <xsl:when test="$name = 'article:section'"><schema:articleSection xml:lang="{$language}"><xsl:value-of select="$text"/></schema:articleSection></xsl:when>
      <xsl:when test="$name = 'article:tag'"><schema:keywords xml:lang="{$language}"><xsl:value-of select="$text"/></schema:keywords></xsl:when>
    </xsl:choose>
  </xsl:template>
</xsl:stylesheet>
