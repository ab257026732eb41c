"""The answer of a call: plain JSON values, and a mark on the parts that a page may have written."""

from footlight.server.answers.answer import Answer, AnswerLink, Image, failure, success, without_page_texts
from footlight.server.answers.json_values import PageText, clean

__all__ = ["Answer", "AnswerLink", "Image", "PageText", "clean", "failure", "success", "without_page_texts"]
