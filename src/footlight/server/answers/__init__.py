"""What a call returns: an answer of plain JSON values, and which parts of it a page may have written."""

from footlight.server.answers.answer import Answer, AnswerLink, Image, failure, success, without_page_texts
from footlight.server.answers.json_values import PageText, clean

__all__ = ["Answer", "AnswerLink", "Image", "PageText", "clean", "failure", "success", "without_page_texts"]
