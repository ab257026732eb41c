"""Flask-Admin over the tasks of a team: `flask_site.py FOLDER` prints the port that it listens on.

It runs in the environment of the applications, not in that of the benchmarks.
"""

import sys
from pathlib import Path

from flask import Flask
from flask_admin import Admin
from flask_admin.contrib.sqla import ModelView
from flask_sqlalchemy import SQLAlchemy
from werkzeug.serving import make_server

FOLDER = Path(sys.argv[1])
app = Flask("team")
app.config["SECRET_KEY"] = "only for a benchmark"
app.config["SQLALCHEMY_DATABASE_URI"] = f"sqlite:///{FOLDER / 'team.sqlite3'}"
db = SQLAlchemy(app)


class Person(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    name = db.Column(db.String(100), nullable=False)
    email = db.Column(db.String(100))

    def __str__(self):
        return self.name


class Task(db.Model):
    id = db.Column(db.Integer, primary_key=True)
    title = db.Column(db.String(200), nullable=False)
    hours = db.Column(db.Integer, default=1)
    done = db.Column(db.Boolean, default=False)
    notes = db.Column(db.Text)
    person_id = db.Column(db.Integer, db.ForeignKey("person.id"))
    person = db.relationship(Person)


class TaskView(ModelView):
    column_list = ("title", "hours", "done", "person")
    column_searchable_list = ("title",)
    column_filters = ("title", "hours", "done")
    page_size = 50


class PersonView(ModelView):
    pass


admin = Admin(app, name="Team")
admin.add_view(PersonView(Person, db))
admin.add_view(TaskView(Task, db))

with app.app_context():
    db.create_all()
    people = [Person(name=f"Person {number}", email=f"p{number}@example.com") for number in range(6)]
    db.session.add_all(people)
    for number in range(48):
        db.session.add(
            Task(
                title=f"Task {number:02}",
                hours=number % 9,
                done=number % 4 == 0,
                notes="",
                person=people[number % 6],
            )
        )
    db.session.commit()

server = make_server("127.0.0.1", 0, app, threaded=True)
print(server.server_port, flush=True)
server.serve_forever()
