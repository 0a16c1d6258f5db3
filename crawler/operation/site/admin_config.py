"""Django's entry for its admin, with the groups of `crawler.operation.site.admin_groups`."""

from django.contrib.admin.apps import SimpleAdminConfig


class GroupedAdminConfig(SimpleAdminConfig):
    """The admin without a search for the apps' modules: crawler.urls makes it, and workers need none."""

    default_site = "crawler.operation.site.admin_groups.GroupedAdminSite"
