"""Logins for feeds and pages as people see them: a page, and the API. Neither shows what was given."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from drf_spectacular.utils import extend_schema, extend_schema_view
from rest_framework import mixins, serializers, viewsets

from crawler.engine.logins import keep_login
from crawler.engine.models import SiteLogin
from crawler.fetching.http.logins import MAX_VALUE, LoginError, without_login
from crawler.fetching.http.urls import BadUrl
from crawler.web.pagination import page_of
from crawler.web.permissions import EditorsOnly, needs
from crawler.web.roles import EDITOR
from crawler.web.sentences import translated

MAX_NAME = 200


class LoginForm(forms.Form):
    """A login for an address and all below it."""

    url = forms.CharField(
        max_length=2000,
        label=gettext_lazy("Address"),
        help_text=gettext_lazy("The login is sent to this address and to all below it, and nowhere else."),
    )
    kind = forms.ChoiceField(choices=SiteLogin.Kind.choices, label=gettext_lazy("Kind of login"))
    name = forms.CharField(
        max_length=MAX_NAME,
        required=False,
        label=gettext_lazy("Name"),
        help_text=gettext_lazy("Your name there, or that of the header. A cookie needs none."),
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "off", "spellcheck": "false"}),
    )
    secret = forms.CharField(
        max_length=MAX_VALUE,
        label=gettext_lazy("Password, or value"),
        help_text=gettext_lazy("It is stored encrypted and never shown again."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        strip=False,
    )

    def keep(self) -> SiteLogin | None:
        """Store the login. Returns None, with an error at its field, for one that cannot be used."""
        values = self.cleaned_data
        try:
            return keep_login(
                without_login(values["url"])[0], values["kind"], values["secret"], values["name"]
            )
        except BadUrl as error:
            self.add_error("url", f"{translated(error.reason)}")
        except LoginError as error:
            self.add_error("secret", translated(str(error)))
        return None


@never_cache
@needs(EDITOR)
@require_http_methods(["GET", "HEAD", "POST"])
def logins(request: HttpRequest) -> HttpResponse:
    """Show for which addresses there are logins, and take another."""
    form = LoginForm(request.POST or None, initial={"url": request.GET.get("url", "")[:2000]})
    if request.method == "POST" and form.is_valid() and (login := form.keep()) is not None:
        messages.success(request, _("The login for %(address)s is kept.") % {"address": login.url})
        return redirect("logins")
    page = page_of(request, _shared_and_own(request).order_by("url", "id"))
    status = 422 if form.errors else 200
    return render(request, "crawler/logins.html", {"form": form, "page": page}, status=status)


@needs(EDITOR)
@require_POST
def forget_login(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a login."""
    login = get_object_or_404(_shared_and_own(request), pk=pk)
    login.delete()
    messages.success(request, _("The login for %(address)s is forgotten.") % {"address": login.url})
    return redirect("logins")


def _shared_and_own(request: HttpRequest) -> QuerySet[SiteLogin]:
    """Return the logins for everybody's feeds, and those for the person's own."""
    return SiteLogin.objects.filter(Q(owner__isnull=True) | Q(owner=request.user.pk))


class LoginSerializer(serializers.ModelSerializer[SiteLogin]):
    """A login: its address and kind. `name` and `secret` are taken and never shown."""

    url = serializers.CharField(max_length=2000)
    name = serializers.CharField(max_length=MAX_NAME, required=False, allow_blank=True, write_only=True)
    secret = serializers.CharField(max_length=MAX_VALUE, write_only=True, trim_whitespace=False)

    class Meta:
        model = SiteLogin
        fields = ["id", "url", "kind", "given", "name", "secret"]
        read_only_fields = ["given"]

    def create(self, validated_data: dict[str, Any]) -> SiteLogin:
        """Store the login, in place of an earlier one for its address."""
        values = validated_data
        try:
            url = without_login(values["url"])[0]
            return keep_login(url, values["kind"], values["secret"], values.get("name", ""))
        except BadUrl as error:
            raise serializers.ValidationError({"url": [str(error)]}) from error
        except LoginError as error:
            raise serializers.ValidationError({"secret": [str(error)]}) from error


@extend_schema_view(
    list=extend_schema(extensions={"x-staff-only": True}),
    retrieve=extend_schema(extensions={"x-staff-only": True}),
)
class LoginViewSet(
    mixins.CreateModelMixin,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    mixins.DestroyModelMixin,
    viewsets.GenericViewSet[SiteLogin],
):
    """Logins for feeds and pages; for editors alone."""

    queryset = SiteLogin.objects.filter(owner__isnull=True)
    serializer_class = LoginSerializer
    permission_classes = [EditorsOnly]
    filterset_fields = ["kind"]
    search_fields = ["url"]
    ordering_fields = ["id", "url", "given"]
    ordering = ["id"]
