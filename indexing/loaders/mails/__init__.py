"""Mails: a file in, the mail and each attachment as a document out."""
