"""Certificates: whether a trained model is right on every instance of its task, whatever the length."""

from ldhd.certify.certificate import Certificate, certify

__all__ = ["Certificate", "certify"]
