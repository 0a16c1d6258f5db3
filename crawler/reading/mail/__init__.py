"""Messages of mail read as articles: newsletters, mailing lists, and requests to confirm a subscription."""

from crawler.reading.mail.read import read_message
from crawler.reading.mail.record import Mail, MailFile
from crawler.reading.mail.senders import source_key

__all__ = ["Mail", "MailFile", "read_message", "source_key"]
