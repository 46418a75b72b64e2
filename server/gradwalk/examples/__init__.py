"""Lecture programs as data: the questions people ask about backward, each as a short program."""
