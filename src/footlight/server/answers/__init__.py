"""The answer of a call: plain JSON values, without secrets, the parts that a page may have written marked."""

from footlight.server.answers.answer import Answer, AnswerLink, Image, failure, success, without_page_texts
from footlight.server.answers.json_values import PageText, clean

__all__ = ["Answer", "AnswerLink", "Image", "PageText", "clean", "failure", "success", "without_page_texts"]
