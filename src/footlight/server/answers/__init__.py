"""Create the answers of calls: JSON values without secrets, in which text from pages is marked."""

from footlight.server.answers.answer import Answer, AnswerLink, Image, failure, success, without_page_texts
from footlight.server.answers.json_values import PageText, clean

__all__ = ["Answer", "AnswerLink", "Image", "PageText", "clean", "failure", "success", "without_page_texts"]
