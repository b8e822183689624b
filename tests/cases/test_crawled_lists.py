"""Lists of URLs are read as what they were named as: by robots.txt, by an index of sitemaps, by a page."""

import gzip

import pytest
import sites


def urlset(*paths):
    urls = "".join(f"<url><loc>{{base}}{path}</loc></url>" for path in paths)
    return f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'.encode()


@pytest.fixture
def site():
    site = sites.Site()
    site.page("/", "entrance")
    site.page("/listed", "listedword")
    return site


@pytest.mark.parametrize("path, kind, body", [
    ("/all.gz", "application/gzip", gzip.compress(urlset("/listed"))),
    ("/all.gz", "application/octet-stream", gzip.compress(urlset("/listed"))),
    ("/all", "application/x-unheard-of", urlset("/listed")),
    ("/all.php?x=1", "text/html; charset=utf-8", urlset("/listed")),
    ("/all", "image/png", b"\xef\xbb\xbf" + urlset("/listed")),
    ("/urls", "text/plain", b"{base}/listed\n"),
    ("/urls.html", "text/html", b"\n\n{base}/other\r\n{base}/listed\r\n"),
    ("/urls.gz", "binary/octet-stream", gzip.compress(b"{base}/listed\n")),
    ("/news", "application/json", b"<rss version='2.0'><channel><item><link>{base}/listed</link></item></channel></rss>"),
])
def test_a_sitemap_that_robots_names(index, site, path, kind, body):
    site.put(path, body, kind=kind)
    site.sitemaps.append(path)
    sites.crawl(index, site)
    assert index.count("listedword") == 1


def test_sitemaps_that_an_index_names(index, site):
    site.page("/further", "furtherword")
    site.put("/part-1", gzip.compress(urlset("/listed")), kind="application/octet-stream")
    site.put("/part-2", b"{base}/further\n", kind="text/html")
    parts = "".join(f"<sitemap><loc>{{base}}/part-{n}</loc></sitemap>" for n in (1, 2))
    site.put("/index", f'<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{parts}</sitemapindex>', kind="text/html")
    site.sitemaps.append("/index")
    sites.crawl(index, site)
    assert index.count("listedword") == 1
    assert index.count("furtherword") == 1


def test_a_feed_that_a_page_names(index, site):
    feed = "<feed xmlns='http://www.w3.org/2005/Atom'><entry><link href='{base}/listed'/></entry></feed>"
    site.put("/feed", feed, kind="application/octet-stream")
    site.page("/", "entrance", head='<link rel="alternate" type="application/atom+xml" href="/feed">')
    sites.crawl(index, site)
    assert index.count("listedword") == 1


def test_a_sitemap_that_has_moved(index, site):
    site.redirect("/old.xml", "/new")
    site.put("/new", b"{base}/listed\n", kind="text/plain")
    site.sitemaps.append("/old.xml")
    sites.crawl(index, site)
    assert index.count("listedword") == 1


def test_a_sitemap_that_a_page_links_to_as_well(index, site):
    site.put("/all", b"{base}/listed\n", kind="text/plain")
    site.page("/", "entrance", links=["/all"])
    site.sitemaps.append("/all")
    sites.crawl(index, site)
    assert index.count("listedword") == 1


def test_what_is_named_as_a_list_and_is_a_page_stays_one(index, site):
    # And a text of addresses that nothing names is a page.
    site.page("/page", "pageword", links=["/listed", "/text"])
    site.put("/text", "http://example.org/ is an address\nand addressword follows it, in a text of some words that is a page by itself")
    site.answers["/text"][1][0] = ("Content-Type", "text/plain")
    site.sitemaps.append("/page")
    sites.crawl(index, site)
    for word in ["pageword", "listedword", "addressword"]:
        assert index.count(word) == 1, word
