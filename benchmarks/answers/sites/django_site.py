"""Django's admin over a small library: `django_site.py FOLDER` prints the port that it listens on.

It runs in the environment of the applications, not in that of the benchmarks.
"""

import datetime
import os
import sys
from pathlib import Path
from socketserver import ThreadingMixIn
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import django
from django.conf import settings

FOLDER = Path(sys.argv[1])
CONTRIBUTED = ("admin", "auth", "contenttypes", "sessions", "messages", "staticfiles")
PROCESSORS = (
    "django.template.context_processors.request",
    "django.contrib.auth.context_processors.auth",
    "django.contrib.messages.context_processors.messages",
)

sys.modules["library"] = sys.modules["__main__"]
settings.configure(
    DEBUG=True,
    SECRET_KEY="only for a benchmark",
    ALLOWED_HOSTS=["127.0.0.1"],
    ROOT_URLCONF="library",
    INSTALLED_APPS=[*(f"django.contrib.{name}" for name in CONTRIBUTED), "library"],
    MIDDLEWARE=[
        "django.contrib.sessions.middleware.SessionMiddleware",
        "django.middleware.csrf.CsrfViewMiddleware",
        "django.contrib.auth.middleware.AuthenticationMiddleware",
        "django.contrib.messages.middleware.MessageMiddleware",
    ],
    TEMPLATES=[
        {
            "BACKEND": "django.template.backends.django.DjangoTemplates",
            "APP_DIRS": True,
            "OPTIONS": {"context_processors": PROCESSORS},
        }
    ],
    DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": FOLDER / "library.sqlite3"}},
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    STATIC_URL="/static/",
    USE_TZ=True,
)
os.chdir(FOLDER)
django.setup()

from django.apps import apps  # noqa: E402
from django.contrib import admin  # noqa: E402
from django.contrib.auth.models import User  # noqa: E402
from django.contrib.staticfiles.handlers import StaticFilesHandler  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.core.wsgi import get_wsgi_application  # noqa: E402
from django.db import models  # noqa: E402
from django.urls import path  # noqa: E402

STATUSES = (("draft", "Draft"), ("ready", "Ready"), ("out", "Published"))


class Author(models.Model):
    name = models.CharField(max_length=100)
    born = models.DateField(null=True, blank=True)

    class Meta:
        app_label = "library"

    def __str__(self):
        return self.name


class Book(models.Model):
    title = models.CharField(max_length=200)
    author = models.ForeignKey(Author, on_delete=models.CASCADE)
    status = models.CharField(max_length=20, choices=STATUSES, default="draft")
    published = models.DateTimeField(null=True, blank=True)
    summary = models.TextField(blank=True)

    class Meta:
        app_label = "library"

    def __str__(self):
        return self.title


class BookAdmin(admin.ModelAdmin):
    list_display = ("title", "author", "status", "published")
    list_filter = ("status", "author")
    search_fields = ("title",)
    list_per_page = 40


admin.site.register(Author)
admin.site.register(Book, BookAdmin)
urlpatterns = [path("admin/", admin.site.urls)]


class Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class Handler(WSGIRequestHandler):
    def log_message(self, *_):
        pass


def fill_library():
    apps.get_app_config("library").models_module = sys.modules["library"]
    call_command("migrate", run_syncdb=True, verbosity=0)
    User.objects.create_superuser("admin", "admin@example.com", "secret")
    authors = [Author.objects.create(name=f"Author {number}") for number in range(8)]
    for number in range(60):
        when = datetime.datetime(2024 + number % 3, 1 + number % 12, 1 + number % 28, 9, tzinfo=datetime.UTC)
        Book.objects.create(
            title=f"Book {number:02}",
            author=authors[number % 8],
            status=STATUSES[number % 3][0],
            published=when,
        )


fill_library()
with make_server(
    "127.0.0.1", 0, StaticFilesHandler(get_wsgi_application()), server_class=Server, handler_class=Handler
) as server:
    print(server.server_port, flush=True)
    server.serve_forever()
